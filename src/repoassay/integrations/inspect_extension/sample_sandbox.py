"""A sandbox of ours as Inspect's tools know sandboxes: commands, files, and their errors, on a session.

What runs in it has no network but its own loopback, and the rights of no account. A sample of one of our tasks gets the
task's workspace; without a task it is an empty folder, with the programs of this machine.
"""

from __future__ import annotations

import contextlib
import errno
import secrets
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, TypeVar, overload

import anyio
from anyio import to_thread
from inspect_ai.util import (
    ExecResult,
    OutputLimitExceededError,
    SandboxEnvironment,
    SandboxEnvironmentLimits,
    SandboxUnavailableError,
    SandboxUserUnsupportedError,
    sandboxenv,
)
from pydantic import BaseModel  # noqa: TC002 - Inspect looks at annotations

from repoassay.errors import Interrupted
from repoassay.integrations.inspect_extension.open_samples import OpenSample, SampleConfig, open_sample
from repoassay.sandbox import SANDBOX_UID, Completed, usable_cores
from repoassay.types import Ended

__all__ = ["RepoAssaySandbox", "SampleConfig"]

_T = TypeVar("_T")
_MARK = "REPOASSAY_EXEC"
"""Variable by which the processes of a command are found when Inspect gives it up."""
_AT_ONCE = 16
"""Commands of one sample at a time."""
_END = """\
for entry in /proc/[0-9]*; do
  tr '\\0' '\\n' 2>/dev/null < "$entry/environ" | grep -qxF "$1" && kill -9 "${entry#/proc/}"
done
exit 0
"""


@sandboxenv(name="repoassay")
class RepoAssaySandbox(SandboxEnvironment):
    """The sandbox of one sample; made by `sample_init`, on Inspect's behalf."""

    def __init__(self, sample: OpenSample) -> None:
        super().__init__()
        self.sample = sample
        self._session = sample.session
        self._limiter = anyio.CapacityLimiter(_AT_ONCE)

    @classmethod
    def default_concurrency(cls) -> int | None:
        """Sandboxes at a time, where nobody says how many: two a core."""
        return 2 * usable_cores()

    @classmethod
    def config_deserialize(cls, config: dict[str, Any]) -> BaseModel:
        """The configuration as a log has it."""
        return SampleConfig.model_validate(config)

    @classmethod
    async def sample_init(
        cls, task_name: str, config: BaseModel | str | None, metadata: dict[str, str]
    ) -> dict[str, SandboxEnvironment]:
        """Lay the task out, build what it needs, and open the sandbox.

        Raises:
            RepoAssayError: The configuration names no task, or it cannot be had here.
        """
        sample = await _opened(partial(open_sample, config, metadata))
        return {"default": cls(sample)}

    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,
        config: BaseModel | str | None,
        environments: dict[str, SandboxEnvironment],
        interrupted: bool,
    ) -> None:
        """End everything in the sample's sandbox, and throw it away."""
        with anyio.CancelScope(shield=True):
            for environment in environments.values():
                await to_thread.run_sync(environment.as_type(RepoAssaySandbox).sample.close)

    async def exec(
        self,
        cmd: list[str],
        input: str | bytes | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,
        timeout_retry: bool = True,
        concurrency: bool = True,
    ) -> ExecResult[str]:
        """Run a command. One that takes too long is killed with its process group, and never repeated.

        Raises:
            TimeoutError: It took longer than `timeout` seconds.
            PermissionError: It may not be executed.
            OutputLimitExceededError: It printed more than Inspect's limit; the beginning and the end are kept.
            SandboxUserUnsupportedError: `user` is another than the sandbox's own.
            SandboxUnavailableError: The sample's time or memory is used up, or it was scored.
        """
        if user not in (None, "agent", str(SANDBOX_UID)):
            raise SandboxUserUnsupportedError(f"Commands run as `agent` alone in this sandbox, not as {user!r}.")
        mark = f"{_MARK}={secrets.token_hex(8)}"
        limit = SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE
        stdin = input.encode() if isinstance(input, str) else input or b""
        variables = {**(env or {}), _MARK: mark.partition("=")[2]}
        run = partial(self._session.exec, cmd, cwd=cwd or "", env=variables, stdin=stdin, timeout=timeout, output=limit)
        try:
            done = await self._in_thread(run)
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(self._end, mark)
            raise
        return self._result(done, timeout)

    def _result(self, done: Completed, timeout: int | None) -> ExecResult[str]:
        stdout, stderr = (stream.decode("utf-8", "replace") for stream in (done.stdout, done.stderr))
        if self._session.ended:
            raise SandboxUnavailableError("The sandbox has ended: its time or its memory is used up, or it was scored.")
        if done.exit.ended is Ended.TIMED_OUT:
            raise TimeoutError(f"The command took longer than {timeout} seconds, and was killed.")
        if done.exit.output_truncated:
            raise OutputLimitExceededError(SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE_STR, stdout)
        code = 128 + (done.exit.signal or 9) if done.exit.code is None else done.exit.code
        if code == 126 and "permission denied" in stderr.lower():
            raise PermissionError(errno.EACCES, stderr.strip()[-500:])
        return ExecResult(success=code == 0, returncode=code, stdout=stdout, stderr=stderr)

    def _end(self, mark: str) -> None:
        """Kill what a command that was given up has left; it goes with the sandbox where it hides."""
        with contextlib.suppress(Interrupted):
            self._session.exec(["/bin/sh", "-c", _END, "sh", mark], timeout=10)

    async def write_file(self, file: str, contents: str | bytes) -> None:
        """Write a file; see `SandboxEnvironment`."""
        data = contents.encode() if isinstance(contents, str) else contents
        await self._file(partial(self._session.write, file, data))

    @overload
    async def read_file(self, file: str, text: Literal[True] = True) -> str: ...

    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...

    async def read_file(self, file: str, text: bool = True) -> str | bytes:
        """The content of a regular file; see `SandboxEnvironment`."""
        limit = SandboxEnvironmentLimits.MAX_READ_FILE_SIZE
        data = await self._file(partial(self._session.read, file, limit))
        return data.decode("utf-8") if text else data

    async def _file(self, action: Callable[[], _T]) -> _T:
        """Do something to a file; what a tool may tell a model comes as the exceptions Inspect knows."""
        try:
            return await self._in_thread(action)
        except OSError as error:
            if error.errno == errno.EFBIG:
                raise OutputLimitExceededError(SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR, None) from error
            if error.errno == errno.EROFS:
                raise PermissionError(errno.EACCES, error.strerror, error.filename) from error
            if error.errno == errno.ENAMETOOLONG:
                raise FileNotFoundError(errno.ENOENT, error.strerror, error.filename) from error
            raise

    async def _in_thread(self, work: Callable[[], _T]) -> _T:
        try:
            return await to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._limiter)
        except Interrupted as error:
            raise SandboxUnavailableError(str(error)) from error


async def _opened(work: Callable[[], OpenSample]) -> OpenSample:
    """Open a sample in a thread; where Inspect gives up meanwhile, whoever comes last closes it."""
    gone, lock = threading.Event(), threading.Lock()
    late: Sequence[OpenSample] = ()

    def open_it() -> OpenSample:
        nonlocal late
        sample = work()
        with lock:
            late = (sample,)
            if gone.is_set():
                sample.close()
        return sample

    try:
        return await to_thread.run_sync(open_it, abandon_on_cancel=True)
    except anyio.get_cancelled_exc_class():
        with lock:
            gone.set()
            for sample in late:
                sample.close()
        raise
