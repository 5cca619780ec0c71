"""Process 1 of the sandbox: starts the command, buries orphans, and by ending takes every descendant along."""

from __future__ import annotations

import os
import select

from repoassay.sandbox.launcher import kernel
from repoassay.sandbox.launcher.command import become
from repoassay.sandbox.launcher.identity import forget_root
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
        if spec.session_fd >= 0:
            _serve_session(spec, result, counted=counted)
        command = os.fork()
        if command == 0:
            become(spec, spec.argv, dict(spec.env), spec.cwd, compile_filter(memory_is_counted=counted))
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


def _serve_session(spec: Spec, result: int, *, counted: bool) -> None:
    """Start what the host asks for until it closes its end; never returns."""
    from repoassay.sandbox.launcher.session import serve

    serve(spec, compile_filter(memory_is_counted=counted))
    os.write(result, b"exit 0")
    os._exit(0)


def _bury_until(command: int, result: int) -> None:
    while True:
        child, status = os.waitpid(-1, 0)
        if child != command:
            continue
        code = os.waitstatus_to_exitcode(status)
        os.write(result, (f"exit {code}" if code >= 0 else f"signal {-code}").encode())
        return
