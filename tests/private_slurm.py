"""A Slurm of the tests' own: one controller and two nodes on this machine, below a temporary folder, on free ports."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

__all__ = ["PrivateSlurm", "private_slurm"]

_PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "sinfo", "scancel")
_CONFIGURATION = """
ClusterName=private
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={place}/munge.socket
CredType=cred/munge
SlurmctldPort={controller}
StateSaveLocation={place}/state
SlurmdSpoolDir={place}/spool-%n
SlurmctldPidFile={place}/slurmctld.pid
SlurmdPidFile={place}/slurmd-%n.pid
SlurmctldLogFile={place}/slurmctld.log
SlurmdLogFile={place}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
SlurmdTimeout=5
KillWait=2
SchedulerParameters=sched_min_interval=100000
NodeName=one NodeHostname=localhost NodeAddr=127.0.0.1 Port={first} CPUs=1 State=UNKNOWN
NodeName=two NodeHostname=localhost NodeAddr=127.0.0.1 Port={second} CPUs=1 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
"""


class PrivateSlurm:
    """A running cluster.

    Attributes:
        env: What a caller of its commands needs in its environment.
    """

    def __init__(self, place: Path) -> None:
        self._place = place
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}
        self.env = {"SLURM_CONF": f"{place}/slurm.conf"}

    def start(self) -> None:
        """Start every daemon and wait until both nodes are idle."""
        place = self._place
        (place / "state").mkdir()
        (place / "munge.key").write_bytes(secrets.token_bytes(64))
        (place / "munge.key").chmod(0o600)
        ports = dict(zip(("controller", "first", "second"), _free_ports(3), strict=True))
        (place / "slurm.conf").write_text(_CONFIGURATION.format(place=place, **ports))
        (place / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        self._daemon(
            "munged", "--foreground", "--force", f"--socket={place}/munge.socket", f"--key-file={place}/munge.key",
            f"--log-file={place}/munged.log", f"--pid-file={place}/munged.pid", f"--seed-file={place}/munged.seed",
        )  # fmt: skip
        _until((place / "munge.socket").exists)
        self._daemon("slurmctld", "-D", "-f", f"{place}/slurm.conf")
        for node in ("one", "two"):
            self.start_node(node)
        _until(lambda: self.call("sinfo", "--noheader", "--format=%T %D").split() == ["idle", "2"])

    def start_node(self, node: str) -> None:
        """Start a node's daemon, which is new or was killed."""
        self._daemon(node, "-D", "-f", f"{self._place}/slurm.conf", "-N", node, program="slurmd")

    def kill_node(self, node: str) -> None:
        """End a node's daemon as a machine that fails does; what it runs lives, as behind a cable that was cut."""
        self._daemons[node].kill()
        self._daemons.pop(node).wait()

    def kill_machine(self, node: str) -> None:
        """End a node's daemon and everything that it runs."""
        self.kill_node(node)
        marks = {f"SLURMD_NODENAME={node}".encode(), f"SLURM_CONF={self._place}/slurm.conf".encode()}
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if marks <= set((process / "environ").read_bytes().split(b"\0")):
                    os.kill(int(process.name), signal.SIGKILL)

    def call(self, *line: str) -> str:
        """Run one of Slurm's commands; returns what it printed, whatever it left with."""
        return subprocess.run(line, env=os.environ | self.env, capture_output=True, text=True, check=False).stdout

    def wait_for(self, jobs: list[str], seconds: float = 200) -> None:
        """Wait until jobs have ended."""
        _until(lambda: not self.call("squeue", "--noheader", f"--jobs={','.join(jobs)}").strip(), seconds)

    def stop(self) -> None:
        """End every job and daemon."""
        self.call("scancel", "--user=root")
        time.sleep(0.5)
        for daemon in reversed(self._daemons.values()):
            daemon.terminate()
        for daemon in self._daemons.values():
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    def _daemon(self, name: str, *arguments: str, program: str = "") -> None:
        with (self._place / f"{name}.out").open("ab") as log:
            self._daemons[name] = subprocess.Popen([program or name, *arguments], stdout=log, stderr=log)


@pytest.fixture(scope="session")
def private_slurm() -> Iterator[PrivateSlurm]:
    """A Slurm with two nodes of one core; skips where it is not installed or we are not root."""
    lacking = [program for program in _PROGRAMS if shutil.which(program) is None]
    if lacking:
        pytest.skip(f"Slurm is not installed: {', '.join(lacking)} (apt-get install slurm-wlm)")
    if os.geteuid() != 0:
        pytest.skip("a private Slurm needs root")
    with tempfile.TemporaryDirectory(prefix="slurm-", dir="/tmp") as place:
        cluster = PrivateSlurm(Path(place))
        try:
            cluster.start()
            yield cluster
        finally:
            cluster.stop()


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def _until(holds: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError("Slurm did not come to it in time")
        time.sleep(0.2)
