"""Prefork servers, as the host sees them: one sandboxed interpreter an environment, to which jobs are given.

Starting an interpreter and importing a test runner costs most of what short tests cost. A prefork server has done both
inside a sandbox; a job is a fork of it in namespaces of its own (`launcher/job.py`), isolated as a sandbox of
`namespaces.py` is.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from repoassay.errors import InfraFault
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.cgroups import make_cgroups, remove_cgroups
from repoassay.sandbox.launcher.framing import decode, encode
from repoassay.sandbox.namespaces import NamespaceSandbox
from repoassay.sandbox.protocol import Command, Mount
from repoassay.sandbox.supervisor import Pipe, end_supervisor, start_supervisor
from repoassay.types import Ended, Exit, FileEdit, Limits

__all__ = ["WARM_ENV", "WarmDone", "WarmJob", "WarmParent"]

WARM_ENV = {
    "PATH": "/env/bin:/usr/local/bin:/usr/bin:/bin",
    "VIRTUAL_ENV": "/env",
    "HOME": "/home/agent",
    "USER": "agent",
    "LANG": "C.UTF-8",
    "TMPDIR": "/tmp",  # noqa: S108 - inside the slot
    "TERM": "dumb",
    "PYTHONDONTWRITEBYTECODE": "1",
}
"""Variables of every job, besides its `PYTHONPATH`."""


@dataclass(frozen=True, slots=True)
class WarmJob:
    """One run of the parent's program: the repository it sees, files written first, and what the program is told.

    `bytecode`, where there is one, is laid over the repository. `branch` names what the parent is to hold for it; see
    `WarmParent.hold`.
    """

    base: Path | None
    bytecode: Path | None
    edits: Mapping[str, FileEdit | None]
    facts: Mapping[str, Any]
    limits: Limits
    branch: str = ""


@dataclass(frozen=True, slots=True)
class WarmDone:
    """How a job ended, what it wrote to its private channel, and the end of what it printed."""

    exit: Exit
    channel: bytes
    printed: bytes


@dataclass(slots=True)
class WarmParent:
    """A running prefork server; close it when done.

    Args:
        environment: Host folder shown as /env.
        program: A Python file with `work(facts, channel)`; what it imports at its top is imported once.
        cache: Whose checkouts jobs may be based on.
        slots: How many jobs at a time.
        imports: Modules of the environment to import beforehand.
        limits: What one job may take at most; the parent gets that for every slot.
        files: More files every job sees, by absolute path.

    Raises:
        InfraFault: When the sandbox cannot be set up.
    """

    environment: Path
    program: Path
    cache: Cache
    slots: int = 2
    imports: Sequence[str] = ()
    limits: Limits = Limits()
    files: Mapping[str, FileEdit | None] = field(default_factory=dict)
    _stack: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    _waiting: dict[int, Future[dict[str, Any]]] = field(default_factory=dict)
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _jobs: Any = None
    _process: Any = None
    _said: bytearray = field(default_factory=bytearray)
    _places: dict[Path, str] = field(default_factory=dict)
    _over: bool = False
    """Nobody is told anything any more."""

    def __post_init__(self) -> None:
        layers = [self.cache.path / kind for kind in ("checkouts", "bytecode")]
        for layer in layers:
            layer.mkdir(exist_ok=True)
        whole = self.limits.model_copy(
            update={
                "memory": self.limits.memory * self.slots + 2**30,
                "disk": 64 * 2**20,
                # More than its jobs may have together, which the kernel counts as the interpreter's too: they must not
                # keep it from forking for others.
                "processes": 4 * (self.limits.processes + 1) * self.slots + 192,  # branches and their dead among them
                "seconds": 6 * 86400.0,
            }
        )
        command = Command(
            argv=("/run/program.py", *self.imports),
            env=WARM_ENV,
            mounts=(Mount(self.environment, "/env"), *(Mount(layer, f"/{layer.name}") for layer in layers)),
            scratch=("/slot", "/workspace/repo", "/tests"),
            edits={**self.files, "/run/program.py": FileEdit(self.program.read_bytes())},
            limits=whole,
        )
        try:
            self._start(command)
        except BaseException:
            self._stack.close()
            raise

    def _start(self, command: Command) -> None:
        limits = command.limits
        cgroups = make_cgroups(limits.memory + self.limits.disk * self.slots, limits.processes + 8)
        self._stack.callback(remove_cgroups, cgroups)
        status, control, jobs, results = (Pipe(self._stack) for _ in range(4))
        streams = [status.write, control.read, jobs.read, results.write]
        process = start_supervisor([stream.fileno() for stream in streams])
        self._stack.callback(end_supervisor, process)
        self._process = process
        names = ("status_fd", "control_fd", "jobs_fd", "results_fd")
        numbers = dict(zip(names, (stream.fileno() for stream in streams), strict=True))
        spec = NamespaceSandbox(self.cache).spec(command, cgroups, **numbers, slots=self.slots)
        for stream in streams:
            stream.close()
        assert process.stdin and process.stderr and process.stdout
        with contextlib.suppress(BrokenPipeError), process.stdin:
            process.stdin.write(encode(spec.fields()))
        ready: Future[dict[str, Any]] = Future()
        self._waiting[0] = ready
        self._jobs = jobs.write
        for target, name in ((self._listen, results.read), (self._overhear, process.stderr)):
            thread = threading.Thread(target=target, args=(name,), daemon=True)
            thread.start()
            self._stack.callback(thread.join, 5)
        self._stack.callback(jobs.write.close)
        try:
            ready.result(60)
        except (InfraFault, TimeoutError) as error:
            report_bytes = status.read.read(4096) if isinstance(error, InfraFault) else b""
            reason = ""
            with contextlib.suppress(ValueError, EOFError, TypeError):
                report = decode(report_bytes)
                reason = str(report.get("fault", "")) if isinstance(report, dict) else ""
            message = bytes(self._said[-500:]).decode(errors="replace").strip()
            raise InfraFault(
                f"The warm parent could not be started: {reason or message or 'no reason was given'}."
            ) from error

    def close(self) -> None:
        """End it, and with it every job."""
        if self._waiting:
            self._process.kill()  # by itself it would end after its jobs
        self._stack.close()

    def retire(self) -> None:
        """Take no more jobs, and end once those under way have."""
        with self._lock:
            self._jobs.close()
        threading.Thread(target=self._bury, daemon=True).start()

    def _bury(self) -> None:
        self._process.wait()
        self._stack.close()

    def __enter__(self) -> WarmParent:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def import_too(self, names: Sequence[str]) -> None:
        """Have it import more modules of the environment, for the jobs to come."""
        self._give({"import": list(names)})

    def hold(self, branch: str, document: Mapping[str, Any]) -> None:
        """Have it keep plain data for jobs that name this branch, and hand it to the program's `hold` before them."""
        self._give({"hold": dict(document), "branch": branch})

    def run(self, job: WarmJob, cancel: threading.Event | None = None) -> WarmDone:
        """Run one job to its end.

        Raises:
            InfraFault: When the parent is gone or the job's sandbox could not be set up.
        """
        number = next(self._numbers)
        answer: Future[dict[str, Any]] = Future()
        self._waiting[number] = answer
        limits = job.limits
        self._give(
            {
                "id": number,
                "branch": job.branch,
                "layers": [self._place(layer) for layer in (job.bytecode, job.base) if layer],
                "writes": [
                    (path, None if edit is None else edit.content, edit is not None and edit.executable)
                    for path, edit in job.edits.items()
                ],
                "env": {**WARM_ENV, "PYTHONPATH": ":".join(job.facts.get("path", ()))},
                "facts": dict(job.facts),
                "seconds": limits.seconds,
                "memory": min(limits.memory, self.limits.memory),
                "disk": min(limits.disk, self.limits.disk),
                "processes": limits.processes,
            }
        )
        reply = self._await(answer, number, cancel)
        if "fault" in reply:
            raise InfraFault(f"A job of the warm parent could not be set up: {reply['fault']}.")
        return WarmDone(
            Exit(
                ended=Ended(reply["ended"]),
                code=reply.get("code"),
                signal=reply.get("signal"),
                wall=round(reply.get("wall", 0.0), 4),
                cpu=round(reply.get("cpu", 0.0), 4),
                peak_memory=reply.get("peak_memory"),
            ),
            reply.get("told", b""),
            reply.get("said", b""),
        )

    def _await(self, answer: Future[dict[str, Any]], number: int, cancel: threading.Event | None) -> dict[str, Any]:
        # What was given may lie in a pipe that nobody reads: its end was perhaps told before this job waited for one.
        if self._over and (waiting := self._waiting.pop(number, None)):
            waiting.set_exception(InfraFault("The warm parent has ended."))
        while True:
            try:
                return answer.result(0.2 if cancel else None)
            except TimeoutError:
                if cancel and cancel.is_set():
                    self._give({"cancel": number})
                    return answer.result(10)

    def _place(self, layer: Path) -> str:
        """Where the parent sees an entry of the cache."""
        if layer not in self._places:
            self._places[layer] = f"/{layer.resolve().relative_to(self.cache.path.resolve()).as_posix()}"
        return self._places[layer]

    def _give(self, document: dict[str, Any]) -> None:
        body = encode(document)
        try:
            with self._lock:
                data = memoryview(len(body).to_bytes(8, "big") + body)
                while data:
                    data = data[self._jobs.write(data) :]
        except (OSError, ValueError) as error:
            raise InfraFault("The warm parent has ended.") from error

    def _listen(self, stream: Any) -> None:
        """Hand every answer to whoever waits for it; at the end, tell the rest that none will come."""
        rest = bytearray()
        with contextlib.suppress(OSError, ValueError):
            while data := os.read(stream.fileno(), 1 << 20):
                rest += data
                while len(rest) >= 8 and len(rest) >= 8 + (size := int.from_bytes(rest[:8], "big")):
                    document = decode(bytes(rest[8 : 8 + size]))
                    del rest[: 8 + size]
                    assert isinstance(document, dict)
                    if waiting := self._waiting.pop(document.get("id", 0), None):
                        waiting.set_result(document)
        self._over = True
        for number in list(self._waiting):
            if waiting := self._waiting.pop(number, None):
                waiting.set_exception(InfraFault("The warm parent ended before the job did."))

    def _overhear(self, stream: Any) -> None:
        with contextlib.suppress(OSError, ValueError):
            while data := os.read(stream.fileno(), 1 << 16):
                self._said += data[: max(0, 65536 - len(self._said))]
