"""Short answers: one word in a text file, one value under a key of a JSON file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from repoassay.benchmarks.gittaskbench.metrics.decoding import decode_text
from repoassay.grading import Measurement, UnreadableOutput, metric, reference

__all__ = ["answer_matches", "json_answer_matches"]

_QUOTES = ("''", '""', "``", "\u2018\u2019", "\u201c\u201d", "\u300c\u300d")


def _word(text: str) -> str:
    """The text without white space around it, and without one pair of quotes around all of it."""
    text = text.strip().strip("\ufeff").strip()
    if len(text) > 2 and text[0] + text[-1] in _QUOTES and not set(text[1:-1]) & {text[0], text[-1]}:
        text = text[1:-1].strip()
    return text


@metric(
    "answer_matches",
    unit="yes/no",
    span="{0, 1}",
    better="higher",
    source="equality after stripping",
)
def answer_matches(of: Path, against: Path | None = None, *, text: str = "") -> Measurement:
    """1 when the whole file is the expected word and nothing else; letters count in their case.

    A byte-order mark, line ends, white space and one pair of quotes around the whole are no part of an answer; UTF-16
    with its mark is read too. The expected word is `text`, or what the reference holds.
    """
    found = _word(decode_text(of))
    wanted = _word(reference(decode_text, against) if against else text)
    return Measurement(float(found == wanted), f"it reads {found[:60]!r}")


class _Twice(ValueError):
    """A key stands twice in an object."""


def _strict(path: Path) -> Any:
    """A JSON document in which no key stands twice."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({name for name, _ in items}) != len(items):
            raise _Twice
        return dict(items)

    try:
        return json.loads(decode_text(path), object_pairs_hook=pairs)
    except _Twice:
        raise
    except (ValueError, RecursionError) as error:
        raise UnreadableOutput(f"it is not JSON: {error}") from error


@metric(
    "json_answer_matches",
    unit="yes/no",
    span="{0, 1}",
    better="higher",
    source="equality of type and value under one key",
    needs_reference=True,
)
def json_answer_matches(of: Path, against: Path, *, key: str) -> Measurement:
    """1 when the output is an object whose `key` has the reference's value, of the reference's type.

    Numbers are no booleans here, and a list of answers or a key that stands twice is no answer. Other keys may stand
    beside it.
    """
    wanted = reference(_strict, against)[key]
    try:
        found = _strict(of)
    except _Twice:
        return Measurement(0.0, "a key stands twice in it")
    if not isinstance(found, dict) or key not in found:
        return Measurement(0.0, f"it has no key {key!r}")
    value = found[key]
    same = type(value) is type(wanted) and value == wanted
    return Measurement(float(same), f"{key} is {json.dumps(value, ensure_ascii=False)[:60]}")
