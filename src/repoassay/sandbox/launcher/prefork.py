"""The warm interpreter: has imported what jobs need and forks once a job. Its packages may be hostile.

For jobs that share more, such as one base commit, it forks a *branch*, which holds that and forks for them.

So it has no capability and no way to get one, the system-call filter, and no mount it could write to but its own. It
hears from the fork server over one socket and is believed nothing: what it forks for a job enters that job's slot
through a gate, and limits and results are the fork server's.
"""

from __future__ import annotations

import _socket
import gc
import os
import resource
import sys

from repoassay.sandbox.launcher import kernel
from repoassay.sandbox.launcher.framing import held_document, receive, send
from repoassay.sandbox.launcher.job import KINDS
from repoassay.sandbox.launcher.prefork_filter import compile_job_filter, compile_warm_filter
from repoassay.sandbox.launcher.shared_child import SharedChild, can_share
from repoassay.sandbox.launcher.signals import as_a_fresh_python

TYPE_CHECKING = False  # as typing has it, without the price of importing typing
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    from repoassay.sandbox.launcher.spec import Spec

__all__ = ["be_warm"]

_ENV = "/env"
_HIDDEN = ("/checkouts", "/bytecode", "/slot")


def be_warm(spec: Spec, server: _socket.socket) -> NoReturn:
    """In a fork of the fork server: give up everything, import, and fork for jobs until the server is gone."""
    try:
        as_a_fresh_python()
        channel = os.dup2(server.detach(), 3, inheritable=False)
        os.closerange(4, 4096)
        os.dup2(os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC), 0)
        os.dup2(2, 1)
        os.setsid()
        strict = compile_job_filter()
        _give_up(spec.processes)
        space = _prepare(spec)
        _settle()
        server = _socket.socket(-1, -1, -1, channel)
        server.send(b"ready")
        Interpreter(server, space, strict).run()
    except EOFError:
        pass  # the fork server is gone
    except BaseException as error:  # noqa: BLE001 - the host reads why from what was said
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(1)


def _give_up(processes: int) -> None:
    """Identity there is only one; mounts that are not this interpreter's business, limits, capabilities, calls."""
    kernel.unshare(kernel.CLONE_NEWNS)
    for folder in _HIDDEN:
        kernel.mount("/sys", folder, flags=kernel.MS_BIND)
    _limit({**_EVERYWHERE, resource.RLIMIT_NPROC: processes})
    kernel.drop_bounding_set()
    kernel.drop_capabilities()
    kernel.no_new_privileges()
    kernel.dumpable()  # or the fork server could not trace what is forked here
    with open("/proc/self/oom_score_adj", "w") as stream:
        stream.write("500")
    kernel.set_filter(compile_warm_filter())


_EVERYWHERE = {
    resource.RLIMIT_CORE: 1,  # not 0, as in init.py
    resource.RLIMIT_NOFILE: kernel.most_files(),
    resource.RLIMIT_MEMLOCK: 1 << 20,
    resource.RLIMIT_MSGQUEUE: 1 << 16,
    resource.RLIMIT_SIGPENDING: 1 << 12,  # timers too, of which an account has so many
}


def _limit(limits: dict[int, int]) -> None:
    for limit, value in limits.items():
        hard = resource.getrlimit(limit)[1]
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(limit, (bound, bound))


def _prepare(spec: Spec) -> dict[str, Any]:
    """Make this interpreter the environment's, and import the program jobs run."""
    import site

    os.chdir("/")
    sys.executable = f"{_ENV}/bin/python"
    sys.prefix = sys.exec_prefix = _ENV
    sys.path[:] = [path for path in sys.path if path.startswith((sys.base_prefix, "/usr/"))]
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    os.environ.clear()
    os.environ.update(dict(spec.env))
    site.addsitedir(f"{_ENV}/lib/{version}/site-packages")
    space: dict[str, Any] = {"__name__": "repoassay_program", "__file__": spec.argv[0]}
    with open(spec.argv[0]) as stream:
        exec(compile(stream.read(), spec.argv[0], "exec"), space)  # noqa: S102 - our own program
    if "prepare" in space:
        space["prepare"]()
    _import(spec.argv[1:])
    return space


def _import(names: list[str]) -> None:
    import importlib

    for name in names:
        try:
            importlib.import_module(name)
        except Exception as error:  # noqa: BLE001 - what cannot be imported here, the job imports or fails to
            os.write(2, f"{name}: {type(error).__name__}: {error}\n".encode())


def _settle() -> None:
    kernel.adopt_nobody()  # a package may have asked for it: workers are for the fork server to adopt
    gc.collect()
    gc.freeze()  # so that collections in children leave the shared pages alone


class Interpreter:
    """The loop: one thread of its own, so that every fork is of a process that stands still.

    Args:
        server: Where words come from.
        space: What the program defines: `work(job, channel)` and, perhaps, `foresee(job)` before the fork of a job and
            `hold(document)` in a new branch.
        strict: What the system-call filter of jobs refuses besides.
    """

    def __init__(self, server: _socket.socket, space: dict[str, Any], strict: bytes) -> None:
        self._server, self._space, self._strict = server, space, strict
        self._foresee: Callable[[dict[str, Any]], None] = space.get("foresee", lambda job: None)
        self._forked: set[int] = set()
        self._held: dict[str, int] = {}
        self._branches: dict[str, _socket.socket] = {}
        self._job: tuple[dict[str, Any], int, int, int] = ({}, -1, -1, -1)
        self._child: SharedChild | None = None
        self._env: dict[str, str] = {}
        """In a branch: what workers find as their environment."""

    def run(self) -> None:
        """Do what the server says until it is gone."""
        while True:
            word, (body, *descriptors) = receive(self._server, 4)
            self._forked = {pid for pid in self._forked if os.waitpid(pid, os.WNOHANG)[0] == 0}
            kind, _, branch = word.decode().partition(" ")
            if kind == "hold":
                self._keep(branch, body)
                continue
            if kind == "job" and self._passed_on(branch, word, [body, *descriptors]):
                continue
            document = held_document(body)
            os.close(body)
            if kind == "import":
                _import(document["import"])
                _settle()
                self._cut(0)  # they lack it
                continue
            self._foresee(document)
            entrance, channel, output = descriptors
            self._job = (document, entrance, channel, output)
            if self._child is not None:
                env = document.pop("env")  # the worker finds it so
                if env != self._env:
                    _as_started(env)
                    self._env = env
                self._child.start()
            else:
                pid = os.fork()
                if pid == 0:
                    self._enter()
                    os._exit(0)
                self._forked.add(pid)
            for descriptor in descriptors:
                os.close(descriptor)

    def enter_sharing(self) -> None:
        """From now on have jobs entered by a child that shares this memory.

        Only for a branch: where such a child is ended on its way this process has to end too.
        """
        if can_share():
            self._child = SharedChild(self._enter)

    def _enter(self) -> None:
        _enter(*self._job, self._space["work"], self._strict)

    def _keep(self, branch: str, body: int) -> None:
        if branch in self._branches:
            self._branches.pop(branch).close()
        if branch in self._held:
            os.close(self._held.pop(branch))
        self._held[branch] = body
        if len(self._held) > _MOST_HELD:
            os.close(self._held.pop(next(iter(self._held))))  # its jobs are forked here, and read what they need

    def _passed_on(self, branch: str, word: bytes, descriptors: list[int]) -> bool:
        """Give a job to its branch, grown if need be; false when there is none to give it to."""
        if branch not in self._branches and not (branch in self._held and self._grow(branch)):
            return False
        known = self._branches.pop(branch)
        try:
            send(known, word.partition(b" ")[0], descriptors)
        except OSError:  # it has ended
            known.close()
            return False
        self._branches[branch] = known  # the last to be cut
        for descriptor in descriptors:
            os.close(descriptor)
        return True

    def _grow(self, branch: str) -> bool:
        self._cut(_MOST_BRANCHES - 1)
        ours, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        try:
            pid = os.fork()
        except OSError:
            return False
        if pid == 0:
            self._be_branch(self._held[branch], theirs)
        self._forked.add(pid)
        theirs.close()
        self._branches[branch] = ours
        return True

    def _be_branch(self, held: int, theirs: _socket.socket) -> NoReturn:
        try:
            document = held_document(held)
            channel = os.dup2(theirs.detach(), 3, inheritable=False)
            os.closerange(4, 4096)
            self._space["hold"](document)
            del document
            _settle()
            branch = Interpreter(_socket.socket(-1, -1, -1, channel), self._space, self._strict)
            branch.enter_sharing()
            branch.run()
        except EOFError:
            pass  # it is cut
        except BaseException as error:  # noqa: BLE001 - what it was given is not done, which the server sees
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(1)

    def _cut(self, most: int) -> None:
        """Let go of branches, the longest unused first, until there are no more than so many."""
        while len(self._branches) > most:
            self._branches.pop(next(iter(self._branches))).close()


_MOST_BRANCHES, _MOST_HELD = 48, 256


def _as_started(env: dict[str, str]) -> None:
    """Signals and variables as an interpreter finds them that was started for a job."""
    as_a_fresh_python()
    os.environ.clear()
    os.environ.update(env)


def _enter(
    job: dict[str, Any],
    entrance: int,
    channel: int,
    output: int,
    work: Callable[[dict[str, Any], int], None],
    strict: bytes,
) -> None:
    """In a child of its own: enter the job's slot and fork the worker there, which the fork server adopts."""
    try:
        server = _socket.socket(-1, -1, -1, entrance)
        server.send(b"here")
        namespaces: list[int] = []
        watched = False
        while not (namespaces and watched):
            word, descriptors = receive(server, len(KINDS))
            namespaces, watched = namespaces or descriptors, watched or word == b"go"
        for descriptor, kind in zip(namespaces, KINDS.values(), strict=True):
            kernel.setns(descriptor, kind)
        kernel.drop_capabilities()
        if os.fork() == 0:
            _be_worker(job, server, work, strict, channel, output)
    except EOFError:
        pass  # the job has ended already
    except OSError as error:
        os.write(output, f"the slot could not be entered: {error}\n".encode())


def _be_worker(
    job: dict[str, Any],
    server: _socket.socket,
    work: Callable[[dict[str, Any], int], None],
    strict: bytes,
    report_end: int,
    output: int,
) -> NoReturn:
    status = 1
    try:
        server.send(b"born")
        server.detach()
        if "env" in job:
            _as_started(job["env"])
        os.setsid()  # or a signal to its own group would reach the warm interpreter
        null = os.open("/dev/null", os.O_RDONLY)
        for descriptor, target in ((null, 0), (output, 1), (output, 2)):
            os.dup2(descriptor, target)
        channel = os.dup2(report_end, 3, inheritable=False)
        os.closerange(4, 4096)
        os.chdir("/tmp")  # noqa: S108 - inside the slot
        _limit(_limits(job))
        kernel.set_filter(strict)
        work(job, channel)
        status = 0
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 1
    except BaseException as error:  # noqa: BLE001 - whatever the job raised, its process ends here
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError, AttributeError):
                pass  # the job closed or replaced it
        os._exit(status & 255)


def _limits(job: dict[str, Any]) -> dict[int, int]:
    return {
        **_EVERYWHERE,
        resource.RLIMIT_FSIZE: job["disk"],
        resource.RLIMIT_CPU: int(job["seconds"] * (os.cpu_count() or 1)) + 5,
        # So that the kernel stops at once what the fork server's looks come too late for.
        resource.RLIMIT_NPROC: job["processes"] * 4,
    }
