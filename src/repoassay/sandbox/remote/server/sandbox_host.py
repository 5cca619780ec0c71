"""The sessions of a server of sandboxes: whose they are, how many there may be, and their end when nobody asks."""

from __future__ import annotations

import contextlib
import os
import platform
import secrets
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from repoassay.sandbox.cache import remove_tree
from repoassay.sandbox.capabilities import capabilities_of
from repoassay.sandbox.protocol import Sandbox
from repoassay.sandbox.remote.messages import PROTOCOL, ServiceDescription, SessionRequest
from repoassay.sandbox.remote.server.holder_shares import HolderShares
from repoassay.sandbox.remote.server.hosted_session import HostedSession
from repoassay.sandbox.remote.server.tree_store import TreeStore
from repoassay.sandbox.scratch import make_temporary

__all__ = ["SandboxHost"]

_LEASE = 90.0
"""Seconds without a question after which a session is ended: whoever asked for it is gone."""


@dataclass(slots=True)
class _Place:
    holder: str
    hosted: HostedSession
    ends: contextlib.ExitStack


class SandboxHost:
    """Sessions in one sandbox of this machine, for those who ask from elsewhere. A context manager.

    Args:
        sandbox: Where sessions are opened.
        most_sessions: Sessions at a time.
        most_bytes: Bytes of trees that are kept.
        shares: What each holder of a token may have of these, and what one session may ask for.
    """

    def __init__(
        self, sandbox: Sandbox, most_sessions: int, most_bytes: int, shares: HolderShares | None = None
    ) -> None:  # fmt: skip
        self._sandbox, self._most = sandbox, most_sessions
        self.shares = shares or HolderShares()
        self._folder = make_temporary("sandboxes")
        self._folder.chmod(0o755)  # what is mounted must be readable for the account of commands
        (self._folder / "trees").mkdir()
        self.trees = TreeStore(self._folder / "trees", most_bytes, self.shares.holders)
        self._places: dict[str, _Place] = {}
        self._opening: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._over = threading.Event()
        threading.Thread(target=self._watch, name="sandbox-host", daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        for name in list(self._places):
            self.remove(name)
        remove_tree(self._folder)

    def describe(self) -> ServiceDescription:
        """What is offered."""
        offered = capabilities_of(self._sandbox)
        return ServiceDescription(
            protocol=PROTOCOL, isolation=self._sandbox.name, grade=offered.grade.value, root=offered.root,
            image=offered.image, network_cut=self._sandbox.network_is_private, ports=offered.port_forwards,
            python_prefix=os.path.realpath(sys.base_prefix), python_version=platform.python_version(),
        )  # fmt: skip

    def open(self, holder: str, request: SessionRequest) -> str | None:
        """Open a session for the holder of a token; returns its name, None while all places are taken.

        Raises:
            BadInput: A tree that it mounts is not here, or it asks for more than any session may have.
            InfraFault: It cannot be opened.
        """
        self.shares.check_limits(request)
        share = self.shares.of(self._most)
        with self._lock:
            own = sum(each.holder == holder for each in self._places.values()) + self._opening[holder]
            if own >= share or len(self._places) + self._opening.total() >= self._most:
                return None
            self._opening[holder] += 1
        try:
            name = secrets.token_urlsafe(24)
            with contextlib.ExitStack() as ends:
                trees = ends.enter_context(self.trees.use(holder, (each.tree for each in request.mounts)))
                folder = self._folder / name
                ends.callback(remove_tree, folder)
                hosted = HostedSession(self._sandbox, request, trees, folder)
                with self._lock:
                    self._places[name] = _Place(holder, hosted, ends.pop_all())
            return name
        finally:
            with self._lock:
                self._opening[holder] -= 1

    def find(self, holder: str, name: str) -> HostedSession:
        """A session of the holder's; raises `KeyError` where there is none."""
        with self._lock:
            place = self._places[name]
        if place.holder != holder:
            raise KeyError(name)
        place.hosted.asked = time.monotonic()
        return place.hosted

    def remove(self, name: str) -> None:
        """End a session and remove what is left of it."""
        with self._lock:
            place = self._places.get(name)
        if place is not None:
            place.hosted.remove()
            place.ends.close()
            with self._lock:
                self._places.pop(name, None)

    def _watch(self) -> None:
        while not self._over.wait(1):
            with self._lock:
                late = [name for name, each in self._places.items() if time.monotonic() - each.hosted.asked > _LEASE]
            for name in late:
                self.remove(name)
