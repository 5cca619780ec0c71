"""A task's workspace as an environment of mini-swe-agent: its commands run in our sandbox, and its end is judged.

mini-swe-agent itself, which asks the model, runs outside; a command it is told has no network, no variables of this
process and no folder of this machine. Named by `environment_class`, and given the configuration's other keys.
"""

from __future__ import annotations

import platform
from typing import Any

from minisweagent.exceptions import Submitted
from pydantic import BaseModel, ConfigDict

import repoassay
from repoassay.errors import Interrupted

__all__ = ["TaskEnvironment", "TaskEnvironmentConfig"]

_DONE = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
_FACTS = ("system", "release", "version", "machine")


class TaskEnvironmentConfig(BaseModel):
    """What a configuration of mini-swe-agent says below `environment`.

    Attributes:
        suite: A suite's name, or the folder of a suite or a task.
        task: Id of the task.
        isolation: A kind of isolation, as `--isolation` takes it.
        cwd: Where commands stand, below the workspace; the repository by default.
        env: Variables added to the workspace's own.
        timeout: Seconds after which a command is killed.
        seconds: The most the workspace may be open; by default the task's own limit.
    """

    model_config = ConfigDict(extra="forbid")

    suite: str
    task: str
    isolation: str = "namespaces"
    cwd: str = "repo"
    env: dict[str, str] = {}
    timeout: int = 60
    seconds: float | None = None


class TaskEnvironment:
    """One attempt at a task. A context manager too; what it holds goes with the process otherwise.

    Args:
        settings: The keys of `TaskEnvironmentConfig`.

    Raises:
        BadInput: There is no such task or kind of isolation.
        InfraFault: The task cannot be laid out.
    """

    def __init__(self, **settings: Any) -> None:
        self.config = TaskEnvironmentConfig(**settings)
        self.workspace = repoassay.open_workspace(
            self.config.suite, task=self.config.task, timeout=self.config.seconds, isolation=self.config.isolation
        )
        self._verdict: repoassay.Verdict | None = None

    def __enter__(self) -> TaskEnvironment:
        return self

    def __exit__(self, *_: object) -> None:
        self.workspace.close()

    def execute(self, action: dict[str, Any], cwd: str = "", *, timeout: int | None = None) -> dict[str, Any]:
        """Run a command, both streams as one; where it says that the task is done, judge what was left.

        Raises:
            Submitted: The task is done; mini-swe-agent's own way to end.
        """
        seconds = timeout or self.config.timeout
        command = f"exec 2>&1\n{action.get('command', '')}"
        try:
            done = self.workspace.run(command, cwd=cwd or self.config.cwd, env=self.config.env, timeout=seconds)
        except (OSError, Interrupted) as error:
            return {"output": "", "returncode": -1, "exception_info": f"The command could not be run: {error}"}
        message = f"The command took longer than {seconds} seconds, and was killed." if done.timed_out else ""
        first, _, rest = done.stdout.lstrip().partition("\n")
        if first.strip() == _DONE and done.code == 0:
            extra = {"exit_status": "Submitted", "submission": rest, "repoassay_outcome": self.judge().outcome.value}
            raise Submitted({"role": "exit", "content": rest, "extra": extra})
        return {"output": done.stdout, "returncode": -1 if message else done.code, "exception_info": message}

    def judge(self) -> repoassay.Verdict:
        """End everything in the workspace and grade what was left; asked again, it says the same.

        Raises:
            InfraFault: Grading could not be carried out.
        """
        self._verdict = self.workspace.grade()
        return self._verdict

    def get_template_vars(self, **further: Any) -> dict[str, Any]:
        """What prompts may name: the configuration, the kernel, which the sandbox shares, the task's instruction."""
        system = {name: getattr(platform.uname(), name) for name in _FACTS}
        return {**self.config.model_dump(), **system, "instruction": self.workspace.instruction, **further}

    def serialize(self) -> dict[str, Any]:
        """What a trajectory keeps of the environment, with the verdict once there is one."""
        kept = {
            "environment": self.config.model_dump(mode="json"),
            "environment_type": f"{type(self).__module__}.{type(self).__name__}",
        }
        judged = {} if self._verdict is None else {"repoassay_verdict": self._verdict.model_dump(mode="json")}
        return {"info": {"config": kept, **judged}}
