"""What a Python function that is an agent holds in its hand: the workspace, as far away as a sandbox must be.

The function runs in this process, its commands in a session of the attempt's sandbox. What comes back from there was
written by whatever ran there, so nothing of it is trusted.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repoassay.errors import Interrupted
from repoassay.sandbox import Completed, SandboxSession
from repoassay.types import Ended

__all__ = ["CommandResult", "WorkspaceSession"]

_ASK = Path(__file__).with_name("scripts") / "ask.py"
_LARGEST = 32 * 2**20
"""Bytes of a file that is read, and of a model's reply."""
_MOST_OUTPUT = 2**20
"""Bytes of a command's output that are handed back of each stream."""


@dataclass(frozen=True, slots=True)
class CommandResult:
    """How a command ended: its exit code (negative: the signal), its output, and whether its time ran out.

    Of either output at most 1 MiB is handed back, its beginning and its end.
    """

    code: int
    stdout: str
    stderr: str
    timed_out: bool = False

    @property
    def ok(self) -> bool:
        """Whether it ended with exit code 0."""
        return self.code == 0


class WorkspaceSession:
    """The workspace of one attempt: `repo/`, `inputs/`, `output/` and `instruction.md`, as the task has them.

    Paths are relative to the workspace. Every method may raise `OSError`, with what went wrong in the sandbox, and
    `Interrupted` once the attempt has ended (its time is up, say). Usable from any thread.

    Attributes:
        task: Id of the task.
        instruction: What the task asks for.
        sandbox: The session in the sandbox that this one speaks through, which can do more.
    """

    def __init__(self, task: str, instruction: str, sandbox: SandboxSession) -> None:
        self.task, self.instruction, self.sandbox = task, instruction, sandbox

    def run(
        self, command: str | Sequence[str], *, cwd: str = ".", input: str | bytes = b"", timeout: float | None = None,
        env: Mapping[str, str] | None = None,
    ) -> CommandResult:  # fmt: skip
        """Run a command in the sandbox and wait for it; what it leaves running goes on.

        Args:
            command: A line for the shell, or the arguments of a program.
            cwd: Where it stands.
            input: Its standard input.
            timeout: Seconds after which it is killed; without one the attempt's own limit holds.
            env: Variables added to the workspace's environment.
        """
        argv = ["/bin/sh", "-c", command] if isinstance(command, str) else list(command)
        self.sandbox.note("$ " + (command if isinstance(command, str) else shlex.join(argv)))
        stdin = input.encode() if isinstance(input, str) else input
        done = self.sandbox.exec(argv, cwd=cwd, env=env, stdin=stdin, timeout=timeout, output=_MOST_OUTPUT)
        timed_out = done.exit.ended is Ended.TIMED_OUT
        if self.sandbox.ended:
            raise Interrupted("The attempt has ended.")
        code = -(done.exit.signal or 9) if done.exit.code is None else done.exit.code
        return CommandResult(code, _text(done.stdout), _text(done.stderr), timed_out)

    def read(self, path: str) -> str:
        """The text of a file of at most 32 MiB; what is not UTF-8 is replaced."""
        return _text(self.read_bytes(path))

    def read_bytes(self, path: str) -> bytes:
        """The content of a file of at most 32 MiB."""
        return self.sandbox.read(path, _LARGEST)

    def write(self, path: str, content: str | bytes, *, executable: bool = False) -> None:
        """Write a file; folders above it are made."""
        self.sandbox.note(f"write {path}")
        self.sandbox.write(path, content.encode() if isinstance(content, str) else content, executable)

    def ask(self, messages: str | Sequence[Mapping[str, Any]], **options: Any) -> str:
        """The text with which the attempt's model replies; metered as every call is.

        Args:
            messages: A question, or messages as the chat dialect has them.
            options: What else the request is to say, such as `temperature=0`.
        """
        reply = self.complete(messages, **options)
        try:
            return str(reply["choices"][0]["message"]["content"] or "")
        except (KeyError, IndexError, TypeError) as error:
            raise OSError("The model's reply has no text.") from error

    def complete(self, messages: str | Sequence[Mapping[str, Any]], **options: Any) -> dict[str, Any]:
        """The whole reply of the attempt's model in the chat dialect, tool calls among it."""
        turns = [{"role": "user", "content": messages}] if isinstance(messages, str) else list(map(dict, messages))
        body = json.dumps({**options, "messages": turns}).encode()
        argv = ["/env/bin/python", "-I", "-c", _ASK.read_text("utf-8")]
        return _reply(self.sandbox.exec(argv, stdin=body, output=_LARGEST, logged=False))


def _reply(done: Completed) -> dict[str, Any]:
    if done.exit.code != 0:
        raise OSError(_text(done.stderr).strip()[-2000:] or "The program that asks the model was ended.")
    try:
        reply = json.loads(done.stdout)
    except (ValueError, RecursionError) as error:
        raise OSError("What answers in the sandbox answers nonsense.") from error
    if not isinstance(reply, dict):
        raise OSError("What answers in the sandbox answers nonsense.")
    return reply


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
