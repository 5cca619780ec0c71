"""The relay: package indexes as one build or one agent sees them, served on its own loopback, answered from outside.

A build asks for projects and their files and gets nothing else: no other path of an index, no other host, and no
password. Files come from the store, so whatever a build does to its own copies, the next build gets the index's. What
its rules hold back is on no page, and not to be had by its address either.
"""

from __future__ import annotations

import hashlib
import html
import re
import secrets
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote, unquote, urlsplit

from repoassay.errors import InfraFault, RepoAssayError
from repoassay.package_proxy import Indexes
from repoassay.sandbox import temporary_folder
from repoassay.text import normalize_name, printable
from repoassay.workspace.build_index import pages
from repoassay.workspace.build_index.relay_server import RelayServer
from repoassay.workspace.build_index.rules import IndexRequest, IndexRules, Withheld
from repoassay.workspace.build_index.store import Store
from repoassay.workspace.build_index.upstream import IndexDenied

__all__ = ["IndexReply", "Relay"]

_SIMPLE = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"
_NODE = "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8"
_PROJECT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,200}")
_NODE_NAME = re.compile(r"(@[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,200}/)?[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,200}")
_NODE_TARBALL = re.compile(rf"({_NODE_NAME.pattern})/-/([^/]{{1,300}})")
"""Where npm looks for the files that a lock file names, whatever registry it was written with."""
_NODE_DATED = "application/json"
"""The long form alone tells when a version was uploaded."""
_MOST_BYTES = 16 * 2**30
"""Of downloads for one build or agent, which a hostile one must not turn into a full disk."""


@dataclass(frozen=True, slots=True)
class IndexReply:
    """What is served: a body, or an open file of some size."""

    kind: str
    body: bytes | BinaryIO


@dataclass(frozen=True, slots=True)
class _File:
    url: str
    digest: str
    local: Path | None = None
    """Where it lies on this machine, in a folder the user named."""


class Relay:
    """One build's or agent's relay. `serve` and `close` suit a `PortForward`.

    Args:
        indexes: Where packages come from.
        store: Where their files are kept.
        rules: What is held back; nothing by default.
        journal: Told of every request that knows the secret, on the thread that answered it.
    """

    def __init__(
        self,
        indexes: Indexes,
        store: Store,
        rules: IndexRules | None = None,
        journal: Callable[[IndexRequest], None] = lambda _: None,
    ) -> None:
        self._indexes, self._store, self._journal = indexes, store, journal
        rules = rules or IndexRules()
        self._rules = replace(rules, undated=rules.undated or indexes.undated)
        self._python = (indexes.python, *indexes.more)
        self._files: dict[str, _File] = {}
        self._withheld: dict[str, Withheld] = {}
        self._bytes = 0
        self._last = ""
        self._lock = threading.Lock()
        self._loose = temporary_folder("files")
        self._server: RelayServer | None = None
        self._secret = secrets.token_urlsafe(16)
        self.troubles: list[str] = []
        """What could not be had, in sentences; the last explains why a build failed."""

    def downloaded(self) -> str:
        """How much was downloaded and for which file last, as a sentence; empty where nothing was."""
        if not self._bytes:
            return ""
        return f"It had downloaded {self._bytes / 2**20:,.0f} MiB, the last of it of {printable(self._last, 200)}."

    def serve(self, listening: socket.socket) -> None:
        """Answer at a socket that already listens, and own it from now on."""
        self._server = RelayServer(listening, self)

    def close(self) -> None:
        """Stop answering. Safe to repeat."""
        if self._server is not None:
            self._server.end()
        self._loose.cleanup()

    def env(self, port: int) -> dict[str, str]:
        """Environment variables that make package tools ask the relay at 127.0.0.1:`port`."""
        here = f"http://127.0.0.1:{port}/{self._secret}"
        first, *more = (f"{here}/python/{number}/" for number in range(len(self._python)))
        env = {"UV_DEFAULT_INDEX": first, "PIP_INDEX_URL": first, "npm_config_registry": f"{here}/node/"}
        for name in ("UV_HTTP_TIMEOUT", "PIP_DEFAULT_TIMEOUT"):  # the relay itself gives up on an index
            env[name] = dict(self._indexes.settings).get(name, "600")
        if more:
            env["UV_INDEX"] = env["PIP_EXTRA_INDEX_URL"] = " ".join(more)
        if self._indexes.links:
            links = [f"{here}/links/{number}/" for number in range(len(self._indexes.links))]
            env["UV_FIND_LINKS"], env["PIP_FIND_LINKS"] = ",".join(links), " ".join(links)
        return env

    def answer(self, path: str, here: str, accept: str = _SIMPLE) -> IndexReply | None:
        """What lies at a path; None when nothing does. `here` is how the build writes the relay's host and port.

        Projects are told in JSON unless `accept` has none of it, as that of a pip before 22.2.

        Without a loopback of its own, a build has the host's, on which others may ask too: every path is secret.

        Raises:
            InfraFault: It should be there but cannot be had.
        """
        secret, _, path = path.removeprefix("/").partition("/")
        if not secrets.compare_digest(secret.encode(), self._secret.encode()):
            return None
        request = IndexRequest(datetime.now(UTC).isoformat(timespec="milliseconds"))
        try:
            found = self._reply(path, f"{here}/{secret}", request, accept)
            request.allowed = found is not None
        except (RepoAssayError, OSError, ValueError) as error:
            request.why = str(error)[:500]
            raise
        finally:
            self._journal(request)
        return found

    def _reply(self, path: str, here: str, request: IndexRequest, accept: str) -> IndexReply | None:
        match path.split("/", 2):
            case ["python", number, rest] if _index(number, self._python) and _PROJECT.fullmatch(rest.rstrip("/")):
                return self._project(self._python[int(number)], rest.rstrip("/"), here, request, accept)
            case ["links", number, ""] if _index(number, self._indexes.links):
                return self._links(self._indexes.links[int(number)], here, request)
            case ["node", *rest] if _NODE_NAME.fullmatch(unquote("/".join(rest))):
                return self._packument(unquote("/".join(rest)), here, request)
            case ["node", *rest] if found := _NODE_TARBALL.fullmatch(unquote("/".join(rest))):
                return self._tarball(found[1], found[3], here, request)
            case ["files", key, name]:
                request.file = unquote(name)[:300]
                if key in self._withheld:
                    raise self._refusal(request, f"The file {request.file}", self._withheld[key])
                if key in self._files:
                    return IndexReply("application/octet-stream", self._open(self._files[key], name))
        return None

    def _project(self, index: str, name: str, here: str, request: IndexRequest, accept: str) -> IndexReply:
        self._admit(name, request)
        url = f"{index.rstrip('/')}/{normalize_name(name)}/"
        kind, body = self._store.page(url, _SIMPLE)
        listing = _Listing(self, here, request)
        kind, body = pages.simple(kind, body, url, listing.known)
        listing.check(url)
        if "json" in kind and "json" not in accept and not accept.startswith("*/*"):
            return IndexReply("text/html", pages.as_html(body))
        return IndexReply(kind, body)

    def _links(self, place: str, here: str, request: IndexRequest) -> IndexReply:
        listing = _Listing(self, here, request)
        if urlsplit(place).scheme in ("http", "https"):
            body = pages.anchors(self._store.page(place, "text/html")[1], place, listing.known)
        else:
            found = sorted(path for path in Path(place).iterdir() if path.suffix in (".whl", ".gz", ".zip"))
            known = ((listing.known(path.name, "", "", path), path.name) for path in found if path.is_file())
            body = "\n".join(f'<a href="{url}">{html.escape(name)}</a>' for url, name in known if url).encode()
        return IndexReply("text/html", body)

    def _packument(self, name: str, here: str, request: IndexRequest) -> IndexReply:
        return IndexReply("application/json", self._versions(name, here, request)[0])

    def _tarball(self, name: str, file: str, here: str, request: IndexRequest) -> IndexReply | None:
        listing = self._versions(name, here, request)[1]
        request.file = file
        if file in listing.withheld:
            raise self._refusal(request, f"The file {file}", listing.withheld[file])
        if file not in listing.kept:
            return None
        return IndexReply("application/octet-stream", self._open(listing.kept[file], quote(file)))

    def _versions(self, name: str, here: str, request: IndexRequest) -> tuple[bytes, _Listing]:
        self._admit(name, request)
        registry = dict(self._indexes.scopes).get(name.partition("/")[0], self._indexes.node)
        url = f"{registry.rstrip('/')}/{quote(name, safe='@')}"
        accept = _NODE_DATED if self._rules.newest else _NODE
        listing = _Listing(self, here, request)
        body = pages.packument(self._store.page(url, accept)[1], url, listing.known)
        listing.check(url)
        return body, listing

    def _admit(self, project: str, request: IndexRequest) -> None:
        request.project = project
        if self._rules.refuses(project):
            raise self._refusal(request, f"The project {project}", Withheld.NAME)

    def _refusal(self, request: IndexRequest, what: str, why: Withheld) -> IndexDenied:
        request.rule = why.value
        match why:
            case Withheld.NAME:
                return IndexDenied(f"{what} is the one this task is about, and is not given out.")
            case Withheld.DATE:
                return IndexDenied(f"{what} was uploaded after {self._rules.newest}, the day this task is of.")
            case Withheld.UNDATED:
                return IndexDenied(
                    f"{what} may be newer than {self._rules.newest}, since its index tells no upload times.",
                    "Use an index that tells them (PEP 700), or set REPOASSAY_UNDATED_FILES=serve to take its files.",
                )

    def _place(self, here: str, file: _File, uploaded: str) -> tuple[str, Withheld | None]:
        """Where a file is to be had; it is not when it is held back."""
        key = hashlib.sha256(f"{file.url} {file.digest} {file.local or ''}".encode()).hexdigest()[:32]
        if why := self._rules.file(_name(file.url), uploaded):
            self._withheld[key] = why
            return "", why
        self._files[key] = file
        return f"{here}/files/{key}/{quote(_name(file.url))}", None

    def _open(self, file: _File, name: str) -> bytes | BinaryIO:
        if file.local is not None:
            return file.local.open("rb")
        self._last = unquote(name)
        if name == f"{quote(_name(file.url))}.metadata":  # PEP 658
            return self._store.page(f"{file.url}.metadata", "*/*")[1]
        if file.digest:
            return self._store.file(file.url, file.digest, self._count).open("rb")
        return self._without_digest(file)

    def _without_digest(self, file: _File) -> BinaryIO:
        """For indexes that give none: nobody could tell whether a kept file is still theirs."""
        kept = Path(self._loose.name, hashlib.sha256(file.url.encode()).hexdigest())
        with self._lock:
            if not kept.exists():
                part = kept.with_suffix(".part")
                self._store.download(file.url, part, "sha256", self._count)
                part.rename(kept)
        return kept.open("rb")

    def _count(self, size: int) -> None:
        self._bytes += size
        if self._bytes > _MOST_BYTES:
            raise InfraFault(f"This build has downloaded more than {_MOST_BYTES} bytes, which is all it may.")


class _Listing:
    """The files of one page while it is rewritten, by name: those it gives, and those it holds back."""

    def __init__(self, relay: Relay, here: str, request: IndexRequest) -> None:
        self._relay, self._here, self._request = relay, here, request
        self.kept: dict[str, _File] = {}
        self.withheld: dict[str, Withheld] = {}

    def known(self, url: str, digest: str, uploaded: str, local: Path | None = None) -> str:
        """Where a file of the page is to be had; empty when it is held back."""
        file = _File(url, digest, local)
        place, why = self._relay._place(self._here, file, uploaded)
        if why is None:
            self.kept[_name(url)] = file
        else:
            self._request.withheld += 1
            self.withheld[_name(url)] = why
        return place

    def check(self, url: str) -> None:
        """Refuse a page that is empty for want of upload times alone: whoever asks would look for another fault."""
        if not self.kept and set(self.withheld.values()) == {Withheld.UNDATED}:
            raise self._relay._refusal(self._request, f"Every file of {urlsplit(url).path}", Withheld.UNDATED)


def _index(number: str, among: tuple[str, ...]) -> bool:
    return number.isascii() and number.isdigit() and int(number) < len(among)


def _name(url: str) -> str:
    return unquote(urlsplit(url).path.rpartition("/")[2])
