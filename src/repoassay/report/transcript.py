"""An agent's steps laid out for reading: what it said, ran and changed, what came back, and what each step cost.

Whatever the agent, its record is a `Trajectory`; commands and edits are told by `repoassay.diagnosis`, as rules of
diagnosis see them. Without a record the calls of its journal stand in. Every text is hostile and bounded here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from difflib import SequenceMatcher

from repoassay.diagnosis import action_of, shell_command_of
from repoassay.types import Call, Observation, Source, StepCall, Trajectory, TrajectoryStep, Usage

__all__ = [
    "LAYOUT_CHARACTERS",
    "ShownCall",
    "ShownEdit",
    "ShownOutput",
    "ShownStep",
    "TranscriptLayout",
    "diff_lines",
    "lay_out_transcript",
]

LAYOUT_CHARACTERS = 1_500_000
"""Characters of all steps that are laid out; the rest is in the attempt's folder."""
_MOST_TEXT = 20_000
_MOST_LINES = 400
_CONTEXT = 3
_WHO = {Source.AGENT: "agent", Source.TOOL: "tool", Source.USER: "user", Source.SYSTEM: "system"}


@dataclass(frozen=True, slots=True)
class ShownEdit:
    """A change of a file: lines, each with its sign (`+`, `-`, `@` or a space)."""

    path: str
    lines: tuple[tuple[str, str], ...]
    left_out: int


@dataclass(frozen=True, slots=True)
class ShownOutput:
    """What a tool answered, cut to a bound; `lines` counts those of the whole."""

    text: str
    failed: bool
    lines: int
    left_out: int


@dataclass(frozen=True, slots=True)
class ShownCall:
    """A call of a tool as a command, as edits, or as its arguments, with what it answered."""

    name: str
    command: str
    edits: tuple[ShownEdit, ...]
    arguments: str
    outputs: tuple[ShownOutput, ...]


@dataclass(frozen=True, slots=True)
class ShownStep:
    """One step; tokens and dollars are None where nobody told, `counted` where the gateway did and not the agent."""

    index: int
    who: str
    time: datetime | None
    text: str
    reasoning: str
    calls: tuple[ShownCall, ...]
    outputs: tuple[ShownOutput, ...]
    usage: Usage | None
    dollars: Decimal | None
    counted: bool


@dataclass(frozen=True, slots=True)
class TranscriptLayout:
    """The steps that are shown, how many are left out, and what of the record could not be read.

    `by_proxy` is whether the record is the model proxy's, for want of one of the agent's.
    """

    steps: tuple[ShownStep, ...]
    left_out: int
    problems: tuple[str, ...]
    by_proxy: bool = False


def lay_out_transcript(
    trajectory: Trajectory | None, calls: Sequence[Call], *, newest: bool = False
) -> TranscriptLayout:
    """Lay out what an attempt did, where it is too much its beginning.

    Args:
        trajectory: Its steps.
        calls: Its calls of models as the gateway journalled them.
        newest: Whether to keep the end instead, as for an attempt that is followed while it works.
    """
    if trajectory is None:
        return TranscriptLayout((), 0, ())
    spoken = [step.index for step in trajectory.steps if step.source is Source.AGENT]
    answered = [call for call in calls if call.answered]
    # Each answer of a model is one step of an agent, or nobody can say which belongs to which.
    by_step = dict(zip(spoken, answered, strict=True)) if len(spoken) == len(answered) else {}
    by_proxy = not trajectory.agent
    shown: list[ShownStep] = []
    room = LAYOUT_CHARACTERS
    for step in reversed(trajectory.steps) if newest else trajectory.steps:
        one = _step(step, by_step.get(step.index), by_proxy)
        room -= _size(one)
        if room < 0:
            break
        shown.append(one)
    left_out = len(trajectory.steps) - len(shown)
    return TranscriptLayout(tuple(reversed(shown) if newest else shown), left_out, trajectory.problems[:20], by_proxy)


def _step(step: TrajectoryStep, call: Call | None, by_proxy: bool) -> ShownStep:
    waiting = list(step.observations)
    calls = tuple(_call(step.index, number, one, waiting) for number, one in enumerate(step.calls[:200]))
    has_usage = call is not None and call.usage is not None
    return ShownStep(
        index=step.index,
        who=_WHO[step.source],
        time=step.time or (call.at if call else None),
        text=_cut(step.text.strip())[0],
        reasoning=_cut(step.reasoning.strip())[0],
        calls=calls,
        outputs=tuple(_output(one) for one in waiting),
        usage=call.usage if call and has_usage else step.usage,
        dollars=call.price if call and call.price is not None else step.dollars,
        counted=has_usage or by_proxy,
    )


def _call(step: int, number: int, call: StepCall, waiting: list[Observation]) -> ShownCall:
    """One call; takes its answers out of those that wait for one: by id, or without ids the next."""
    mine = [one for one in waiting if call.id and one.call == call.id]
    if not mine:
        mine = [one for one in waiting if not one.call][:1]
    for one in mine:
        waiting.remove(one)
    command = shell_command_of(call)
    edits = () if command else tuple(_edits(step, number, call))
    arguments = "" if command or edits else json.dumps(call.arguments, indent=1, ensure_ascii=False, default=str)
    return ShownCall(call.name, _cut(command)[0], edits, _cut(arguments)[0], tuple(_output(one) for one in mine))


def _edits(step: int, number: int, call: StepCall) -> Iterator[ShownEdit]:
    for value in call.arguments.values():
        if isinstance(value, str) and ("*** Begin Patch" in value[:2000] or "\n+++ " in f"\n{value[:2000]}"):
            yield ShownEdit("", *_bounded(diff_lines(value)))
            return
    for part in action_of(step, number, call).authored[:50]:
        if part.path or part.text or part.removed:
            yield ShownEdit(part.path, *_bounded(list(_changed(part.removed, part.text))))


def diff_lines(patch: str) -> list[tuple[str, str]]:
    """The lines of a patch, each with its sign."""
    return [_signed(line) for line in patch.split("\n")]


def _signed(line: str) -> tuple[str, str]:
    if line.startswith(("+++ ", "--- ", "@@", "diff ", "index ", "*** ", "new file", "deleted file")):
        return "@", line
    return (line[0], line[1:]) if line[:1] in ("+", "-", " ") else (" ", line)


def _changed(before: str, after: str) -> Iterator[tuple[str, str]]:
    """The difference of two texts with a few lines around it; of a new text all its lines."""
    old, new = before.split("\n") if before else [], after.split("\n") if after else []
    if not old:
        yield from (("+", line) for line in new)
        return
    begin, end = _shared(old, new)
    # What both begin and end with may be a whole file, and matching takes the product of what is left.
    old = old[begin : len(old) - end][:_MOST_LINES]
    new = new[begin : len(new) - end][:_MOST_LINES]
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for tag, a, b, c, d in (code for group in matcher.get_grouped_opcodes(_CONTEXT) for code in group):
        if tag == "equal":
            yield from ((" ", line) for line in old[a:b])
        else:
            yield from (("-", line) for line in old[a:b])
            yield from (("+", line) for line in new[c:d])


def _shared(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How many lines two texts both begin with and both end with, but for a few that show where the change is."""
    most = min(len(old), len(new))
    begin = next((place for place in range(most) if old[place] != new[place]), most)
    end = next((place for place in range(most - begin) if old[-1 - place] != new[-1 - place]), most - begin)
    return max(0, begin - _CONTEXT), max(0, end - _CONTEXT)


def _bounded(lines: Sequence[tuple[str, str]]) -> tuple[tuple[tuple[str, str], ...], int]:
    kept = tuple((sign, text[:1000]) for sign, text in lines[:_MOST_LINES])
    return kept, len(lines) - len(kept)


def _output(one: Observation) -> ShownOutput:
    text, left_out = _cut(one.text.strip("\n"))
    return ShownOutput(text, one.failed, one.text.strip("\n").count("\n") + 1 if one.text.strip() else 0, left_out)


def _cut(text: str) -> tuple[str, int]:
    """A text without its middle where it is too long, and how many characters that are."""
    if len(text) <= _MOST_TEXT:
        return text, 0
    half = _MOST_TEXT // 2
    return f"{text[:half]}\n…\n{text[-half:]}", len(text) - 2 * half


def _size(step: ShownStep) -> int:
    return len(step.text) + len(step.reasoning) + sum(_texts(step.calls)) + sum(len(one.text) for one in step.outputs)


def _texts(calls: Iterable[ShownCall]) -> Iterator[int]:
    for call in calls:
        yield len(call.command) + len(call.arguments) + sum(len(one.text) for one in call.outputs)
        yield sum(len(line) for edit in call.edits for _, line in edit.lines)
