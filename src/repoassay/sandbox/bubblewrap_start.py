"""The process that becomes bubblewrap: in its control groups, and, as root, with a user namespace that knows few.

Started as `python -I -S` with the standard library alone. bubblewrap by itself would run as root's own account when
root starts it; in a user namespace made here, commands are an account that owns nothing, as in the default sandbox.
"""

from __future__ import annotations

import os
import sys

from repoassay.sandbox.launcher import kernel
from repoassay.sandbox.launcher.identity import INSIDE

__all__ = ["main", "map_users"]

_ORDINARY = ("--unshare-user", "--uid", str(INSIDE), "--gid", str(INSIDE))


def main() -> None:
    """Become `argv[3:]`, bubblewrap and its arguments; `argv[1]` is an account, `argv[2]` control groups, by colons."""
    account, groups, program, *arguments = sys.argv[2:]
    for folder in filter(None, groups.split(":")):
        with open(f"{folder}/cgroup.procs", "w") as stream:
            stream.write(str(os.getpid()))
    who = list(_ORDINARY)
    if os.geteuid() == 0:
        users = map_users(int(account))
        os.set_inheritable(users, True)
        who = ["--userns", str(users)]
    os.execv(program, [program, *who, *arguments])


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
