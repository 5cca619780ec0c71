"""The command line of our own processes, which every process of a sandbox can read and none should learn from."""

from __future__ import annotations

import ctypes

__all__ = ["forget_command_line"]

_SHOWN = b"repoassay.sandbox.launcher"


def forget_command_line() -> None:
    """Overwrite what /proc shows of how we were started: it says where we and our interpreter lie on the host.

    Forks inherit it. Only before this process can be looked at by others is it of use.
    """
    with open("/proc/self/stat", "rb") as stream:
        fields = stream.read().rpartition(b")")[2].split()
    start, end = int(fields[45]), int(fields[46])  # arg_start and arg_end of proc(5), which counts from 3 here
    if start < end:  # both 0 where the kernel does not tell
        ctypes.memmove(start, _SHOWN[: end - start - 1].ljust(end - start, b"\0"), end - start)
