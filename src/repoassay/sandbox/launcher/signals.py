"""What a process of the sandbox does on a signal, however the harness itself was started.

What is ignored stays ignored over fork and exec: a shell starts `... &` with SIGINT ignored, nohup with SIGHUP, and
Python ignores SIGPIPE by itself. A verdict must not depend on it.
"""

from __future__ import annotations

import ctypes

__all__ = ["as_a_fresh_process", "as_a_fresh_python"]

_SIG_SETMASK = 2
_libc = ctypes.CDLL(None)


def as_a_fresh_process() -> None:
    """Set every signal to its default and block none, which exec hands on.

    Behind Python's back, whose handler of SIGINT would make a KeyboardInterrupt of it: process 1 of a namespace is deaf
    to what is at its default.
    """
    for number in range(1, 65):
        _libc.signal(number, None)  # SIGKILL, SIGSTOP and the C library's own two refuse, which is as well
    _libc.sigprocmask(_SIG_SETMASK, bytes(128), None)


def as_a_fresh_python() -> None:
    """Answer signals as an interpreter does that has just been started."""
    import signal  # late: no other process of the sandbox needs it, and it is slow to import

    signal.signal(signal.SIGINT, signal.default_int_handler)
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored, signal.SIG_IGN)
