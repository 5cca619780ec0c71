"""Text in a submission that speaks to whoever reviews it. It is flagged, never acted on: patches are data.

A flag changes no verdict. The patterns find what is blunt; that a patch has no flag does not mean that it is clean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from repoassay.model import Record
from repoassay.review.judges.diff_lines import MOST_READ, parse_files
from repoassay.review.study import Payload
from repoassay.tasks.wording import shown

__all__ = ["Flag", "injections"]

_MOST = 20
_LONGEST = 4_000
_MOST_LOOKED_AT = 500_000

_WHO = (
    r"(?:(?:code[ -]?)?reviewers?|graders?|judges?|evaluators?|assessors?|maintainers?"
    r"|(?:AI|LLM|language)[ -]?(?:models?|assistants?|judges?|graders?|reviewers?|agents?)|GPT|Claude|Gemini)"
)
_KINDS = (
    ("orders to forget instructions", re.compile(
        r"(?:ignore|disregard|forget|override)\s+(?:all\s+|any\s+)?(?:of\s+)?(?:the\s+|your\s+|my\s+)?"
        r"(?:previous|prior|above|earlier|preceding|system)\s+(?:instructions?|prompts?|guidelines|rules|messages?)",
        re.IGNORECASE)),
    ("speaks to a reviewer or model", re.compile(
        r"(?:dear|note to|attention|message (?:to|for)|instructions? (?:to|for)|hey|if you are|you are) "
        rf"(?:the |an? |any |all |automated )*{_WHO}\b"
        rf"|\b{_WHO}\b[^\n]{{0,40}}\b(?:should|must|please|need to|shall)\b[^\n]{{0,40}}"
        r"\b(?:accept|approve|pass|score|rate|award|merge|mark|answer|respond|report)\b", re.IGNORECASE)),
    ("asks for a verdict", re.compile(
        r"(?:please )?(?:mark|score|rate|grade|label|judge|consider) (?:this|the|it)"
        r"(?: (?:submission|solution|patch|change|answer|output|pull request|PR|code))?[^\n]{0,20} as "
        r"(?:correct|passed|passing|10|perfect|accepted|approved|successful|mergeable|no[_ ]problem|clean)"
        r"|[\"']?state[\"']?\s*:\s*[\"'](?:no_problem|problem|not_applicable|unsure)[\"']", re.IGNORECASE)),
    ("imitates the marks of a conversation", re.compile(
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext)\|>|\[/?INST\]|<</?SYS>>|</?(?:system|instructions?)>"
        r"|\b(?:BEGIN|END) (?:DATA|OF DATA|SYSTEM PROMPT)\b|^\s*(?:system|assistant)\s*:", re.IGNORECASE)),
    ("hides text", re.compile(
        "[\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\U000e0000-\U000e007f]")),
)  # fmt: skip


_PART = "is too long to be looked at whole: from here on it was not"


class Flag(Record):
    """Where, and what kind of text. `line` is of the new side; None for a file name or the description."""

    kind: Annotated[str, Field(max_length=100)]
    path: Annotated[str, Field(max_length=1024)] = ""
    line: int | None = None
    quote: Annotated[str, Field(max_length=300)] = ""


def injections(payload: Payload) -> tuple[Flag, ...]:
    """Return what in added lines, file names, title and description speaks to a reviewer, at most 20 places.

    Of a line 4,000 characters are looked at, of all text 500,000; where that is not all, the last flag says so.
    """
    found: list[Flag] = []
    for flag in _found(payload):
        found.append(flag)
        if len(found) == _MOST:
            break
    return tuple(found)


def _found(payload: Payload) -> Iterator[Flag]:
    for text in (payload.title, *payload.description.split("\n")):
        for kind in _kinds(text):
            yield Flag(kind=kind, quote=shown(text.strip(), 300))
    left = _MOST_LOOKED_AT
    for file in parse_files(payload.diff[:MOST_READ]):
        for kind in _kinds(file.path.replace("_", " ").replace("-", " ")):
            yield Flag(kind=kind, path=shown(file.path, 1024), quote=shown(file.path, 300))
        for sign, _, new, text in file.rows:
            left -= min(len(text), _LONGEST) if sign == "+" else 0
            if left < 0:
                yield Flag(kind=_PART, path=shown(file.path, 1024), line=new)
                return
            for kind in _kinds(text) if sign == "+" else ():
                yield Flag(kind=kind, path=shown(file.path, 1024), line=new, quote=shown(text.strip(), 300))


def _kinds(text: str) -> Iterator[str]:
    for kind, pattern in _KINDS:
        if pattern.search(text[:_LONGEST]):
            yield kind
