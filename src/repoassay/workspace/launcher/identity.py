"""Who the command is: uid 1000 inside, and outside an account that owns nothing else (or, without root, ourselves)."""

from __future__ import annotations

import os

from repoassay.workspace.launcher import kernel

__all__ = ["INSIDE", "become_command", "enter_user_namespace"]

INSIDE = 1000
"""User and group id of the command as it sees itself."""


def enter_user_namespace(uid: int, gid: int, flags: int) -> None:
    """Unshare a user namespace together with `flags`, with `uid`/`gid` of the host known inside as `INSIDE`.

    As root, root itself stays mapped too, so that the supervisor can still read what only root may.
    """
    if os.geteuid() != 0:
        kernel.unshare(kernel.CLONE_NEWUSER | flags)
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{INSIDE} {uid} 1")
        _write("/proc/self/gid_map", f"{INSIDE} {gid} 1")
        return
    # A map with two entries can only be written from the namespace outside: a short-lived child stays there to do it.
    ready_read, ready_write = os.pipe()
    supervisor = os.getpid()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(ready_write)
            os.read(ready_read, 1)
            _write(f"/proc/{supervisor}/uid_map", f"0 0 1\n{INSIDE} {uid} 1")
            _write(f"/proc/{supervisor}/gid_map", f"0 0 1\n{INSIDE} {gid} 1")
            status = 0
        finally:
            os._exit(status)
    os.close(ready_read)
    kernel.unshare(kernel.CLONE_NEWUSER | flags)
    os.write(ready_write, b"1")
    os.close(ready_write)
    if os.waitpid(child, 0)[1] != 0:
        raise OSError("the user map could not be written")


def _write(path: str, text: str) -> None:
    with open(path, "w") as stream:
        stream.write(text)


def become_command() -> None:
    """Give up every identity and capability but the command's own."""
    kernel.drop_bounding_set()
    if os.geteuid() == 0:
        os.setgroups([])
    os.setresgid(INSIDE, INSIDE, INSIDE)
    os.setresuid(INSIDE, INSIDE, INSIDE)
    kernel.no_new_privileges()
