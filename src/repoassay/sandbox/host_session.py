"""A session where nothing is isolated: its commands are processes of the host, as `none.py` runs them.

Its end kills the process group of every command; what has left its group, and memory, processes and disk, nobody
watches, and a caller that is killed leaves behind what it had started.
"""

from __future__ import annotations

import contextlib
import errno
import os
import posixpath
import select
import signal
import stat
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from repoassay.errors import Interrupted
from repoassay.sandbox.host_places import HostPlaces
from repoassay.sandbox.port_forward import host_doors
from repoassay.sandbox.protocol import Completed, SandboxSetup
from repoassay.sandbox.scratch import temporary_folder
from repoassay.sandbox.session import FileFacts, SessionBase, shell_exit
from repoassay.sandbox.stream import Bounded, Drain
from repoassay.types import Ended, Exit

__all__ = ["HostSession"]

_LOOK = 0.1


class HostSession(SessionBase):
    """See `SandboxSession`; opened by `NoSandbox`."""

    def __init__(self, setup: SandboxSetup, cancel: threading.Event | None) -> None:
        super().__init__(setup)
        self._cancel = cancel or threading.Event()
        self._started, self._wall = time.monotonic(), 0.0
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._how = Ended.EXITED
        self._running: list[subprocess.Popen[bytes]] = []  # not waited for, so that their numbers stay theirs
        self._closed: Completed | None = None
        with contextlib.ExitStack() as stack:
            stack.callback(self._end_log)
            folder = temporary_folder("run")
            self._places = HostPlaces(Path(stack.enter_context(folder)).resolve(), setup)
            stack.enter_context(host_doors(setup.doors))
            self._drain = Drain()
            stack.callback(self._drain.close)
            self._stack = stack.pop_all()
        threading.Thread(target=self._watch, name="sandbox-session", daemon=True).start()

    @property
    def ended(self) -> bool:
        """See `SandboxSession`."""
        return self._over.is_set()

    def exec(
        self,
        argv: Sequence[str],
        *,
        cwd: str = "",
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        timeout: float | None = None,
        output: int | None = None,
        logged: bool = True,
    ) -> Completed:
        """See `SandboxSession`."""
        started = time.monotonic()
        limit = self.setup.limits.output if output is None else output
        out, err = Bounded(limit), Bounded(limit)
        seen = self._logged if logged else lambda _: None
        try:
            with self._places.typed(stdin) as typed, self._lock:
                self._check()
                process = self._places.start(argv, self._whole(cwd), typed, env)
                self._running.append(process)
                dead = _Death(process.pid)
                assert process.stdout and process.stderr
                pairs = ((process.stdout, out), (process.stderr, err))
                ends = [self._drain.add(os.dup(stream.fileno()), sink, seen) for stream, sink in pairs]
                process.stdout.close()
                process.stderr.close()
        except (OSError, ValueError) as error:
            return self._places.not_started(argv, error)
        try:
            timed_out = not dead.within(timeout)
        finally:
            if not dead.within(0):
                _kill(process)
                dead.within(None)
            dead.close()
            for end in ends:
                self._drain.take(end)
        exit_ = self._exit(process, time.monotonic() - started, timed_out=timed_out)
        truncated = out.truncated or err.truncated
        return Completed(exit_.model_copy(update={"output_truncated": truncated}), out.value(), err.value())

    def _exit(self, process: subprocess.Popen[bytes], wall: float, *, timed_out: bool) -> Exit:
        with self._lock:
            code = process.returncode  # known once the session is closed
            if code is None:
                result = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
                assert result is not None
                code = result.si_status if result.si_code == os.CLD_EXITED else -result.si_status
        exit_ = shell_exit(code, wall=round(wall, 4))
        if self.ended and exit_.signal == signal.SIGKILL:
            if self._how is not Ended.TIMED_OUT:
                self._check()
            return exit_.model_copy(update={"ended": self._how})
        return exit_.model_copy(update={"ended": Ended.TIMED_OUT}) if timed_out else exit_

    def read(self, path: str, limit: int = 32 * 2**20) -> bytes:
        """See `SandboxSession`."""
        self._check()
        with os.fdopen(os.open(self._places.inside(self._whole(path)), os.O_RDONLY | os.O_NONBLOCK), "rb") as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise OSError(errno.EINVAL, "it is no regular file", path)
            data = stream.read(limit + 1)
        if len(data) > limit:
            raise OSError(errno.EFBIG, f"more than {limit} bytes", path)
        return data

    def write(self, path: str, content: bytes, executable: bool = False) -> None:
        """See `SandboxSession`."""
        self._check()
        place = self._places.inside(self._whole(path), writable=True)
        place.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK, 0o644), "wb") as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise OSError(errno.EINVAL, "it is no regular file", path)
            stream.truncate()
            stream.write(content)
        place.chmod(0o755 if executable else 0o644)

    def _whole(self, path: str) -> str:
        return posixpath.join(self.setup.cwd, path)

    def _list(self, folders: Sequence[str]) -> Mapping[str, FileFacts]:
        self._check()
        found: dict[str, FileFacts] = {}
        for folder in folders:
            place = self._places.inside(folder)
            if not place.is_dir():
                raise FileNotFoundError(errno.ENOENT, "there is no such folder", folder)
            for top, below, names in os.walk(place):
                for path in (Path(top, name) for name in (*names, *below)):
                    status = path.lstat()
                    if not stat.S_ISDIR(status.st_mode):
                        facts = (status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
                        found[f"{folder.rstrip('/')}/{path.relative_to(place)}"] = facts
        return found

    def kill(self) -> None:
        """See `SandboxSession`; what has left its process group goes on."""
        with self._lock:
            self._check()
            for process in self._running:
                _kill(process)

    def close(self) -> Completed:
        """See `SandboxSession`."""
        self._end(Ended.EXITED)
        with self._lock:
            if self._closed is None:
                for process in self._running:
                    process.wait()
                rejected = self._places.collect()
                self._stack.close()
                code = 0 if self._how is Ended.EXITED else None
                self._closed = Completed(Exit(ended=self._how, code=code, wall=self._wall), rejected=rejected)
            return self._closed

    def _watch(self) -> None:
        while not self._over.wait(_LOOK):
            if self._cancel.is_set():
                self._end(Ended.CANCELLED)
            elif time.monotonic() - self._started > self.setup.limits.seconds:
                self._end(Ended.TIMED_OUT)

    def _end(self, how: Ended) -> None:
        with self._lock:
            if not self._over.is_set():
                self._how, self._wall = how, round(time.monotonic() - self._started, 4)
                self._over.set()
                for process in self._running:
                    _kill(process)

    def _check(self) -> None:
        if self.ended:
            how = "" if self._how is Ended.EXITED else f" ({self._how.value.replace('_', ' ')})"
            raise Interrupted(f"The session in the sandbox has ended{how}.")


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


class _Death:
    """The end of a child, which is waited for without burying it."""

    def __init__(self, pid: int) -> None:
        self._descriptor = os.pidfd_open(pid)

    def within(self, seconds: float | None) -> bool:
        """Wait for it; false when it does not come in time."""
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        return bool(poll.poll(None if seconds is None else seconds * 1000))

    def close(self) -> None:
        """Let go of the descriptor."""
        os.close(self._descriptor)
