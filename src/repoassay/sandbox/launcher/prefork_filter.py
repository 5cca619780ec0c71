"""The system-call filter of a warm interpreter and all it forks: a command's, with `setns` for whom `gate.py` lets in.

`setns` is absent unless the fork server traces the caller. The rest refuses what a warm interpreter could do to a
job's network without entering it: as the owner of the jobs' user namespace it counts as that network's administrator
wherever it holds a socket made there, and packet filters, tunnels and routes are what kernels are attacked through.
"""

from __future__ import annotations

import errno
import os
import struct

from repoassay.sandbox.launcher.calls import ALLOWED, BY_ARGUMENT
from repoassay.sandbox.launcher.seccomp import UNSEEN, compile_filter, unseen_mapping

__all__ = ["compile_job_filter", "compile_warm_filter"]

_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_SETNS = {"x86_64": 308, "aarch64": 268}
_SETSOCKOPT = {"x86_64": 54, "aarch64": 208}
_IOCTL = {"x86_64": 16, "aarch64": 29}
_PRLIMIT = {"x86_64": 302, "aarch64": 261}
_PIDFD_GETFD = 438  # takes sockets out of other processes
_ASKED = (0x8910, 0x8912, 0x8913, 0x8915, 0x8917, 0x8919, 0x891B, 0x891D, 0x8921, 0x8927, 0x8933, 0x8942)
"""Requests that ask for a name, the list, flags, addresses, metric, size, number, queue of network devices."""
_IP, _TCP, _IPV6 = 0, 6, 41
_TABLES = 64
"""First option of packet filters; theirs, multicast routing's and others' begin here, 66 to 95 are ordinary."""
_ORDINARY_FROM, _ORDINARY_TO = 66, 96
_TCP_REPAIR = 19

_COLUMN = {"x86_64": 0, "aarch64": 1}
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _ARCHITECTURE, _FIRST = 0, 4, 16
_ALLOW, _TRACE, _ABSENT, _REFUSE = 0x7FFF0000, 0x7FF00000, 0x00050000 | errno.ENOSYS, 0x00050000 | errno.EPERM


def compile_warm_filter(machine: str = "") -> bytes:
    """The filter as packed `sock_filter` instructions; raises KeyError for machines other than x86_64 and aarch64."""
    machine = machine or os.uname().machine
    steps = [_step(_LOAD, _NUMBER)]
    steps += [_step(_EQUAL, _SETNS[machine], no=1), _step(_RETURN, _TRACE)]
    steps += [_step(_EQUAL, _PIDFD_GETFD, no=1), _step(_RETURN, _REFUSE)]
    # Process 1 is of the same user: without this anybody could give the fork server a second of processor time to live.
    limits = [_step(_LOAD, _FIRST), _step(_EQUAL, 1, no=1), _step(_RETURN, _REFUSE), _step(_LOAD, _NUMBER)]
    steps += [_step(_EQUAL, _PRLIMIT[machine], no=len(limits)), *limits]
    for number, body in ((_SETSOCKOPT[machine], _socket_options()), (_IOCTL[machine], _requests())):
        steps += [_step(_EQUAL, number, no=len(body)), *body]
    # Should the architecture be another, the numbers above mean nothing: what follows ends the process.
    steps = [_step(_LOAD, _ARCHITECTURE), _step(_EQUAL, _AUDIT[machine], no=len(steps)), *steps]
    return b"".join(steps) + compile_filter(machine)


def compile_job_filter(machine: str = "") -> bytes:
    """What a job is refused besides, for good: `setns`, and what holds memory that no process shows.

    It is installed on top of `compile_warm_filter`, which every fork of the interpreter has: of two filters the kernel
    takes what is stricter. So it names only the difference to a command's filter, and is made in no time.
    """
    machine = machine or os.uname().machine
    refused = {_SETNS[machine]: _REFUSE} | {ALLOWED[name][_COLUMN[machine]]: _ABSENT for name in UNSEEN}
    steps = [_step(_LOAD, _NUMBER)]
    for number, verdict in refused.items():
        steps += [_step(_EQUAL, number, no=1), _step(_RETURN, verdict)]
    mapping = unseen_mapping()
    steps += [_step(_EQUAL, BY_ARGUMENT["mmap"][_COLUMN[machine]], no=len(mapping)), *mapping]
    return b"".join([*steps, _step(_RETURN, _ALLOW)])


def _step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("HBBI", code, yes, no, value)


def _socket_options() -> list[bytes]:
    level, option = _FIRST + 8, _FIRST + 16
    tables = [
        _step(_LOAD, option),
        _step(_AT_LEAST, _TABLES, no=3),  # below: on
        _step(_AT_LEAST, _ORDINARY_TO, yes=1),
        _step(_AT_LEAST, _ORDINARY_FROM, yes=1),  # 64 and 65 are refused, 66 to 95 go on
        _step(_RETURN, _REFUSE),
    ]
    repair = [_step(_LOAD, option), _step(_EQUAL, _TCP_REPAIR, no=1), _step(_RETURN, _REFUSE)]
    return [
        _step(_LOAD, level),
        _step(_EQUAL, _IP, yes=1),
        _step(_EQUAL, _IPV6, no=len(tables) + 1),
        *tables,
        _step(_LOAD, level),
        _step(_EQUAL, _TCP, no=len(repair)),
        *repair,
        _step(_LOAD, _NUMBER),
    ]


def _requests() -> list[bytes]:
    return [
        _step(_LOAD, _FIRST + 8),
        _step(_AT_LEAST, 0x8910, no=len(_ASKED) + 2),
        _step(_AT_LEAST, 0x8A00, yes=len(_ASKED) + 1),
        *(_step(_EQUAL, request, yes=len(_ASKED) - place) for place, request in enumerate(_ASKED)),
        _step(_RETURN, _REFUSE),
        _step(_LOAD, _NUMBER),
    ]
