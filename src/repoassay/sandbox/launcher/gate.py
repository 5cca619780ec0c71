"""The gate into a job's namespaces: a fork of the warm interpreter passes it watched, call by call, by the fork server.

The fork has run code of the environment's packages, which may be hostile. To enter a job's user namespace it needs no
privilege but gets every capability there, and keeps them until it gives them up. So it may call `setns` only while the
fork server traces it, and from the first `setns` on nothing but what entering takes; the server lets go of it once the
kernel says that no capability is left. Whatever differs from that ends it.
"""

from __future__ import annotations

import ctypes
import os
import struct

__all__ = ["Gate"]

_SEIZE, _SYSCALL, _CONT, _DETACH, _INFO = 0x4206, 24, 7, 17, 0x420E
_OPTIONS = 1 | 0x80 | 0x100000  # mark stops of system calls, stop where a filter says so, end with the tracer
_STOP, _CALL = 5, 5 | 0x80  # SIGTRAP, and marked
_SECCOMP = 7
_ENTRY, _EXIT = 1, 2

_CALLS = {
    "x86_64": {"setns": 308, "capset": 126, "mmap": 9, "brk": 12, "munmap": 11, "madvise": 28, "futex": 202},
    "aarch64": {"setns": 268, "capset": 91, "mmap": 222, "brk": 214, "munmap": 215, "madvise": 233, "futex": 98},
}  # fmt: skip
_ANONYMOUS = 0x20
_NOTHING = ("CapInh", "CapPrm", "CapEff", "CapAmb")
"""Not the bounding set: it says what `execve` may give, which is nothing since no_new_privs, and 41 calls empty it."""

_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
_libc.ptrace.restype = ctypes.c_long


class Gate:
    """Watches one process through; raises OSError when it may not be traced."""

    def __init__(self, pid: int) -> None:
        self._calls = _CALLS[os.uname().machine]
        self._pid, self._inside, self._last, self._op = pid, False, -1, 0
        self._info = ctypes.create_string_buffer(88)
        self._ptrace(_SEIZE, 0, _OPTIONS)

    def step(self, status: int) -> str:
        """Deal with a stop of the process; return "" while it is on its way, "through", or why it was ended."""
        reason = self._refusal(status)
        if reason:
            os.kill(self._pid, 9)
            return reason
        if self._last == self._calls["capset"] and self._op == _EXIT and self._harmless():
            self._ptrace(_DETACH, 0, 0)
            return "through"
        self._ptrace(_SYSCALL if self._inside else _CONT, 0, 0)
        return ""

    def _refusal(self, status: int) -> str:
        signal, event = status >> 8 & 0xFF, status >> 16
        if signal == _STOP and event == _SECCOMP:
            self._inside = True
        elif signal != _CALL:
            return f"it was stopped at the gate by signal {signal}"
        self._ptrace(_INFO, len(self._info), ctypes.addressof(self._info))
        self._op = self._info.raw[0]
        number, *arguments = struct.unpack_from("7Q", self._info.raw, 24)
        if self._op == _EXIT:
            failed = self._info.raw[32] and self._last == self._calls["setns"]
            return f"setns failed: {os.strerror(-struct.unpack_from('q', self._info.raw, 24)[0])}" if failed else ""
        self._last = number
        return "" if self._lawful(number, arguments) else f"it called {number} at the gate"

    def _lawful(self, number: int, arguments: list[int]) -> bool:
        if number == self._calls["mmap"]:
            return bool(arguments[3] & _ANONYMOUS)
        return number in self._calls.values()

    def _harmless(self) -> bool:
        """Whether the kernel knows of no privilege the process could still use or get."""
        with open(f"/proc/{self._pid}/status") as stream:
            status = dict(line.split(":\t", 1) for line in stream.read().splitlines() if ":\t" in line)
        without = all(int(status[name], 16) == 0 for name in _NOTHING)
        return without and status["NoNewPrivs"] == "1" and status["Seccomp"] == "2"

    def _ptrace(self, request: int, address: int, data: int) -> None:
        if _libc.ptrace(request, self._pid, address, data) == -1:
            number = ctypes.get_errno()
            raise OSError(number, f"ptrace {request:#x}: {os.strerror(number)}")
