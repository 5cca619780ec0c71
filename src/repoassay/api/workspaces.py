"""A task's workspace in the hand of another program: a harness of one's own, an environment of a training loop."""

from __future__ import annotations

from repoassay.agents import WorkspaceSession
from repoassay.api.settings import Amount, SuiteLike, checked_isolation, checked_suite
from repoassay.engine import GradingContext, OpenAttempt, number
from repoassay.errors import BadInput
from repoassay.sandbox import Cache, open_sandbox
from repoassay.tasks import TaskFolder
from repoassay.types import Verdict

__all__ = ["OpenWorkspace", "open_workspace"]


class OpenWorkspace(WorkspaceSession):
    """A `WorkspaceSession` that is nobody's attempt: a context manager, graded when its holder says so.

    Made by `open_workspace`. Its `sandbox` runs several commands at the same time, and tells what has changed.
    """

    def __init__(self, folder: TaskFolder, attempt: OpenAttempt) -> None:
        super().__init__(folder.task.id, folder.instruction, attempt.session)
        self._attempt = attempt
        self._verdict: Verdict | None = None

    def __enter__(self) -> OpenWorkspace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def grade(self) -> Verdict:
        """End everything in the workspace and grade what was left; asked again, it says the same.

        Raises:
            InfraFault: Grading could not be carried out.
        """
        if self._verdict is None:
            self._verdict = self._attempt.judge()
        return self._verdict

    def close(self) -> None:
        """End everything in the workspace, and throw it away."""
        self._attempt.close()


def open_workspace(
    suite: SuiteLike, *, task: str, timeout: Amount | None = None, isolation: str = "namespaces"
) -> OpenWorkspace:
    """Lay a task out in a sandbox, to work in it from here: run commands, read and write files, have it graded.

    Whatever happens in it is held to the task's limits, and ends with this program. It has no network.

    Args:
        suite: A bundled suite's name, a folder of tasks, or one task's folder.
        task: Id of the task.
        timeout: Seconds it may be open, instead of the task's own limit.
        isolation: `namespaces`, or `none`, which protects nothing.

    Raises:
        BadInput: A setting is unknown or impossible.
        Unavailable: This machine lacks something.
        InfraFault: The task cannot be laid out.

    Examples:
        >>> with ra.open_workspace("starter", task="sensor-log-daily") as workspace:
        ...     print(workspace.run("ls inputs").stdout.split())
        ...     workspace.write("output/daily.csv", "date,mean")
        ...     print(workspace.grade().outcome.value)
        ['north.tlog', 'south.tlog']
        failed
    """
    kind = checked_isolation(isolation)
    seconds = None if timeout is None else float(number("timeout", str(timeout)))
    found = checked_suite(suite, task)
    if len(found.tasks) != 1:
        raise BadInput(f"{len(found.tasks)} tasks match {task!r}.", "Give the id of one.")
    folder, cache = found.tasks[0], Cache()
    bench = GradingContext(found.repositories, cache, open_sandbox(kind, cache))
    return OpenWorkspace(folder, OpenAttempt(folder, bench, seconds))
