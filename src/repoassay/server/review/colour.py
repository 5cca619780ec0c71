"""Syntax colours as CSS classes, for a few common languages and within bounds: what is coloured is hostile."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES

if TYPE_CHECKING:
    from pygments.lexer import Lexer

__all__ = ["Token", "coloured"]

Token = tuple[str, str]
"""A CSS class of Pygments' (may be empty) and text."""

_LANGUAGES = {
    "py": "python", "pyi": "python", "js": "javascript", "mjs": "javascript", "cjs": "javascript", "jsx": "javascript",
    "ts": "typescript", "tsx": "typescript", "json": "json", "toml": "toml", "yaml": "yaml", "yml": "yaml",
    "html": "html", "xml": "xml", "svg": "xml", "css": "css", "rst": "rst", "md": "markdown", "c": "c", "h": "c",
    "cpp": "cpp", "hpp": "cpp", "cc": "cpp", "java": "java", "go": "go", "rs": "rust", "rb": "ruby", "sh": "bash",
    "sql": "sql", "ini": "ini", "cfg": "ini", "kt": "kotlin", "php": "php", "cs": "csharp",
}  # fmt: skip
# Tokens that `code.css` gives a colour; the others stay plain, which keeps pages small.
_STYLES = frozenset(
    [
        "k",
        "kn",
        "kd",
        "kr",
        "kc",
        "kt",
        "ow",
        "nt",
        "s",
        "s1",
        "s2",
        "sa",
        "sd",
        "si",
        "se",
        "sb",
        "sr",
        "l",
        "c",
        "c1",
        "cm",
        "ch",
        "cp",
        "cs",
        "m",
        "mi",
        "mf",
        "mh",
        "mo",
        "mb",
        "nf",
        "fm",
        "nc",
        "nd",
        "nb",
        "bp",
        "na",
    ]
)
_MAX_LINE = 400
_MAX_TEXT = 60_000


def coloured(path: str, lines: Sequence[str]) -> list[list[Token]]:
    """Return the tokens of consecutive lines of a file.

    Text is not coloured where the language is not known, a line is longer than 400 characters or all are longer than
    60,000: some of Pygments' patterns take quadratic time, and colours must never make a page slow.
    """
    language = _LANGUAGES.get(PurePosixPath(path).suffix.lower().lstrip("."))
    if language is None or sum(map(len, lines)) > _MAX_TEXT or any(len(line) > _MAX_LINE for line in lines):
        return [[("", line)] for line in lines]
    found: list[list[Token]] = [[]]
    for kind, value in _lexer(language).get_tokens("\n".join(lines)):
        style = STANDARD_TYPES.get(kind, "")
        if style not in _STYLES:
            style = ""
        parts = value.split("\n")
        for number, part in enumerate(parts):
            if number:
                found.append([])
            if not part:
                continue
            line = found[-1]
            if line and line[-1][0] == style:
                line[-1] = (style, line[-1][1] + part)
            else:
                line.append((style, part))
    # The lexer ends text with a newline, and turns other ends of lines into newlines.
    found = found[: len(lines)]
    whole = ["".join(text for _, text in tokens) for tokens in found]
    return found if whole == list(lines) else [[("", line)] for line in lines]


@lru_cache(maxsize=64)
def _lexer(name: str) -> Lexer:
    return get_lexer_by_name(name, stripnl=False, ensurenl=True)
