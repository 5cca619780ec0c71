"""A hostile package in a prefork server: it has no privilege to use, and no mount, file or process to use it on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from repoassay.sandbox.cache import Cache
from repoassay.sandbox.launcher.prefork_filter import compile_warm_filter
from repoassay.sandbox.launcher.seccomp import compile_filter
from repoassay.types.files import FileEdit
from warm_parents import SMALL, Warm, WarmJob, base, run, warm

__all__ = ["warm"]

STATUS = """
import json
def status():
    lines = open("/proc/self/status").read().splitlines()
    return dict(line.split(":\\t", 1) for line in lines if ":\\t" in line)
found = [status(), open("/proc/self/uid_map").read().split(), open("/proc/self/gid_map").read().split()]
"""
EVERY = ("CapInh", "CapPrm", "CapEff", "CapAmb")

CALLS = """
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
x86 = os.uname().machine == "x86_64"
zeros = ctypes.create_string_buffer(256)
def call(numbers, *arguments):
    return libc.syscall(ctypes.c_long(numbers[0] if x86 else numbers[1]), *arguments)
def refused(action):
    ctypes.set_errno(0)
    try:
        result = action()
    except OSError as error:
        return errno.errorcode[error.errno]
    return "went" if result != -1 else errno.errorcode[ctypes.get_errno()]
"""
MOUNTS = (
    CALLS
    + """
found = {}
for place in ("/usr", "/env", "/checkouts", "/bytecode", "/"):
    found["remount " + place] = refused(lambda: libc.mount(None, place.encode(), None, 4096 | 32, None))
    found["attributes of " + place] = refused(
        lambda: call((442, 442), -100, place.encode(), 0x8000, (ctypes.c_ulonglong * 4)(0, 1, 0, 0), 32))
    found["umount " + place] = refused(lambda: libc.umount2(place.encode(), 2))
    found["write in " + place] = refused(lambda: os.close(os.open(place + "/written", os.O_CREAT | os.O_WRONLY)))
"""
)
OTHERS = (
    CALLS
    + """
import fcntl, socket
found = {
    "mount": refused(lambda: libc.mount(b"none", b"/tmp", b"tmpfs", 0, None)),
    "fsopen": refused(lambda: call((430, 430), b"tmpfs", 0)),
    "open_tree": refused(lambda: call((428, 428), -100, b"/", 1)),
    "unshare": refused(lambda: libc.unshare(0x00020000)),
    "unshare users": refused(lambda: libc.unshare(0x10000000)),
    "clone": refused(lambda: call((56, 220), 0x10000000 | 17, 0, 0, 0, 0)),
    "pivot_root": refused(lambda: call((155, 41), b"/tmp", b"/tmp")),
    "chroot": refused(lambda: os.chroot("/tmp")),
    "ptrace": refused(lambda: libc.ptrace(0, 0, 0, 0)),
    "setns": refused(lambda: libc.setns(os.open("/proc/self/ns/mnt", os.O_RDONLY), 0)),
    "setns users": refused(lambda: libc.setns(os.open("/proc/self/ns/user", os.O_RDONLY), 0)),
    "setuid": refused(lambda: os.setuid(0)),
    "capset": refused(lambda: libc.capset((ctypes.c_uint * 2)(0x20080522, 0), (ctypes.c_uint * 6)(*[0xffffffff] * 6))),
    "packet filters": refused(lambda: socket.socket().setsockopt(0, 64, b"x" * 96)),
    "flags of a device": refused(lambda: fcntl.ioctl(socket.socket(), 0x8914, b"lo" + bytes(38))),
}
"""
)


def test_a_package_is_imported_without_any_privilege(warm: Warm, cache: Cache) -> None:
    parent = warm(STATUS)
    (status, users, groups), _ = run(parent, cache)
    assert {status[name] for name in (*EVERY, "CapBnd")} == {"0" * 16}
    assert (status["NoNewPrivs"], status["Seccomp"], status["Uid"].split()) == ("1", "2", ["1000"] * 4)
    assert users == groups == ["1000", "1000", "1"]  # and so no root of the host


def test_a_job_has_no_privilege_either(warm: Warm, cache: Cache) -> None:
    (status, users, _), _ = run(warm(), cache, STATUS)
    assert {status[name] for name in EVERY} == {"0" * 16}
    assert (status["NoNewPrivs"], status["Seccomp"], users) == ("1", "2", ["1000", "1000", "1"])
    assert int(status["Seccomp_filters"]) >= 2


@pytest.mark.parametrize("where", ["the package", "a job"])
def test_what_is_read_only_stays_so(warm: Warm, cache: Cache, where: str, tmp_path: Path) -> None:
    parent = warm(MOUNTS) if where == "the package" else warm()
    found, _ = run(parent, cache, "" if where == "the package" else MOUNTS)
    assert set(found.values()) <= {"EPERM", "EACCES", "EROFS", "ENOSYS"}, found
    assert not list(tmp_path.rglob("written")) and not list(cache.path.rglob("written"))
    assert not Path("/usr/written").exists()


@pytest.mark.parametrize("where", ["the package", "a job"])
def test_system_calls_that_lead_out_are_refused(warm: Warm, cache: Cache, where: str) -> None:
    parent = warm(OTHERS) if where == "the package" else warm()
    found, _ = run(parent, cache, "" if where == "the package" else OTHERS)
    assert set(found.values()) <= {"EPERM", "ENOSYS", "EINVAL"}, found
    assert "went" not in found.values()


def test_a_file_only_root_may_read_stays_so(warm: Warm, cache: Cache, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("an ordinary user has no such file")
    code = "try:\n    found = open('/env/secret').read()\nexcept OSError as error:\n    found = repr(error)\n"
    folder = tmp_path / "parent-0/env"
    parent = warm(code, imports=[])
    secret = folder / "secret"
    secret.write_text("of root")
    secret.chmod(0o600)
    parent.import_too(["hostile"])
    found, _ = run(parent, cache)
    assert "PermissionError" in found
    assert secret.read_text() == "of root"


def test_the_checkouts_of_other_tasks_are_not_shown(warm: Warm, cache: Cache) -> None:
    look = "import os; found = [os.listdir(place) for place in ('/checkouts', '/bytecode', '/slot')]"
    other = cache.entry("checkouts", "of-another-task", lambda part: None)
    assert other.is_dir()
    assert run(warm(look), cache)[0] == [[], [], []]
    assert run(warm(), cache, look)[0] == [[], [], []]
    assert run(warm(), cache, "found = open('/workspace/repo/here.txt').read()")[0] == "as it was\n"


REMOUNT = """
import os, sys
sys.path.insert(0, sys.argv[1])
from repoassay.sandbox.launcher import identity, kernel
folder, again = sys.argv[2], sys.argv[3]
identity.enter_user_namespace(os.geteuid() or 1000, os.getegid() or 1000, kernel.CLONE_NEWNS)
kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
kernel.mount(folder, folder, flags=kernel.MS_BIND)
kernel.protect(folder)
if again == "inner":
    identity.forget_root()
try:
    kernel.mount("none", folder, flags=kernel.MS_BIND | 32)
    open(f"{folder}/written", "w").close()
    print("written")
except OSError as error:
    print(type(error).__name__)
"""


@pytest.mark.parametrize(("again", "said"), [("outer", "written"), ("inner", "PermissionError")])
def test_only_an_inner_namespace_locks_mounts(tmp_path: Path, again: str, said: str) -> None:
    """The attack as it was, on a folder of its own, and what stops it even with every capability."""
    source = str(Path(sys.modules["repoassay"].__path__[0]).parent)
    tmp_path.chmod(0o777)
    place = tmp_path / "place"
    place.mkdir(mode=0o777)
    place.chmod(0o777)
    argv = [sys.executable, "-I", "-c", REMOUNT, source, str(place), again]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == f"{said}\n", done.stderr
    assert (place / "written").exists() is (said == "written")


def test_what_a_submission_writes_never_reaches_the_warm_interpreter(warm: Warm, cache: Cache) -> None:
    """Its documents are the launcher's to read, and hold the tests alone."""
    keep = """
import sys
launcher = sys.modules["repoassay.sandbox.launcher.framing"]
found, decode = [], launcher.decode
def kept(data):
    document = decode(data)
    found.append([sorted(document), [path for path, *_ in document["writes"]]])
    return document
launcher.decode = kept
"""
    parent = warm(keep)
    edits = {"/workspace/repo/new.py": FileEdit(b"secret = 1\n"), "/tests/test_it.py": FileEdit(b"x = 1\n")}
    code = "import os; found += [open('/workspace/repo/new.py').read(), os.listdir('/tests')]"
    done = parent.run(WarmJob(base(cache), None, edits, {"path": [], "code": code}, SMALL))
    (names, paths), written, tests = json.loads(done.channel)
    assert paths == ["/tests/test_it.py"]
    assert "id" not in names  # nor could anybody count jobs
    assert (written, tests) == ("secret = 1\n", ["test_it.py"])


def test_a_job_is_refused_what_a_command_is(warm: Warm, cache: Cache) -> None:
    """What is installed for a job on top of the warm interpreter's filter: each call by its error."""
    code = """
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
calls = {"x86_64": (308, 319, 29, 272, 101), "aarch64": (268, 279, 194, 97, 117)}[os.uname().machine]
found = []
for number in calls:
    libc.syscall(number, ctypes.c_long(0), ctypes.c_long(4096), ctypes.c_long(0), ctypes.c_long(0))
    found.append(errno.errorcode[ctypes.get_errno()])
"""
    setns, memory_file, shared_memory, unshare, trace = run(warm(), cache, code)[0]
    assert (setns, memory_file, shared_memory) == ("EPERM", "ENOSYS", "ENOSYS")
    assert (unshare, trace) == ("EPERM", "EPERM")


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_is_a_whole_program_on_both_machines(machine: str) -> None:
    program = compile_warm_filter(machine)
    assert len(program) % 8 == 0
    assert len(program) // 8 < 4096  # the kernel's bound
    assert program.endswith(compile_filter(machine))
