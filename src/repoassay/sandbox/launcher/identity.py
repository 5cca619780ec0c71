"""Who the command is: uid 1000 inside, and outside an account that owns nothing else (or, without root, ourselves)."""

from __future__ import annotations

import os

from repoassay.sandbox.launcher import kernel

__all__ = ["INSIDE", "become_command", "enter_user_namespace", "forget_root", "map_ourselves", "map_users"]

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


def forget_root() -> None:
    """From here on be `INSIDE` in a user and mount namespace within the first, where no root of the host is known.

    The kernel locks what the new mount namespace took over: no capability that can be had in here makes a read-only
    mount writable or takes one away to show what it covers. Raises OSError where namespaces may not be nested.
    """
    if os.geteuid() == 0:
        os.setgroups([])
        kernel.keep_capabilities()
        os.setresgid(INSIDE, INSIDE, INSIDE)
        os.setresuid(INSIDE, INSIDE, INSIDE)
        kernel.raise_capabilities()
    kernel.unshare(kernel.CLONE_NEWUSER | kernel.CLONE_NEWNS)
    map_ourselves()


def map_ourselves() -> None:
    """In a user namespace without a map yet: know `INSIDE` of the one outside as `INSIDE`, and nobody else.

    For a moment others of the same user may look into this process: nothing hostile must be able to see it.
    """
    kernel.dumpable()  # or its /proc entries were root's
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{INSIDE} {INSIDE} 1")
    _write("/proc/self/gid_map", f"{INSIDE} {INSIDE} 1")
    kernel.not_dumpable()


def map_users(account: int) -> int:
    """A user namespace in which `account` is `INSIDE`, and root, who lays the box out, itself; its descriptor."""
    made_read, made_write = os.pipe()
    kept_read, kept_write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(kept_write)
            kernel.unshare(kernel.CLONE_NEWUSER)
            os.write(made_write, b"1")
            os.read(kept_read, 1)
        finally:
            os._exit(0)
    os.close(made_write)
    if not os.read(made_read, 1):
        raise OSError("no user namespace could be made")
    for name in ("uid_map", "gid_map"):
        with open(f"/proc/{child}/{name}", "w") as stream:
            stream.write(f"0 0 1\n{INSIDE} {account} 1")
    users = os.open(f"/proc/{child}/ns/user", os.O_RDONLY)
    for descriptor in (made_read, kept_read, kept_write):
        os.close(descriptor)
    os.waitpid(child, 0)
    return users


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
