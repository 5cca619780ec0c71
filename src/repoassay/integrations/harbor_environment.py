"""Harbor's trials in our sandbox, without Docker: its agent works, and its verifier runs, in a task converted by us.

Loaded by Harbor itself (`--env`). A task is understood as `repoassay import --as harbor` does, or the trial ends with
the line that is not. Nothing inside has a network or another account than the sandbox's own.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from harbor.environments.base import BaseEnvironment, ExecResult
from harbor.environments.capabilities import EnvironmentCapabilities

from repoassay.engine import GradingContext, OpenAttempt
from repoassay.errors import Interrupted, Unavailable
from repoassay.interchange import import_suite, read_verifier
from repoassay.sandbox import Cache, Command, SandboxSession, SandboxSetup, open_sandbox, temporary_folder
from repoassay.tasks import find_suite, refuse_steps
from repoassay.types import Ended

__all__ = ["SandboxEnvironment"]

_FOLDERS = ("/logs", "/tests", "/solution", "/installed-agent")
_SCRIPT = "/tests/test.sh"
_GRACE = 600.0
"""Seconds beside the agent's and the verifier's own limits: for what Harbor does between them."""
_MOST_FILES, _MOST_BYTES = 10_000, 256 * 2**20
_MOST_PRINTED = 4 * 2**20


class SandboxEnvironment(BaseEnvironment):  # type: ignore[misc]
    """One trial's environment. The keyword `isolation` (`--environment-kwarg`) names the kind of isolation.

    Raises:
        Unavailable: The task is not understood, or this machine lacks something.
        InfraFault: It cannot be laid out.
    """

    def __init__(self, *args: Any, isolation: str = "namespaces", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._isolation = isolation
        self._ends = contextlib.ExitStack()
        self._bench: GradingContext | None = None
        self._attempt: OpenAttempt | None = None
        self._work = "/"

    @staticmethod
    def type() -> str:
        """The environment's name in Harbor's results."""
        return "repoassay"

    @property
    def capabilities(self) -> EnvironmentCapabilities:
        """No network for anybody."""
        return EnvironmentCapabilities(disable_internet=True)

    def _validate_definition(self) -> None:
        if not (self.environment_dir / "Dockerfile").is_file():
            raise FileNotFoundError(f"There is no Dockerfile in {self.environment_dir}.")

    async def start(self, force_build: bool) -> None:
        """Convert the task, build its environment unless that is cached, and open a sandbox."""
        await asyncio.to_thread(self._start)

    def _start(self) -> None:
        folder, cache = self.environment_dir.parent, Cache()
        place = self._ends.enter_context(temporary_folder("harbor"))
        self._bench = bench = GradingContext(None, cache, open_sandbox(self._isolation, cache))
        done = import_suite("harbor", folder, Path(place, "suite"), lambda: bench)
        if done.refused:
            refusal = done.refused[0]
            where = f"{refusal.file}:{refusal.line}" if refusal.line else refusal.file
            raise Unavailable(f"{refusal.why} ({where})", "Run this task with Harbor's own Docker environment.")
        task = find_suite(str(done.path)).tasks[0]
        refuse_steps(task, "this environment")
        tests = task.task.hidden_tests
        assert task.task.state is not None
        self._work = task.task.state.work
        seconds = task.task.limits.seconds + tests.seconds + _GRACE

        def beside(setup: SandboxSetup) -> SandboxSetup:
            return replace(setup, scratch=(*setup.scratch, *_FOLDERS), collect=())

        self._attempt = OpenAttempt(task, bench, seconds, beside)
        self._ends.callback(self._attempt.close)
        self._make_folders()

    def _make_folders(self) -> None:
        self.session.exec(["mkdir", "-p", *(f"/logs/{name}" for name in ("agent", "verifier", "artifacts"))])

    @property
    def bench(self) -> GradingContext:
        """The sandbox and the cache."""
        if self._bench is None:
            raise RuntimeError("The environment was not started.")
        return self._bench

    @property
    def attempt(self) -> OpenAttempt:
        """The task laid out, and the session in its sandbox."""
        if self._attempt is None:
            raise RuntimeError("The environment was not started.")
        return self._attempt

    @property
    def session(self) -> SandboxSession:
        """The session in the sandbox."""
        return self.attempt.session

    def at_stop(self, ends: contextlib.ExitStack) -> None:
        """Have something closed when the environment is stopped, before the sandbox is."""
        self._ends.push(ends)

    def admit(self, command: Command) -> None:
        """Open the sandbox anew with what an agent's command needs: mounts, files, port forwards.

        Raises:
            InfraFault: The sandbox cannot be opened.
        """
        self.attempt.reopen(command)
        self._make_folders()

    def kill(self) -> None:
        """End whatever runs inside; the sandbox stays."""
        self.session.kill()

    async def stop(self, delete: bool) -> None:
        """End everything in the sandbox; nothing of it is kept."""
        self._attempt = None
        await asyncio.to_thread(self._ends.close)

    async def exec(
        self,
        command: str,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        timeout_sec: int | None = None,
        user: str | int | None = None,
    ) -> ExecResult:
        """Run a command in bash; `user` means nothing, since the sandbox has one account.

        Raises:
            RuntimeError: It took longer than `timeout_sec`, or the sandbox has ended.
        """
        where = cwd or self.task_env_config.workdir or self._work
        try:
            done = await asyncio.to_thread(
                self.session.exec, ["/bin/bash", "-c", command], cwd=where, env=self._merge_env(env),
                timeout=timeout_sec, output=_MOST_PRINTED,
            )  # fmt: skip
        except Interrupted as error:
            raise RuntimeError(f"The sandbox has ended: {error}") from error
        if done.exit.ended is Ended.TIMED_OUT:
            raise RuntimeError(f"The command took longer than {timeout_sec} seconds, and was killed.")
        code = done.exit.code if done.exit.code is not None else 1
        return ExecResult(
            stdout=done.stdout.decode(errors="replace"), stderr=done.stderr.decode(errors="replace"), return_code=code
        )

    async def upload_file(self, source_path: Path | str, target_path: str) -> None:
        """Write a file of the host; the script of the tests without what it installs, which is there."""
        source = Path(source_path)
        content = source.read_bytes()
        if target_path == _SCRIPT:
            content = read_verifier(content.decode(), "tests/test.sh").text.encode()
        await asyncio.to_thread(self.session.write, target_path, content, bool(source.stat().st_mode & 0o100))

    async def upload_dir(self, source_dir: Path | str, target_dir: str) -> None:
        """Write every regular file below a folder of the host."""
        top = Path(source_dir)
        for path in sorted(top.rglob("*")):
            if path.is_file() and not path.is_symlink():
                await self.upload_file(path, str(PurePosixPath(target_dir, path.relative_to(top).as_posix())))

    async def download_file(self, source_path: str, target_path: Path | str) -> None:
        """Read a regular file of the sandbox."""
        await self._download(source_path, Path(target_path), _MOST_BYTES)

    async def _download(self, source: str, target: Path, most: int) -> int:
        """Read a file of at most so many bytes; returns how many it has, whatever was said before."""
        content = await asyncio.to_thread(self.session.read, source, most)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        return len(content)

    async def download_dir(self, source_dir: str, target_dir: Path | str) -> None:
        """Read the regular files below a folder of the sandbox; links stay inside.

        Raises:
            RuntimeError: They are too many or too large, or the folder cannot be listed.
        """
        listing = ["find", source_dir, "-type", "f", "-printf", r"%P\0"]
        done = await asyncio.to_thread(self.session.exec, listing, output=_MOST_PRINTED)
        names = [raw.decode(errors="surrogateescape") for raw in done.stdout.split(b"\0") if raw]
        if done.exit.code or len(names) > _MOST_FILES:
            raise RuntimeError(f"The folder {source_dir} cannot be listed, or holds more than may cross.")
        left = _MOST_BYTES
        for name in names:
            if ".." not in PurePosixPath(name).parts and not name.startswith("/"):
                try:
                    left -= await self._download(f"{source_dir.rstrip('/')}/{name}", Path(target_dir, name), left)
                except OSError as error:
                    if error.errno != errno.EFBIG:
                        raise
                    raise RuntimeError(f"The folder {source_dir} holds more than may cross.") from error
