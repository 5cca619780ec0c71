"""Tasks of Inspect: one for every suite that is installed, one for a suite in a folder, one for a file of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.agent import Agent, react
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.tool import bash
from inspect_ai.util import SandboxEnvironmentSpec

from repoassay.agents import render_prompt
from repoassay.errors import BadInput
from repoassay.formats import supplies_of, usable_tasks
from repoassay.grading import names
from repoassay.integrations.inspect_extension.open_samples import SampleConfig
from repoassay.integrations.inspect_extension.verdict_scorer import verdict
from repoassay.sandbox import Cache
from repoassay.tasks import TaskFolder, find_suite, named_suites

__all__ = ["SUITE_TASKS", "task_of_rows", "task_of_suite"]

_COMMAND_SECONDS = 300
_MESSAGES = 200


@task(name="suite")
def task_of_suite(
    suite: str, tasks: str | list[str] = "", isolation: str = "namespaces", seconds: float | None = None,
    require_attested: float = 0.0,
) -> Task:  # fmt: skip
    """The tasks of a suite, each a sample in a sandbox of ours without Docker, judged as `repoassay run` judges it.

    Args:
        suite: A suite's name, or the folder of a suite or a task.
        tasks: Only tasks whose ids match one of these globs, apart by commas.
        isolation: A kind of isolation, as `repoassay run --isolation` takes it.
        seconds: The most each sandbox may be open; by default the tasks' own limits.
        require_attested: Bits that a pass must be attested with to count.
    """
    return _suite_task(suite, tasks, isolation, seconds, require_attested)


@task(name="rows")
def task_of_rows(
    dataset: str, tasks: str | list[str] = "", mirrors: str = "", environments: str = "", isolation: str = "namespaces",
    seconds: float | None = None, require_attested: float = 0.0,
) -> Task:  # fmt: skip
    """The rows of a data set that can be tasks, each a sample, as `suite` has them.

    Args:
        dataset: JSON, JSONL, parquet or arrow.
        tasks: Only rows whose ids match one of these globs, apart by commas.
        mirrors: A folder of repositories, instead of where rows say they are.
        environments: A folder of frozen environments.
        isolation: See `suite`.
        seconds: See `suite`.
        require_attested: See `suite`.
    """
    supplies = supplies_of((), *(Path(each) if each else None for each in (mirrors, environments)))
    found = usable_tasks(Path(dataset), Cache().path / "rows", supplies)
    globs = _globs(tasks)
    samples = [
        _sample(folder, SampleConfig(suite=str(folder.path), task=folder.task.id, isolation=isolation, seconds=seconds))
        for name, folder in found.tasks.items()
        if not globs or any(fnmatchcase(name, glob) for glob in globs)
    ]
    if not samples:
        raise BadInput(f"No row of {dataset} matches {tasks!r}.", "Correct `tasks`.")
    return _task(Path(dataset).stem, "", samples, require_attested, refused=dict(found.refused))


def _suite_task(
    suite: str, tasks: str | list[str], isolation: str, seconds: float | None, require_attested: float
) -> Task:
    found = find_suite(suite, metrics=names(), only=_globs(tasks))
    place = suite if suite in named_suites() else str(Path(suite).resolve())
    config = SampleConfig(suite=place, isolation=isolation, seconds=seconds)
    samples = [_sample(folder, config.model_copy(update={"task": folder.task.id})) for folder in found.tasks]
    return _task(found.suite.name, found.suite.version, samples, require_attested)


def _globs(tasks: str | list[str]) -> list[str]:
    """Inspect's command line makes a list of what has commas in it."""
    return [
        glob.strip()
        for part in ([tasks] if isinstance(tasks, str) else tasks)
        for glob in part.split(",")
        if glob.strip()
    ]


def _sample(folder: TaskFolder, config: SampleConfig) -> Sample:
    """A task as a sample; nothing of its solution or its tests."""
    of_task = folder.task
    return Sample(
        id=of_task.id,
        input=render_prompt(folder),
        metadata={"title": of_task.title, "kind": of_task.kind.value, "domain": of_task.domain},
        sandbox=SandboxEnvironmentSpec("repoassay", config),
    )


def _task(name: str, version: str, samples: Iterable[Sample], require_attested: float, **metadata: object) -> Task:
    return Task(
        dataset=MemoryDataset(list(samples), name=name),
        solver=_solver(),
        scorer=verdict(require_attested),
        message_limit=_MESSAGES,
        fail_on_error=False,  # else the first sandbox that we cannot open would end the evaluation for all others
        version=version or 0,
        metadata=metadata or None,
    )


def _solver() -> Agent:
    """An agent with a shell, where the command line names no other."""
    return react(tools=[bash(timeout=_COMMAND_SECONDS)])


def _task_of(name: str) -> Callable[..., Task]:
    """The task `repoassay/NAME` of an installed suite."""

    def of_suite(
        tasks: str | list[str] = "",
        isolation: str = "namespaces",
        seconds: float | None = None,
        require_attested: float = 0.0,
    ) -> Task:
        return _suite_task(name, tasks, isolation, seconds, require_attested)

    of_suite.__doc__ = f"The suite {name}; see `repoassay/suite`."
    return task(name=name)(of_suite)


SUITE_TASKS = {name: _task_of(name) for name in named_suites()}
"""The task of each installed suite, by its name."""
