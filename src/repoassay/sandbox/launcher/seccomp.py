"""The system-call filter of the command: what builds, tests and agents need is allowed, and nothing else.

Refused calls fail with EPERM where programs know that they need a privilege, and with ENOSYS otherwise: what kernels of
tomorrow bring is absent, and programs do without it, as they do on older kernels. Sockets are limited to local, IPv4,
IPv6 and netlink: other families, such as vsock, are not bound to the network namespace and would reach past it.
"""

from __future__ import annotations

import errno
import os
import struct

from repoassay.sandbox.launcher.calls import ALLOWED, BY_ARGUMENT, REFUSED

TYPE_CHECKING = False  # as typing has it, without the price of importing typing
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["UNSEEN", "compile_filter", "unseen_mapping"]

_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_COLUMN = {"x86_64": 0, "aarch64": 1}
UNSEEN = ("memfd_create", "shmget", "semget", "msgget")
"""Calls that hold memory without any process showing it."""
_FAMILIES = (1, 2, 10, 16)  # AF_UNIX, AF_INET, AF_INET6, AF_NETLINK
_PERSONALITIES = (0, 8, 0x20000, 0x20008, 0xFFFFFFFF)  # Linux, 32-bit, 2.6 in name, both; and asking
_SET_LEASE = 1024
_SHARED, _ANONYMOUS, _HUGE = 0x01, 0x20, 0x40000  # flags of mmap
_NEW_NAMESPACES = 0x7E020000  # every CLONE_NEW* flag but CLONE_NEWTIME, which clone cannot take

_LOAD, _JUMP_EQUAL, _JUMP_ABOVE, _JUMP_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENT = 0, 4, 16
_ALLOW, _KILL, _FAIL = 0x7FFF0000, 0x80000000, 0x00050000


def compile_filter(machine: str = "", *, memory_is_counted: bool = True, allow: Iterable[str] = ()) -> bytes:
    """The filter as packed `sock_filter` instructions for this machine (x86_64 or aarch64).

    Unless the kernel counts all memory, as control groups do, what holds memory without any process showing it is
    made absent too.

    Args:
        machine: As `uname` has it; this one when empty.
        memory_is_counted: Whether the kernel counts memory that no process shows.
        allow: Refused calls to allow nevertheless, by name.

    Raises:
        KeyError: When the machine's system-call numbers, or the name of a call, are not known here.
    """
    machine = machine or os.uname().machine
    column = _COLUMN[machine]
    verdicts = {numbers[column]: _return(_FAIL | errno.EPERM) for numbers in REFUSED.values()}
    verdicts |= {numbers[column]: _return(_ALLOW) for numbers in ALLOWED.values()}
    verdicts |= {REFUSED[name][column]: _return(_ALLOW) for name in allow}
    verdicts |= {BY_ARGUMENT[name][column]: steps for name, steps in _by_argument(memory_is_counted).items()}
    if not memory_is_counted:
        verdicts |= {ALLOWED[name][column]: _return(_FAIL | errno.ENOSYS) for name in UNSEEN}
    verdicts.pop(-1, None)
    steps = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_JUMP_EQUAL, _AUDIT[machine], yes=1),
        *_return(_KILL),
        _step(_LOAD, _NUMBER),
        *_tree(_ranges(verdicts)),
    ]
    return b"".join(steps)


def _step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("HBBI", code, yes, no, value)


def _return(verdict: int) -> list[bytes]:
    return [_step(_RETURN, verdict)]


def unseen_mapping() -> list[bytes]:
    """What is done of `mmap` where nobody counts memory: shared memory without a file is refused beyond a page.

    Its pages stay when no process has them mapped any more, as those of the calls in `UNSEEN`.
    """
    size = _ARGUMENT + 8
    return [
        _step(_LOAD, _ARGUMENT + 24),
        _step(_JUMP_BITS, _ANONYMOUS, no=6),
        _step(_JUMP_BITS, _SHARED, no=5),
        _step(_LOAD, size + 4),
        _step(_JUMP_ABOVE, 1, yes=2),
        _step(_LOAD, size),
        _step(_JUMP_ABOVE, os.sysconf("SC_PAGESIZE") + 1, no=1),
        *_return(_FAIL | errno.EPERM),
        *_return(_ALLOW),
    ]


def _by_argument(memory_is_counted: bool) -> dict[str, list[bytes]]:
    return {
        # A lease makes everybody else who opens the file wait, for 45 seconds each: other jobs, and the host.
        "fcntl": [
            _step(_LOAD, _ARGUMENT + 8),
            _step(_JUMP_EQUAL, _SET_LEASE, no=1),
            *_return(_FAIL | errno.EPERM),
            *_return(_ALLOW),
        ],
        # Pages of hugetlbfs count as nobody's memory; a host that keeps none answers the same.
        "mmap": [
            _step(_LOAD, _ARGUMENT + 24),
            _step(_JUMP_BITS, _HUGE, no=1),
            *_return(_FAIL | errno.ENOMEM),
            *(_return(_ALLOW) if memory_is_counted else unseen_mapping()),
        ],
        "clone": [
            _step(_LOAD, _ARGUMENT),
            _step(_JUMP_BITS, _NEW_NAMESPACES, no=1),
            *_return(_FAIL | errno.EPERM),
            *_return(_ALLOW),
        ],
        "socket": _one_of(_FAMILIES),
        "personality": _one_of(_PERSONALITIES),
    }


def _one_of(values: tuple[int, ...]) -> list[bytes]:
    """Allow a call whose first argument is one of a few."""
    return [
        _step(_LOAD, _ARGUMENT),
        *(_step(_JUMP_EQUAL, value, yes=len(values) - place) for place, value in enumerate(values)),
        *_return(_FAIL | errno.EPERM),
        *_return(_ALLOW),
    ]


def _ranges(verdicts: dict[int, list[bytes]]) -> list[tuple[int, list[bytes]]]:
    """Where each run of calls with one verdict starts, from 0 on; what is not named is absent.

    The numbers of x32, a second door to the calls of x86_64, lie above all others and are thereby absent too.
    """
    absent = _return(_FAIL | errno.ENOSYS)
    starts = [(0, verdicts.get(0, absent))]
    for number in range(1, max(verdicts) + 2):
        steps = verdicts.get(number, absent)
        if steps != starts[-1][1]:
            starts.append((number, steps))
    return starts


def _tree(ranges: list[tuple[int, list[bytes]]]) -> list[bytes]:
    """A binary search for the range of the number that is loaded, so that no call waits for more than a few steps."""
    if len(ranges) == 1:
        return ranges[0][1]
    half = len(ranges) // 2
    below, above = _tree(ranges[:half]), _tree(ranges[half:])
    return [_step(_JUMP_ABOVE, ranges[half][0], yes=len(below)), *below, *above]
