"""A session that somebody elsewhere asked for: the sandbox here, what runs in it, and what came of it."""

from __future__ import annotations

import contextlib
import itertools
import socket
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from queue import Empty, Queue

from repoassay.errors import BadInput, Interrupted, RepoAssayError
from repoassay.sandbox.cache import remove_tree
from repoassay.sandbox.protocol import (
    Access,
    Command,
    Completed,
    ExportSpec,
    Mount,
    PortForward,
    Sandbox,
    SandboxSession,
    SandboxSetup,
)
from repoassay.sandbox.remote.messages import (
    CHANNEL,
    PIECE,
    CommandRequest,
    ExecRequest,
    RemoteExit,
    RemoteOutcome,
    RemoteRejection,
    RemoteState,
    SessionRequest,
)
from repoassay.types import FileEdit

__all__ = ["HostedSession"]

_LOOK = 0.05
_MOST_COMMANDS = 64
"""Commands of a session that run, or whose outcome nobody has fetched, at a time."""
_MOST_PROMISED = 2**30
"""Bytes of output that these may have together."""


class HostedSession:
    """One session. Used from any thread.

    Args:
        sandbox: Where it is opened.
        request: What it shows and may use.
        trees: Places of the trees that it mounts, by digest.
        folder: A new folder of its own, which goes with it.

    Raises:
        InfraFault: When it cannot be opened.
    """

    def __init__(self, sandbox: Sandbox, request: SessionRequest, trees: Mapping[str, Path], folder: Path) -> None:
        self._folder, self._cancel, self._closing = folder, threading.Event(), threading.Event()
        self.collected = [folder / f"collected-{number}" for number in range(len(request.collect))]
        for place in self.collected:
            place.mkdir(parents=True)
        self._log = folder / "log"
        self._channel = bytearray()
        self._changed = threading.Condition()
        self._outcome: RemoteOutcome | None = None
        self._fault = ""
        self._execs: dict[int, RemoteState | None] = {}
        self._promised: dict[int, int] = {}
        self._ports: dict[int, Queue[socket.socket]] = {}
        self._dead = threading.Event()
        self._numbers = itertools.count(1)
        self.asked = time.monotonic()
        self._session: SandboxSession | None = None
        setup = self._setup(request, trees)
        if request.command is None:
            try:
                self._session = sandbox.open(setup, self._cancel)
            except BaseException:
                self._close_ports()
                raise
            work = self._await_end
        else:
            command = self._command(setup, request.command)
            work = lambda: sandbox.run(command, self._cancel)  # noqa: E731 - what the thread does
        self._thread = threading.Thread(target=self._finish, args=(work,), name="hosted-session", daemon=True)
        self._thread.start()

    def _setup(self, request: SessionRequest, trees: Mapping[str, Path]) -> SandboxSetup:
        return SandboxSetup(
            env=request.env,
            cwd=request.cwd,
            mounts=tuple(Mount(trees[each.tree], each.target, Access(each.access)) for each in request.mounts),
            scratch=request.scratch,
            edits={
                each.path: None if each.content is None else FileEdit(each.content, each.executable)
                for each in request.files
            },
            limits=request.limits,
            hosts=request.hosts,
            collect=tuple(
                ExportSpec(each.source, into, each.max_bytes, each.max_files, each.skip, each.links)
                for each, into in zip(request.collect, self.collected, strict=True)
            ),
            doors=tuple(PortForward(port, self._ports.setdefault(port, Queue()).put) for port in request.ports),
            log=self._log,
        )

    def _command(self, setup: SandboxSetup, request: CommandRequest) -> Command:
        fields = {name: getattr(setup, name) for name in SandboxSetup.__dataclass_fields__}
        return Command(**fields, argv=request.argv, stdin=request.stdin, channel=request.channel, on_channel=self._hear)

    def _hear(self, data: bytes) -> None:
        with self._changed:
            self._channel += data[: CHANNEL - len(self._channel)]
            self._changed.notify_all()

    def _await_end(self) -> Completed:
        assert self._session is not None
        while not self._session.ended and not self._closing.wait(_LOOK):
            pass
        return self._session.close()

    def _finish(self, work: Callable[[], Completed]) -> None:
        try:
            outcome, fault = _outcome_of(work)
        except Interrupted as error:
            outcome, fault = None, error.message
        self._close_ports()
        with self._changed:
            self._outcome, self._fault = outcome, fault
            self._changed.notify_all()

    def state(self, wait: float, log: int, channel: int) -> RemoteState:
        """What is new since so many bytes of the log and of the channel were told; waits so long for something."""
        until = time.monotonic() + wait
        with self._changed:
            while True:
                printed = self._printed(log)
                channel_piece = bytes(self._channel[channel : channel + PIECE])
                left = until - time.monotonic()
                if printed or channel_piece or self._outcome or self._fault or left <= 0:
                    return RemoteState(outcome=self._outcome, fault=self._fault, log=printed, channel=channel_piece)
                self._changed.wait(min(left, _LOOK))

    def _printed(self, start: int) -> bytes:
        try:
            with self._log.open("rb") as stream:
                stream.seek(start)
                return stream.read(PIECE)
        except FileNotFoundError:
            return b""

    @property
    def session(self) -> SandboxSession:
        """The session here; raises `Interrupted` where it is one command's alone, or is over."""
        if self._session is None or self._session.ended:
            raise Interrupted("The session has ended, or is that of one command.")
        return self._session

    def exec(self, request: ExecRequest) -> int:
        """Start a command, and return its number; raises `BadInput` where too many run."""
        session = self.session
        promised = 2 * request.output
        with self._changed:
            if len(self._execs) >= _MOST_COMMANDS or sum(self._promised.values()) + promised > _MOST_PROMISED:
                raise BadInput(f"More than {_MOST_COMMANDS} commands, or too much output, wait in the session.")
            number = next(self._numbers)
            self._execs[number], self._promised[number] = None, promised
        run = threading.Thread(target=self._run, args=(session, number, request), name="hosted-exec", daemon=True)
        run.start()
        return number

    def _run(self, session: SandboxSession, number: int, request: ExecRequest) -> None:
        fields = request.model_dump()
        try:
            outcome, fault = _outcome_of(lambda: session.exec(fields.pop("argv"), **fields))
            state = RemoteState(outcome=outcome, fault=fault, gone=session.ended)
        except Interrupted:
            state = RemoteState(gone=True)
        with self._changed:
            self._execs[number] = state
            self._changed.notify_all()

    def exec_state(self, number: int, wait: float) -> RemoteState:
        """What came of a command, once; waits so long for its end. Raises `KeyError` where there is none."""
        with self._changed:
            self._changed.wait_for(lambda: self._execs[number] is not None, wait)
            state = self._execs[number]
            if state is None:
                return RemoteState()
            del self._execs[number], self._promised[number]
            return state

    def accept(self, port: int, wait: float) -> socket.socket | None:
        """A connection that something inside makes to a port; None when none comes. Raises `KeyError` for others.

        One asks at a time: the socket that listens is whoever's who took it.
        """
        waiting, until = self._ports[port], time.monotonic() + wait
        while time.monotonic() < until and not self._dead.is_set():
            try:
                listening = waiting.get(timeout=_LOOK)
            except Empty:
                continue
            try:
                listening.settimeout(_LOOK)
                return listening.accept()[0]
            except TimeoutError:
                continue
            finally:
                self._put_back(waiting, listening)
        return None

    def _put_back(self, waiting: Queue[socket.socket], listening: socket.socket) -> None:
        with self._changed:
            if self._dead.is_set():
                listening.close()
            else:
                waiting.put(listening)

    def _close_ports(self) -> None:
        """Close what listens, now that nothing inside is alive; what `accept` holds, it closes."""
        with self._changed:
            self._dead.set()
            for waiting in self._ports.values():
                with contextlib.suppress(Empty):
                    waiting.get_nowait().close()

    def close(self, *, cancelled: bool) -> None:
        """Begin to end everything inside; its state tells when that is done, and whether it was cancelled."""
        if cancelled or self._session is None:
            self._cancel.set()
        else:
            self._closing.set()

    def remove(self) -> None:
        """End it, and remove what is left of it."""
        self.close(cancelled=True)
        self._thread.join()
        remove_tree(self._folder)


def _outcome_of(work: Callable[[], Completed]) -> tuple[RemoteOutcome | None, str]:
    try:
        done = work()
    except Interrupted:
        raise
    except (RepoAssayError, OSError, ValueError) as error:
        return None, error.message if isinstance(error, RepoAssayError) else str(error) or type(error).__name__
    rejected = tuple(RemoteRejection(path=each.path, reason=each.reason) for each in done.rejected)
    exit_ = RemoteExit(**done.exit.model_dump())
    return RemoteOutcome(exit=exit_, stdout=done.stdout, stderr=done.stderr, rejected=rejected), ""
