"""What a judge answered: one JSON object, read strictly, whose evidence must stand in the diff it was shown."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, ValidationError

from repoassay.judges.diff_lines import DiffText
from repoassay.model_proxy import UnreadableAnswer
from repoassay.review import AnswerRole, Rubric
from repoassay.text import join_names, printable
from repoassay.types import Anchor, AxisAnswer, Record

__all__ = ["Cited", "JudgeReply", "read_answer", "read_reply", "wrong_evidence"]

_LONGEST = 64_000
_DEEPEST = 20
_LEAST = 4
_FENCE = re.compile(r"```(?:json|JSON)?[ \t]*\n(.*)\n[ \t]*```", re.DOTALL)


class Cited(Record):
    """One place that shows the answer. `quote` is the text of its line, or a part of it."""

    model_config = ConfigDict(strict=True)

    path: Annotated[str, Field(min_length=1, max_length=1024)]
    side: Literal["old", "new"] = "new"
    line: Annotated[int, Field(ge=1, le=10**8)]
    quote: Annotated[str, Field(min_length=1, max_length=4_000)]


class JudgeReply(Record):
    """An answer on one axis: a state of its scale, what shows it, and why."""

    model_config = ConfigDict(strict=True)

    state: Annotated[str, Field(min_length=1, max_length=64)]
    # JSON has lists, and strictness is meant for what is in them.
    evidence: Annotated[tuple[Cited, ...], Field(max_length=50, strict=False)] = ()
    why: Annotated[str, Field(max_length=4_000)] = ""


def read_answer(text: str, rubric: Rubric, axis: str) -> JudgeReply:
    """Read a model's answer.

    Args:
        text: One JSON object, alone or in one code fence.
        rubric: Of the study.
        axis: That was asked about.

    Raises:
        UnreadableAnswer: When it is too long, is not such an object, or its state is not of the axis's scale.
    """
    if len(text) > _LONGEST:
        raise UnreadableAnswer(f"The answer has {len(text):,} characters; at most {_LONGEST:,} are read.")
    body = text.strip()
    if fenced := _FENCE.fullmatch(body):
        body = fenced[1].strip()
    if not body:
        raise UnreadableAnswer("The answer is empty.")
    try:
        data = json.loads(body, object_pairs_hook=_once, parse_constant=_no_constant)
    except RecursionError:
        raise UnreadableAnswer("The answer is nested too deeply.") from None
    except json.JSONDecodeError as error:
        raise UnreadableAnswer(
            f"The answer is not one JSON object: {printable(error.msg, 100)} at {error.pos}."
        ) from None
    except ValueError as error:
        raise UnreadableAnswer(f"The answer cannot be read: {printable(str(error), 200)}.") from None
    if not isinstance(data, dict):
        raise UnreadableAnswer(f"The answer is a {type(data).__name__}, not one JSON object.")
    if _depth(data) > _DEEPEST:
        raise UnreadableAnswer("The answer is nested too deeply.")
    if not _storable(data):
        raise UnreadableAnswer("The answer holds a null character or half a pair.")
    try:
        reply = JudgeReply.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the object"
        raise UnreadableAnswer(
            f"The answer is wrong at {printable(place, 100)}: {printable(str(first['msg']), 200)}."
        ) from None
    known = [level.key for level in rubric.levels(axis)]
    if reply.state not in known:
        raise UnreadableAnswer(f"The answer's state {printable(reply.state, 80)!r} is none of {join_names(known)}.")
    return reply


def wrong_evidence(reply: JudgeReply, diff: DiffText, rubric: Rubric, axis: str) -> str:
    """Return why the evidence voids an answer, one sentence; empty when it stands.

    Every answer but "not applicable" and "unsure" needs some, and whatever is cited must be a line that was shown,
    with the quoted text in it. A quote of several lines is held against the lines from `line` on.
    """
    role = rubric.level(axis, reply.state).role
    if not reply.evidence and role not in {AnswerRole.NOT_APPLICABLE, AnswerRole.UNSURE}:
        return f"It answers {reply.state!r} and cites no line."
    for cited in reply.evidence:
        if why := _missing(cited, diff):
            return why
    return ""


def read_reply(reply: JudgeReply) -> AxisAnswer:
    """Return the answer as a rating has it."""
    return AxisAnswer(
        state=reply.state,
        evidence=tuple(
            Anchor(
                path=each.path, side=each.side, line=each.line, end_line=each.line + len(_quoted(each)) - 1,
                quote=each.quote,
            )
            for each in reply.evidence
        ),
    )  # fmt: skip


def _missing(cited: Cited, diff: DiffText) -> str:
    place = f"{printable(cited.path, 200)}:{cited.line}"
    side = "" if cited.side == "new" else " before the change"
    for number, part in enumerate(_quoted(cited), cited.line):
        stands = diff.find(cited.path, cited.side, number)
        if stands is None:
            known = any(path == cited.path for path, _, _ in diff.lines)
            what = "no such line" if known else "no such file"
            return f"It cites {place}{side}, but the diff it was shown has {what}."
        if not _fits(part, " ".join(stands.split()), many="\n" in cited.quote):
            return f"It cites {place}{side}, but {printable(part, 80)!r} does not stand there."
    return ""


def _fits(part: str, line: str, *, many: bool) -> bool:
    """Whether a quote is of a line. A bracket or a letter is in nearly every line, so so little must be all of it."""
    if part == line:
        return bool(part) or many
    return len(part) >= _LEAST and part in line


def _quoted(cited: Cited) -> list[str]:
    """Return the quote's lines with their spaces evened out; a line number or sign copied along is no part of it."""
    lines = [" ".join(line.split()) for line in cited.quote.strip("\r\n").split("\n")]
    return lines or [""]


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _storable(data: object) -> bool:
    text = json.dumps(data, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\\u0000" not in text


def _depth(value: Any) -> int:
    deepest, line = 0, [(value, 1)]
    while line:
        each, depth = line.pop()
        deepest = max(deepest, depth)
        inner = each.values() if isinstance(each, dict) else each if isinstance(each, list) else ()
        line += [(one, depth + 1) for one in inner]
    return deepest
