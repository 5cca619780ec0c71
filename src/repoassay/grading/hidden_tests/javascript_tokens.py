"""JavaScript as tokens and matching brackets: enough to find a test, an assertion or a function, and not a parser.

Templates that hold templates are beyond it; brackets that do not match tell of what was misread.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["CLOSE", "LARGEST", "OPEN", "Token", "argument_ends", "pairs_of", "tokens_of"]

LARGEST = 2**20
"""Characters of a source that is looked at."""
_DEEPEST = 200
"""Brackets in brackets; more would make looking at them slow, and nobody writes so."""
_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)
    |(?P<string>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")
    |(?P<template>`(?:[^`\\]|\\.)*`)
    |(?P<number>(?:\d[\d_]*\.?[\d_]*|\.\d+)(?:[eE][+-]?\d+)?n?|0[xXoObB][\da-fA-F_]+n?)
    |(?P<name>[A-Za-z_$][\w$]*)
    |(?P<punct>=>|\.\.\.|.)""",
    re.VERBOSE | re.DOTALL,
)
_REGEX = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")
_BEFORE_REGEX = frozenset({"return", "typeof", "case", "in", "of", "void", "delete", "throw", "await", "yield"})
OPEN, CLOSE = "([{", ")]}"


@dataclass(frozen=True, slots=True)
class Token:
    """One token: `string`, `template`, `number`, `name`, `regex` or `punct`; `start` is its place in the source."""

    kind: str
    text: str
    start: int
    line: int


def tokens_of(source: str) -> list[Token]:
    """Every token of a source, spaces and comments left out.

    Where a text, comment or regular expression has no end there is one bracket alone, which matches nothing.
    """
    found: list[Token] = []
    at, line = 0, 1
    while at < len(source):
        match = None
        if source[at] == "/" and source[at : at + 2] not in ("//", "/*") and _value_may_start(found):
            match = _REGEX.match(source, at)
            if match is None:
                return [Token("punct", "}", at, line)]
        kind = "regex"
        if match is None:
            match = _TOKEN.match(source, at)
            assert match is not None
            kind = match.lastgroup or "punct"
        if kind == "punct" and (match[0] in "'\"`" or source.startswith("/*", at)):
            return [Token("punct", "}", at, line)]  # to read on would be to look for its end again and again
        if kind != "space":
            found.append(Token(kind, match[0], at, line))
        line += match[0].count("\n")
        at = match.end()
    return found


def _value_may_start(before: list[Token]) -> bool:
    """Whether a slash begins a regular expression here rather than a division."""
    if not before:
        return True
    last = before[-1]
    if len(before) > 1 and last.text in ("+", "-") and before[-2].text == last.text:
        return False  # after ++ and --
    if last.kind == "name":
        return last.text in _BEFORE_REGEX
    return last.kind == "punct" and last.text not in CLOSE


def pairs_of(tokens: list[Token]) -> dict[int, int]:
    """Where each bracket closes; empty when they do not match or nest too deeply."""
    stack: list[int] = []
    pairs: dict[int, int] = {}
    for at, token in enumerate(tokens):
        if token.kind != "punct":
            continue
        if token.text in OPEN:
            stack.append(at)
            if len(stack) > _DEEPEST:
                return {}
        elif token.text in CLOSE:
            if not stack or OPEN.index(tokens[stack[-1]].text) != CLOSE.index(token.text):
                return {}
            pairs[stack.pop()] = at
    return {} if stack else pairs


def argument_ends(tokens: list[Token], opening: int, closing: int) -> list[int]:
    """Where each argument of a call ends: its commas, and its closing bracket unless a comma stands before it."""
    ends, depth = [], 0
    for at in range(opening + 1, closing):
        text = tokens[at].text if tokens[at].kind == "punct" else ""
        depth += (text != "" and text in OPEN) - (text != "" and text in CLOSE)
        if depth == 0 and text == ",":
            ends.append(at)
    return ends if closing == opening + 1 or tokens[closing - 1].text == "," else [*ends, closing]


_GOES_ON = frozenset(("instanceof", "in", "of", "as", "satisfies"))
"""Words that go on with a statement of the line before, where no semicolon ends it."""
_ASKS_MORE = frozenset(
    ("else", "do", "typeof", "await", "new", "void", "delete", "yield", "case", "extends", "instanceof", "in", "of",
     "as", "satisfies", "async", "const", "let", "var", "return", "throw", "break", "continue")
)  # fmt: skip
"""Words after which a statement goes on in the next line."""


def ends_with_line(before: Token, here: Token) -> bool:
    """Whether a statement ends with the line before a name, without a semicolon; brackets may be a condition's."""
    if before.line == here.line or here.kind != "name" or here.text in _GOES_ON:
        return False
    return before.text in ("]", ")") or (before.kind != "punct" and before.text not in _ASKS_MORE)
