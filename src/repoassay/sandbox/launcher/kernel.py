"""The system calls Python 3.11 does not wrap, each raising OSError with what was tried."""

from __future__ import annotations

import ctypes
import os
import resource
import struct

__all__ = [
    "CLONE_NEWCGROUP", "CLONE_NEWIPC", "CLONE_NEWNET", "CLONE_NEWNS", "CLONE_NEWPID", "CLONE_NEWUSER",
    "CLONE_NEWUTS", "MS_BIND", "MS_NODEV", "MS_NOEXEC", "MS_NOSUID", "MS_PRIVATE", "MS_REC", "NO_LINKS",
    "NO_MAGIC_LINKS", "NO_OTHER_MOUNT", "adopt_nobody", "detach", "die_with_parent", "drop_bounding_set",
    "drop_capabilities", "dumpable", "fork_into", "freeze", "keep_capabilities", "loopback_up", "most_files",
    "mount", "move_root", "no_new_privileges", "not_dumpable", "open_inside", "protect", "raise_capabilities",
    "set_filter", "set_hostname", "setns", "unshare",
]  # fmt: skip

CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC = (
    0x00020000,
    0x02000000,
    0x04000000,
    0x08000000,
)
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
MS_NOSUID, MS_NODEV, MS_NOEXEC = 2, 4, 8
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
NO_OTHER_MOUNT, NO_MAGIC_LINKS, NO_LINKS = 1, 2, 4

_MNT_DETACH = 2
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_KEEPCAPS, _PR_SET_SECCOMP, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = (
    1,
    4,
    8,
    22,
    24,
    38,
)
_PR_SET_CHILD_SUBREAPER = 36
_SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_SYS_CLONE = {"x86_64": 56, "aarch64": 220}
_CLONE_PARENT, _SIGCHLD = 0x8000, 17
_SYS_MOUNT_SETATTR, _SYS_OPENAT2 = 442, 437
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_CAPABILITY_VERSION = 0x20080522
_ATTR_RDONLY, _ATTR_NOSUID, _ATTR_NODEV = 1, 2, 4

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, action: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{action}: {os.strerror(number)}")


def unshare(flags: int) -> None:
    """Leave the namespaces named by `flags` for new ones (unshare(2))."""
    _check(_libc.unshare(flags), "unshare")


def setns(descriptor: int, kind: int) -> None:
    """Enter the namespace a descriptor stands for (setns(2))."""
    _check(_libc.setns(descriptor, kind), "setns")


def fork_into(flags: int) -> int:
    """Fork into new namespaces: 0 in the child, its number here; it is the child of this process's own parent.

    For processes of one thread alone: nothing is done that `os.fork` does for others.
    """
    none = ctypes.c_long(0)
    number = ctypes.c_long(_SYS_CLONE[os.uname().machine])
    pid: int = _libc.syscall(number, ctypes.c_long(flags | _CLONE_PARENT | _SIGCHLD), none, none, none, none)
    if pid < 0:
        _check(pid, "clone")
    return pid


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """mount(2)."""
    result = _libc.mount(
        source.encode(),
        target.encode(),
        kind.encode() or None,
        ctypes.c_ulong(flags),
        options.encode() or None,
    )
    _check(result, f"mount {kind or source} on {target}")


def protect(target: str, *, read_only: bool = True, recursive: bool = True) -> None:
    """Forbid set-uid programs, devices and (unless told otherwise) writing on a mount and all below it."""
    attributes = _ATTR_NOSUID | _ATTR_NODEV | (_ATTR_RDONLY if read_only else 0)
    _set_attributes(target, attributes, recursive=recursive)


def freeze(target: str) -> None:
    """Forbid writing on one mount, leaving its devices usable and the mounts below it as they are."""
    _set_attributes(target, _ATTR_RDONLY, recursive=False)


def _set_attributes(target: str, attributes: int, *, recursive: bool) -> None:
    packed = struct.pack("QQQQ", attributes, 0, 0, 0)
    result = _libc.syscall(
        ctypes.c_long(_SYS_MOUNT_SETATTR),
        ctypes.c_int(_AT_FDCWD),
        target.encode(),
        ctypes.c_uint(_AT_RECURSIVE if recursive else 0),
        packed,
        ctypes.c_size_t(len(packed)),
    )
    _check(result, f"mount_setattr {target}")


def open_inside(path: bytes, flags: int, resolve: int, mode: int = 0, folder: int = _AT_FDCWD) -> int:
    """openat2(2): a descriptor of `path`, on the way to which `resolve` forbids some or all links, or other mounts."""
    if b"\0" in path:
        raise ValueError("a path holds a null byte")
    how = struct.pack("QQQ", flags | os.O_CLOEXEC, mode, resolve)
    size = ctypes.c_size_t(len(how))
    descriptor: int = _libc.syscall(ctypes.c_long(_SYS_OPENAT2), ctypes.c_int(folder), path, how, size)
    if descriptor < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return descriptor


def move_root(new_root: str) -> None:
    """Make `new_root` the root of this mount namespace and let go of the old one."""
    os.chdir(new_root)
    _check(_libc.syscall(ctypes.c_long(_SYS_PIVOT_ROOT[os.uname().machine]), b".", b"."), "pivot_root")
    _check(_libc.umount2(b".", _MNT_DETACH), "umount old root")
    os.chdir("/")


def detach(target: str) -> None:
    """Take a mount out of this namespace's tree; what was bound elsewhere from it stays."""
    _check(_libc.umount2(target.encode(), _MNT_DETACH), f"umount {target}")


def _prctl(option: int, argument: int, action: str) -> None:
    zero = ctypes.c_ulong(0)
    _check(_libc.prctl(option, ctypes.c_ulong(argument), zero, zero, zero), action)


def die_with_parent() -> None:
    """Have the kernel send SIGKILL when the thread that made this process ends."""
    _prctl(_PR_SET_PDEATHSIG, 9, "set parent-death signal")


def not_dumpable() -> None:
    """Keep processes of the same user from tracing this one or reading its /proc entries."""
    _prctl(_PR_SET_DUMPABLE, 0, "clear dumpable")


def dumpable() -> None:
    """Let processes of the same user, and this one, at its /proc entries again."""
    _prctl(_PR_SET_DUMPABLE, 1, "set dumpable")


def adopt_nobody() -> None:
    """Leave orphans among this process's descendants to process 1."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 0, "adopt nobody")


def keep_capabilities() -> None:
    """Keep what is permitted when the user id changes from root's to another."""
    _prctl(_PR_SET_KEEPCAPS, 1, "keep capabilities")


def raise_capabilities() -> None:
    """Put into force whatever is permitted."""
    header, data = struct.pack("Ii", _CAPABILITY_VERSION, 0), ctypes.create_string_buffer(24)
    _check(_libc.capget(header, data), "capget")
    low, high = struct.unpack("6I", data.raw)[1::3]
    _check(_libc.capset(header, struct.pack("6I", low, low, 0, high, high, 0)), "capset")


def drop_capabilities() -> None:
    """Give up every capability in force, permitted or inheritable, at once."""
    _check(_libc.capset(struct.pack("Ii", _CAPABILITY_VERSION, 0), bytes(24)), "capset")


def no_new_privileges() -> None:
    """Make set-uid bits and file capabilities meaningless from here on."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1, "set no_new_privs")


def drop_bounding_set() -> None:
    """Give up every capability for good; the ones in force go at the next exec."""
    for capability in range(64):
        if _libc.prctl(_PR_CAPBSET_DROP, ctypes.c_ulong(capability), 0, 0, 0) != 0:
            return  # past the last capability of this kernel


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def set_filter(program: bytes) -> None:
    """Install a seccomp filter given as packed `sock_filter` instructions."""

    header = _Program(len(program) // 8, program)
    mode_filter = ctypes.c_ulong(2)
    zero = ctypes.c_ulong(0)
    _check(
        _libc.prctl(_PR_SET_SECCOMP, mode_filter, ctypes.byref(header), zero, zero),
        "install seccomp filter",
    )


def most_files() -> int:
    """Open files that code which may be hostile gets: half of ours at most, which `main.py` has raised to all it may.

    The kernel counts the descriptors that sockets of an account have in flight, everywhere together, and lets nobody
    send one more when they are more than the files the sender itself may open.
    """
    return min(4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1] // 2)


def set_hostname(name: bytes) -> None:
    """sethostname(2)."""
    _check(_libc.sethostname(name, ctypes.c_size_t(len(name))), "set host name")


def loopback_up() -> None:
    """Bring up `lo` in this network namespace, so that a program can talk to itself."""
    inet, datagram, set_flags, up_and_running = 2, 2, 0x8914, 1 | 64
    probe = _libc.socket(inet, datagram, 0)
    try:
        request = struct.pack("16sh22x", b"lo", up_and_running)
        _check(_libc.ioctl(probe, ctypes.c_ulong(set_flags), request), "bring up loopback")
    finally:
        os.close(probe)
