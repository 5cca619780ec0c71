"""The filter, run by an interpreter of its own: what each machine's calls come to."""

from __future__ import annotations

import errno
import struct

import pytest

from repoassay.workspace.launcher.seccomp import compile_filter

ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOW, KILL, FAIL = 0x7FFF0000, 0x80000000, 0x00050000


def judge(program: bytes, architecture: int, number: int, argument: int = 0) -> int:
    """Run a filter as the kernel would: its verdict on one system call."""
    steps = [struct.unpack_from("HBBI", program, place) for place in range(0, len(program), 8)]
    data = {0: number, 4: architecture, 16: argument & 0xFFFFFFFF}
    place = accumulator = 0
    while True:
        code, yes, no, value = steps[place]
        place += 1
        if code == 0x20:
            accumulator = data[value]
        elif code == 0x06:
            return int(value)
        else:
            holds = {0x15: accumulator == value, 0x35: accumulator >= value, 0x45: bool(accumulator & value)}[code]
            place += yes if holds else no


# Numbers looked up anew in the kernel's tables: (x86_64, aarch64).
REFUSED = {
    "mount": (165, 40), "umount2": (166, 39), "unshare": (272, 97), "setns": (308, 268), "ptrace": (101, 117),
    "pivot_root": (155, 41), "keyctl": (250, 219), "bpf": (321, 280), "process_vm_writev": (311, 271),
    "process_vm_readv": (310, 270), "open_by_handle_at": (304, 265), "perf_event_open": (298, 241),
    "userfaultfd": (323, 282), "kexec_load": (246, 104), "init_module": (175, 105), "finit_module": (313, 273),
    "add_key": (248, 217), "request_key": (249, 218), "move_mount": (429, 429), "mount_setattr": (442, 442),
    "fsopen": (430, 430), "open_tree": (428, 428), "swapon": (167, 224), "reboot": (169, 142), "syslog": (103, 116),
}  # fmt: skip
ABSENT = {"io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "clone3": (435, 435)}
ALLOWED = {
    "read": (0, 63), "write": (1, 64), "openat": (257, 56), "mmap": (9, 222), "execve": (59, 221), "exit": (60, 93),
    "futex": (202, 98), "connect": (42, 203), "socketpair": (53, 199), "kill": (62, 129), "prctl": (157, 167),
    "memfd_create": (319, 279), "shmget": (29, 194), "pidfd_open": (434, 434),
}  # fmt: skip
BOTH = pytest.mark.parametrize(("machine", "column"), [("x86_64", 0), ("aarch64", 1)])


@BOTH
def test_each_call_has_its_verdict(machine: str, column: int) -> None:
    program, architecture = compile_filter(machine), ARCHITECTURE[machine]
    for numbers in REFUSED.values():
        assert judge(program, architecture, numbers[column]) == FAIL | errno.EPERM
    for numbers in ABSENT.values():
        assert judge(program, architecture, numbers[column]) == FAIL | errno.ENOSYS
    for numbers in ALLOWED.values():
        assert judge(program, architecture, numbers[column]) == ALLOW


@BOTH
def test_uncounted_memory_is_absent_where_nobody_counts(machine: str, column: int) -> None:
    program, architecture = compile_filter(machine, memory_is_counted=False), ARCHITECTURE[machine]
    for name in ("memfd_create", "shmget"):
        assert judge(program, architecture, ALLOWED[name][column]) == FAIL | errno.ENOSYS
    assert judge(program, architecture, ALLOWED["mmap"][column]) == ALLOW


@BOTH
def test_clone_makes_processes_and_threads_but_no_namespaces(machine: str, column: int) -> None:
    program, architecture, clone = compile_filter(machine), ARCHITECTURE[machine], (56, 220)[column]
    for flags in (17, 0x3D0F00, 0x01200011, 0x4111):
        assert judge(program, architecture, clone, flags) == ALLOW
    for bit in (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000):
        assert judge(program, architecture, clone, bit | 17) == FAIL | errno.EPERM


@BOTH
def test_sockets_are_of_four_families(machine: str, column: int) -> None:
    program, architecture, number = compile_filter(machine), ARCHITECTURE[machine], (41, 198)[column]
    allowed = [family for family in range(64) if judge(program, architecture, number, family) == ALLOW]
    assert allowed == [1, 2, 10, 16]
    assert judge(program, architecture, number, 0x100000000 | 40) == FAIL | errno.EPERM


@BOTH
def test_other_architectures_are_killed(machine: str, column: int) -> None:
    program = compile_filter(machine)
    for architecture in (0x40000003, 0x40000028, ARCHITECTURE["aarch64" if column == 0 else "x86_64"]):
        assert judge(program, architecture, 0) == KILL


def test_the_second_door_of_x86_is_shut() -> None:
    program = compile_filter("x86_64")
    assert judge(program, ARCHITECTURE["x86_64"], 0x40000000 | 165) == FAIL | errno.ENOSYS
    assert judge(program, ARCHITECTURE["x86_64"], 0xFFFFFFFF) == FAIL | errno.ENOSYS


def test_every_jump_lands_inside_and_every_path_ends() -> None:
    for machine in ARCHITECTURE:
        program = compile_filter(machine)
        count = len(program) // 8
        assert len(program) % 8 == 0 and count < 4096
        for place in range(count):
            code, yes, no, _ = struct.unpack_from("HBBI", program, place * 8)
            if code in (0x15, 0x35, 0x45):
                assert place + 1 + max(yes, no) < count


def test_an_unknown_machine_is_an_error() -> None:
    with pytest.raises(KeyError):
        compile_filter("riscv64")
