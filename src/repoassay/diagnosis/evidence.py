"""Where in a trajectory something is seen: a step, which of its texts, and the characters of it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from repoassay.types import Record, StepCall, Trajectory

__all__ = ["Evidence", "Where", "call_text", "evidence_text", "fact", "quotation"]

Where = Literal["text", "reasoning", "call", "observation"]
_QUOTE = 200
_DEEPEST = 4


class Evidence(Record):
    """Characters `start` to `end` of one text of step `step`, and the first of them as `quote`.

    `number` counts from 0 among the step's calls or observations. A call's text is its arguments (see `call_text`).
    A fact that is no text of the trajectory (the outcome, the files left) has step 0 and the fact as quote.
    """

    step: Annotated[int, Field(ge=0)]
    where: Where
    number: Annotated[int, Field(ge=0)] = 0
    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=0)]
    quote: Annotated[str, Field(max_length=_QUOTE)]


def quotation(step: int, where: Where, number: int, text: str, start: int, end: int) -> Evidence:
    """Evidence at a place of a text that is at hand."""
    end = min(max(start, end), len(text))
    return Evidence(
        step=step, where=where, number=number, start=start, end=end, quote=text[start : min(end, start + _QUOTE)]
    )


def fact(sentence: str) -> Evidence:
    """Evidence that is no text of the trajectory."""
    return Evidence(step=0, where="text", start=0, end=0, quote=sentence[:_QUOTE])


def call_text(call: StepCall) -> str:
    """The arguments of a call as one text: the strings in them, a line each, in their order."""
    return "\n".join(_strings(call.arguments, 0))


def _strings(value: object, depth: int) -> list[str]:
    if isinstance(value, str):
        return [value]
    if depth >= _DEEPEST:
        return []
    if isinstance(value, dict):
        return [text for part in value.values() for text in _strings(part, depth + 1)]
    if isinstance(value, list | tuple):
        return [text for part in value for text in _strings(part, depth + 1)]
    return []


def evidence_text(trajectory: Trajectory, evidence: Evidence) -> str:
    """The text that the offsets of a piece of evidence count in.

    Raises:
        LookupError: When the trajectory has no such text.
    """
    step = next((step for step in trajectory.steps if step.index == evidence.step), None)
    if step is None:
        raise LookupError(f"the trajectory has no step {evidence.step}")
    if evidence.where == "call":
        return call_text(step.calls[evidence.number])
    if evidence.where == "observation":
        return step.observations[evidence.number].text
    return step.text if evidence.where == "text" else step.reasoning
