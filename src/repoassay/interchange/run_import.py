"""A run of another tool as a run folder: what it reports is kept as a report, in plan, attempts and verdicts.

Figures of tokens and dollars are those of the other tool, not of our model proxy; a verdict names who reported it
as its grader and has no assurance. The plan's `origin` says so once for the whole run, for every reader of it.
"""

from __future__ import annotations

import contextlib
import hashlib
import platform
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any

from ulid import ULID

import repoassay
from repoassay.engine import planned_task
from repoassay.errors import BadInput
from repoassay.interchange.foreign_run import ForeignAttempt, ImportedRun
from repoassay.interchange.importers import find_importer, guard
from repoassay.interchange.reported_verdict import reported_verdict
from repoassay.plugins import Plugin
from repoassay.records import RunFolder, to_json
from repoassay.tasks import SuiteFolder, TaskFolder
from repoassay.text import printable
from repoassay.types import (
    AgentEntry,
    Attempt,
    Plan,
    PlannedTask,
    RunOrigin,
    Spending,
    Submission,
    SubmittedFile,
    TaskKind,
)

__all__ = ["import_run"]

_MOST_ATTEMPTS = 200_000
_MOST_FILE = 64 * 2**20
_MOST_NAME = 200


def import_run(
    kind: str | None,
    source: Path,
    folder: Path,
    *,
    suite: SuiteFolder | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> ImportedRun:
    """Write the run of another tool as a run folder, whole or not at all.

    Args:
        kind: A format's name or a dotted path; None for the one that recognises the source.
        source: What the other tool wrote, a file or folder.
        folder: The run folder; must not exist, or be empty.
        suite: The tasks it was made on, where they are at hand: attempts name them by id.
        progress: Told how many attempts have been read.

    Raises:
        BadInput: The source cannot be read or holds no attempt, or `folder` is taken.
        Unavailable: A plug-in cannot be imported or fails.
    """
    plugin, importer = find_importer(kind, source)
    if importer.gives != "run":
        raise BadInput(f"The {plugin.title} reads no run.", "`repoassay formats` says which formats do.")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput(
            f"{folder} already exists and is not empty.", "Choose another --out; runs are never overwritten."
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.part-") as place:
        part = Path(place, "run")
        writer = _RunWriter(part, suite)
        for done, attempt in enumerate(_attempts(plugin, importer, source), 1):
            if done > _MOST_ATTEMPTS:
                raise BadInput(f"{source} holds more than {_MOST_ATTEMPTS:,} attempts.", "Split it.")
            writer.add(attempt)
            progress(done)
        found = writer.finish(_origin(plugin, importer, source), source)
        with contextlib.suppress(OSError):
            folder.rmdir()
        part.rename(folder)
    return ImportedRun(RunFolder(folder), found.attempts, found.found, found.refused, found.missing)


def _attempts(plugin: Plugin, importer: Any, source: Path) -> Iterator[ForeignAttempt]:
    try:
        yield from islice(importer.attempts(source), _MOST_ATTEMPTS + 1)
    except Exception as error:
        raise guard(plugin, error) from error


def _origin(plugin: Plugin, importer: Any, source: Path) -> RunOrigin:
    return RunOrigin(
        format=plugin.name,
        format_version=importer.version,
        source=printable(source.resolve().name, _MOST_NAME),
        reader=plugin.origin if not plugin.is_bundled else f"repoassay {repoassay.__version__}",
    )


class _RunWriter:
    """Takes attempts one after the other; only facts of them that the plan needs stay in memory."""

    def __init__(self, place: Path, suite: SuiteFolder | None) -> None:
        self._place = place
        self._suite = suite
        self._folders = {folder.task.id: folder for folder in suite.tasks} if suite else {}
        self._id = str(ULID())
        self._numbers: Counter[tuple[str, str]] = Counter()
        self._agents: dict[str, AgentEntry] = {}
        self._refused: dict[str, str] = {}
        self._lacks: Counter[str] = Counter()
        self._lines: list[tuple[Attempt, Any]] = []
        self._found = 0
        (place / "attempts").mkdir(parents=True)

    def add(self, foreign: ForeignAttempt) -> None:
        """Write the files of one attempt."""
        self._found += 1
        if why := _unusable(foreign):
            self._refused[printable(foreign.task or f"attempt {self._found}", _MOST_NAME)] = why
            return
        agent = printable(foreign.agent, _MOST_NAME) or "unknown"
        self._agents.setdefault(agent, AgentEntry.of({"model": foreign.model} if foreign.model else {}))
        self._numbers[foreign.task, agent] += 1
        folder = self._place / "attempts" / (name := str(ULID()))
        folder.mkdir()
        submission = _write_files(foreign, folder)
        now = datetime.now(UTC)
        started = foreign.started or foreign.ended or now
        attempt = Attempt(
            id=name, run=self._id, task=foreign.task, task_digest=_digest(self._folders.get(foreign.task)), agent=agent,
            number=self._numbers[foreign.task, agent], started=started, ended=max(foreign.ended or started, started),
            submission=submission, settings=self._agents[agent].settings, spent=_spent(foreign),
        )  # fmt: skip
        self._lacks.update(_lacks(foreign))
        self._lines.append((attempt, reported_verdict(foreign, attempt)))

    def finish(self, origin: RunOrigin, source: Path) -> ImportedRun:
        """Write the plan and the journal."""
        if not self._lines:
            why = next(iter(self._refused.values()), "it holds none.")
            raise BadInput(f"No attempt of {source} can be imported: {why}", "`repoassay formats` says what is read.")
        missing = tuple(
            f"{count} of {len(self._lines)} attempts have no {what}." for what, count in sorted(self._lacks.items())
        )
        plan = self._plan(origin.model_copy(update={"missing": missing}))
        shell = self._place.with_name("plan")
        run = RunFolder.create(shell, plan)
        (shell / "attempts").rmdir()
        (self._place / "attempts").rename(shell / "attempts")
        self._place.rmdir()
        shell.rename(self._place)
        run = RunFolder(self._place)
        for attempt, verdict in self._lines:
            run.record(attempt, verdict)
        return ImportedRun(run, len(self._lines), self._found, self._refused, missing)

    def _plan(self, origin: RunOrigin) -> Plan:
        ids = sorted({task for task, _ in self._numbers})
        suite = self._suite
        return Plan(
            id=self._id,
            created=min(attempt.started for attempt, _ in self._lines),
            suite=suite.suite.name if suite else origin.format,
            suite_version=suite.suite.version if suite else "unknown",
            suite_folder=str(suite.path) if suite else "",
            tasks=tuple(_planned(name, self._folders.get(name)) for name in ids),
            agents=self._agents,
            attempts=max(self._numbers.values()),
            isolation="unknown",
            origin=origin,
            versions={"repoassay": repoassay.__version__, "python": platform.python_version()},
        )


def _unusable(foreign: ForeignAttempt) -> str:
    """Why an attempt cannot be taken; empty if it can."""
    if not foreign.task or len(foreign.task) > _MOST_NAME or foreign.task != printable(foreign.task, _MOST_NAME):
        return "its task has no printable name of at most 200 characters."
    size = len(foreign.patch or b"") + sum(map(len, foreign.outputs.values()))
    if size > _MOST_FILE:
        return f"what it handed in is larger than {_MOST_FILE >> 20} MiB."
    return ""


def _lacks(foreign: ForeignAttempt) -> Iterator[str]:
    """Kinds of data that an attempt does not have."""
    own = foreign.trajectory.own if foreign.trajectory else None
    if foreign.patch is None and not foreign.outputs:
        yield "submission"
    if foreign.trajectory is None or not foreign.trajectory.steps:
        yield "trajectory"
    if own is None or own.usage is None:
        yield "count of tokens"
    if own is None or own.dollars is None:
        yield "dollars"
    if foreign.reported is None or foreign.reported.passed is None:
        yield "reported result"
    if foreign.started is None or foreign.ended is None:
        yield "time of start and end"


def _write_files(foreign: ForeignAttempt, folder: Path) -> Submission:
    """Write what was handed in, the trajectory and the files it was read from; returns the submission."""
    files = dict(foreign.outputs)
    if foreign.patch is not None:
        files["changes.diff"] = foreign.patch
    kept = []
    for path, content in sorted(files.items()):
        target = folder / "submission" / _safe_path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        kept.append(SubmittedFile(path=path, size=len(content), sha256=hashlib.sha256(content).hexdigest()))
    if foreign.trajectory is not None:
        (folder / "trajectory.json").write_bytes(to_json(foreign.trajectory, exclude_defaults=True))
    for name, origin in foreign.files.items():
        target = folder / "transcript" / _safe_path(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        if origin.is_file() and not origin.is_symlink() and origin.stat().st_size <= _MOST_FILE:
            shutil.copyfile(origin, target)
    return Submission(files=tuple(kept))


def _safe_path(name: str) -> Path:
    path = Path(name)
    if path.is_absolute() or not path.parts or ".." in path.parts or "\0" in name:
        raise BadInput(f"A file of an attempt is called {printable(name, 200)!r}.", "No file may leave its folder.")
    return path


def _spent(foreign: ForeignAttempt) -> Spending | None:
    """The agent's own figures as an account, with a note that they are no count of ours."""
    own = foreign.trajectory.own if foreign.trajectory else None
    if own is None or (own.usage is None and own.dollars is None):
        return None
    dollars = own.dollars
    models = (foreign.model,) if foreign.model else ()
    fields: dict[str, Any] = {"usage": own.usage} if own.usage is not None else {}
    return Spending(
        calls=own.calls or 0, dollars=dollars, dollars_known=dollars or Decimal(0), models=models,
        dollars_note="" if dollars is not None else "the other tool tells no dollars", **fields,
    )  # fmt: skip


def _digest(folder: TaskFolder | None) -> str:
    return folder.digest if folder else ""


def _planned(name: str, folder: TaskFolder | None) -> PlannedTask:
    if folder is None:
        repository = re.fullmatch(r"(.+?)__(.+)-\d+", name)
        return PlannedTask(
            id=name, digest="", folder="", title=name, kind=TaskKind.EDIT, domain="",
            repository=f"{repository[1]}/{repository[2]}" if repository else "",
        )  # fmt: skip
    return planned_task(folder)
