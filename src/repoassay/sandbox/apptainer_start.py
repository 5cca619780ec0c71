"""The process that becomes Apptainer, in namespaces made here: users that know few, no network, folders in memory.

Started as `python -I -S` with the standard library alone. Apptainer by itself bounds no folder in memory, and would run
as root's own account when root starts it. In here it is root of a user namespace, and so is the server, process 1 of
the box. Commands are an account that owns nothing, or, where an ordinary account starts it, that one without a right.
"""

from __future__ import annotations

import os
import sys

from repoassay.sandbox.launcher import kernel
from repoassay.sandbox.launcher.identity import map_users

__all__ = ["main"]


def main() -> None:
    """Become `argv[6:]`, Apptainer and its arguments.

    `argv[2]` is the account of commands, `argv[3]` control groups by colons, `argv[4]` folders to make as `PATH=BYTES`
    by colons, `argv[5]` `private` for a network of its own.
    """
    account, groups, folders, network, *command = sys.argv[2:]
    for group in filter(None, groups.split(":")):
        with open(f"{group}/cgroup.procs", "w") as stream:
            stream.write(str(os.getpid()))
    more = kernel.CLONE_NEWNET if network == "private" else 0
    if os.geteuid() == 0:
        kernel.setns(map_users(int(account)), kernel.CLONE_NEWUSER)
        os.setresgid(0, 0, 0)
        os.setresuid(0, 0, 0)
        kernel.unshare(kernel.CLONE_NEWNS | more)
    else:
        user, group_id = os.geteuid(), os.getegid()
        kernel.unshare(kernel.CLONE_NEWUSER | kernel.CLONE_NEWNS | more)
        for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group_id} 1")):
            with open(f"/proc/self/{name}", "w") as stream:
                stream.write(text)
    if more:
        kernel.loopback_up()
    kernel.mount("none", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
    for each in filter(None, folders.split(":")):
        path, _, size = each.rpartition("=")
        inodes = max(4096, min(int(size) // 2048, 2_000_000))
        options = f"mode=0755,size={size},nr_inodes={inodes}"
        kernel.mount("tmpfs", path, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, options)
    os.execv(command[0], command)
