"""What a fork of process 1 does to itself before it is a command: limits, identity, filter, exec."""

from __future__ import annotations

import os
import resource

from repoassay.sandbox.launcher import kernel
from repoassay.sandbox.launcher.identity import become_command

TYPE_CHECKING = False  # as typing has it, without the price of importing typing
if TYPE_CHECKING:
    from typing import NoReturn

    from repoassay.sandbox.launcher.spec import Spec

__all__ = ["become", "limit"]


def become(spec: Spec, argv: list[str], env: dict[str, str], cwd: str, program: bytes) -> NoReturn:
    """In a child: be the command `argv` under the seccomp filter `program`; never returns."""
    try:
        limit(spec)
        os.umask(0o022)
        os.chdir(cwd)
        _go_first_when_memory_runs_out()
        _give_stdin(spec)
        if spec.channel_fd >= 0:
            os.set_inheritable(spec.channel_fd, True)
        become_command()
        kernel.set_filter(program)
        os.execvpe(argv[0], argv, env)
    except BaseException as error:  # noqa: BLE001 - reported as what a shell would say, then the process ends
        os.write(2, f"{argv[0]}: {error}\n".encode(errors="replace"))
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


def limit(spec: Spec) -> None:
    """Hold this process and its children to the limits of a command."""
    for which, value in _limits(spec).items():
        hard = resource.getrlimit(which)[1]
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(which, (bound, bound))


def _go_first_when_memory_runs_out() -> None:
    kernel.dumpable()  # or the file were root's
    try:
        with open("/proc/self/oom_score_adj", "w") as stream:
            stream.write("500")
    except PermissionError:
        pass  # an ordinary account may not, before exec; nor could it spare the supervisor
    kernel.not_dumpable()  # until exec: other commands of a session may be watching


def _give_stdin(spec: Spec) -> None:
    if spec.session_fd >= 0:
        return  # it came with the request
    descriptor = os.memfd_create("stdin")
    data = memoryview(spec.stdin)
    while data:
        data = data[os.write(descriptor, data) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.dup2(descriptor, 0)


def _limits(spec: Spec) -> dict[int, int]:
    limits = {
        resource.RLIMIT_CORE: 1,  # not 0, which lets the host's handler of cores start and read what crashed
        resource.RLIMIT_FSIZE: spec.disk,
        resource.RLIMIT_NOFILE: kernel.most_files(),
        resource.RLIMIT_MEMLOCK: 1 << 20,
        resource.RLIMIT_MSGQUEUE: 1 << 16,
        resource.RLIMIT_SIGPENDING: 1 << 12,  # timers too, of which an account has so many
        resource.RLIMIT_CPU: int(spec.seconds * (os.cpu_count() or 1)) + 5,
    }
    if _counts_processes_per_namespace():
        limits[resource.RLIMIT_NPROC] = spec.processes
    return limits


def _counts_processes_per_namespace() -> bool:
    # Before Linux 5.14 the limit counts every process of the account on the whole host.
    major, minor = os.uname().release.split(".")[:2]
    return (int(major), int("".join(filter(str.isdigit, minor)) or 0)) >= (5, 14)
