"""Edit tasks as an environment of `verifiers` (0.4): one answer of a model to each, rewarded when it is attested.

A package whose `__all__` offers `RepositoryEdits` and `OneAnswer` is a taskset that its command and its trainers find
by name (`examples/training/verifiers_repoassay`); `load_environment` makes the environment in this process without one.
"""

from __future__ import annotations

import atexit
import functools
import sys
from collections.abc import Iterable
from typing import Any, Literal

from repoassay.errors import InfraFault, Unavailable
from repoassay.rewards.prompting import edit_prompt
from repoassay.rewards.reward import Reward

try:
    import verifiers.v1 as vf
    from verifiers.v1.harnesses.null import NullHarness
except ModuleNotFoundError as error:
    raise Unavailable(
        f"The package {error.name!r} is not installed.", "Install it with: pip install 'verifiers>=0.4,<0.5'"
    ) from None

__all__ = ["EditSettings", "OneAnswer", "RepositoryEdit", "RepositoryEdits", "load_environment"]

_HERE = "repoassay_edits"
"""What this module is called where a taskset is named by a module of the first level."""


class EditSettings(vf.TaskConfig):  # type: ignore[misc]
    """Where tasks come from and what is rewarded: the arguments of `Reward` of these names."""

    suite: str | None = None
    dataset: str | None = None
    mirrors_folder: str | None = None
    workers: int | None = None
    require_attested: float = 40.0
    partial: Literal["none", "tests"] = "none"
    ledger: str | None = None
    characters: int = 60_000
    """How much of the repository the prompt shows."""


class _EditsConfig(vf.TasksetConfig):  # type: ignore[misc]
    task: EditSettings = EditSettings()


class _EditData(vf.TaskData):  # type: ignore[misc]
    """A task as it travels; `id` is the task's."""


class RepositoryEdit(vf.Task[_EditData, vf.State, EditSettings]):  # type: ignore[misc]
    """One task that changes a repository."""

    @vf.reward  # type: ignore[untyped-decorator]
    async def attested(self, trace: Any) -> float:
        """The reward of the last reply; its figures become metrics of the trace.

        Raises:
            InfraFault: When we failed to judge, so that the rollout is an error and no zero.
        """
        (score,) = await _reward_of(_settings(self.config)).ascore([(self.data.id, trace.last_reply)])
        trace.record_metric("suspected", float(score.suspected))
        trace.record_metric("attested_bits", score.bits)
        if score.reward is None:
            raise InfraFault(f"A patch for {score.task} could not be judged: {score.why}")
        return score.reward


class RepositoryEdits(vf.Taskset[RepositoryEdit, _EditsConfig]):  # type: ignore[misc]
    """The tasks of a suite or a file of rows that change a repository."""

    def load(self) -> Iterable[RepositoryEdit]:
        """Each task with its prompt."""
        settings = self.config.task
        reward = _reward_of(_settings(settings))
        for id in sorted(reward.tasks):
            prompt = edit_prompt(reward.tasks[id].instruction, reward.checkout(id), settings.characters)
            yield RepositoryEdit(_EditData(id=id, name=id, prompt=prompt), settings)


class OneAnswer(NullHarness):  # type: ignore[misc]
    """One message, one answer, and no tools: the harness of these tasks where no other is named."""


def load_environment(
    *, suite: str | None = None, dataset: str | None = None, agent: dict[str, Any] | None = None, **settings: Any
) -> Any:
    """An environment of `verifiers` over edit tasks, for this process.

    Args:
        suite: A suite of tasks.
        dataset: Instead: a file of rows.
        agent: Settings of the agent; by default its harness runs here, as a process that only asks the model.
        settings: Further fields of `EditSettings`.

    Raises:
        BadInput: There are no such tasks.
    """
    from verifiers.v1.utils.loaders import resolve_env_config

    sys.modules.setdefault(_HERE, sys.modules[__name__])
    task = {"suite": suite, "dataset": dataset, **settings}
    return vf.load_environment(
        resolve_env_config(
            {"taskset": {"id": _HERE, "task": task}, "agent": agent or {"runtime": {"type": "subprocess"}}}
        )
    )


def _settings(config: EditSettings) -> tuple[tuple[str, Any], ...]:
    fields = set(EditSettings.model_fields) - set(vf.TaskConfig.model_fields) - {"characters"}
    return tuple((name, getattr(config, name)) for name in sorted(fields))


@functools.cache
def _reward_of(settings: tuple[tuple[str, Any], ...]) -> Reward:
    """One reward, with its warm grader and its account, for all tasks of the same settings."""
    values = {name: value for name, value in settings if value is not None}
    found = Reward(values.pop("dataset", None), suite=values.pop("suite", None), **values)
    atexit.register(found.close)
    return found
