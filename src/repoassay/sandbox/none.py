"""No isolation: the command runs as our own account and can do whatever we can. Only ever by explicit flag.

Places such as /workspace do not exist on the host, so mounts and scratch folders are laid out below a temporary folder
and every mention of them in the command line, environment, standard input and edits is rewritten to it. Time and
output are limited; memory, processes, disk and network are not.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from repoassay.sandbox.launcher.collect import collect
from repoassay.sandbox.port_forward import host_doors
from repoassay.sandbox.protocol import Access, Command, Completed
from repoassay.sandbox.stream import Bounded, Log, pump
from repoassay.types import Ended, Exit, SkippedFile

__all__ = ["NoSandbox"]

_PASSED_ON = ("PATH", "HOME", "LANG", "TMPDIR", "SYSTEMROOT")


class NoSandbox:
    """Runs commands directly on the host, in a session of their own that is killed at the end."""

    name = "none"
    network_is_private = False

    def run(self, command: Command, cancel: threading.Event | None = None) -> Completed:
        """Run one command to its end; see `Sandbox`."""
        folder_made = tempfile.TemporaryDirectory(prefix="repoassay-", ignore_cleanup_errors=True)
        with folder_made as folder, host_doors(command.doors):
            return _run(command, cancel or threading.Event(), _Places(Path(folder).resolve(), command))


class _Places:
    """The temporary stand-in for the sandbox's root."""

    def __init__(self, root: Path, command: Command) -> None:
        self._root = root
        targets = [
            *command.scratch,
            *(mount.target for mount in command.mounts),
            *map(_top, command.edits),
        ]
        names = sorted(
            {target for target in targets if _top(target) not in ("/tmp", "/usr")},  # noqa: S108 - names of real folders
            key=len,
            reverse=True,
        )
        names += ["/workspace", "/home/agent"]
        self.host("/home/agent").mkdir(parents=True, exist_ok=True)
        self._pattern = re.compile(r"(?<![\w./-])(" + "|".join(map(re.escape, names)) + r")(?![\w-])")
        places: list[tuple[str, Access | None, Path]] = [(path, None, root) for path in command.scratch]
        places += [(mount.target, mount.access, mount.source) for mount in command.mounts]
        for target, access, source in sorted(places, key=lambda place: place[0].count("/")):
            self._lay(self.host(target), access, source)
        for path, edit in command.edits.items():
            place = self.host(path)
            if edit is None:
                place.unlink()
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(edit.content)
            place.chmod(0o755 if edit.executable else 0o644)

    @staticmethod
    def _lay(place: Path, access: Access | None, source: Path) -> None:
        place.parent.mkdir(parents=True, exist_ok=True)
        if access is None:
            place.mkdir(exist_ok=True)
        elif access is Access.COPY_ON_WRITE:
            shutil.copytree(source, place, symlinks=True)
        else:
            place.symlink_to(source.resolve())

    def host(self, path: str) -> Path:
        """The host path that stands for `path`."""
        return self._root / path.lstrip("/")

    def rewrite(self, text: str) -> str:
        """Point every mention of a laid-out place at its stand-in."""
        return self._pattern.sub(lambda match: str(self.host(match[1])), text)


def _top(path: str) -> str:
    return "/" + path.lstrip("/").split("/", 1)[0]


def _run(command: Command, cancel: threading.Event, places: _Places) -> Completed:
    env = {key: value for key, value in os.environ.items() if key in _PASSED_ON}
    env |= {key: places.rewrite(value) for key, value in command.env.items()}
    channel_read, channel_write = os.pipe()
    env["REPOASSAY_CHANNEL"] = str(channel_write)
    cwd = places.host(command.cwd)
    started = time.monotonic()
    with contextlib.ExitStack() as stack:
        stack.callback(os.close, channel_read)
        log = stack.enter_context(Log(command.log, command.limits.output))
        stdin = stack.enter_context(tempfile.TemporaryFile())
        stdin.write(places.rewrite(command.stdin.decode(errors="surrogateescape")).encode(errors="surrogateescape"))
        stdin.seek(0)
        try:
            process = subprocess.Popen(
                [places.rewrite(part) for part in command.argv],
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=env,
                cwd=cwd if cwd.is_dir() else None,
                start_new_session=True,
                pass_fds=[channel_write],
            )
        except (OSError, ValueError) as error:  # as the other sandbox and shells have it
            code = 127 if isinstance(error, FileNotFoundError) else 126
            return Completed(Exit(ended=Ended.EXITED, code=code), stderr=f"{command.argv[0]}: {error}\n".encode())
        finally:
            os.close(channel_write)
        assert process.stdout and process.stderr
        stack.enter_context(process.stdout)
        stack.enter_context(process.stderr)
        limit = command.limits.output
        sinks = {process.stdout.fileno(): Bounded(limit), process.stderr.fileno(): Bounded(limit)}
        sinks[channel_read] = Bounded(2**24)
        state = _State(process, cancel, started + command.limits.seconds)

        def seen(descriptor: int, data: bytes) -> None:
            if descriptor != channel_read:
                log.write(data)
            elif command.told:
                command.told(data)

        pump(sinks, state.tick, seen)
        process.wait()
        state.end(Ended.EXITED)
        out, err, channel = sinks.values()
    rejected = [
        SkippedFile(path=path, reason=reason)
        for item in command.collect
        for path, reason in _gather(places.host(item.source), item.into, item.max_bytes, item.max_files, item.skip)
    ]
    code = process.returncode
    ended = state.ended if state.ended is not Ended.EXITED or code >= 0 else Ended.SIGNALLED
    exit_ = Exit(
        ended=ended,
        code=code if code >= 0 else None,
        signal=-code if code < 0 else None,
        wall=round(time.monotonic() - started, 4),
        output_truncated=out.truncated or err.truncated,
    )
    return Completed(exit_, out.value(), err.value(), channel.value(), tuple(rejected))


class _State:
    """Why the command is being ended, decided once."""

    def __init__(self, process: subprocess.Popen[bytes], cancel: threading.Event, deadline: float) -> None:
        self._process, self._cancel, self._deadline = process, cancel, deadline
        self.ended = Ended.EXITED
        self._over = False

    def tick(self) -> None:
        if self._cancel.is_set():
            self.end(Ended.CANCELLED)
        elif time.monotonic() > self._deadline:
            self.end(Ended.TIMED_OUT)
        elif self._process.poll() is not None:
            self.end(Ended.EXITED)  # survivors would hold the pipes open

    def end(self, why: Ended) -> None:
        if not self._over:
            self._over, self.ended = True, why
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)


def _gather(source: Path, into: Path, max_bytes: int, max_files: int, skip: tuple[str, ...]) -> list[tuple[str, str]]:
    into.mkdir(parents=True, exist_ok=True)
    return collect(str(source), str(into), max_bytes, max_files, list(skip))
