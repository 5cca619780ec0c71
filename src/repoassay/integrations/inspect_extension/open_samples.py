"""What stands behind the sandbox of a sample: an attempt at one of our tasks, or a session of no task."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace

from pydantic import BaseModel, ConfigDict

from repoassay.agents import Agent
from repoassay.engine import GradingContext, OpenAttempt
from repoassay.errors import BadInput, InfraFault, Unavailable
from repoassay.grading import fault, names
from repoassay.integrations.inspect_extension.image_samples import open_image_sample
from repoassay.sandbox import Cache, SandboxSession, SandboxSetup, open_sandbox, refuse_task_images
from repoassay.tasks import find_suite
from repoassay.types import Verdict

__all__ = ["OpenSample", "SampleConfig", "open_sample"]

_TOOLS = "/var/tmp"  # noqa: S108 - inside the sandbox, where Inspect's own tools are put
_WORKSPACE = "/workspace"


class SampleConfig(BaseModel):
    """The configuration of a sample's sandbox, as tasks state it and logs keep it.

    Attributes:
        suite: A suite's name, or the folder of a suite or a task; empty for a sandbox without a task.
        task: Id of the task.
        isolation: A kind of isolation, as `--isolation` takes it.
        seconds: The most the sandbox may be open; by default the task's own limit.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    suite: str = ""
    task: str = ""
    isolation: str = "namespaces"
    seconds: float | None = None


class OpenSample:
    """A sample's sandbox. Usable from any thread.

    Attributes:
        session: Where its commands run.
        attempt: The attempt it is; None without a task. One that is not `judged` is scored by somebody else's commands.
    """

    def __init__(self, session: SandboxSession, attempt: OpenAttempt | None = None, *, judged: bool = True) -> None:
        self.session, self.attempt, self._judged = session, attempt, judged
        self._lock = threading.Lock()
        self._verdict: Verdict | None = None

    def let_work(self, agent: Agent) -> None:
        """Have an agent of ours make the attempt; raises `BadInput` without a task."""
        self._judged_attempt().let_work(agent)

    def judge(self) -> tuple[Verdict, bytes]:
        """End the sandbox and judge what was left, once: the verdict, and the diff of what changes a repository.

        What we fail at is a verdict too, on ourselves. Raises `BadInput` where the sample is of no task.
        """
        attempt = self._judged_attempt()
        with self._lock:
            if self._verdict is None:
                try:
                    self._verdict = attempt.judge()
                except (InfraFault, Unavailable) as error:
                    self._verdict = fault(attempt.folder, error)
        diffs = [path for path in attempt.files.glob("*.diff") if path.is_file()]
        return self._verdict, diffs[0].read_bytes() if diffs else b""

    def _judged_attempt(self) -> OpenAttempt:
        if self.attempt is None or not self._judged:
            raise BadInput("This sample is of no task.", "Score it with a scorer of its own task.")
        return self.attempt

    def close(self) -> None:
        """End everything, and throw it away; may be called twice."""
        if self.attempt is not None:
            self.attempt.close()
        else:
            self.session.close()


def open_sample(config: BaseModel | str | None, metadata: Mapping[str, object]) -> OpenSample:
    """Open the sandbox of a sample.

    Args:
        config: A `SampleConfig`, None for a sandbox without a task, or the path of a compose file of Docker.
        metadata: What the sample says of itself.

    Raises:
        BadInput: The configuration is of another kind, or names no task.
        InfraFault: The task cannot be laid out.
    """
    if config is None:
        config = SampleConfig()
    if isinstance(config, str):
        cache = Cache()
        image = open_image_sample(config, metadata, cache, open_sandbox("namespaces", cache), (_TOOLS,))
        return OpenSample(image.session, image, judged=False)
    if not isinstance(config, SampleConfig):
        raise BadInput(
            f"{config!r} is no configuration of this sandbox.",
            "Give a repoassay.integrations.inspect_extension.SampleConfig.",
        )
    cache = Cache()
    sandbox = open_sandbox(config.isolation, cache)
    refuse_task_images(sandbox, "A sample of Inspect")
    if not config.suite:
        limits = SandboxSetup().limits.model_copy(update={"seconds": config.seconds or 3600.0})
        setup = SandboxSetup(cwd=_WORKSPACE, scratch=(_WORKSPACE, _TOOLS), limits=limits)
        return OpenSample(sandbox.open(setup))
    found = find_suite(config.suite, metrics=names(), only=[config.task])
    if len(found.tasks) != 1:
        raise BadInput(f"{len(found.tasks)} tasks of {config.suite} match {config.task!r}.", "Give the id of one.")
    folder = found.tasks[0]
    if folder.absent:
        raise InfraFault(f"Files of {folder.task.id} are not on this disk.", f"Run: repoassay fetch {config.suite}")
    bench = GradingContext(found.repositories, cache, sandbox)
    attempt = OpenAttempt(folder, bench, config.seconds, _with_tools)
    return OpenSample(attempt.session, attempt)


def _with_tools(setup: SandboxSetup) -> SandboxSetup:
    return replace(setup, scratch=(*setup.scratch, _TOOLS))
