"""System calls, devices and set-uid programs that lead out or up, and killing."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from repoassay.sandbox.protocol import Completed, Mount
from repoassay.types import Ended

SANDBOXES = ("namespaces", "bubblewrap", "http")

Inside = Callable[..., Completed]
Plain = Callable[..., subprocess.CompletedProcess[bytes]]

CALL = """
import ctypes, errno, os, sys
libc = ctypes.CDLL(None, use_errno=True)
zeros = ctypes.create_string_buffer(256)
x86 = os.uname().machine == "x86_64"
def call(numbers, *arguments):
    return libc.syscall(ctypes.c_long(numbers[0] if x86 else numbers[1]), *arguments)
result = eval(sys.argv[1])
print("went" if result != -1 else errno.errorcode[ctypes.get_errno()])
"""
HARMLESS = {  # without the sandbox these succeed, for root or for everybody
    "ptrace": "libc.ptrace(0, 0, 0, 0)",
    "keyctl": "call((250, 219), 0, -3, 1)",
    "userfaultfd, user mode": "call((323, 282), 1)",
    "io_uring": "call((425, 425), 1, zeros)",
    "perf_event_open": "call((298, 241), (ctypes.c_uint * 32)(1, 112, 0), 0, -1, -1, 0)",
}
AS_ROOT = {
    "unshare uts": "libc.unshare(0x04000000)",
    "unshare users": "libc.unshare(0x10000000)",
    "unshare network": "libc.unshare(0x40000000)",
    "setns": "libc.setns(os.open('/proc/self/ns/uts', os.O_RDONLY), 0)",
    "name_to_handle_at": "call((303, 264), -100, b'/etc/passwd', (ctypes.c_uint * 34)(128), zeros, 0)",
}
NEVER_OUTSIDE = {
    "mount": "libc.mount(b'none', b'/tmp', b'tmpfs', 0, None)",
    "bind mount": "libc.mount(b'/usr', b'/tmp', None, 4096, None)",
    "remount writable": "libc.mount(None, b'/usr', None, 4096 | 32, None)",
    "umount": "libc.umount2(b'/proc', 2)",
    "pivot_root": "call((155, 41), b'/tmp', b'/tmp')",
    "open_tree": "call((428, 428), -100, b'/', 1)",
    "move_mount": "call((429, 429), -100, b'/usr', -100, b'/tmp', 0)",
    "fsopen": "call((430, 430), b'tmpfs', 0)",
    "fspick": "call((433, 433), -100, b'/', 0)",
    "mount_setattr": "call((442, 442), -100, b'/usr', 0x8000, zeros, 32)",
    "bpf": "call((321, 280), 0, zeros, 72)",
    "add_key": "call((248, 217), b'user', b'name', b'value', 5, -3)",
    "request_key": "call((249, 218), b'user', b'name', None, -3)",
    "process_vm_readv": "call((310, 270), os.getpid(), None, 0, None, 0, 0)",
    "process_vm_writev": "call((311, 271), os.getpid(), None, 0, None, 0, 0)",
    "open_by_handle_at": "call((304, 265), -100, zeros, 0)",
    "kexec": "call((246, 104), 0, 0, None, 0)",
    "init_module": "call((175, 105), zeros, 0, b'')",
    "clone with namespaces": "call((56, 220), 0x10000000 | 17, 0, 0, 0, 0)",
    "sethostname": "libc.sethostname(b'spoiled', 7)",
    "syslog": "call((103, 116), 3, zeros, 256)",
    "swapon": "call((167, 224), b'/tmp', 0)",
    "reboot": "call((169, 142), 0, 0, 0, None)",
    "kcmp": "call((312, 272), os.getpid(), os.getpid(), 0, 0, 1)",
}
BY_CAPABILITY = {
    "chroot": "os.chroot('/tmp')",
    "setuid": "os.setuid(0)",
    "setgroups": "os.setgroups([0])",
    "priority": "os.setpriority(os.PRIO_PROCESS, 0, -5)",
    "clock": "__import__('time').clock_settime(0, 0)",
    "block device": "os.mknod('/tmp/device', 0o60600, os.makedev(8, 0))",
    "character device": "os.mknod('/tmp/device', 0o20600, os.makedev(1, 1))",
    "chown": "os.chown('/tmp', 0, 0)",
    "sysctl": "open('/proc/sys/kernel/core_pattern', 'w')",
    "sysrq": "open('/proc/sysrq-trigger', 'w')",
    "own oom score": "open('/proc/self/oom_score_adj', 'wb', 0).write(b'-1000')",
    "uid map": "open('/proc/self/uid_map', 'wb', 0).write(b'0 0 1')",
    "raise limits": "__import__('resource').setrlimit(7, (65536, 65536))",
}


@pytest.mark.by_day(12)
@pytest.mark.parametrize("name", [*HARMLESS, *AS_ROOT, *NEVER_OUTSIDE])
def test_dangerous_system_calls_are_refused(inside: Inside, name: str) -> None:
    done = inside(CALL, (HARMLESS | AS_ROOT | NEVER_OUTSIDE)[name])
    assert done.stdout == (b"ENOSYS\n" if name == "io_uring" else b"EPERM\n"), done.stderr


@pytest.mark.parametrize("name", ["ptrace", "keyctl", "unshare uts", "setns", "name_to_handle_at"])
def test_the_same_calls_go_through_without_the_sandbox(plain: Plain, name: str) -> None:
    if name in AS_ROOT and os.geteuid() != 0:
        pytest.skip("only root may, even outside")
    assert plain(CALL, (HARMLESS | AS_ROOT)[name]).stdout == b"went\n"


@pytest.mark.by_day(6)
@pytest.mark.parametrize("name", BY_CAPABILITY)
def test_what_needs_a_capability_fails(inside: Inside, name: str) -> None:
    done = inside(f"import os; {BY_CAPABILITY[name]}")
    assert done.exit.code == 1
    # An identity that is not mapped, as root's is not for a sandbox of an ordinary account, is an invalid argument.
    refusals = (b"Permission", b"not permitted", b"not allowed", b"No such file", b"Invalid argument")
    assert any(word in done.stderr for word in refusals), done.stderr


@pytest.mark.every_sandbox
def test_a_second_architecture_is_no_way_around_the_filter(inside: Inside) -> None:
    if os.uname().machine != "x86_64":
        pytest.skip("x86 has the second door")
    # mov eax, 20 (getpid of the 32-bit table); int 0x80; ret
    code = "import ctypes, mmap; m = mmap.mmap(-1, 4096, prot=7); m.write(bytes.fromhex('b814000000cd80c3'));"
    code += "print(ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))())"
    done = inside(code)
    assert (done.exit.ended, done.exit.signal) == (Ended.SIGNALLED, 31)
    x32 = inside(CALL, "libc.syscall(ctypes.c_long(0x40000000 | 39))")
    assert x32.stdout == b"ENOSYS\n"


@pytest.mark.by_day(5)
@pytest.mark.parametrize(
    "name", ["mem", "kmem", "kmsg", "sda", "vda", "kvm", "fuse", "loop0", "net/tun", "port", "console"]
)
def test_only_harmless_devices_are_there(inside: Inside, name: str) -> None:
    assert b"No such file" in inside("import sys; open('/dev/' + sys.argv[1])", name).stderr


def test_the_usual_devices_work(inside: Inside) -> None:
    code = "import os; open('/dev/null', 'w').write('x');"
    code += "print(len(open('/dev/urandom', 'rb').read(3)), os.openpty()[0] > 0)"
    assert inside(code).stdout == b"3 True\n"


@pytest.mark.every_sandbox
def test_set_uid_programs_have_no_effect(inside: Inside, plain: Plain, tmp_path: Path) -> None:
    code = "import os, shutil; shutil.copy('/usr/bin/id', '/tmp/id'); os.chmod('/tmp/id', 0o6755);"
    code += "os.execv('/tmp/id', ['id', '-u'])"
    assert inside(code).stdout == b"1000\n"
    if os.geteuid() == 0:
        program = tmp_path / "id"
        shutil.copy("/usr/bin/id", program)
        program.chmod(0o4755)
        descriptor = f"import os; f = os.open('{program}', os.O_RDONLY); os.setuid(65534);"
        assert plain(descriptor + "os.execve(f, ['id', '-u'], {})").stdout == b"0\n"
        mounted = inside("import os; os.execv('/id', ['id', '-u'])", mounts=(Mount(program, "/id"),))
        assert mounted.stdout == b"1000\n"


def test_the_harness_cannot_be_killed(inside: Inside, plain: Plain) -> None:
    code = "import os, sys; os.kill(int(sys.argv[1]), int(sys.argv[2]))"
    victim = subprocess.Popen(["sleep", "60"])
    assert b"ProcessLookupError" in inside(code, str(victim.pid), "9").stderr
    assert b"ProcessLookupError" in inside(code, str(os.getpid()), "0").stderr
    assert victim.poll() is None
    plain(code, str(victim.pid), "9")
    assert victim.wait(10) == -9


@pytest.mark.every_sandbox
def test_killing_everything_ends_only_what_is_inside(inside: Inside) -> None:
    victim = subprocess.Popen(["sleep", "60"])
    code = "import os, subprocess; p = subprocess.Popen(['sleep', '50']); os.kill(-1, 9); print(p.wait(), 'still here')"
    done = inside(code)
    assert done.stdout == b"-9 still here\n"
    assert victim.poll() is None
    victim.kill()
    victim.wait()


@pytest.mark.parametrize("number", [1, 2, 9, 15, 19])
def test_process_1_is_deaf(inside: Inside, number: int) -> None:
    code = "import os, sys, time; os.kill(1, int(sys.argv[1])); time.sleep(0.05); print('and on')"
    done = inside(code, str(number))
    assert b"and on" in done.stdout or b"PermissionError" in done.stderr
    assert done.exit.ended is Ended.EXITED


def test_a_command_that_kills_itself_is_reported_as_such(inside: Inside) -> None:
    done = inside("import os; os.kill(os.getpid(), 11)")
    assert (done.exit.ended, done.exit.signal, done.exit.code) == (Ended.SIGNALLED, 11, None)
