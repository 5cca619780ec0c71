"""The story of one attempt: what it was asked, what it did step by step, what it spent, what came of it.

Steps are the agent's own record where it keeps one that could be read (`trajectory.json`), else the journal's calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from repoassay.agents import exit_meaning
from repoassay.engine import locate
from repoassay.errors import BadInput
from repoassay.records import (
    ALL,
    JOURNAL,
    FinishedAttempt,
    RunFolder,
    finished_ids,
    holds_run,
    is_store_url,
    parse,
    read_attempt,
    read_calls,
    read_regular,
    read_steps,
)
from repoassay.report.agent_log import printed_last
from repoassay.report.document import plain_value
from repoassay.report.figures import isolation_text, moment, seconds, size
from repoassay.report.money import sentence
from repoassay.text import block, clip, code_point, escape_hidden, one_line
from repoassay.types import Call, Outcome, Source, Trajectory, TrajectoryStep

__all__ = ["AttemptTimeline", "find_attempts", "lines", "read_story", "read_trajectory", "story_document"]

_MOST_FILE = 64 * 2**20
_EDITS = ("edit", "write", "replace", "patch", "str_replace", "create", "insert")


@dataclass(frozen=True, slots=True)
class AttemptTimeline:
    """One finished attempt with its steps; `trajectory` is None where the agent left none that could be read."""

    found: FinishedAttempt
    calls: tuple[Call, ...]
    trajectory: Trajectory | None


def find_attempts(where: str, runs: Path) -> list[tuple[RunFolder, str]]:
    """Attempts named by `ATTEMPT`, `RUN/ATTEMPT`, an attempt's folder, or `RUN` for all of it.

    ATTEMPT is an id or its beginning or end; RUN is a folder, its name below `runs`, `latest`, or a stored run's URL.

    Raises:
        BadInput: When nothing is called that.
    """
    run = _run_of(where, runs)
    if run is not None:
        return [(run, name) for name in finished_ids(run.path)]
    head, _, tail = where.rstrip("/").rpartition("/")
    run = _run_of(head.removesuffix("/attempts"), runs) if head else None
    among = [run] if run is not None else [] if head else _all_runs(runs)
    found = [
        (run, name)
        for run in among
        for name in finished_ids(run.path)
        if len(tail) >= 4 and (name.startswith(tail.upper()) or name.endswith(tail.upper()))
    ]
    if not found and any(Path(where).glob("*/run.json")):
        RunFolder(Path(where))  # says that it only holds runs, and names one
    if len(found) != 1:
        many = f"{len(found)} finished attempts are" if found else "No finished run or attempt is"
        raise BadInput(f"{many} called {where!r}.", "Name an attempt as RUN/ATTEMPT; `repoassay show RUN` lists them.")
    return found


def _run_of(name: str, runs: Path) -> RunFolder | None:
    if name == "latest":
        newest = _all_runs(runs)
        return newest[-1] if newest else None
    if is_store_url(name) and not Path(name).exists():
        return RunFolder(locate(Path(name))) if holds_run(name) else None
    for place in (Path(name), runs / name):
        if name and (place / "run.json").is_file():
            return RunFolder(place)
    return None


def _all_runs(runs: Path) -> list[RunFolder]:
    return [RunFolder(path.parent) for path in sorted(runs.glob("*/run.json"))]


def read_story(run: RunFolder, attempt: str) -> AttemptTimeline:
    """Read one attempt back.

    Raises:
        BadInput: When the run holds no such finished attempt, or it cannot be read back.
    """
    if attempt not in finished_ids(run.path):
        raise BadInput(f"{run.path} holds no finished attempt {attempt}.")
    folder = run.attempt_folder(attempt)
    found = FinishedAttempt(*read_attempt(run.path, attempt, ALL), folder)
    return AttemptTimeline(found, read_calls(folder / JOURNAL).calls, read_trajectory(folder))


def read_trajectory(folder: Path) -> Trajectory | None:
    """What the agent did, as kept in an attempt's folder; None where nothing can be read.

    It is the agent's own record, else what the model proxy saw of it (then without an agent's name), which is there
    while an attempt works, too.
    """
    path = folder / "trajectory.json"
    try:
        own = parse(Trajectory, read_regular(path, _MOST_FILE), str(path))
    except (OSError, ValidationError):
        own = None
    if own is not None and own.steps:
        return own
    seen = read_steps(folder)
    return Trajectory(agent="", steps=seen, problems=own.problems if own else ()) if seen else own


def story_document(story: AttemptTimeline) -> dict[str, Any]:
    """The story for programs: attempt, verdict, calls and trajectory as the run folder has them."""
    return {
        "schema": "repoassay/story/1",
        "folder": str(story.found.folder),
        "attempt": plain_value(story.found.attempt.model_dump(mode="json")),
        "verdict": plain_value(story.found.verdict.model_dump(mode="json")),
        "calls": [plain_value(call.model_dump(mode="json", exclude_defaults=True)) for call in story.calls],
        "trajectory": plain_value(story.trajectory.model_dump(mode="json")) if story.trajectory else None,
    }


def lines(story: AttemptTimeline, width: int = 200) -> Iterator[str]:
    """The story as plain lines, in which every hidden character is written out."""
    return (escape_hidden(line, form=code_point) for line in _lines(story, width))


def _lines(story: AttemptTimeline, width: int) -> Iterator[str]:
    attempt, verdict = story.found.attempt, story.found.verdict
    yield f"{attempt.task} by {one_line(attempt.agent, 200)}, attempt {attempt.number}, {moment(attempt.started)}"
    yield f"{attempt.id}{f', a retry of {attempt.retry_of}' if attempt.retry_of else ''}"
    yield ""
    trajectory = story.trajectory
    if trajectory is not None and trajectory.steps:
        for step in trajectory.steps:
            yield from _step(step, width)
        for problem in trajectory.problems[:5]:
            yield f"  (not read: {one_line(problem, width)})"
    elif story.calls:
        yield "The agent left no record of its steps that could be read; these are its model calls."
        for call in story.calls:
            yield _call(call)
    else:
        yield "The agent asked no model."
    yield ""
    ending = attempt.submission.exit
    if ending is not None:
        yield f"Ended: {ending.ended.value.replace('_', ' ')}, {exit_meaning(ending)}, after {seconds(ending.wall)}"
    files = [f"{one_line(item.path, 80)} ({size(item.size)})" for item in attempt.submission.files[:10]]
    yield f"Left: {', '.join(files) or 'nothing'}"
    if attempt.spent is not None:
        yield f"Spent: {sentence(attempt.spent)}"
        if attempt.spent.faults:
            faults = ", ".join(f"{count} {name}" for name, count in attempt.spent.faults.items())
            yield f"Faults: {faults}; {attempt.spent.retries} retries"
    if trajectory is not None and trajectory.own.usage is not None:
        own = trajectory.own.usage
        yield f"Its own account: {own.input:,} tokens in, {own.output:,} out"
    answer = {True: "yes", False: "no", None: "unknown"}
    yield f"Verdict: {verdict.outcome.value} (process {answer[verdict.process]}, result {answer[verdict.result]})"
    yield f"  Isolation: {one_line(isolation_text(verdict), width)}"
    for comment in verdict.comments[:20]:
        yield f"  {one_line(comment, width)}"
    for item in verdict.criteria[:50]:
        value = "unknown" if item.value is None else f"{item.value:.6g}"
        criterion = f"{one_line(item.metric, 80)} of {one_line(item.of, 120)}"
        yield f"  {criterion}: {value}, wanted {one_line(item.threshold, 80)}: {answer[item.passed]}"
    bad = [test for test in verdict.tests if test.outcome != "passed"]
    if verdict.tests:
        yield f"  {len(verdict.tests) - len(bad)} of {len(verdict.tests)} hidden tests passed"
        for test in bad[:20]:
            yield f"  {test.outcome}: {one_line(test.id, 120)}"
    if verdict.outcome is not Outcome.PASSED:
        yield from printed_last(story.found.folder, width)


def _step(step: TrajectoryStep, width: int) -> Iterator[str]:
    who = {Source.AGENT: "model", Source.TOOL: "answer"}.get(step.source, step.source.value)
    spent = f"  [{step.usage.input:,} in, {step.usage.output:,} out]" if step.usage else ""
    step_text = one_line(step.text, width) if step.text.strip() else ""
    yield f"{step.index:>4} {who:<7} {step_text}{spent}"
    for call in step.calls:
        sign = "~" if any(word in call.name.lower() for word in _EDITS) else "$"
        yield f"     {sign} {one_line(call.name, 40)}: {_arguments(call.arguments, width)}"
    for observation in step.observations:
        mark = "!" if observation.failed else ">"
        text = clip(block(observation.text[:2000].strip().replace("\r\n", "\n"), code_point), width * 2)
        for line in text.splitlines()[:4]:
            yield f"       {mark} {line}"


def _arguments(arguments: dict[str, Any], width: int) -> str:
    for name in ("command", "cmd", "path", "file_path", "input"):
        value = arguments.get(name)
        if value:
            return one_line(" ".join(map(str, value)) if isinstance(value, list) else str(value), width)
    return one_line(str(arguments), width)


def _call(call: Call) -> str:
    usage = f"{call.usage.input:,} in, {call.usage.output:,} out" if call.usage else "tokens unknown"
    cost = f"${call.price:.4f}" if call.price is not None else "cost unknown"
    if not call.forwarded:
        return f"{call.seq:>4} refused ({call.refused}): {one_line(call.detail, 120)}"
    if not call.answered:
        return f"{call.seq:>4} failed ({call.fault}, {call.whose or 'nobody'}'s): {one_line(call.detail, 120)}"
    retries = f", {len(call.retries)} retries" if call.retries else ""
    return f"{call.seq:>4} {call.served}: {usage}, {cost}, {call.seconds:.2f} s{retries}"
