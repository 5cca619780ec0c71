"""Process 1 of the sandbox: starts the command, buries orphans, and by ending takes every descendant along."""

from __future__ import annotations

import os
import resource
import select

from repoassay.sandbox.launcher import kernel
from repoassay.sandbox.launcher.identity import become_command, forget_root
from repoassay.sandbox.launcher.seccomp import compile_filter
from repoassay.sandbox.launcher.signals import as_a_fresh_process
from repoassay.sandbox.launcher.watch import memory_group

TYPE_CHECKING = False  # as typing has it, without the price of importing typing
if TYPE_CHECKING:
    from repoassay.sandbox.launcher.spec import Spec

__all__ = ["run_as_init"]


def run_as_init(spec: Spec, result: int) -> None:
    """Finish the sandbox from inside, run the command to its end and write `exit N` or `signal N` to fd `result`.

    Anything that goes wrong before the command runs is written as `fault TEXT`. Never returns.
    """
    try:
        as_a_fresh_process()
        counted = memory_group(spec.cgroups) is not None
        _finish_inside(spec, result)
        if spec.slots:
            _serve(spec, result)
        command = os.fork()
        if command == 0:
            _become(spec, counted)
        for descriptor in (spec.jobs_fd, spec.results_fd):
            if descriptor >= 0:
                os.close(descriptor)
        _bury_until(command, result)
    except BaseException as error:  # noqa: BLE001 - process 1 has nobody above it to report to but this pipe
        os.write(result, f"fault {str(error) or type(error).__name__}".encode()[:2000])
    finally:
        os._exit(0)


def _finish_inside(spec: Spec, result: int) -> None:
    kernel.die_with_parent()
    if _reader_gone(result):
        os._exit(0)  # the supervisor ended before the line above; nobody would ever end us
    kernel.not_dumpable()
    root = f"{spec.mountpoint}/root"
    kernel.unshare(kernel.CLONE_NEWNS)  # the supervisor keeps its own view, from which it collects
    kernel.mount("proc", f"{root}/proc", "proc", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
    kernel.move_root(root)
    kernel.freeze("/")
    kernel.set_hostname(b"workspace")
    os.setsid()
    os.nice(5)  # whatever the command starts, the harness stays responsive
    try:
        forget_root()
    except OSError:
        if spec.slots:  # where namespaces may not be nested a command has no capability all the same
            raise
    kernel.die_with_parent()  # the change of identity took that back
    if _reader_gone(result):
        os._exit(0)


def _reader_gone(pipe: int) -> bool:
    poll = select.poll()
    poll.register(pipe, 0)
    return any(events & select.POLLERR for _, events in poll.poll(0))


def _serve(spec: Spec, result: int) -> None:
    """Be the fork server of a prefork server; never returns."""
    from repoassay.sandbox.launcher.server import serve

    try:
        os.umask(0o022)
        serve(spec)
        os.write(result, b"exit 0")
    except BaseException as error:  # noqa: BLE001 - the host reads why from what was said
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
        os.write(result, b"exit 1")
    finally:
        os._exit(0)


def _become(spec: Spec, memory_is_counted: bool) -> None:
    """In the child: limits, identity, filter, descriptors, exec."""
    try:
        for limit, value in _limits(spec).items():
            hard = resource.getrlimit(limit)[1]
            bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(limit, (bound, bound))
        os.umask(0o022)
        os.chdir(spec.cwd)
        _go_first_when_memory_runs_out()
        _give_stdin(spec.stdin)
        if spec.channel_fd >= 0:
            os.set_inheritable(spec.channel_fd, True)
        program = compile_filter(memory_is_counted=memory_is_counted)
        become_command()
        kernel.set_filter(program)
        os.execvpe(spec.argv[0], spec.argv, dict(spec.env))
    except BaseException as error:  # noqa: BLE001 - reported as what a shell would say, then the process ends
        os.write(2, f"{spec.argv[0]}: {error}\n".encode())
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


def _go_first_when_memory_runs_out() -> None:
    kernel.dumpable()  # or the file were root's; what is executed next is so anyway
    try:
        with open("/proc/self/oom_score_adj", "w") as stream:
            stream.write("500")
    except PermissionError:
        pass  # an ordinary account may not, before exec; nor could it spare the supervisor


def _give_stdin(content: bytes) -> None:
    descriptor = os.memfd_create("stdin")
    data = memoryview(content)
    while data:
        data = data[os.write(descriptor, data) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.dup2(descriptor, 0)


def _limits(spec: Spec) -> dict[int, int]:
    limits = {
        resource.RLIMIT_CORE: 1,  # not 0, which lets the host's handler of cores start and read what crashed
        resource.RLIMIT_FSIZE: spec.disk,
        resource.RLIMIT_NOFILE: 4096,
        resource.RLIMIT_MEMLOCK: 1 << 20,
        resource.RLIMIT_MSGQUEUE: 1 << 16,
        resource.RLIMIT_CPU: int(spec.seconds * (os.cpu_count() or 1)) + 5,
    }
    if _counts_processes_per_namespace():
        limits[resource.RLIMIT_NPROC] = spec.processes
    return limits


def _counts_processes_per_namespace() -> bool:
    # Before Linux 5.14 the limit counts every process of the account on the whole host.
    major, minor = os.uname().release.split(".")[:2]
    return (int(major), int("".join(filter(str.isdigit, minor)) or 0)) >= (5, 14)


def _bury_until(command: int, result: int) -> None:
    while True:
        child, status = os.waitpid(-1, 0)
        if child != command:
            continue
        code = os.waitstatus_to_exitcode(status)
        os.write(result, (f"exit {code}" if code >= 0 else f"signal {-code}").encode())
        return
