"""A task: what is asked, of which repository, with which inputs, and what decides whether it was done."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from repoassay.types.base import Record
from repoassay.types.environment import Environment
from repoassay.types.fields import Day, Dollars, Identifier, InnerPath, Seconds, Sha256, Size, inner_path
from repoassay.types.grading import Grading, HiddenTests, Mutants, Reading
from repoassay.types.network import NetworkPolicy, NetworkRule
from repoassay.types.task_step import Steps, TaskStep, check_steps
from repoassay.types.workspace_state import WorkspaceState

__all__ = [
    "IN_REPOSITORY",
    "Dates",
    "Economics",
    "Inputs",
    "Limits",
    "Outputs",
    "Repository",
    "Task",
    "TaskKind",
]

IN_REPOSITORY = "repository:"
"""What stands before contribution rules that are a file of the repository's own."""


class TaskKind(StrEnum):
    """What a task asks for and so how it is graded."""

    DELIVERABLE = "deliverable"
    EDIT = "edit"
    PULL_REQUEST = "pull_request"
    STATE = "state"

    @property
    def changes_repository(self) -> bool:
        """Whether what is submitted is a change of the files it starts with, which hidden tests decide on."""
        return self is not TaskKind.DELIVERABLE


_WITH_TESTS = {
    TaskKind.EDIT: "an edit task",
    TaskKind.PULL_REQUEST: "a pull-request task",
    TaskKind.STATE: "a state task",
}
_STATE_RUNNERS = ("pytest", "script")


class Repository(Record):
    """Where the code comes from; `subdirectory` of a git repository where it is not the whole of it.

    `source` is one of `pypi:NAME==VERSION` (a source distribution, which needs `sha256`), `npm:NAME==VERSION` (a
    package's tarball, which needs `sha256` too), `bundled:NAME` (a folder `repositories/NAME` beside the suite's
    `tasks`), `folder:PATH` (relative to the task folder), or `git:URL` (needs `revision`, a full commit id). `release`
    is a source distribution that may stand in for it where a run asks for that.
    """

    source: Annotated[
        str,
        Field(
            pattern=r"^(pypi:[A-Za-z0-9_.-]+==[A-Za-z0-9_.!+-]+|npm:(@[a-z0-9_.-]+/)?[a-z0-9_.-]+==[0-9A-Za-z.+-]+"
            r"|bundled:[a-z0-9_-]+|folder:.+|git:.+)$"
        ),
    ]
    sha256: Sha256 | None = None
    revision: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")] | None = None
    subdirectory: InnerPath | None = None
    release: Annotated[str, Field(pattern=r"^pypi:[A-Za-z0-9_.-]+==[A-Za-z0-9_.!+-]+$")] | None = None
    release_sha256: Sha256 | None = None
    licence: str
    homepage: str = ""

    @model_validator(mode="after")
    def _pinned(self) -> Self:
        if self.source.startswith("pypi:") and self.sha256 is None:
            raise ValueError("needs sha256, the digest of the source distribution")
        if self.source.startswith("npm:") and self.sha256 is None:
            raise ValueError("needs sha256, the digest of the package's tarball")
        if self.source.startswith("git:") and self.revision is None:
            raise ValueError("needs revision, a full commit id")
        if (self.release is None) != (self.release_sha256 is None):
            raise ValueError("needs release and release_sha256 both, or neither")
        if self.subdirectory is not None and not self.source.startswith("git:"):
            raise ValueError("has a subdirectory, which only git sources have; remove it")
        return self

    @property
    def name(self) -> str:
        """What it is called: the last part of where it lies, a release's version apart."""
        if self.subdirectory is not None:
            return PurePosixPath(self.subdirectory).name
        place = self.source.partition(":")[2].partition("==")[0].rstrip("/")
        return re.split(r"[/:]", place)[-1].removesuffix(".git") or place

    def released(self) -> Repository:
        """The release that stands in for it; itself where there is none."""
        if self.release is None:
            return self
        return Repository(source=self.release, sha256=self.release_sha256, licence=self.licence, homepage=self.homepage)


class Inputs(Record):
    """Files below `inputs/` that the agent is given."""

    files: tuple[InnerPath, ...] = ()


class Outputs(Record):
    """Files the agent must leave in its output folder (deliverable tasks).

    An entry is a name, or patterns (`*`, `{png,jpg}`) in order of preference with ` | ` between them: the first that
    a file matches is taken, and of several matches the first by name.
    """

    files: tuple[InnerPath, ...] = ()
    max_bytes: Size = 256 * 2**20


class Limits(Record):
    """What an attempt may use: wall-clock seconds, memory and disk in bytes, processes, bytes of printed output."""

    seconds: Seconds = 600.0
    memory: Size = 2 * 2**30
    disk: Size = 2**30
    processes: Annotated[int, Field(ge=8, le=4096)] = 256
    output: Size = 8 * 2**20


class Economics(Record):
    """Market value of the task in US dollars with its range and where the figure comes from."""

    value: Dollars
    low: Dollars
    high: Dollars
    source: str

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.low <= self.value <= self.high:
            raise ValueError("needs low <= value <= high")
        return self


class Dates(Record):
    """Days (`YYYY-MM-DD`) that say when a task could first be known.

    `commit` is the day of the commit it rests on (of its solution, where a change is asked for), `released` of the
    first release that holds that commit, `drafted` of the task's writing, `first_published` of its first release.
    """

    commit: Day | None = None
    released: Day | None = None
    drafted: Day | None = None
    first_published: Day | None = None


class Task(Record):
    """One task, as written in `task.toml`.

    A task whose `status` is "retired" stays readable and is left out of runs unless it is named; `since` (a quarter,
    as 2026Q4, or a day) and `why` then say when and for what reason. `rules` says what a contribution must keep to
    (pull-request tasks): a file of the task folder, or `repository:PATH` for one that the repository has. A state task
    may have `steps`, each with tests of its own.

    Raises:
        pydantic.ValidationError: When a key is unknown, missing or malformed, or kind and grading disagree.
    """

    id: Identifier
    title: Annotated[str, Field(min_length=3, max_length=120)]
    kind: TaskKind
    domain: Annotated[str, Field(min_length=1)]
    subdomain: str = ""
    modality: str = ""
    provenance: str = ""
    licence: str = ""
    rules: Annotated[str, Field(max_length=400)] = ""
    status: Literal["active", "retired"] = "active"
    since: Annotated[str, Field(max_length=20)] = ""
    why: Annotated[str, Field(max_length=1000)] = ""
    dates: Dates = Dates()
    repository: Repository
    state: WorkspaceState | None = None
    steps: Steps = ()
    environment: Environment = Environment()
    inputs: Inputs = Inputs()
    outputs: Outputs = Outputs()
    grading: Grading
    limits: Limits = Limits()
    economics: Economics | None = None
    network: NetworkRule = NetworkRule()
    mutants: Mutants = Mutants()

    @property
    def network_policy(self) -> NetworkPolicy:
        """The policy it states, or that of its kind: changes of code need the model alone, others packages too."""
        if self.network.policy is not None:
            return self.network.policy
        if self.kind in (TaskKind.DELIVERABLE, TaskKind.STATE) or self.network.hosts:
            return NetworkPolicy.PACKAGES
        return NetworkPolicy.MODEL

    @property
    def hidden_tests(self) -> HiddenTests:
        """How the tests of a task that has some are run; only deliverables have none."""
        assert self.grading.tests is not None
        return self.grading.tests

    @property
    def known_since(self) -> str | None:
        """The day from which a model may have seen what solves it; None where no day is stated.

        Of a change that is its commit's day; what a deliverable asks for was nowhere before the task was.
        """
        dates = self.dates
        if self.kind.changes_repository and dates.commit:
            return dates.commit
        return dates.first_published or dates.drafted

    def of_step(self, step: TaskStep) -> Task:
        """The state task that one of its steps is by itself: its tests decide, and its time limit holds."""
        seconds = step.seconds or self.limits.seconds
        return self.model_copy(
            update={
                "steps": (),
                "grading": self.grading.model_copy(update={"tests": step.tests}),
                "limits": self.limits.model_copy(update={"seconds": seconds}),
            }
        )

    @model_validator(mode="after")
    def _retired_with_reason(self) -> Self:
        if self.status == "retired" and not (self.since and self.why):
            raise ValueError("status: a retired task needs since and why; add both")
        return self

    @model_validator(mode="after")
    def _rules_agree(self) -> Self:
        if self.rules:
            if self.kind is not TaskKind.PULL_REQUEST:
                raise ValueError("rules: only pull-request tasks have contribution rules; remove them")
            try:
                inner_path(self.rules.removeprefix(IN_REPOSITORY))
            except ValueError as error:
                raise ValueError(f"rules: {error}") from error
        return self

    @model_validator(mode="after")
    def _state_agrees(self) -> Self:
        if (self.kind is TaskKind.STATE) is (self.state is None):
            raise ValueError("state: state tasks, and no others, name folders that cross; add or remove [state] places")
        tests = self.grading.tests
        for each in (tests, *(step.tests for step in self.steps)):
            if self.state and each and (each.runner not in _STATE_RUNNERS or each.cwd != "scratch"):
                raise ValueError(
                    "grading.tests: a state task's tests run by pytest or as a script; correct runner, cwd"
                )
        if tests and tests.runner == "script" and not self.state:
            raise ValueError("grading.tests.runner: only the tests of a state task are a script; remove it")
        if self.state and self.inputs.files:
            raise ValueError("inputs.files: a state task has its inputs among the files it starts with; move them")
        return self

    @model_validator(mode="after")
    def _steps_agree(self) -> Self:
        if self.steps and not self.state:
            raise ValueError("steps: only a state task has steps; remove them")
        if self.steps and self.grading.tests:
            raise ValueError("grading.tests: each step has tests of its own; move these to [steps.tests]")
        check_steps(self.steps)
        return self

    @model_validator(mode="after")
    def _kind_agrees(self) -> Self:
        if self.kind.changes_repository:
            name = _WITH_TESTS[self.kind]
            if self.grading.tests is None and not self.steps:
                raise ValueError(f"grading.tests: {name} needs hidden tests; add [grading.tests] with fail_to_pass")
            if self.grading.result or self.grading.process or self.grading.published or self.outputs.files:
                raise ValueError(f"grading: {name} is graded by tests alone; remove its criteria and outputs")
        else:
            if self.grading.tests is not None:
                raise ValueError(
                    "grading.tests: a deliverable task has no hidden tests; use [[grading.result]] criteria"
                )
            if not self.outputs.files:
                raise ValueError("outputs.files: a deliverable task must name the files it expects")
            if not self.grading.result:
                raise ValueError("grading.result: a deliverable task needs at least one [[grading.result]] criterion")
            read = {item.of for reading in Reading for _, item in self.grading.criteria(reading)}
            unknown = read - {*self.outputs.files, "."}
            if unknown:
                raise ValueError(f"grading: criteria read {sorted(unknown)}, which outputs.files does not name")
        return self
