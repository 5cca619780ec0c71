"""Changed copies of hidden JavaScript tests that an honest solution must fail; the counterpart of `canary`.

Only one kind of change: in an equality of `assert` directly in a test's function body, a literal of the expected value
becomes another. JavaScript is read as tokens, not parsed: what is not certain is no site.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from repoassay.grading.hidden.canary import Site, other

__all__ = ["mutate", "sites"]

_TESTS, _SUITES = frozenset({"test", "it"}), frozenset({"describe", "suite"})
_EQUALITIES = frozenset({"equal", "strictEqual", "deepEqual", "deepStrictEqual"})
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
_OPEN, _CLOSE = "([{", ")]}"
_PLAIN_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_LARGEST = 2**20


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    start: int
    line: int


def sites(source: str, test: str) -> list[Site]:
    """Every way to change the test `NAME` or `SUITE::NAME` of a test file."""
    return [Site(test, line, "altered") for line, _ in _expected(source, test)]


def mutate(source: str, site: Site, chance: random.Random) -> str:
    """The source with one literal changed; all else stays to the letter, line for line."""
    constants = next(found for line, found in _expected(source, site.test) if line == site.line)
    token = chance.choice(constants)
    return source[: token.start] + _changed(token, chance) + source[token.start + len(token.text) :]


def _changed(token: _Token, chance: random.Random) -> str:
    if token.kind == "number":
        value = float(token.text) if "." in token.text else int(token.text)
        return str(other(value, chance))
    inside = token.text[1:-1]
    return token.text[0] + str(other(inside, chance)) + token.text[0]


def _tokens(source: str) -> list[_Token]:
    found: list[_Token] = []
    at, line = 0, 1
    while at < len(source):
        match = None
        if source[at] == "/" and source[at : at + 2] not in ("//", "/*") and _value_may_start(found):
            match = _REGEX.match(source, at)
        kind = "regex"
        if match is None:
            match = _TOKEN.match(source, at)
            assert match is not None
            kind = match.lastgroup or "punct"
        if kind != "space":
            found.append(_Token(kind, match[0], at, line))
        line += match[0].count("\n")
        at = match.end()
    return found


def _value_may_start(before: list[_Token]) -> bool:
    """Whether a slash begins a regular expression here rather than a division."""
    if not before:
        return True
    last = before[-1]
    if last.kind == "name":
        return last.text in _BEFORE_REGEX
    return last.kind == "punct" and last.text not in _CLOSE


def _expected(source: str, test: str) -> list[tuple[int, list[_Token]]]:
    """Line and changeable literals of every usable assertion of a test."""
    if len(source) > _LARGEST:
        return []
    tokens = _tokens(source)
    closing = _pairs(tokens)
    found: list[tuple[int, list[_Token]]] = []
    taken: set[int] = set()
    for start, end in _bodies(tokens, closing, test):
        depth = 0
        for at in range(start + 1, end):
            text = tokens[at].text if tokens[at].kind == "punct" else ""
            if depth == 0 and tokens[at].line not in taken and (arguments := _equality(tokens, closing, at)):
                constants = _literals(tokens, *arguments)
                if constants:
                    taken.add(tokens[at].line)
                    found.append((tokens[at].line, constants))
            depth += (text in _OPEN and text != "") - (text in _CLOSE and text != "")
    return found


def _pairs(tokens: list[_Token]) -> dict[int, int]:
    """Where each bracket closes; empty when they do not match."""
    stack: list[int] = []
    pairs: dict[int, int] = {}
    for at, token in enumerate(tokens):
        if token.kind != "punct":
            continue
        if token.text in _OPEN:
            stack.append(at)
        elif token.text in _CLOSE:
            if not stack or _OPEN.index(tokens[stack[-1]].text) != _CLOSE.index(token.text):
                return {}
            pairs[stack.pop()] = at
    return {} if stack else pairs


def _bodies(tokens: list[_Token], closing: dict[int, int], test: str) -> list[tuple[int, int]]:
    """Brackets of the function body of a test, by its path of suites; none where its name is no plain string."""
    open_suites: list[tuple[int, str]] = []
    found: list[tuple[int, int]] = []
    for at, token in enumerate(tokens[:-2]):
        open_suites = [(end, name) for end, name in open_suites if end > at]
        if token.kind != "name" or token.text not in _TESTS | _SUITES or tokens[at + 1].text != "(":
            continue
        if (at and tokens[at - 1].text in (".", "function")) or tokens[at + 2].kind != "string":
            continue
        end = closing.get(at + 1)
        name = tokens[at + 2].text[1:-1]
        if end is None or "\\" in name:
            continue
        if token.text in _SUITES:
            open_suites.append((end, name))
        elif "::".join([*(suite for _, suite in open_suites), name]) == test:
            body = _last_body(tokens, closing, at + 3, end)
            found += [body] if body else []
    return found


def _last_body(tokens: list[_Token], closing: dict[int, int], start: int, end: int) -> tuple[int, int] | None:
    """The brackets of the function that is a call's last argument."""
    for at in range(start, end):
        if tokens[at].text == "{" and closing.get(at) in (end - 1, end - 2) and tokens[at - 1].text in ("=>", ")"):
            return at, closing[at]
    return None


def _equality(tokens: list[_Token], closing: dict[int, int], at: int) -> tuple[int, int] | None:
    """First and last token of the second argument when a statement here is an equality of `assert`."""
    words = [token.text for token in tokens[at : at + 4]]
    if len(words) < 4 or words[0] != "assert" or words[1] != "." or words[3] != "(" or words[2] not in _EQUALITIES:
        return None
    if tokens[at - 1].text not in ("{", ";", "}", ")"):
        return None
    end = closing.get(at + 3)
    if end is None:
        return None
    commas, depth = [], 0
    for place in range(at + 4, end):
        text = tokens[place].text if tokens[place].kind == "punct" else ""
        depth += (text != "" and text in _OPEN) - (text != "" and text in _CLOSE)
        if depth == 0 and text == ",":
            commas.append(place)
    if not commas:
        return None
    return commas[0] + 1, commas[1] if len(commas) > 1 else end


def _literals(tokens: list[_Token], start: int, end: int) -> list[_Token]:
    """Literals of a value that consists of nothing else; whatever else is in it, none."""
    found = []
    for at in range(start, end):
        token, key = tokens[at], tokens[at + 1].text == ":"
        if token.kind == "punct" and token.text in "[]{},:-":
            continue
        if token.kind == "name" and (key or token.text in ("null", "true", "false", "undefined")):
            continue
        if token.kind not in ("string", "number"):
            return []
        plain = _PLAIN_NUMBER.fullmatch(token.text) if token.kind == "number" else "\\" not in token.text
        if plain and not key:
            found.append(token)
    return found
