"""A forge on this machine that plays a recording: lists in pages, limits, and a store of what is posted to it."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from forges.recording import as_gitlab

__all__ = ["TOKEN", "LoopbackForge", "played"]

TOKEN = "ghp_SecretOfTheTests0123456789"
_PARTS = {"files": "files", "commits": "commit_data", "reviews": "review_data", "comments": "comment_data"}


@dataclass
class LoopbackForge:
    """What is played and what came. `failures` are answered first: status and headers, one a request."""

    pulls: list[dict[str, Any]]
    url: str = ""
    asked: list[str] = field(default_factory=list)
    posted: list[tuple[str, Any]] = field(default_factory=list)
    failures: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    post_failures: list[tuple[int, bool]] = field(default_factory=list)
    """Status of the next posts; True where the post is carried out all the same and the answer is lost."""
    post_headers: dict[str, str] = field(default_factory=dict)
    post_body: Any = None
    """What a failed post is answered with."""
    per_page: int = 5

    def answer(self, path: str) -> Any:
        """What lies at a path of the API; None where nothing does."""
        if found := re.fullmatch(r"/repos/acme/shop/pulls(?:/(\d+)(?:/(\w+))?)?", path):
            hidden = {"files", *_PARTS.values()}
            if found[1] is None:
                newest = sorted(self.pulls, key=lambda pull: -int(pull["number"]))
                return [{key: value for key, value in pull.items() if key not in hidden} for pull in newest]
            (pull,) = (pull for pull in self.pulls if pull["number"] == int(found[1]))
            more = [body for where, body in self.posted if where == path] if found[2] == "reviews" else []
            return pull if found[2] is None else [*pull.get(_PARTS[found[2]], []), *more]
        if re.fullmatch(r"/repos/acme/shop/issues/\d+/comments", path):
            return []
        if path == "/repos/acme/shop/issues/7":
            return {"number": 7, "title": "The shop is wrong", "body": "Totals are off."}
        if found := re.fullmatch(r"/projects/acme/shop/merge_requests(?:/(\d+)(?:/(\w+))?)?", path):
            listed = [as_gitlab(pull) for pull in self.pulls]
            if found[1] is None:
                inner = {"changes", "commits", "diff_refs"}
                return [{key: value for key, value in each.items() if key not in inner} for each in listed[::-1]]
            (request,) = (each for each in listed if each["iid"] == int(found[1]))
            if found[2] == "approvals":
                return {"user_has_approved": any(where.endswith(f"/{found[1]}/approve") for where, _ in self.posted)}
            if found[2] == "discussions":
                return [
                    {"notes": [body]} for where, body in self.posted
                    if where in (path, path.replace("discussions", "notes"))
                ]  # fmt: skip
            return request if found[2] is None else request.get({"diffs": "changes"}.get(found[2], found[2]), [])
        return None


@contextmanager
def played(pulls: list[dict[str, Any]]) -> Iterator[LoopbackForge]:
    """Play a recording until the block ends."""
    forge = LoopbackForge(pulls)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, query = self._begin()
            if forge.failures:
                status, headers = forge.failures.pop(0)
                self._say(status, {"message": "You have exceeded a secondary rate limit."}, headers)
                return
            found = forge.answer(path)
            if found is None:
                self._say(404, {"message": "Not Found"})
            elif isinstance(found, list):
                page = int(query.get("page", ["1"])[0])
                rest = found[page * forge.per_page :]
                link = {"Link": f'<{forge.url}{path}?page={page + 1}>; rel="next", <{forge.url}/x>; rel="last"'}
                self._say(200, found[(page - 1) * forge.per_page : page * forge.per_page], link if rest else {})
            else:
                self._say(200, found)

        def do_POST(self) -> None:
            path, _ = self._begin()
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, done = forge.post_failures.pop(0) if forge.post_failures else (201, True)
            if done:
                forge.posted.append((path, body))
            said = {"id": len(forge.posted), "html_url": f"{forge.url}/{len(forge.posted)}"}
            self._say(status, forge.post_body or said, forge.post_headers)

        def _begin(self) -> tuple[str, dict[str, list[str]]]:
            parts = urlsplit(self.path)
            forge.asked.append(f"{self.command} {self.path}")
            if self.headers.get("Authorization") != f"Bearer {TOKEN}":
                self._say(401, {"message": "Bad credentials"})
            return unquote(parts.path), parse_qs(parts.query)

        def _say(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            for name, value in {"Content-Length": str(len(data)), **(headers or {})}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    forge.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield forge
    finally:
        server.shutdown()
        server.server_close()
