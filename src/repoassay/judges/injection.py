"""Text in a submission that speaks to whoever reviews it. It is flagged, never acted on: patches are data.

A flag changes no verdict. The patterns find what is blunt; that a patch has no flag does not mean that it is clean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Annotated
from unicodedata import normalize

from pydantic import Field

from repoassay.diffs import read
from repoassay.judges.diff_lines import MOST_READ
from repoassay.review import ItemPayload
from repoassay.text import escape_hidden, fold_look_alikes, is_hidden, printable
from repoassay.types import Record

__all__ = ["Flag", "hidden_text", "injections"]

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
)  # fmt: skip

_HIDES = "hides text"
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_UNSEEN = "says something in an HTML comment, which rendered text does not show"
_WORD = re.compile(r"[^\W\d_]{3,80}")
_SYMBOLS = frozenset("\u03b1\u03b9\u03ba\u03bd\u03c1\u03c5")
"""Greek letters of formulas, which look like Latin ones: `sin\u03b1` deceives nobody."""
_MIXED = "mixes look-alike letters of other scripts into a word"
# What is hidden and yet ordinary in source text: white space of code, a few wide or thin spaces or letters of an icon
# font in a row, and selectors and joiners within emoji. Elsewhere a joiner or selector may be one letter of a message.
_EMOJI = (
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff]"
)
_SPACES = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000"
_ICONS = "\ue000-\uf8ff\U000f0000-\U0010fffd"
_EMOJI_DRESSED = rf"{_EMOJI}[\ufe0e\ufe0f]?[\U0001f3fb-\U0001f3ff]?"
_NATIONS = "|".join("".join(chr(0xE0000 + ord(letter)) for letter in name) for name in ("gbeng", "gbsct", "gbwls"))
_ORDINARY = re.compile(
    rf"[\t\f\v]|\r$|(?<![{_SPACES}])[{_SPACES}]{{1,7}}(?![{_SPACES}])|(?<![{_ICONS}])[{_ICONS}]{{1,3}}(?![{_ICONS}])"
    rf"|\U0001f3f4(?:{_NATIONS})\U000e007f|[0-9#*]\ufe0f\u20e3|{_EMOJI_DRESSED}(?:\u200d{_EMOJI_DRESSED})*"
)

_PART = "is too long to be looked at whole: from here on it was not"


class Flag(Record):
    """Where, and what kind of text. `line` is of the new side; None for a file name or the description."""

    kind: Annotated[str, Field(max_length=100)]
    path: Annotated[str, Field(max_length=1024)] = ""
    line: int | None = None
    quote: Annotated[str, Field(max_length=300)] = ""


def injections(payload: ItemPayload) -> tuple[Flag, ...]:
    """Return what in added lines, file names, title, description and issue speaks to a reviewer, at most 20 places.

    Patterns are looked for in the text as it stands, and in its letters without what is hidden between them. Text that
    `text.is_hidden` is flagged itself, but for what is ordinary in source text: see docs/judges.md. So are comments of
    HTML in prose, and words whose letters are of several scripts and look like a Latin word.
    Of a line 4,000 characters are looked at, of all text 500,000; where that is not all, the last flag says so.
    """
    return tuple(islice(_flags_of(payload), _MOST))


def hidden_text(payload: ItemPayload) -> tuple[Flag, ...]:
    """Return those of `injections` that are of text which people do not see, or do not see as what it is."""
    return tuple(islice((flag for flag in _flags_of(payload) if flag.kind in {_HIDES, _UNSEEN, _MIXED}), _MOST))


def _flags_of(payload: ItemPayload) -> Iterator[Flag]:
    for prose in (payload.title, payload.description, payload.issue):
        for comment in _COMMENT.findall(prose[:_MOST_LOOKED_AT]):
            if comment.strip("<>!- \n"):
                yield Flag(kind=_UNSEEN, quote=printable(comment, 300))
    for text in (payload.title, *payload.description.split("\n"), *payload.issue.split("\n")):
        for kind in _kinds(text):
            yield Flag(kind=kind, quote=printable(text.strip(), 300))
    left = _MOST_LOOKED_AT
    for file in read(payload.diff[:MOST_READ]):
        for kind in _kinds(file.path.replace("_", " ").replace("-", " ")):
            yield Flag(kind=kind, path=printable(file.path, 1024), quote=printable(file.path, 300))
        for sign, _, new, text, _ in file.rows:
            left -= min(len(text), _LONGEST) if sign == "+" else 0
            if left < 0:
                yield Flag(kind=_PART, path=printable(file.path, 1024), line=new)
                return
            for kind in _kinds(text.removeprefix("\ufeff") if new == 1 else text) if sign == "+" else ():
                yield Flag(kind=kind, path=printable(file.path, 1024), line=new, quote=printable(text.strip(), 300))


def _kinds(text: str) -> Iterator[str]:
    text = text[:_LONGEST]
    bare = text
    if not text.isascii() or escape_hidden(text) != text:
        rest = _ORDINARY.sub("x", text)
        if escape_hidden(rest) != rest:
            yield _HIDES
        bare = normalize("NFKC", "".join(letter for letter in text if letter == "\t" or not is_hidden(letter)))
        if any(_is_mixed(word) for word in _WORD.findall(bare)):
            yield _MIXED
            bare = fold_look_alikes(bare)
    for kind, pattern in _KINDS:
        if pattern.search(text) or (bare != text and pattern.search(bare)):
            yield kind


def _is_mixed(word: str) -> bool:
    """Whether a word has ASCII letters and others, and is a Latin word when these are read as what they look like."""
    if word.isascii() or not any(letter.isascii() for letter in word):
        return False
    # An accent is no other script: what is left of the word without accents must still hold a foreign letter.
    plain = "".join(letter for letter in normalize("NFKD", word) if letter.isalpha())
    foreign = {letter for letter in plain if not letter.isascii()} - _SYMBOLS
    return bool(foreign) and fold_look_alikes(word).isascii()
