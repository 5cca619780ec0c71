"""A warm parent: an interpreter inside the sandbox that has imported what jobs need, and forks once a job.

It keeps the privileges its user namespace gives, to make namespaces for jobs, and therefore runs nothing of a
repository: only the standard library, the environment's packages, and one program of ours named by the host. Jobs come
over one pipe and results go over another, each a marshalled document behind its length.
"""

from __future__ import annotations

import gc
import os
import select
import sys

from repoassay.workspace.launcher.seccomp import compile_filter
from repoassay.workspace.launcher.signals import as_a_fresh_python
from repoassay.workspace.launcher.slot import keep
from repoassay.workspace.launcher.wire import decode, encode

TYPE_CHECKING = False  # as typing has it, without the price of importing typing
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from repoassay.workspace.launcher.spec import Spec

__all__ = ["serve"]

_ENV = "/env"


def serve(spec: Spec) -> None:
    """Take jobs until the host closes its end, at most `spec.slots` at a time; never raises, never returns a value."""
    as_a_fresh_python()
    program = compile_filter(memory_is_counted=False)
    work, foresee = _prepare(spec)
    gc.collect()
    gc.freeze()  # so that collections in children leave the shared pages alone
    _send(spec.results_fd, {"ready": True})
    _Server(spec, work, foresee, program).run()


def _prepare(spec: Spec) -> tuple[Callable[[dict[str, Any], int], None], Callable[[dict[str, Any]], None]]:
    """Make this interpreter the environment's, and import the program jobs run."""
    import site

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
    return space["work"], space.get("foresee", lambda job: None)


def _import(names: list[str]) -> None:
    import importlib

    for name in names:
        try:
            importlib.import_module(name)
        except Exception as error:  # noqa: BLE001 - what cannot be imported here, the job imports or fails to
            os.write(2, f"{name}: {type(error).__name__}: {error}\n".encode())


class _Server:
    """The loop of a warm parent; one thread, so that every fork is of a process that stands still."""

    def __init__(
        self,
        spec: Spec,
        work: Callable[[dict[str, Any], int], None],
        foresee: Callable[[dict[str, Any]], None],
        program: bytes,
    ) -> None:
        self._spec, self._work, self._foresee, self._program = spec, work, foresee, program
        self._poll = select.poll()
        self._poll.register(spec.jobs_fd, select.POLLIN | select.POLLHUP)
        self._read = bytearray()
        self._waiting: list[dict[str, Any]] = []
        self._running: dict[int, tuple[int, Any, bytearray]] = {}
        self._open = True

    def run(self) -> None:
        """Serve until the host closes its end and the last job has ended."""
        while self._open or self._running or self._waiting:
            while self._waiting and len(self._running) < self._spec.slots:
                self._start(self._waiting.pop(0))
            for descriptor, _ in self._poll.poll():
                if descriptor == self._spec.jobs_fd:
                    self._take()
                else:
                    self._hear(descriptor)

    def _take(self) -> None:
        data = os.read(self._spec.jobs_fd, 1 << 20)
        if not data:
            self._open = False  # what was taken is finished; should the host have died, the supervisor ends us
            self._poll.unregister(self._spec.jobs_fd)
            return
        self._read += data
        while len(self._read) >= 8 and len(self._read) >= 8 + (size := int.from_bytes(self._read[:8], "big")):
            job = decode(bytes(self._read[8 : 8 + size]))
            del self._read[: 8 + size]
            assert isinstance(job, dict)
            if "import" in job:
                _import(job["import"])
                gc.collect()
                gc.freeze()
            elif "cancel" in job:
                self._cancel(job["cancel"])
            else:
                self._waiting.append(job)

    def _cancel(self, number: int) -> None:
        for job in [job for job in self._waiting if job["id"] == number]:
            self._waiting.remove(job)
            _send(self._spec.results_fd, {"id": number, "ended": "cancelled"})
        for pid, which, _ in self._running.values():
            if which == number:
                os.kill(pid, 9)

    def _start(self, job: dict[str, Any]) -> None:
        self._foresee(job)
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.close(read)
                os.close(self._spec.jobs_fd)
                os.close(self._spec.results_fd)
                for descriptor in self._running:
                    os.close(descriptor)
                try:
                    told = keep(job, self._work, self._program)
                except BaseException as error:  # noqa: BLE001 - told to the host as a fault of ours
                    told = {"fault": f"{type(error).__name__}: {error}"}
                data = encode(told)
                while data:
                    data = data[os.write(write, data) :]
            finally:
                os._exit(0)
        os.close(write)
        self._running[read] = (pid, job["id"], bytearray())
        self._poll.register(read, select.POLLIN | select.POLLHUP)

    def _hear(self, descriptor: int) -> None:
        pid, number, heard = self._running[descriptor]
        data = os.read(descriptor, 1 << 20)
        heard += data
        if data:
            return
        self._poll.unregister(descriptor)
        os.close(descriptor)
        del self._running[descriptor]
        os.waitpid(pid, 0)
        try:
            told = decode(bytes(heard))
        except (ValueError, EOFError, TypeError):
            told = {"ended": "cancelled"}
        assert isinstance(told, dict)
        _send(self._spec.results_fd, {"id": number, **told})


def _send(descriptor: int, document: dict[str, Any]) -> None:
    body = encode(document)
    data = len(body).to_bytes(8, "big") + body
    while data:
        data = data[os.write(descriptor, data) :]
