"""Port forwards as the host sees them: where they are made, who is given them, and when they are over."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from repoassay.errors import InfraFault
from repoassay.sandbox.launcher.spec import Spec
from repoassay.sandbox.protocol import PortForward, Sandbox, SandboxNetwork
from repoassay.sandbox.scratch import temporary_folder

__all__ = ["InnerDoors", "check_doors", "host_doors", "inner_doors", "local_doors", "open_door"]

_BACKLOG = 256
_PATIENCE = 60.0
"""Seconds a supervisor may take to send its sockets, which it does within milliseconds."""


def open_door(
    sandbox: Sandbox,
    network: SandboxNetwork,
    port: int,
    opened: Callable[[socket.socket], None],
    closed: Callable[[], None] | None = None,
) -> PortForward:
    """Make a port forward for one command that `sandbox` will run with `network`; `PortForward.port` is where it is.

    That is `port` where the command has a loopback of its own. Where it has the host's, on which any program of the
    host may come to the port forward too, it is a port that was free: who answers there must ask for a secret.
    """
    if sandbox.network_is_private and network is SandboxNetwork.NONE:
        return PortForward(port, opened, closed)
    listening = socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG)
    return PortForward(listening.getsockname()[1], opened, closed, listening)


@contextlib.contextmanager
def host_doors(doors: Sequence[PortForward]) -> Iterator[None]:
    """Open port forwards on the host's loopback, and tell their owners at the end.

    Raises:
        InfraFault: When a port forward's port is taken.
    """
    check_doors(doors)
    with contextlib.ExitStack() as ends:
        with contextlib.ExitStack() as unowned:
            sockets = [unowned.enter_context(door.listening or _listen(door.port)) for door in doors]
            unowned.pop_all()
        _hand_over(doors, sockets, ends)
        yield


@contextlib.contextmanager
def local_doors(doors: Sequence[PortForward]) -> Iterator[dict[int, str]]:
    """Hand each owner a local socket that listens, and tell them at the end; where they lie, by port.

    They lie in a folder of ours alone, so that no other program of the host comes to them.
    """
    with contextlib.ExitStack() as ends:
        places: dict[int, str] = {}
        folder = ends.enter_context(temporary_folder("door")) if doors else ""
        for number, door in enumerate(doors):
            listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            places[door.port] = str(Path(folder, str(number)))
            listening.bind(places[door.port])
            listening.listen(_BACKLOG)
            if door.closed is not None:
                ends.callback(door.closed)
            door.opened(listening)
        yield places


def check_doors(doors: Sequence[PortForward]) -> None:
    """Raise `InfraFault` for a port that cannot be."""
    for door in doors:
        if not 0 < door.port < 65536:
            raise InfraFault(f"There is no door at port {door.port}: ports are 1 to 65535.")


def _listen(port: int) -> socket.socket:
    try:
        return socket.create_server(("127.0.0.1", port), backlog=_BACKLOG)
    except OSError as error:
        raise InfraFault(f"No door can be made at port {port} of this machine: {error}.") from error


def _hand_over(doors: Sequence[PortForward], sockets: list[socket.socket], ends: contextlib.ExitStack) -> None:
    try:
        for door in doors:
            if door.closed is not None:
                ends.callback(door.closed)
            door.opened(sockets.pop(0))
    finally:
        for listening in sockets:  # those that found no owner, when one failed
            listening.close()


class InnerDoors:
    """Port forwards that the supervisor makes inside; without any, nothing happens."""

    def __init__(self, doors: Sequence[PortForward], ends: contextlib.ExitStack) -> None:
        self._doors, self._ends = doors, ends
        self._ours: socket.socket | None = None
        self._theirs: socket.socket | None = None
        if doors:
            self._ours, self._theirs = map(ends.enter_context, socket.socketpair())

    @property
    def given(self) -> tuple[int, ...]:
        """The descriptor the supervisor inherits: its end of the local socket over which the port forwards come."""
        return () if self._theirs is None else (self._theirs.fileno(),)

    def tell(self, spec: Spec) -> None:
        """Add what the supervisor must know."""
        for descriptor in self.given:
            spec.doors, spec.doors_fd = [door.port for door in self._doors], descriptor

    def let_go(self) -> None:
        """Close the supervisor's end, now that it has it, so that its death is seen."""
        if self._theirs is not None:
            self._theirs.close()

    def receive(self) -> None:
        """Wait for the sockets and hand each to its port forward; nothing when the supervisor ended before.

        Raises:
            InfraFault: When they do not arrive whole.
        """
        if self._ours is None:
            return
        self._ours.settimeout(_PATIENCE)
        try:
            data, numbers, _, _ = socket.recv_fds(self._ours, 1, len(self._doors), socket.MSG_CMSG_CLOEXEC)
        except OSError as error:
            raise InfraFault(f"The sandbox sent no doors: {error}.") from error
        if len(numbers) != len(self._doors):
            for number in numbers:
                os.close(number)
            if data:
                raise InfraFault(
                    "The sandbox's doors did not arrive whole.", "Raise the limit of open files (ulimit -n)."
                )
            return  # its report says why
        _hand_over(self._doors, [socket.socket(fileno=number) for number in numbers], self._ends)


@contextlib.contextmanager
def inner_doors(doors: Sequence[PortForward]) -> Iterator[InnerDoors]:
    """Port forwards of one sandbox; at the end of the context, which must be after the sandbox's, owners are told."""
    check_doors(doors)
    with contextlib.ExitStack() as ends:
        yield InnerDoors(doors, ends)
