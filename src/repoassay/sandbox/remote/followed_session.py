"""The life of a session on a server of sandboxes: it is followed by asking, until it has ended and been collected."""

from __future__ import annotations

import contextlib
import json
import tarfile
import threading
import time
from collections.abc import Callable
from typing import NoReturn

from repoassay.errors import InfraFault
from repoassay.sandbox.box.export import ExportReceiver
from repoassay.sandbox.protocol import Completed, ExportSpec, SandboxSetup
from repoassay.sandbox.remote.client import SandboxClient
from repoassay.sandbox.remote.messages import (
    CHANNEL,
    COLLECTED_OVERHEAD,
    PIECE,
    Acknowledgement,
    RemoteOutcome,
    RemoteState,
)
from repoassay.sandbox.remote.tunnel import forward_ports
from repoassay.sandbox.session import SessionBase, raise_end
from repoassay.sandbox.stream import Bounded
from repoassay.text import one_line, printable
from repoassay.types import Ended, SkippedFile

__all__ = ["FollowedSession", "answer_limit"]

_WAIT, _WAIT_CANCELLABLE = 10.0, 0.5
_STARTING = 120.0
_OVERDUE = 60.0
"""Seconds after its time limit by which a session must have ended."""
_ENDING = 60.0
_BESIDE = 8192
"""Bytes of the log beside what commands print: what the server itself says of its end."""


class FollowedSession(SessionBase):
    """A session but for what is asked of it while it lives.

    Args:
        setup: What the session shows and may use.
        client: Asks the server.
        name: What the server calls it.
        cancel: Ends it early when set.
        on_channel: Is handed what a command writes to its channel, as it comes.
    """

    def __init__(
        self, setup: SandboxSetup, client: SandboxClient, name: str, cancel: threading.Event | None,
        on_channel: Callable[[bytes], None] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(setup)
        self._client, self._path, self._cancel, self._on_channel = client, f"/v1/sessions/{name}", cancel, on_channel
        self._channel = Bounded(CHANNEL)
        self._log_bytes = 0
        self._over, self._closing = threading.Event(), threading.Lock()
        self._closed = self._cancelled = False
        self._report: Completed | InfraFault | None = None
        self._started = time.monotonic()
        self._ends = contextlib.ExitStack()
        self._ends.enter_context(forward_ports(setup.doors, client, f"{self._path}/ports", self._over))
        self._thread = threading.Thread(target=self._follow, name="sandbox-session", daemon=True)
        self._thread.start()

    @property
    def ended(self) -> bool:
        """See `SandboxSession`."""
        return self._over.is_set()

    def await_end(self) -> None:
        """Wait until it has ended by itself, passed a limit, was cancelled, or the server has failed."""
        self._over.wait()

    def close(self) -> Completed:
        """See `SandboxSession`."""
        with self._closing:
            if not self._closed:
                self._closed = True
                try:
                    self._end()
                finally:
                    with contextlib.suppress(InfraFault):
                        self._client.ask(Acknowledgement, "DELETE", self._path)
                    self._ends.close()
                    self._end_log()
        if self._report is None:
            raise InfraFault("The sandbox server did not end the session.")
        if isinstance(self._report, InfraFault):
            raise self._report
        return self._report

    def _end(self) -> None:
        if not self.ended:
            with contextlib.suppress(InfraFault):
                self._client.ask(Acknowledgement, "POST", f"{self._path}/close")
            self._over.wait(_ENDING + sum(each.max_bytes for each in self.setup.collect) / 2**20)
        if isinstance(self._report, Completed):
            try:
                for number, each in enumerate(self.setup.collect):
                    self._collect(number, each)
            except InfraFault as fault:
                self._report = fault

    def _collect(self, number: int, spec: ExportSpec) -> None:
        """Take a folder that was asked for, and of it only what `ExportReceiver` lets in."""
        receiver = ExportReceiver([(str(spec.into.resolve()), spec.max_bytes, spec.max_files)])
        most = spec.max_bytes + (spec.max_files + 64) * COLLECTED_OVERHEAD
        with self._client.open_answer(f"{self._path}/collected/{number}", most) as stream:
            try:
                with contextlib.closing(receiver), tarfile.open(fileobj=stream, mode="r|") as archive:
                    for member in archive:
                        _take(archive, member, receiver)
            except (tarfile.TarError, ValueError, OSError, KeyError, OverflowError, RecursionError) as error:
                reason = one_line(printable(str(error), 300))
                raise InfraFault(f"The sandbox server handed back what it should not: {reason}.") from None

    def _follow(self) -> None:
        """Ask what is new until the session is over; then tell whoever waits."""
        wait = _WAIT if self._cancel is None else _WAIT_CANCELLABLE
        limit = answer_limit(self.setup.limits.output)
        try:
            while self._report is None:
                self._look_at_the_time()
                if self._cancel is not None and self._cancel.is_set() and not self._cancelled:
                    self._cancelled = True
                    self._client.ask(Acknowledgement, "POST", f"{self._path}/close", query={"cancelled": 1})
                taken = {"log": self._log_bytes, "channel": self._channel.total}
                state = self._client.ask(RemoteState, "GET", self._path, limit=limit, wait=wait, query=taken)
                self._take(state)
        except InfraFault as fault:
            self._report = fault
        except BaseException as error:  # noqa: BLE001 - a listener of the caller's failed; whoever waits is told
            self._report = InfraFault(f"The sandbox's session failed: {type(error).__name__}.")
        self._over.set()

    def _look_at_the_time(self) -> None:
        if time.monotonic() - self._started > self.setup.limits.seconds + _STARTING + _OVERDUE:
            raise InfraFault("The sandbox server did not end the session at its time limit.")

    def _take(self, state: RemoteState) -> None:
        self._log_bytes += len(state.log)
        if len(state.log) > PIECE or self._log_bytes > self.setup.limits.output + _BESIDE:
            raise InfraFault("The sandbox server sent more of the log than may be printed.")
        if state.log:
            self._logged(state.log)
        if state.channel:
            self._channel.feed(state.channel)
            if self._channel.truncated:
                raise InfraFault("The sandbox server sent more of the channel than it takes.")
            if self._on_channel is not None:
                self._on_channel(state.channel)
        if state.fault:
            raise InfraFault(f"The sandbox server failed: {one_line(printable(state.fault, 2000), 2000)}")
        if state.outcome is not None and not state.log and not state.channel:  # all of both has come
            if state.outcome.exit.ended is Ended.CANCELLED and not (self._closed or self._cancelled):
                raise InfraFault("The sandbox server ended the session, which nobody here had asked for.")
            self._report = _completed(state.outcome, self._channel.value())

    def _check(self) -> None:
        if self._closed or self.ended:
            self._raise_end()

    def _raise_end(self) -> NoReturn:
        """Raise why the session has ended."""
        raise_end(self._report, is_closed=self._closed)


def answer_limit(output: int) -> int:
    """Bytes that an answer may have, of what prints at most `output` bytes to either end."""
    return 8 * 2**20 + 3 * output + 3 * PIECE


def _take(archive: tarfile.TarFile, member: tarfile.TarInfo, receiver: ExportReceiver) -> None:
    if member.name == "." and member.isdir():
        return
    name = member.name.removeprefix("./")
    if member.isdir():
        receiver.take_header(0, json.dumps({"folder": name}).encode())
        return
    if not member.isreg() or member.issparse():
        raise ValueError("what is neither file nor folder")
    executable = bool(member.mode & 0o100)
    receiver.take_header(0, json.dumps({"file": name, "size": member.size, "executable": executable}).encode())
    source = archive.extractfile(member)
    assert source is not None
    while data := source.read(1 << 20):
        receiver.take_data(data)


def _completed(outcome: RemoteOutcome, channel: bytes) -> Completed:
    rejected = tuple(SkippedFile(path=each.path, reason=each.reason) for each in outcome.rejected)
    exit_ = outcome.plain_exit()
    if exit_.ended is not Ended.EXITED and exit_.ended is not Ended.SIGNALLED:
        exit_ = exit_.model_copy(update={"code": None})
    return Completed(exit_, outcome.stdout, outcome.stderr, channel, rejected)
