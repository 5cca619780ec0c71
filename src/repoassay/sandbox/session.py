"""What sessions of every kind of sandbox share: snapshots, the log, and functions that work in one from outside."""

from __future__ import annotations

import itertools
import posixpath
import stat
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import replace
from typing import NoReturn, Protocol, Self

from repoassay.errors import BadInput, InfraFault, Interrupted
from repoassay.sandbox.protocol import (
    Access,
    Command,
    Completed,
    SandboxSession,
    SandboxSetup,
    SnapshotChange,
)
from repoassay.sandbox.stream import Log
from repoassay.types import Ended, Exit

__all__ = ["FileFacts", "SessionBase", "raise_end", "shell_exit", "work_outside"]

FileFacts = tuple[int, int, int, int]
"""Mode, size in bytes, and when content and facts of a file were changed last, in nanoseconds."""
_WIND_UP = 1.0
"""Seconds a function is waited for when its sandbox is gone; it may sleep for hours, and cannot be killed."""
_LOOK = 0.05


class _Report(Protocol):
    @property
    def exit(self) -> Exit: ...


def raise_end(report: _Report | InfraFault | None, *, is_closed: bool) -> NoReturn:
    """Raise why a session has ended: its fault, or `Interrupted`, with how it ended unless the caller closed it."""
    if isinstance(report, InfraFault):
        raise report
    how = "" if report is None or is_closed else f" ({report.exit.ended.value.replace('_', ' ')})"
    raise Interrupted(f"The session in the sandbox has ended{how}.")


class SessionBase:
    """A session but for how it runs commands and looks at files."""

    def __init__(self, setup: SandboxSetup) -> None:
        self.setup = setup
        self._log = Log(setup.log, setup.limits.output)
        self._logging = threading.Lock()
        self._snapshots: dict[str, tuple[tuple[str, ...], Mapping[str, FileFacts]]] = {}
        self._names = itertools.count(1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> Completed:
        """See `SandboxSession`."""
        raise NotImplementedError

    def note(self, line: str) -> None:
        """See `SandboxSession`."""
        self._logged(line.encode("utf-8", "replace").rstrip(b"\n") + b"\n")

    def _logged(self, data: bytes) -> None:
        with self._logging:
            self._log.write(data)

    def _end_log(self) -> None:
        with self._logging:  # what is printed later is not kept
            self._log.__exit__()

    def snapshot(self, *folders: str) -> str:
        """See `SandboxSession`."""
        mounts = (mount.target for mount in self.setup.mounts if mount.access is Access.COPY_ON_WRITE)
        places = tuple(posixpath.join(self.setup.cwd, folder) for folder in (folders or mounts))
        found = self._list(places)
        name = f"snapshot-{next(self._names)}"
        self._snapshots[name] = (places, found)
        return name

    def diff(self, snapshot: str) -> tuple[SnapshotChange, ...]:
        """See `SandboxSession`."""
        try:
            places, before = self._snapshots[snapshot]
        except KeyError:
            raise BadInput(
                f"This session has no snapshot {snapshot!r}.", "Name one that snapshot() returned."
            ) from None
        after = self._list(places)
        gone = [
            SnapshotChange(path, "deleted", regular=stat.S_ISREG(before[path][0])) for path in before.keys() - after
        ]
        here = [
            SnapshotChange(path, "changed" if path in before else "added", size, stat.S_ISREG(mode), bool(mode & 0o100))
            for path, (mode, size, *_) in after.items()
            if before.get(path) != after[path]
        ]
        return tuple(sorted([*gone, *here], key=lambda change: change.path))

    def _list(self, folders: Sequence[str]) -> Mapping[str, FileFacts]:
        """What lies below these folders, by absolute path."""
        raise NotImplementedError


def shell_exit(code: int, **facts: float | None) -> Exit:
    """How a process ended whose exit code, or negative signal, is `code`."""
    ended = Ended.EXITED if code >= 0 else Ended.SIGNALLED
    return Exit(ended=ended, code=code if code >= 0 else None, signal=-code if code < 0 else None, **facts)


class _Opens(Protocol):
    def open(self, setup: SandboxSetup, cancel: threading.Event | None = None) -> SandboxSession: ...


def work_outside(sandbox: _Opens, command: Command, cancel: threading.Event | None) -> Completed:
    """Run a command that has `outside` instead of `argv`: call that with a session, until either ends.

    Raises:
        Exception: Whatever the function raised while its sandbox was there; an error after that end is its end's.
    """
    assert command.outside is not None
    work, outcome = command.outside, Future[int]()
    session = sandbox.open(command, cancel)
    thread = threading.Thread(target=lambda: _settle(outcome, work, session), name="sandbox-outside", daemon=True)
    with session:
        thread.start()
        while not outcome.done() and not session.ended:
            wait([outcome], _LOOK)
    done = session.close()
    thread.join(_WIND_UP)
    if done.exit.ended is not Ended.EXITED:
        return done
    code = outcome.result() if outcome.done() else 1
    return replace(done, exit=done.exit.model_copy(update={"code": code}))


def _settle(outcome: Future[int], work: Callable[[SandboxSession], int], session: SandboxSession) -> None:
    """Keep what the function returns or raises: nobody else would see an exception of its thread."""
    try:
        outcome.set_result(work(session))
    except BaseException as error:  # noqa: BLE001 - raised where the result is taken
        outcome.set_exception(error)
