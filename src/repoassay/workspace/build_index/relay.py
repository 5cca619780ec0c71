"""The relay: package indexes as one build sees them, served on its own loopback and answered from outside.

A build asks for projects and their files and gets nothing else: no other path of an index, no other host, and no
password. Files come from the store, so whatever a build does to its own copies, the next build gets the index's.
"""

from __future__ import annotations

import hashlib
import html
import re
import secrets
import socket
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote, unquote, urlsplit

from repoassay.errors import InfraFault
from repoassay.package_proxy import Indexes
from repoassay.workspace.build_index import pages
from repoassay.workspace.build_index.dates import ReleaseDates
from repoassay.workspace.build_index.relay_server import RelayServer
from repoassay.workspace.build_index.store import Store

__all__ = ["IndexReply", "Relay"]

_SIMPLE = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"
_NODE = "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8"
_PROJECT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,200}")
_NODE_NAME = re.compile(r"(@[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,200}/)?[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,200}")
_MOST_BYTES = 16 * 2**30
"""Of downloads for one build, which a hostile one must not turn into a full disk."""


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
    """One build's relay. `serve` and `close` suit a `PortForward`.

    Args:
        indexes: Where packages come from.
        store: Where their files are kept.
        dates: Until when a file of a Python index must have been released; without it all are shown.
    """

    def __init__(self, indexes: Indexes, store: Store, dates: ReleaseDates | None = None) -> None:
        self._indexes, self._store, self._dates = indexes, store, dates
        self._python = (indexes.python, *indexes.more)
        self._files: dict[str, _File] = {}
        self._bytes = 0
        self._lock = threading.Lock()
        self._loose = tempfile.TemporaryDirectory(prefix="repoassay-files-")
        self._server: RelayServer | None = None
        self._secret = secrets.token_urlsafe(16)
        self.troubles: list[str] = []
        """What could not be had, in sentences; the last explains why a build failed."""

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
        if more:
            env["UV_INDEX"] = env["PIP_EXTRA_INDEX_URL"] = " ".join(more)
        if self._indexes.links:
            links = [f"{here}/links/{number}/" for number in range(len(self._indexes.links))]
            env["UV_FIND_LINKS"], env["PIP_FIND_LINKS"] = ",".join(links), " ".join(links)
        return env

    def answer(self, path: str, here: str) -> IndexReply | None:
        """What lies at a path; None when nothing does. `here` is how the build writes the relay's host and port.

        Without a loopback of its own, a build has the host's, on which others may ask too: every path is secret.

        Raises:
            InfraFault: It should be there but cannot be had.
        """
        secret, _, path = path.removeprefix("/").partition("/")
        if not secrets.compare_digest(secret.encode(), self._secret.encode()):
            return None
        here = f"{here}/{secret}"
        match path.split("/", 2):
            case ["python", number, rest] if _index(number, self._python) and _PROJECT.fullmatch(rest.rstrip("/")):
                return self._project(self._python[int(number)], rest.rstrip("/"), here)
            case ["links", number, ""] if _index(number, self._indexes.links):
                return IndexReply("text/html", self._links(self._indexes.links[int(number)], here))
            case ["node", *rest] if _NODE_NAME.fullmatch(unquote("/".join(rest))):
                return self._packument(unquote("/".join(rest)), here)
            case ["files", key, name] if key in self._files:
                return IndexReply("application/octet-stream", self._open(self._files[key], name))
        return None

    def _project(self, index: str, name: str, here: str) -> IndexReply:
        name = re.sub(r"[-_.]+", "-", name).lower()
        url = f"{index.rstrip('/')}/{name}/"
        kind, body = self._store.page(url, _SIMPLE)
        keep = self._dates.of(name) if self._dates else None
        return IndexReply(*pages.simple(kind, body, url, lambda at, digest: self._known(here, at, digest), keep))

    def _known(self, here: str, url: str, digest: str, local: Path | None = None) -> str:
        key = hashlib.sha256(f"{url} {digest} {local or ''}".encode()).hexdigest()[:32]
        self._files[key] = _File(url, digest, local)
        return f"{here}/files/{key}/{quote(_name(url))}"

    def _links(self, place: str, here: str) -> bytes:
        if urlsplit(place).scheme in ("http", "https"):
            return pages.anchors(self._store.page(place, "text/html")[1], place, lambda *at: self._known(here, *at))
        found = sorted(path for path in Path(place).iterdir() if path.suffix in (".whl", ".gz", ".zip"))
        known = ((self._known(here, path.name, "", path), path.name) for path in found if path.is_file())
        return "\n".join(f'<a href="{url}">{html.escape(name)}</a>' for url, name in known).encode()

    def _packument(self, name: str, here: str) -> IndexReply:
        registry = dict(self._indexes.scopes).get(name.partition("/")[0], self._indexes.node)
        url = f"{registry.rstrip('/')}/{quote(name, safe='@')}"
        body = pages.packument(self._store.page(url, _NODE)[1], url, lambda *at: self._known(here, *at))
        return IndexReply("application/json", body)

    def _open(self, file: _File, name: str) -> bytes | BinaryIO:
        if file.local is not None:
            return file.local.open("rb")
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


def _index(number: str, among: tuple[str, ...]) -> bool:
    return number.isascii() and number.isdigit() and int(number) < len(among)


def _name(url: str) -> str:
    return unquote(urlsplit(url).path.rpartition("/")[2])
