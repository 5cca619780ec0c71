"""All runs below a folder: how far each is, and the page that lists them. Reads plans and journals, no attempt."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote as quote_url

from markupsafe import Markup

from repoassay.errors import RepoAssayError
from repoassay.records import Journal, RunFolder
from repoassay.report.charts import palette
from repoassay.report.matrix import outcome_parts
from repoassay.report.templating import environment, policy_hash, source
from repoassay.text import one_line
from repoassay.types import Outcome, Plan

__all__ = ["RunProgress", "RunningAttempt", "progress_document", "run_progress", "runs_below", "runs_page"]

_DEEPEST = 4
_MOST_RUNS = 5_000
_MOST_FOLDERS = 50_000


@dataclass(frozen=True, slots=True)
class RunningAttempt:
    """An attempt that was started and is not finished."""

    id: str
    task: str
    agent: str
    number: int
    since: str


@dataclass(frozen=True, slots=True)
class RunProgress:
    """How far a run is, by its journal; `key` names it below the folder, `problem` says why it cannot be read.

    `works` is whether a process holds the run now. `outcomes` count finished attempts, replaced ones among them.
    """

    key: str
    path: Path
    plan: Plan | None
    finished: int = 0
    outcomes: Mapping[Outcome | None, int] | None = None
    running: tuple[RunningAttempt, ...] = ()
    works: bool = False
    problem: str = ""

    @property
    def id(self) -> str:
        """The key as a part of an address, which any name of a folder can be."""
        return quote_url(self.key, errors="surrogateescape")

    @property
    def link(self) -> str:
        """Where its page is, relative to the list."""
        return f"run/{self.id}/report.html"

    @property
    def planned(self) -> int:
        """Attempts that its plan holds."""
        return self.plan.size if self.plan is not None else 0

    @property
    def state(self) -> str:
        """`running`, `finished`, `stopped` or `unreadable`."""
        if self.problem:
            return "unreadable"
        if self.works:
            return "running"
        return "finished" if self.finished >= self.planned else "stopped"


def runs_below(folder: Path) -> dict[str, Path]:
    """Every run folder at or below a folder, by its path from there; links are not followed, `.` is the folder."""
    found: dict[str, Path] = {}
    base = len(folder.parts)
    for seen, (place, names, files) in enumerate(os.walk(folder, followlinks=False)):
        path = Path(place)
        if "run.json" in files:
            found[path.relative_to(folder).as_posix()] = path
            names.clear()
        if len(path.parts) - base >= _DEEPEST:
            names.clear()
        names[:] = sorted((name for name in names if not name.startswith(".")), reverse=True)
        if len(found) >= _MOST_RUNS or seen > _MOST_FOLDERS:
            break
    return found


def run_progress(key: str, path: Path) -> RunProgress:
    """Read how far one run is; a run that cannot be read says why."""
    try:
        plan = RunFolder(path).plan
        events = Journal(path / "journal.jsonl").read().events
    except (RepoAssayError, OSError) as error:
        return RunProgress(key, path, None, problem=one_line(str(error), 300))
    started = {str(event.get("attempt")): event for event in events if event.get("event") == "started"}
    ended = {str(event.get("attempt")): event for event in events if event.get("event") == "finished"}
    works = _is_held(path / ".lock")
    slots = {(event.get("task"), event.get("agent"), event.get("number")) for event in ended.values()}
    return RunProgress(
        key,
        path,
        plan,
        len(slots),
        Counter(filter(None, map(_outcome, ended.values()))),
        tuple(_running(name, event) for name, event in started.items() if name not in ended) if works else (),
        works,
    )


def _outcome(event: Mapping[str, object]) -> Outcome | None:
    try:
        return Outcome(str(event.get("outcome")))
    except ValueError:
        return None


def _running(name: str, event: Mapping[str, object]) -> RunningAttempt:
    number = event.get("number")
    task, agent = (one_line(str(event.get(part, "")), 120) for part in ("task", "agent"))
    return RunningAttempt(name, task, agent, number if isinstance(number, int) else 1, str(event.get("at", ""))[:19])


def _is_held(lock: Path) -> bool:
    """Whether a process holds the lock; taking it to find out could refuse a `resume` of that moment."""
    try:
        inode = lock.stat().st_ino
        held = Path("/proc/locks").read_text("ascii", "replace")
    except OSError:
        return False
    return any(line.split()[5].rpartition(":")[2] == str(inode) for line in held.splitlines() if len(line.split()) > 5)


def runs_page(runs: Sequence[RunProgress], folder: str) -> str:
    """The list of runs as a page, the newest first; it asks `state.json` how far they are."""
    pages = environment()
    style = source(pages, "style.css") + source(pages, "runs.css") + palette.style()
    script = source(pages, "runs.js")
    return pages.get_template("runs.html").render(
        runs=sorted(runs, key=_newest),
        folder=folder,
        segments=_planned_parts,
        style=Markup(style),  # noqa: S704 - files of ours, nothing filled in
        script=Markup(script),  # noqa: S704 - the same
        style_hash=policy_hash(style),
        script_hash=policy_hash(script),
    )


def _newest(one: RunProgress) -> tuple[bool, float, str]:
    return (one.plan is None, -one.plan.created.timestamp() if one.plan is not None else 0.0, one.key)


def progress_document(one: RunProgress) -> dict[str, object]:
    """How far a run is, for the scripts of pages."""
    return {
        "key": one.id,
        "state": one.state,
        "finished": one.finished,
        "planned": one.planned,
        "parts": _planned_parts(one),
        "running": list(_running_documents(one)),
    }


def _planned_parts(one: RunProgress) -> tuple[tuple[str, float, float], ...]:
    """The outcomes as parts of all that is planned, what is not finished last."""
    ended: Counter[Outcome | None] = Counter(one.outcomes or {})
    missing = one.planned - ended.total()
    return outcome_parts(ended + Counter({None: missing}) if missing > 0 else ended)


def _running_documents(one: RunProgress) -> Iterator[dict[str, object]]:
    for item in one.running[:50]:
        yield {"id": item.id, "task": item.task, "agent": item.agent, "number": item.number, "since": item.since}
