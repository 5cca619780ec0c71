"""A study's items made of run folders: one run a task drawn by seed, flagged ones left out, controls mixed in."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from repoassay.diagnosis import IntegrityState, Severity, integrity
from repoassay.errors import BadInput
from repoassay.records import RunFolder
from repoassay.report import AttemptTimeline, read_story
from repoassay.review import (
    Candidate,
    HiddenPart,
    Item,
    ItemPayload,
    Rubric,
    Sample,
    blinded,
    draw,
    opaque_names,
    siblings,
)
from repoassay.server.review.blobs import Blobs
from repoassay.server.review.changed_files import base_of, file_versions
from repoassay.server.review.control_items import ControlCounts, ControlItem, make_controls
from repoassay.server.review.item_builder import TaskSide, evidence_for, payload_for, task_side
from repoassay.types import Attempt, Outcome, Verdict

__all__ = ["RunSelection", "SelectedAttempts", "choose", "make_items"]

# Names of agents that come with the package and are ordinary words: taking them out would maim what is reviewed.
_ORDINARY = {"reference", "nothing", "copycat", "empty", "garbage", "constant", "noise", "vandal", "command"}
_NOT_JUDGED = {Outcome.NOT_GRADABLE, Outcome.INFRA_FAULT}


@dataclass(frozen=True, slots=True)
class RunSelection:
    """What a lead asks for: which runs, the seed, how many runs a task, which controls, and what is left out.

    `flagged` maps names of attempts to the reason why; `checked` also leaves out those whose own steps show a shortcut
    that was used.
    """

    runs: Sequence[Path]
    seed: int = 0
    each: int = 1
    controls: ControlCounts = field(default_factory=ControlCounts)
    flagged: Mapping[str, str] = field(default_factory=dict)
    checked: bool = True


@dataclass(frozen=True, slots=True)
class SelectedAttempts:
    """What was drawn, and who should be read again because another run of the same task was flagged."""

    sample: Sample
    stories: Mapping[str, tuple[RunFolder, AttemptTimeline]]
    reread: tuple[tuple[Candidate, str], ...]


def choose(wanted: RunSelection) -> SelectedAttempts:
    """Read runs and draw from them.

    Raises:
        BadInput: When a folder is no run, or a flagged name is no attempt of these runs.
    """
    stories: dict[str, tuple[RunFolder, AttemptTimeline]] = {}
    for path in wanted.runs:
        run = RunFolder(path)
        for found in run.finished():
            stories[found.attempt.id] = (run, read_story(run, found.attempt.id))
    strange = sorted(set(wanted.flagged) - set(stories))
    if strange:
        raise BadInput(f"{strange[0]!r} is no attempt of these runs.", "`repoassay show RUN` lists them.")
    flagged = {name: reason for name, reason in wanted.flagged.items() if reason}
    if wanted.checked:
        for name, (_, story) in stories.items():
            if reason := _shortcut(story):
                flagged.setdefault(name, reason)
    systems = _systems(stories)
    line = [
        Candidate(name, story.found.attempt.task, systems[name], flagged.get(name, ""))
        for name, (_, story) in stories.items()
    ]
    return SelectedAttempts(draw(line, wanted.seed, wanted.each), stories, siblings(line, flagged))


def _systems(stories: Mapping[str, tuple[RunFolder, AttemptTimeline]]) -> dict[str, str]:
    """Name what made each attempt: agent and model, and the run where two entries of that name differ otherwise.

    Two runs of `--agent command` with other commands share the name `command`, and are not one system.
    """
    parts: dict[str, tuple[str, str]] = {}
    kinds: dict[str, dict[str, str]] = {}
    for name, (run, story) in stories.items():
        attempt = story.found.attempt
        model = attempt.settings.get("model", "")
        title = f"{attempt.agent} ({model})" if model and model not in attempt.agent else attempt.agent
        entry = run.plan.agents.get(attempt.agent)
        parts[name] = (title, run.plan.id)
        kinds.setdefault(title, {})[run.plan.id] = "" if entry is None else entry.model_dump_json()
    return {
        name: f"{title} of {run}"[:300] if len(set(kinds[title].values())) > 1 else title[:300]
        for name, (title, run) in parts.items()
    }


def make_items(chosen: SelectedAttempts, wanted: RunSelection, blobs: Blobs, rubric: Rubric) -> list[Item]:
    """Make items of what was drawn and of human changes, under names that say nothing.

    Raises:
        BadInput: When more controls are wanted than tasks have a human change, or nothing was drawn.
    """
    tasks: dict[str, tuple[TaskSide, str]] = {}
    bases: dict[str, Path | None] = {}
    halves: list[ControlItem] = []
    names = _names(chosen)
    for candidate in chosen.sample.chosen:
        run, story = chosen.stories[candidate.id]
        found = story.found
        side = task_side(run, found.attempt.task)
        if found.attempt.task not in tasks:
            tasks[found.attempt.task] = side, run.plan.id
            bases[found.attempt.task] = base_of(run, found.attempt.task) if side.kind.changes_repository else None
        payload = blinded(payload_for(side, found, blobs), names, _branches(found.folder))
        hidden = _hidden(side, run, found.attempt, found.verdict, story, candidate.system)
        halves.append(ControlItem(payload, hidden))
    if not halves:
        raise BadInput("These runs hold nothing to review.", "Choose runs with finished attempts that are not flagged.")
    halves += make_controls(tasks, wanted.controls, names, rubric, wanted.seed)
    # The order in which items lie must not tell controls from the rest.
    random.Random(f"items:{wanted.seed}").shuffle(halves)  # noqa: S311 - to be repeated
    opaque = opaque_names(wanted.seed, len(halves))
    return [
        Item(
            id=name, payload=_with_versions(half.payload, bases[half.hidden.task], blobs), hidden=half.hidden,
            use=half.use, key=half.key,
        )
        for name, half in zip(opaque, halves, strict=True)
    ]  # fmt: skip


def _with_versions(payload: ItemPayload, base: Path | None, blobs: Blobs) -> ItemPayload:
    """Add what the changed files were, the same way for controls as for everything else."""
    if base is None:
        return payload
    found = file_versions(base, payload.diff, blobs, payload.reference or "")
    return payload.model_copy(update={"versions": found})


def _hidden(
    side: TaskSide, run: RunFolder, attempt: Attempt, verdict: Verdict, story: AttemptTimeline, system: str
) -> HiddenPart:
    model = attempt.settings.get("model", "")
    return HiddenPart(
        task=attempt.task,
        repository=side.repository,
        system=system,
        agent=attempt.settings.get("agent", attempt.agent)[:300],
        model=model[:300],
        run=run.plan.id,
        attempt=attempt.id,
        tests=None if verdict.outcome in _NOT_JUDGED else verdict.outcome is Outcome.PASSED,
        origin=run.plan.suite[:200],
        evidence=evidence_for(story),
    )


def _names(chosen: SelectedAttempts) -> list[str]:
    """Return every name that would tell who made something: of agents, entries and models of all runs."""
    names: set[str] = set()
    for run, story in chosen.stories.values():
        for name, entry in run.plan.agents.items():
            names |= {name, entry.options.get("agent", ""), entry.model}
        if story.trajectory is not None:
            names |= {story.trajectory.agent, story.trajectory.model}
    names |= {name.rpartition("/")[2] for name in names}
    return sorted(name for name in names if len(name) > 1 and name.lower() not in _ORDINARY)


def _branches(folder: Path) -> list[str]:
    from repoassay.grading import read_pull_request

    commits = read_pull_request(folder / "submission").commits
    # A branch named after a common word would take it out of every text.
    return [commits.branch] if len(commits.branch) > 4 and commits.branch not in {"main", "master", "trunk"} else []


def _shortcut(story: AttemptTimeline) -> str:
    if story.trajectory is None:
        return ""
    for finding in integrity(story.trajectory, story.found.verdict):
        if finding.state is IntegrityState.USED and finding.severity is Severity.HIGH:
            return f"{finding.check.value}: {finding.what}"[:2000]
    return ""
