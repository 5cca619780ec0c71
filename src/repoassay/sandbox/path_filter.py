"""The system-call filter of a traced program: every call that takes a path, or could reach a file without one, is told.

It only adds to the sandbox's own filter, whose refusals go first; what a call means is for who listens
(`grading/base_trace/program.py`). Calls that only take descriptors are not told: the open that made one was.
"""

from __future__ import annotations

import os
import struct

from repoassay.sandbox.launcher.calls import ALLOWED, BY_ARGUMENT, REFUSED

__all__ = ["compile_path_filter", "path_calls"]

_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_COLUMN = {"x86_64": 0, "aarch64": 1}

_FIRST = ((-1, 0),)
_AT = ((0, 1),)
_PLACES: dict[str, tuple[tuple[int, int], ...]] = {
    **dict.fromkeys(
        ("open", "creat", "stat", "lstat", "access", "readlink", "chdir", "chmod", "chown", "lchown", "truncate",
         "statfs", "mkdir", "rmdir", "unlink", "mknod", "utime", "utimes", "execve", "getxattr", "lgetxattr",
         "listxattr", "llistxattr", "setxattr", "lsetxattr", "removexattr", "lremovexattr"), _FIRST),
    **dict.fromkeys(
        ("openat", "openat2", "newfstatat", "statx", "faccessat", "faccessat2", "readlinkat", "fchmodat", "fchmodat2",
         "fchownat", "futimesat", "utimensat", "mkdirat", "mknodat", "unlinkat", "execveat", "getxattrat", "setxattrat",
         "listxattrat", "removexattrat"), _AT),
    "rename": ((-1, 0), (-1, 1)), "renameat": ((0, 1), (2, 3)), "renameat2": ((0, 1), (2, 3)),
    "link": ((-1, 0), (-1, 1)), "linkat": ((0, 1), (2, 3)), "symlink": ((-1, 1),), "symlinkat": ((1, 2),),
}  # fmt: skip
"""Arguments of each call that are paths, each with the argument that says below which folder, -1 for none."""
_SOCKETS = ("connect", "bind", "sendto", "sendmsg")
"""Calls that may take the path of a socket."""
_UNREAD = ("inotify_add_watch", "sendmmsg", "chroot", "fanotify_mark", "io_uring_setup", "mount", "move_mount",
           "name_to_handle_at", "open_by_handle_at", "open_tree", "pidfd_getfd", "pivot_root", "process_vm_readv",
           "ptrace", "setns", "unshare")  # fmt: skip
"""Calls that reach files in ways that are not followed. The sandbox refuses most of them anyway."""

_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENT = 0, 4, 16
_ALLOW, _TELL = 0x7FFF0000, 0x7FC00000


def path_calls(machine: str = "") -> dict[int, tuple[str, tuple[tuple[int, int], ...]]]:
    """Calls that the filter tells of, by number: the name, and where their paths are, as (folder, path) arguments.

    Raises:
        KeyError: When the numbers of a machine are not known here; `machine` is as `uname` has it, this one when empty.
    """
    column = _COLUMN[machine or os.uname().machine]
    every = {**ALLOWED, **BY_ARGUMENT, **REFUSED}
    wanted: dict[str, tuple[tuple[int, int], ...]] = {**_PLACES, **dict.fromkeys((*_SOCKETS, *_UNREAD), ())}
    found = {every[name][column]: (name, places) for name, places in wanted.items() if name in every}
    return {number: each for number, each in found.items() if number >= 0}


def compile_path_filter(spared: int, machine: str = "") -> bytes:
    """The filter as packed `sock_filter` instructions; messages sent over descriptor `spared` are not told.

    Raises:
        KeyError: See `path_calls`.
    """
    machine = machine or os.uname().machine
    calls = path_calls(machine)
    sendmsg = ALLOWED["sendmsg"][_COLUMN[machine]]
    body = [
        _step(_LOAD, _NUMBER),
        _step(_EQUAL, sendmsg, no=3),
        _step(_LOAD, _ARGUMENT),
        _step(_EQUAL, spared, yes=len(calls) + 1),
        _step(_LOAD, _NUMBER),
    ]
    body += [_step(_EQUAL, number, yes=len(calls) - place) for place, number in enumerate(calls)]
    body += [_step(_RETURN, _ALLOW), _step(_RETURN, _TELL)]
    # Of another architecture the sandbox's own filter makes an end.
    head = [_step(_LOAD, _ARCHITECTURE), _step(_EQUAL, _AUDIT[machine], yes=1), _step(_RETURN, _ALLOW)]
    return b"".join([*head, *body])


def _step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("HBBI", code, yes, no, value)
