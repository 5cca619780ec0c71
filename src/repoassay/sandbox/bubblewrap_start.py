"""The process that becomes bubblewrap: in its control groups, and, as root, with a user namespace that knows few.

Started as `python -I -S` with the standard library alone. bubblewrap by itself would run as root's own account when
root starts it; in a user namespace made here, commands are an account that owns nothing, as in the default sandbox.
"""

from __future__ import annotations

import os
import sys

from repoassay.sandbox.launcher.identity import INSIDE, map_users

__all__ = ["main"]

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
