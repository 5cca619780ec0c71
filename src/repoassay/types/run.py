"""A run: the whole plan, written before the first attempt starts and never changed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Annotated

from pydantic import BeforeValidator, Field

from repoassay.types.agent_entry import AgentEntry
from repoassay.types.base import Record
from repoassay.types.grading import Reading
from repoassay.types.network import NetworkPolicy
from repoassay.types.task import Economics, TaskKind

__all__ = ["Metering", "NamedFile", "Plan", "PlannedTask", "RunOrigin"]


class PlannedTask(Record):
    """One task of a plan: enough to report on it when its folder is gone; empty what plans did not keep before.

    `known_since` is the day from which a model may have seen what solves it.
    """

    id: str
    digest: str
    folder: str
    title: str
    kind: TaskKind
    domain: str
    subdomain: str = ""
    modality: str = ""
    repository: str = ""
    economics: Economics | None = None
    outputs: tuple[str, ...] = ()
    known_since: str | None = None


class NamedFile(Record):
    """A file the user gave, by its absolute path, and the sha256 of what it said when the run was planned."""

    path: str
    sha256: str


class Metering(Record):
    """How the models of a run are reached and what may be spent on them.

    Attributes:
        upstreams: TOML files that say where models are. `dialogue`: what the provider `scripted` says.
        prices: Price tables put on top of the shipped one.
        budget_usd: Dollars the whole run may spend; None is no limit.
        concurrency: Attempts at a time, by provider.
        retries: How often an attempt that a fault of ours spoiled is made again by itself.
        network: The policy asked for instead of the tasks' own.
    """

    upstreams: tuple[NamedFile, ...] = ()
    dialogue: NamedFile | None = None
    prices: tuple[NamedFile, ...] = ()
    budget_usd: Decimal | None = Field(default=None, ge=0)
    concurrency: dict[str, int] = Field(default_factory=dict)
    retries: int = Field(default=1, ge=0)
    network: NetworkPolicy | None = None

    @property
    def files(self) -> tuple[NamedFile, ...]:
        """Every file it rests on."""
        return (*self.upstreams, *((self.dialogue,) if self.dialogue else ()), *self.prices)


class RunOrigin(Record):
    """Where a run comes from that another tool made: its verdicts, tokens and dollars are that tool's reports.

    Attributes:
        format: The format it was read from, as `--as` names it. `format_version`: which version of it.
        source: Name of the file or folder.
        reader: Who read it, with a version.
        missing: What was not told, a sentence each.
    """

    format: str
    format_version: str = ""
    source: str = ""
    reader: str = ""
    missing: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """What a reader of figures must know."""
        version = f" ({self.format_version})" if self.format_version else ""
        return (
            f"Imported from {self.source or 'files'}, {self.format}{version}: verdicts that name a grader as reported,"
            f" and all tokens and dollars, are that tool's own reports. {' '.join(self.missing)}".rstrip()
        )


def _entry(value: object) -> object:
    return AgentEntry.of(value) if isinstance(value, Mapping) else value


class Plan(Record):
    """What a run sets out to do: every task with every agent, `attempts` times each.

    `agents` maps the name shown in reports to the settings of an agent, flat and as text in files; a sweep over
    settings makes one entry each. `host` holds facts of the
    machine and `versions` those of the software, so that a figure can be traced to both. Without `graded`, what agents
    leave is kept and not judged. With `released`, repositories that name a release were laid out from it. With
    `origin`, another tool made the run.
    """

    schema_version: int = 1
    id: str
    created: datetime
    suite: str
    suite_version: str
    suite_folder: str
    tasks: tuple[PlannedTask, ...]
    agents: dict[str, Annotated[AgentEntry, BeforeValidator(_entry)]]
    attempts: int = 1
    workers: int = 1
    timeout: float | None = None
    isolation: str
    reading: Reading = Reading.FAIR
    seed: int = 0
    metering: Metering = Metering()
    graded: bool = True
    released: bool = False
    origin: RunOrigin | None = None
    host: dict[str, str] = Field(default_factory=dict)
    versions: dict[str, str] = Field(default_factory=dict)

    @property
    def size(self) -> int:
        """How many attempts the plan holds, retries apart."""
        return len(self.tasks) * len(self.agents) * self.attempts
