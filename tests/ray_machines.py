"""Machines of a Ray cluster on this one: each in network, process and mount namespaces of its own, held to one core.

The first machine is the head, which gives work and does none; commands of the caller run there. Killing a machine ends
every process of it at once and takes its network away, as pulling its plug does: nobody hears of it but by its silence.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

__all__ = ["RayMachines", "lacking", "ray_machines"]

_PORT = 6379
_NET = "10.213.0"
_RAY = str(Path(sys.executable).with_name("ray"))
_BOOT = """
set -e
mount -t proc proc /proc
mount --bind "$PRIVATE" "$SHARED"
mount -t tmpfs -o size=1g tmpfs /dev/shm
ip link set lo up
until ip -4 addr show up | grep -q "$ADDRESS"; do sleep 0.05; done
until taskset -c "$CORES" "$@"; do sleep 1; done  # Ray gives a node half a minute to start, and up on a busy machine
"""
_WATCH = """
import sys
from ray._raylet import GcsClient
nodes = GcsClient(address=sys.argv[1])
for _ in sys.stdin:
    about = nodes.get_all_node_info().values()
    print(sum(each.state == 0 and each.resources_total.get("CPU", 0) > 0 for each in about), flush=True)
"""


def lacking() -> str:
    """Why there can be no such machines here; empty when there can."""
    if os.geteuid():
        return "only root makes network namespaces with links between them"
    missing = [name for name in ("unshare", "nsenter", "ip", "taskset", "mount") if shutil.which(name) is None]
    if missing:
        return f"{', '.join(missing)} is not installed"
    tried = subprocess.run(["unshare", "--net", "--mount", "--pid", "--fork", "true"], capture_output=True, check=False)
    return tried.stderr.decode().strip() if tried.returncode else ""


class RayMachines:
    """A head and the nodes that were started.

    Args:
        place: A folder whose path is short, since sockets lie in it.
        cores: Cores of this machine that nodes are held to in turn, and the head to all of them.
        cache: What every node's cache begins with, on the same file system; nodes reach no package index.
    """

    def __init__(self, place: Path, cores: Sequence[int], cache: Path | None = None) -> None:
        self._place, self._cores, self._cache = place, cores, cache
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self._watch: subprocess.Popen[str] | None = None
        self._env = os.environ | {
            "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32), "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_ENABLE_RECORD_ACTOR_TASK_LOGGING": "0",
        }  # fmt: skip
        self._env.pop("RAY_ADDRESS", None)

    @property
    def executor(self) -> str:
        """What `--executor` is on the head."""
        return f"ray://{_NET}.1:{_PORT}"

    def start_head(self) -> None:
        """Start the head and wait until it listens."""
        (self._place / "ray").mkdir(exist_ok=True)
        line = [
            "--head", f"--port={_PORT}", f"--node-ip-address={_NET}.1", "--num-cpus=0",
            "--include-dashboard=false", "--include-log-monitor=false", f"--temp-dir={self._place}/ray",
        ]  # fmt: skip
        self._boot(0, line, ",".join(map(str, self._cores)), {})
        for command in (
            f"ip link add bridge type bridge forward_delay 0 && ip addr add {_NET}.1/24 dev bridge",
            "ip link set bridge up",
        ):
            self._inside(0, ["sh", "-c", command])
        self.wait_until(self._answers, 120)

    def start(self, number: int, **env: str) -> None:
        """Start a node, from 1, that is new or was killed, with more variables; returns before it has joined."""
        private = self._place / f"cache-{number}"
        if self._cache is not None and not private.exists():
            subprocess.run(["cp", "-al", self._cache, private], check=True)
        line = [
            f"--address={_NET}.1:{_PORT}",
            f"--node-ip-address={_NET}.{number + 1}",
            "--num-cpus=1",
            "--include-log-monitor=false",
        ]
        self._boot(number, line, str(self._cores[(number - 1) % len(self._cores)]), env)
        inner = self._inner(number)
        self._inside(0, ["ip", "link", "delete", f"node{number}"], check=False)
        self._inside(0, ["ip", "link", "add", f"node{number}", "type", "veth", "peer", "eth0", "netns", str(inner)])
        self._inside(0, ["ip", "link", "set", f"node{number}", "master", "bridge", "up"])
        self._inside(number, ["ip", "addr", "add", f"{_NET}.{number + 1}/24", "dev", "eth0"])
        self._inside(number, ["ip", "link", "set", "eth0", "up"])

    def kill(self, number: int) -> None:
        """End a machine with SIGKILL: its first process, and so all of them."""
        process = self._processes.pop(number)
        if (inner := self._inner_of(process)) > 1:
            with contextlib.suppress(ProcessLookupError):
                os.kill(inner, signal.SIGKILL)
        process.kill()
        process.wait()

    def alive(self) -> int:
        """How many nodes the head takes for alive."""
        if self._watch is None:
            line = self.command([sys.executable, "-c", _WATCH, f"{_NET}.1:{_PORT}"])
            self._watch = subprocess.Popen(
                line, env=self._env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
            )
        assert self._watch.stdin and self._watch.stdout
        self._watch.stdin.write("\n")
        return int(self._watch.stdout.readline())

    def wait_for(self, nodes: int, seconds: float = 300) -> None:
        """Wait until so many nodes have joined."""
        self.wait_until(lambda: self.alive() >= nodes, seconds)

    def command(self, line: Sequence[str | Path]) -> list[str]:
        """A command as it is called here to run on the head."""
        return ["nsenter", f"--target={self._inner(0)}", "--net", "--pid", "--mount", *map(str, line)]

    def run(
        self, line: Sequence[str | Path], *, env: dict[str, str] | None = None, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Run a command on the head until it ends."""
        return subprocess.run(
            self.command(line), env=self.env | (env or {}), capture_output=True, text=True, check=check
        )

    @property
    def env(self) -> dict[str, str]:
        """The environment of commands on the head."""
        return dict(self._env)

    def close(self) -> None:
        """End every machine."""
        for number in sorted(self._processes, reverse=True):
            self.kill(number)
        if self._watch is not None:
            self._watch.communicate()

    def log(self, number: int) -> str:
        """What a machine printed."""
        return (self._place / f"machine-{number}.log").read_text(errors="replace")

    def wait_until(self, condition: Callable[[], bool], seconds: float) -> None:
        """Wait for something; fails naming what machines printed last, when it does not come or one of them ended."""
        until = time.monotonic() + seconds
        while not condition():
            ended = [number for number, process in self._processes.items() if process.poll() is not None]
            if ended or time.monotonic() > until:
                said = "\n".join(f"{number}: {self.log(number)[-800:]}" for number in ended or self._processes)
                raise TimeoutError(f"The machines are not ready; {ended} ended.\n{said}")
            time.sleep(0.3)

    def _boot(self, number: int, line: Sequence[str], cores: str, more: dict[str, str]) -> None:
        private = self._place / f"private-{number}"
        shutil.rmtree(private, ignore_errors=True)
        private.mkdir()
        (self._place / "ray").mkdir(exist_ok=True)
        env = self._env | {
            "PRIVATE": str(private), "SHARED": f"{self._place}/ray", "ADDRESS": f"{_NET}.{number + 1}/",
            "CORES": cores, "REPOASSAY_CACHE": str(self._place / f"cache-{number}"),
            **more,
        }  # fmt: skip
        unshare = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--propagation=private"]
        start = [_RAY, "start", "--block", "--object-store-memory=300000000", *line]
        with (self._place / f"machine-{number}.log").open("ab") as log:
            self._processes[number] = subprocess.Popen(
                [*unshare, "sh", "-c", _BOOT, "boot", *start], env=env, stdout=log, stderr=log, stdin=subprocess.DEVNULL
            )

    def _inner(self, number: int) -> int:
        """The first process of a machine, as this one sees it, once it is in namespaces of its own."""
        process = self._processes[number]
        self.wait_until(lambda: self._inner_of(process) > 0, 30)
        return self._inner_of(process)

    @staticmethod
    def _inner_of(process: subprocess.Popen[bytes]) -> int:
        try:
            return int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0])
        except (OSError, IndexError):
            return 0

    def _inside(self, number: int, line: Sequence[str], *, check: bool = True) -> None:
        where = ["nsenter", f"--target={self._inner(number)}", "--net"]
        subprocess.run([*where, *line], check=check, capture_output=not check)

    def _answers(self) -> bool:
        done = self.run(["bash", "-c", f"exec 3<>/dev/tcp/{_NET}.1/{_PORT}"], check=False)
        return done.returncode == 0


@contextlib.contextmanager
def ray_machines(nodes: int, cores: Sequence[int] = (), cache: Path | None = None) -> Iterator[RayMachines]:
    """A head and some nodes, all of them joined."""
    with tempfile.TemporaryDirectory(prefix="rays-", ignore_cleanup_errors=True) as place:
        machines = RayMachines(Path(place), cores or sorted(os.sched_getaffinity(0)), cache)
        try:
            machines.start_head()
            for number in range(1, nodes + 1):
                machines.start(number)
            machines.wait_for(nodes)
            yield machines
        finally:
            machines.close()
