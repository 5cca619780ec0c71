"""A child that uses its parent's memory instead of a copy, as vfork(2) makes one, and may run Python all the same.

Copying an interpreter's page tables, and taking the copy down again, is a good part of what a short job costs, so who
only enters namespaces and forks there is spared it. The parent stands still until the child has ended. The child runs
on a stack of its own, which is also that of whoever it forks.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys

TYPE_CHECKING = False  # as typing has it, without the price of importing typing
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["SharedChild", "can_share"]

_CLONE_VM, _CLONE_VFORK, _SIGCHLD = 0x100, 0x4000, 17
_STACK = 8 << 20
"""As large as a main thread's by default; only what is used of it takes memory."""
_GUARD = 4096 * 16
"""At its end, as large as the largest page there is."""
_NORESERVE = 0x4000
_WHOLE = 77
"""The exit code of a child that has come back from what it did, so that the interpreter is as it was before."""

_libc = ctypes.PyDLL(None, use_errno=True)
_Entry = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
_libc.clone.argtypes = [_Entry, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p]


def can_share() -> bool:
    """Whether this interpreter can run on another stack: from 3.14 on it looks for the end of the first one."""
    return sys.version_info < (3, 14)


class SharedChild:
    """Runs a function in such a child, each time it is started."""

    def __init__(self, act: Callable[[], None]) -> None:
        self._memory = mmap.mmap(-1, _STACK, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_STACK | _NORESERVE)
        bottom = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        _libc.mprotect(ctypes.c_void_p(bottom), ctypes.c_size_t(_GUARD), 0)
        self._top = bottom + _STACK - 64
        self._act, self._entry = act, _Entry(self._run)

    def _run(self, _: object) -> int:
        try:
            self._act()
        except Exception as error:  # noqa: BLE001 - there is nobody above it
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
        return _WHOLE

    def start(self) -> None:
        """Run the function to its end; ends this process where the child was stopped in the middle of it.

        Raises:
            OSError: There may be no more processes.
        """
        pid = _libc.clone(self._entry, self._top, _CLONE_VM | _CLONE_VFORK | _SIGCHLD, None)
        if pid < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != _WHOLE:
            os._exit(1)  # what it has changed here it has not changed back
