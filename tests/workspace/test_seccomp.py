"""The filter, run by an interpreter of its own: what each machine's calls come to."""

from __future__ import annotations

import errno
import re
import resource
import struct
from pathlib import Path

import pytest

from repoassay.sandbox.launcher import calls
from repoassay.sandbox.launcher.prefork_filter import compile_job_filter
from repoassay.sandbox.launcher.seccomp import compile_filter

ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOW, KILL, FAIL = 0x7FFF0000, 0x80000000, 0x00050000


def judge(program: bytes, architecture: int, number: int, *arguments: int) -> int:
    """Run a filter as the kernel would: its verdict on one system call."""
    return follow(program, architecture, number, *arguments)[0]


def follow(program: bytes, architecture: int, number: int, *arguments: int) -> tuple[int, int]:
    """The verdict, and how many steps it took."""
    steps = [struct.unpack_from("HBBI", program, place) for place in range(0, len(program), 8)]
    data = dict(enumerate(struct.unpack("<12I", struct.pack("<6Q", *(*arguments, *[0] * 6)[:6])), 4))
    data = {0: number, 4: architecture, **{place * 4: value for place, value in data.items()}}
    place = accumulator = taken = 0
    while True:
        code, yes, no, value = steps[place]
        place, taken = place + 1, taken + 1
        if code == 0x20:
            accumulator = data[value]
        elif code == 0x06:
            return int(value), taken
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
    "kcmp": (312, 272), "pidfd_getfd": (438, 438), "fanotify_init": (300, 262), "move_pages": (279, 239),
}  # fmt: skip
ABSENT = {
    "io_setup": (206, 0), "io_submit": (209, 2),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "clone3": (435, 435), "memfd_secret": (447, 447),
    "statmount": (457, 457), "listmount": (458, 458), "open_tree_attr": (467, 467), "nfsservctl": (180, 42),
    "not yet invented": (600, 600), "nor this": (0x3FFFFFFF, 0x7FFFFFFF),
}  # fmt: skip
ALLOWED = {
    "read": (0, 63), "write": (1, 64), "openat": (257, 56), "mmap": (9, 222), "execve": (59, 221), "exit": (60, 93),
    "futex": (202, 98), "connect": (42, 203), "socketpair": (53, 199), "kill": (62, 129), "prctl": (157, 167),
    "memfd_create": (319, 279), "shmget": (29, 194), "semget": (64, 190), "msgget": (68, 186), "pidfd_open": (434, 434),
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
def test_every_call_has_one_verdict_and_no_two_share_a_number(machine: str, column: int) -> None:
    tables = (calls.ALLOWED, calls.BY_ARGUMENT, calls.REFUSED)
    numbers = [each[column] for table in tables for each in table.values() if each[column] >= 0]
    assert len(set(numbers)) == len(numbers)
    program, architecture = compile_filter(machine), ARCHITECTURE[machine]
    for number in range(1024):
        allowed = number in {each[column] for each in calls.ALLOWED.values()}
        by_argument = number in {each[column] for each in calls.BY_ARGUMENT.values()}
        assert by_argument or (judge(program, architecture, number) == ALLOW) == allowed


@BOTH
def test_a_refused_call_can_be_allowed_by_name(machine: str, column: int) -> None:
    setns, unshare = REFUSED["setns"][column], REFUSED["unshare"][column]
    program = compile_filter(machine, allow=("setns",))
    assert judge(program, ARCHITECTURE[machine], setns) == ALLOW
    assert judge(program, ARCHITECTURE[machine], unshare) == FAIL | errno.EPERM
    with pytest.raises(KeyError):
        compile_filter(machine, allow=("no such call",))


@BOTH
def test_no_call_waits_for_many_steps(machine: str, column: int) -> None:
    program, architecture = compile_filter(machine), ARCHITECTURE[machine]
    assert max(follow(program, architecture, number)[1] for number in range(1024)) <= 20


def test_the_modify_ldt_of_x86_is_refused() -> None:
    assert judge(compile_filter("x86_64"), ARCHITECTURE["x86_64"], 154) == FAIL | errno.EPERM


@pytest.mark.parametrize("table", ["ALLOWED", "BY_ARGUMENT", "REFUSED"])
def test_numbers_are_those_of_the_kernels_headers(table: str) -> None:
    header = next(Path("/usr/include").glob("x86_64-linux-gnu/asm/unistd_64.h"), None)
    if header is None:
        pytest.skip("this machine has no kernel headers of x86_64")
    found = {name: int(number) for name, number in re.findall(r"#define __NR_(\w+) (\d+)", header.read_text())}
    told = {name: numbers[0] for name, numbers in getattr(calls, table).items()}
    assert {name: found[name] for name in told if name in found} == {name: told[name] for name in told if name in found}
    assert all(told[name] == -1 or told[name] > max(found.values()) for name in told.keys() - found.keys())


@BOTH
def test_uncounted_memory_is_absent_where_nobody_counts(machine: str, column: int) -> None:
    program, architecture = compile_filter(machine, memory_is_counted=False), ARCHITECTURE[machine]
    for name in ("memfd_create", "shmget", "semget", "msgget"):
        assert judge(program, architecture, ALLOWED[name][column]) == FAIL | errno.ENOSYS
    assert judge(program, architecture, ALLOWED["mmap"][column]) == ALLOW


@BOTH
@pytest.mark.parametrize("job", [False, True])
def test_memory_that_no_process_shows_is_not_mapped_where_nobody_counts(machine: str, column: int, job: bool) -> None:
    """Pages of shared memory without a file stay when they are unmapped."""
    mmap, architecture = ALLOWED["mmap"][column], ARCHITECTURE[machine]
    program = compile_job_filter(machine) if job else compile_filter(machine, memory_is_counted=False)
    page, private, shared, validated = resource.getpagesize(), 0x22, 0x21, 0x23
    for length, flags in ((page, shared), (1 << 40, private), (1 << 40, 0x01), (1 << 40, 0x02), (0, 0)):
        assert judge(program, architecture, mmap, 0, length, 3, flags, 1 << 64 - 1) == ALLOW
    for length in (page + 1, 1 << 20, 1 << 32, 1 << 40):
        for flags in (shared, validated, shared | 0x8000):
            assert judge(program, architecture, mmap, 0, length, 3, flags) == FAIL | errno.EPERM
            assert judge(compile_filter(machine), architecture, mmap, 0, length, 3, flags) == ALLOW


@BOTH
def test_huge_pages_and_leases_are_for_nobody(machine: str, column: int) -> None:
    program, architecture = compile_filter(machine), ARCHITECTURE[machine]
    assert judge(program, architecture, ALLOWED["mmap"][column], 0, 1 << 21, 3, 0x40022) == FAIL | errno.ENOMEM
    fcntl = (72, 25)[column]
    assert judge(program, architecture, fcntl, 3, 1024, 1) == FAIL | errno.EPERM
    assert {judge(program, architecture, fcntl, 1024, command) for command in range(1024)} == {ALLOW}


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
def test_personalities_are_harmless(machine: str, column: int) -> None:
    program, architecture, number = compile_filter(machine), ARCHITECTURE[machine], (135, 92)[column]
    assert [judge(program, architecture, number, each) == ALLOW for each in (0, 8, 0xFFFFFFFF)] == [True] * 3
    for persona in (0x0400000, 0x0040000, 0x0100000):  # READ_IMPLIES_EXEC, ADDR_NO_RANDOMIZE, MMAP_PAGE_ZERO
        assert judge(program, architecture, number, persona) == FAIL | errno.EPERM


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
