"""`repoassay view`: a read-only page over all runs below a folder, for this machine alone.

The standard library's web server is enough for one reader, so this needs no extra. What is asked for is looked up among
the runs that were found; no path of a request ever becomes a path of the disk. Pages are those that `--html` writes.
"""

from __future__ import annotations

import contextlib
import json
import logging
import re
import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, quote, unquote

from repoassay.errors import BadInput, RepoAssayError
from repoassay.records import RunFolder
from repoassay.report import (
    RunProgress,
    attempt_html,
    progress_document,
    results_html,
    run_progress,
    running_page,
    runs_below,
    runs_page,
)
from repoassay.sandbox import BoundedServer

__all__ = ["RunViewer", "ViewServer", "serve_view"]

_LOG = logging.getLogger("repoassay.view")
_AT_ONCE = 32
_MOST_COMPARED = 20
_KEPT_PAGES = 8
_RUN = re.compile(
    r"/run/(.+)/(report\.html|state\.json|report_files/([0-9A-Za-z]{26})\.html|report_files/(attempts-[0-9]{4}\.js))",
    re.DOTALL,
)
_ATTEMPT = re.compile(r"/attempts/([0-9A-Za-z]{26})\.html")
_PART = re.compile(r"/attempts/(attempts-[0-9]{4}\.js)")
_TYPES = {"html": "text/html; charset=utf-8", "json": "application/json", "js": "text/javascript; charset=utf-8"}
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
    # What may run and load is in each page, by digest; this adds what a page cannot say of itself.
    "Content-Security-Policy": "frame-ancestors 'none'; base-uri 'none'; object-src 'none'",
}


class ViewAnswer(NamedTuple):
    """What is sent: status, kind of content (`html`, `json`, `js`) and text."""

    status: int
    kind: str
    text: str


class RunViewer:
    """Answers for the runs below a folder; may be asked from any thread."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._pages: dict[tuple[object, ...], tuple[str, dict[str, str]]] = {}
        self._parts: dict[str, str] = {}

    def answer(self, target: str) -> ViewAnswer:
        """Answer the target of a GET request."""
        path, _, query = target.partition("#")[0].partition("?")
        try:
            return self._answer(unquote(path, errors="surrogateescape"), query)
        except RepoAssayError as error:
            return ViewAnswer(422, "html", _message(str(error)))
        except Exception as error:  # noqa: BLE001 - the next request may well be answered
            _LOG.error("A request failed: %s", type(error).__name__, exc_info=error)
            return ViewAnswer(500, "html", _message("The server failed at this page; its terminal says how."))

    def _answer(self, path: str, query: str) -> ViewAnswer:
        runs = runs_below(self.folder)
        if path == "/":
            return ViewAnswer(200, "html", runs_page(_progress(runs), str(self.folder)))
        if path == "/state.json":
            documents = [progress_document(one) for one in _progress(runs)]
            return ViewAnswer(200, "json", json.dumps({"runs": documents}))
        if path == "/compare":
            return self._compare(runs, parse_qs(query).get("run", []))
        if found := _ATTEMPT.fullmatch(path):
            return self._anywhere(runs, found[1])
        if (found := _PART.fullmatch(path)) and found[1] in self._parts:
            return ViewAnswer(200, "js", self._parts[found[1]])
        found = _RUN.fullmatch(path)
        if found is None or found[1] not in runs:
            return ViewAnswer(404, "html", _message("There is no such page; runs may have been moved."))
        key, run = found[1], runs[found[1]]
        if found[2] == "state.json":
            return ViewAnswer(200, "json", json.dumps(progress_document(run_progress(key, run))))
        if found[3]:
            return self._attempt(run, found[3], "../report.html")
        text, parts = self._page((key,), [run], "report_files", "state.json", "/")
        if not found[4]:
            return ViewAnswer(200, "html", text)
        if found[4] not in parts:
            return ViewAnswer(404, "html", _message("There is no such part."))
        return ViewAnswer(200, "js", parts[found[4]])

    def _page(
        self, keys: tuple[str, ...], runs: list[Path], folder: str, live: str, home: str
    ) -> tuple[str, dict[str, str]]:
        """A page of results, made anew where a journal has grown."""
        state = (*keys, *(_size(run / "journal.jsonl") for run in runs))
        with self._lock:
            if state not in self._pages:
                text, parts = results_html(runs, folder, live, home)
                for old in list(self._pages)[: max(0, len(self._pages) - _KEPT_PAGES + 1)]:
                    del self._pages[old]
                self._pages[state] = (text, dict(parts))
            return self._pages[state]

    def _compare(self, runs: dict[str, Path], keys: list[str]) -> ViewAnswer:
        chosen = list(dict.fromkeys(unquote(key, errors="surrogateescape") for key in keys))
        if missing := [key for key in chosen if key not in runs]:
            raise BadInput(f"There is no run {missing[0]!r} here.")
        if len(chosen) < 2 or len(chosen) > _MOST_COMPARED:
            raise BadInput(f"A comparison takes 2 to {_MOST_COMPARED} runs.", "Choose them on the list of runs.")
        text, self._parts = self._page(tuple(chosen), [runs[key] for key in chosen], "attempts", "", "/")
        return ViewAnswer(200, "html", text)

    def _anywhere(self, runs: dict[str, Path], attempt: str) -> ViewAnswer:
        for key, run in runs.items():
            if (run / "attempts" / attempt).is_dir():
                return self._attempt(run, attempt, f"/run/{quote(key, errors='surrogateescape')}/report.html")
        return ViewAnswer(404, "html", _message("There is no such attempt."))

    def _attempt(self, path: Path, attempt: str, back: str) -> ViewAnswer:
        run = RunFolder(path)
        folder = run.attempt_folder(attempt)
        if (folder / "verdict.json").is_file():
            return ViewAnswer(200, "html", attempt_html(run, attempt, back))
        working = next((one for one in run_progress("", path).running if one.id == attempt), None)
        if working is None:
            return ViewAnswer(404, "html", _message("There is no such attempt, or it was dropped."))
        title = f"{working.task} by {working.agent}{f' #{working.number}' if working.number > 1 else ''}"
        return ViewAnswer(200, "html", running_page(folder, title, working.since, back))


def _progress(runs: dict[str, Path]) -> list[RunProgress]:
    return [run_progress(key, path) for key, path in runs.items()]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1


def _message(text: str) -> str:
    from markupsafe import escape

    from repoassay.text import block

    policy = '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'">'
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8">{policy}<title>RepoAssay</title>'
        f'<p>{escape(block(text))}</p><p><a href="/">All runs</a></p></html>'
    )


class ViewServer(BoundedServer):
    """Serves one viewer at a socket of this machine that already listens."""

    def __init__(self, listening: socket.socket, viewer: RunViewer) -> None:
        super().__init__(listening, _Handler, _AT_ONCE)
        self.viewer = viewer
        port = listening.getsockname()[1]
        self.hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Answer one connection, for which a request in it has limited time."""
        with self.clock.watching(request):
            super().finish_request(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """GET and HEAD for a Host of this machine; everything else is refused."""

    server: ViewServer
    timeout = 20
    protocol_version = "HTTP/1.1"
    server_version = "RepoAssay"
    sys_version = ""

    def do_GET(self) -> None:
        """Answer with the content."""
        self._send(with_content=True)

    def do_HEAD(self) -> None:
        """Answer without the content."""
        self._send(with_content=False)

    def _send(self, *, with_content: bool) -> None:
        self.close_connection = True  # or it would keep its place in silence
        self.server.clock.release(self.connection)  # pages of large runs take long
        # A name that a stranger's page made point here would be another Host.
        if self.headers.get("Host", "").lower() not in self.server.hosts:
            answer = ViewAnswer(403, "html", _message("This server answers requests of this machine alone."))
        else:
            answer = self.server.viewer.answer(self.path)
        content = answer.text.encode("utf-8", "backslashreplace")
        self.server.clock.allow(self.connection, len(content))
        self.send_response(answer.status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", _TYPES[answer.kind])
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Connection", "close")
        self.end_headers()
        if with_content:
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def serve_view(folder: Path, listening: socket.socket, tell_ready: Callable[[], None]) -> None:
    """Serve the runs below a folder until Ctrl-C; `tell_ready` is called once requests are answered."""
    with ViewServer(listening, RunViewer(folder)) as server:
        tell_ready()
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever(0.2)
