"""The supervisor: builds the sandbox, starts init, watches limits, collects, reports. Read `_run` downwards."""

from __future__ import annotations

import os
import resource
import select
import time

from repoassay.sandbox.launcher import kernel
from repoassay.sandbox.launcher.collect import Links, collect
from repoassay.sandbox.launcher.command_line import forget_command_line
from repoassay.sandbox.launcher.framing import encode, read_spec
from repoassay.sandbox.launcher.identity import INSIDE, enter_user_namespace
from repoassay.sandbox.launcher.init import run_as_init
from repoassay.sandbox.launcher.root import build, inside
from repoassay.sandbox.launcher.watch import Watch

TYPE_CHECKING = False  # as typing has it, without the price of importing typing
if TYPE_CHECKING:
    from repoassay.sandbox.launcher.spec import Spec

__all__ = ["main"]

_SIGKILL = 9
_LOOK = 0.05
"""Seconds between two looks at the tree where the kernel does not enforce the memory limit."""


def main() -> None:
    """Read a `Spec` from standard input, run it, and write one document to its status descriptor."""
    forget_command_line()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # see `most_files`
    spec: Spec = read_spec(_read_all(0))  # type: ignore[assignment]  # an object with the same attributes
    descriptors = (spec.status_fd, spec.control_fd, spec.channel_fd, spec.jobs_fd, spec.results_fd, spec.doors_fd,
             spec.session_fd)  # fmt: skip
    for descriptor in descriptors:
        if descriptor >= 0:
            os.set_inheritable(descriptor, False)
    try:
        report = _run(spec)
    except (OSError, KeyError, ValueError) as error:
        report = {"fault": str(error) or type(error).__name__}
    try:
        os.write(spec.status_fd, encode(report))
    except BrokenPipeError:
        pass  # the host is gone, and nobody is left to tell


def _read_all(descriptor: int) -> bytes:
    parts = []
    while part := os.read(descriptor, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def _enter(spec: Spec) -> None:
    """Become a process of the sandbox: its control groups, its namespaces and its file tree."""
    _join_cgroups(spec)
    namespaces = (
        kernel.CLONE_NEWNS | kernel.CLONE_NEWPID | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS | kernel.CLONE_NEWCGROUP
    )
    enter_user_namespace(spec.uid, spec.gid, namespaces | (0 if spec.host_network else kernel.CLONE_NEWNET))
    kernel.not_dumpable()
    if not spec.host_network:
        kernel.loopback_up()
        if spec.hosts:
            _open_low_ports()
    if spec.doors:
        from repoassay.sandbox.launcher.port_forward import open_doors

        open_doors(spec.doors, spec.doors_fd)
    if spec.slots:
        import repoassay.sandbox.launcher.server
    if spec.session_fd >= 0:
        import repoassay.sandbox.launcher.session  # noqa: F401 - the same
    build(spec)


def _run(spec: Spec) -> dict[str, object]:
    _enter(spec)
    result_read, result_write = os.pipe()
    started = time.monotonic()
    init = os.fork()
    if init == 0:
        os.close(result_read)
        run_as_init(spec, result_write)
    os.close(result_write)
    # or the host would wait for an end of file that never comes
    for descriptor in (1, 2, spec.channel_fd, spec.jobs_fd, spec.results_fd, spec.session_fd):
        if descriptor >= 0:
            os.close(descriptor)
    watch = Watch([init], spec.memory, spec.disk, spec.processes, spec.cgroups)
    ended = _wait(spec, init, watch, started + spec.seconds)
    wall = time.monotonic() - started
    os.kill(init, _SIGKILL)
    os.waitpid(init, 0)  # returns once the kernel has ended every process of the namespace
    outcome = os.read(result_read, 4096).decode(errors="replace")
    if outcome.startswith("fault "):
        return {"fault": outcome[6:]}
    code, number = _outcome(outcome)
    out_of_memory = watch.finish()
    if ended == "exited" and out_of_memory and code != 0:
        ended = "out_of_memory"
    elif ended == "exited" and number is not None:
        ended = "signalled"
    elif ended == "exited" and code is None:
        return {"fault": "process 1 of the sandbox was killed from outside"}
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    rejected = [] if ended == "abandoned" else _gather(spec)
    return {
        "ended": ended,
        "code": code,
        "signal": number,
        "wall": wall,
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak_memory": watch.peak or usage.ru_maxrss * 1024,
        "rejected": rejected,
    }


def _open_low_ports() -> None:
    """Let everybody in this network namespace, which must be the sandbox's own, listen at ports below 1024."""
    try:
        _write("/proc/sys/net/ipv4/ip_unprivileged_port_start", "0")
    except OSError:
        pass  # a container may show this read-only; who would listen there finds out


def _join_cgroups(spec: Spec) -> None:
    try:  # few may ask to be spared when memory runs out, but those who may are those who have control groups
        _write("/proc/self/oom_score_adj", "-900")
    except PermissionError:
        pass
    for folder in spec.cgroups:
        _write(f"{folder}/cgroup.procs", str(os.getpid()))


def _write(path: str, text: str) -> None:
    with open(path, "w") as stream:
        stream.write(text)


def _wait(spec: Spec, init: int, watch: Watch, deadline: float) -> str:
    """Wait for init's end, the deadline, a passed limit, the host's word, or the host's death."""
    process = os.pidfd_open(init)
    poll = select.poll()
    poll.register(process, select.POLLIN)
    poll.register(spec.control_fd, select.POLLIN | select.POLLHUP)
    try:
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                return "timed_out"
            ready = dict(poll.poll(min(left, _LOOK) * 1000))
            if process in ready:
                return "exited"
            if spec.control_fd in ready:
                return "cancelled" if os.read(spec.control_fd, 1) else "abandoned"
            if watch.exceeded():
                return "out_of_memory"
    finally:
        os.close(process)


def _outcome(outcome: str) -> tuple[int | None, int | None]:
    word, _, number = outcome.partition(" ")
    if word == "exit":
        return int(number), None
    if word == "signal":
        return None, int(number)
    return None, None


def _gather(spec: Spec) -> list[dict[str, str]]:
    rejected: list[tuple[str, str]] = []
    for gather in spec.gather:
        try:
            source = inside(spec, gather.source)
        except OSError as error:
            rejected.append(("", str(error)))
            continue
        root = source[: -len(gather.source)]
        links = None if gather.links is None else Links(root, gather.source, INSIDE, gather.links)
        rejected += collect(source, gather.into, gather.max_bytes, gather.max_files, gather.skip, links)
    return [{"path": path, "reason": reason} for path, reason in rejected]
