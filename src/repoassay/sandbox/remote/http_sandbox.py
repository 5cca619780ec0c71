"""The sandbox of another machine over HTTP: trees are sent once, and commands run there.

Environments are still built in this machine's default sandbox: what another machine made would lie in a cache that
every other verdict believes.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from repoassay.errors import InfraFault, Interrupted, NoIsolation, Unavailable
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.capabilities import SandboxCapabilities
from repoassay.sandbox.port_forward import check_doors
from repoassay.sandbox.protocol import Access, Command, Completed, Mount, Sandbox, SandboxNetwork, SandboxSetup
from repoassay.sandbox.remote.client import Refusal, SandboxClient
from repoassay.sandbox.remote.http_session import HttpSession
from repoassay.sandbox.remote.messages import (
    CollectRequest,
    CommandRequest,
    FileRequest,
    ServiceDescription,
    SessionName,
    SessionRequest,
    TreeMount,
    TreeNames,
)
from repoassay.sandbox.session import work_outside
from repoassay.sandbox.trees import measure_tree
from repoassay.text import one_line
from repoassay.types import IsolationGrade

__all__ = ["HttpSandbox"]

_BUSY = 503
_PAUSE = 0.5
_STARTING = 120.0
"""Seconds that a server may take to set up a session."""
_PATIENCE = 1800.0
"""Seconds that are waited for a server whose places are all taken."""


class HttpSandbox:
    """Runs commands in the sandboxes of one server.

    Args:
        client: Asks the server.
        cache: Of this machine, where environments are built.

    Raises:
        InfraFault: When the server does not answer as one of sandboxes.
        NoIsolation: When what lies below the system's folders here is not the same there.
    """

    def __init__(self, client: SandboxClient, cache: Cache) -> None:
        self._client, self._cache = client, cache
        self.name = f"http@{client.place}"
        self.description = client.ask(ServiceDescription, "GET", "/v1")
        description = self.description
        self.network_is_private = description.network_cut
        self.capabilities = SandboxCapabilities(
            # Only its own word is known of it, and that is taken where it claims less.
            grade=IsolationGrade.NONE if description.grade == "none" else IsolationGrade.UNVERIFIED,
            root=description.root, port_forwards=description.ports, host_mounts=False, image=description.image,
        )  # fmt: skip
        self._more = _interpreter(description, self.name)
        self._digests: dict[Path, tuple[bytes, str, int]] = {}
        self._lock = threading.Lock()

    def run(self, command: Command, cancel: threading.Event | None = None) -> Completed:
        """Run one command to its end; see `Sandbox`."""
        if _builds(command):
            return self._builder().run(command, cancel)
        if command.outside is not None:
            return work_outside(self, command, cancel)
        request = CommandRequest(argv=command.argv, stdin=command.stdin, channel=command.channel)
        with self._begin(command, cancel, request, command.on_channel) as session:
            session.await_end()
            return session.close()

    def open(self, setup: SandboxSetup, cancel: threading.Event | None = None) -> HttpSession:
        """Open a session; see `Sandbox`."""
        if _builds(setup):
            raise Unavailable(
                f"A session of {self.name} changes nothing of this machine.", "Use --isolation namespaces."
            )
        return self._begin(setup, cancel, None, None)

    def _builder(self) -> Sandbox:
        from repoassay.sandbox.namespaces import NamespaceSandbox

        return NamespaceSandbox(self._cache)

    def _begin(
        self, setup: SandboxSetup, cancel: threading.Event | None, command: CommandRequest | None,
        on_channel: Callable[[bytes], None] | None,
    ) -> HttpSession:  # fmt: skip
        check_doors(setup.doors)
        if setup.network is SandboxNetwork.HOST:
            raise Unavailable(f"{self.name} opens no network.", "Use --isolation namespaces, or another --network.")
        if setup.doors and not self.capabilities.port_forwards:
            raise Unavailable(f"{self.name} forwards no ports, which models need.", "Use --isolation namespaces.")
        for each in setup.collect:
            each.into.mkdir(parents=True, exist_ok=True)
        try:
            request = _request(setup, self._send((*self._more, *setup.mounts)), command)
        except ValueError as error:
            raise InfraFault(f"The sandbox could not be set up: {one_line(str(error))}.") from None
        return HttpSession(setup, self._client, self._create(request, cancel), cancel, on_channel)

    def _create(self, request: SessionRequest, cancel: threading.Event | None) -> str:
        """Have the server make a session, and wait while its places are all taken."""
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                return self._client.ask(SessionName, "POST", "/v1/sessions", request, wait=_STARTING).session
            except Refusal as refusal:
                if refusal.status != _BUSY or time.monotonic() > until:
                    raise
            if cancel is not None and cancel.wait(_PAUSE):
                raise Interrupted("The work was stopped before the sandbox server had a place.")
            if cancel is None:
                time.sleep(_PAUSE)

    def _send(self, mounts: Sequence[Mount]) -> tuple[TreeMount, ...]:
        """See that the server has what is mounted."""
        measured = [(*self._measured(mount.source), mount) for mount in mounts]
        if not measured:
            return ()
        request = TreeNames(trees=tuple(dict.fromkeys(digest for digest, _, _ in measured)))
        lacking = set(self._client.ask(TreeNames, "POST", "/v1/trees", request).trees)
        for digest, size, mount in measured:
            if digest in lacking:
                self._client.send_tree(f"/v1/trees/{digest}", Path(os.path.realpath(mount.source)), size)
                lacking.discard(digest)
        return tuple(TreeMount(tree=digest, target=mount.target, access=mount.access.value)
                     for digest, _, mount in measured)  # fmt: skip

    def _measured(self, source: Path) -> tuple[str, int]:
        """Digest and size of a tree's archive, known from the last time where nothing in it was touched since."""
        place = Path(os.path.realpath(source))
        if not place.exists():
            raise InfraFault(f"The sandbox could not be set up: {source} is not there.")
        state = _state(place)
        with self._lock:
            before = self._digests.get(place)
        if before is None or before[0] != state:
            before = (state, *measure_tree({"tree": place}))
            with self._lock:
                self._digests[place] = before
        return before[1:]


def _state(place: Path) -> bytes:
    """What changes whenever something in a tree is changed, as a digest: the kernel's own times among it."""
    digest = hashlib.sha256()
    for top, folders, names in os.walk(place):
        folders.sort()
        for name in sorted((*folders, *names)):
            digest.update(f"{_facts(Path(top, name))}\0{name}\0".encode(errors="surrogateescape"))
    found = place.lstat()
    facts = (found.st_mode, found.st_uid, found.st_ino) if place.is_dir() else _facts(place)  # whose times tell nothing
    return digest.digest() + repr(facts).encode()


def _facts(path: Path) -> tuple[int, ...]:
    found = path.lstat()
    return found.st_mode, found.st_size, found.st_ino, found.st_mtime_ns, found.st_ctime_ns


def _builds(setup: SandboxSetup) -> bool:
    return any(mount.access is Access.WRITE for mount in setup.mounts)


def _request(setup: SandboxSetup, mounts: tuple[TreeMount, ...], command: CommandRequest | None) -> SessionRequest:
    files = (
        FileRequest(path=path, content=edit and edit.content, executable=edit is not None and edit.executable)
        for path, edit in setup.edits.items()
    )
    collect = (
        CollectRequest(
            source=each.source, max_bytes=each.max_bytes, max_files=each.max_files, skip=each.skip, links=each.links
        )
        for each in setup.collect
    )
    return SessionRequest(
        env=dict(setup.env), cwd=setup.cwd, mounts=mounts, scratch=setup.scratch, files=tuple(files),
        limits=setup.limits, hosts=setup.hosts, ports=tuple(door.port for door in setup.doors), collect=tuple(collect),
        command=command,
    )  # fmt: skip


def _interpreter(description: ServiceDescription, name: str) -> tuple[Mount, ...]:
    """What shows the interpreter that environments here are made with, where the server has not the same one."""
    base = os.path.realpath(sys.base_prefix)
    if not description.image and (description.python_prefix, description.python_version) == (
        base,
        platform.python_version(),
    ):
        return ()
    if base == "/usr" or base.startswith("/usr/"):
        raise NoIsolation(
            f"The machine behind {name} has another Python than this one, which is the system's and cannot be sent.",
            "Run RepoAssay with a Python that uv installed (uv venv --managed-python), here or on both.",
        )
    return tuple(Mount(Path(base), place) for place in dict.fromkeys((base, sys.base_prefix)))
