"""The system-call filter of the command: what no build, test or agent needs and what kernels are attacked through.

Everything not listed is allowed. Refused calls fail with EPERM, except those that programs probe for and do without
when absent (ENOSYS). Sockets are limited to local, IPv4, IPv6 and netlink: other families, such as vsock, are not
bound to the network namespace and would reach past it.
"""

from __future__ import annotations

import errno
import os
import struct

__all__ = ["compile_filter"]

_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# Numbers from the kernel's tables (arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h).
_X86 = {
    "ptrace": 101, "syslog": 103, "pivot_root": 155, "mount": 165, "umount2": 166, "swapon": 167, "swapoff": 168,
    "reboot": 169, "sethostname": 170, "setdomainname": 171, "init_module": 175, "delete_module": 176, "quotactl": 179,
    "kexec_load": 246, "add_key": 248, "request_key": 249, "keyctl": 250, "unshare": 272, "perf_event_open": 298,
    "name_to_handle_at": 303, "open_by_handle_at": 304, "setns": 308, "process_vm_readv": 310, "process_vm_writev": 311,
    "kcmp": 312, "finit_module": 313, "kexec_file_load": 320, "bpf": 321, "userfaultfd": 323,
}  # fmt: skip
_ARM = {
    "umount2": 39, "mount": 40, "pivot_root": 41, "quotactl": 60, "unshare": 97, "kexec_load": 104, "init_module": 105,
    "delete_module": 106, "syslog": 116, "ptrace": 117, "reboot": 142, "sethostname": 161, "setdomainname": 162,
    "add_key": 217, "request_key": 218, "keyctl": 219, "swapon": 224, "swapoff": 225, "perf_event_open": 241,
    "name_to_handle_at": 264, "open_by_handle_at": 265, "setns": 268, "process_vm_readv": 270, "process_vm_writev": 271,
    "kcmp": 272, "finit_module": 273, "bpf": 280, "userfaultfd": 282, "kexec_file_load": 294,
}  # fmt: skip
_NEW_MOUNT_CALLS = {"open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433,
                    "mount_setattr": 442}  # fmt: skip
_ABSENT = {"io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "clone3": 435}
_UNSEEN = {"x86_64": {"shmget": 29, "memfd_create": 319}, "aarch64": {"shmget": 194, "memfd_create": 279}}
_CLONE = {"x86_64": 56, "aarch64": 220}
_SOCKET = {"x86_64": 41, "aarch64": 198}
_FAMILIES = (1, 2, 10, 16)  # AF_UNIX, AF_INET, AF_INET6, AF_NETLINK
_NEW_NAMESPACES = 0x7E020000  # every CLONE_NEW* flag
_X32 = 0x40000000

_LOAD, _JUMP_EQUAL, _JUMP_ABOVE, _JUMP_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENT = 0, 4, 16
_ALLOW, _KILL, _FAIL = 0x7FFF0000, 0x80000000, 0x00050000


def _step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("HBBI", code, yes, no, value)


def compile_filter(machine: str = "", *, memory_is_counted: bool = True) -> bytes:
    """The filter as packed `sock_filter` instructions for this machine (x86_64 or aarch64).

    Unless the kernel counts all memory, as control groups do, what holds memory without any process showing it is
    made absent too.

    Raises:
        KeyError: When the machine's system-call numbers are not known here.
    """
    machine = machine or os.uname().machine
    refused = {**(_X86 if machine == "x86_64" else _ARM), **_NEW_MOUNT_CALLS}
    steps = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_JUMP_EQUAL, _AUDIT[machine], yes=1),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER),
    ]
    if machine == "x86_64":  # the x32 numbers are a second door to the same calls
        steps += [_step(_JUMP_ABOVE, _X32, no=1), _step(_RETURN, _FAIL | errno.ENOSYS)]
    for number in sorted(refused.values()):
        steps += [_step(_JUMP_EQUAL, number, no=1), _step(_RETURN, _FAIL | errno.EPERM)]
    absent = _ABSENT if memory_is_counted else {**_ABSENT, **_UNSEEN[machine]}
    for number in sorted(absent.values()):
        steps += [_step(_JUMP_EQUAL, number, no=1), _step(_RETURN, _FAIL | errno.ENOSYS)]
    steps += [  # clone: flags are its first argument
        _step(_JUMP_EQUAL, _CLONE[machine], no=4),
        _step(_LOAD, _ARGUMENT),
        _step(_JUMP_BITS, _NEW_NAMESPACES, no=1),
        _step(_RETURN, _FAIL | errno.EPERM),
        _step(_RETURN, _ALLOW),
        _step(_JUMP_EQUAL, _SOCKET[machine], no=len(_FAMILIES) + 2),
        _step(_LOAD, _ARGUMENT),
        *(_step(_JUMP_EQUAL, family, yes=len(_FAMILIES) - place) for place, family in enumerate(_FAMILIES)),
        _step(_RETURN, _FAIL | errno.EPERM),
        _step(_RETURN, _ALLOW),
    ]
    return b"".join(steps)
