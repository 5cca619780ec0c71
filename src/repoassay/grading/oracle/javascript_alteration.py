"""Where a test of a JavaScript runner can be altered so that it must fail, whatever the runner and its assertions.

The text is read as tokens, TypeScript too, and not parsed: what is not certain is no place. Only statements directly in
a test's function body count, since no passing run leaves them out. What is compared with something spelt out has that
altered; other assertions are inverted.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

from repoassay.grading.hidden_tests.javascript import other_spelling, plain_literals
from repoassay.grading.hidden_tests.javascript_tokens import (
    LARGEST,
    OPEN,
    Token,
    argument_ends,
    pairs_of,
    tokens_of,
)
from repoassay.grading.oracle.alteration import Alterable
from repoassay.grading.oracle.text import Span

__all__ = ["count_tests", "find_alterables"]

_TESTS, _SUITES = frozenset({"test", "it", "specify"}), frozenset({"describe", "suite", "context"})
_VARIANTS = frozenset({"serial", "concurrent", "only", "sequential", "parallel"})
"""What may stand between the name of a function that declares tests and its arguments."""
_OBJECTS = frozenset({"assert", "t"})
_EQUALITIES = frozenset({"equal", "strictEqual", "deepEqual", "deepStrictEqual", "is", "same", "strictSame"})
_MATCHERS = frozenset(
    {"toBe", "toEqual", "toStrictEqual", "toHaveLength", "toHaveBeenCalledTimes", "equal", "equals", "eql", "eq"}
)
_PAIRS = (
    ("equal", "notEqual"), ("strictEqual", "notStrictEqual"), ("deepEqual", "notDeepEqual"), ("is", "not"),
    ("deepStrictEqual", "notDeepStrictEqual"), ("true", "false"), ("truthy", "falsy"), ("regex", "notRegex"),
    ("match", "doesNotMatch"), ("throws", "doesNotThrow"), ("rejects", "doesNotReject"),
)  # fmt: skip
_OPPOSITE = {**dict(_PAIRS), **{second: first for first, second in _PAIRS}}
_AVA = {"deepEqual": "notDeepEqual", "throws": "notThrows", "throwsAsync": "notThrowsAsync", "notThrows": "throws",
        "notThrowsAsync": "throwsAsync"}  # fmt: skip
_SPELLINGS = 4
_MOST = 40
_CONTINUES = frozenset("([.,=+-*/<>&|?:!%^~") | {"=>", "..."}
"""What a statement cannot end with."""


def find_alterables(source: str) -> dict[str, list[Alterable]]:
    """Everything alterable of each test of a file by its name, suites before it, cut at a bracket."""
    if len(source) > LARGEST:
        return {}
    tokens = tokens_of(source)
    finding = _Finding(source, tokens, pairs_of(tokens))
    found: dict[str, list[Alterable]] = {}
    bodies = list(finding.bodies())
    names = Counter(name for name, _, _ in bodies)
    for name, start, end in bodies:
        places = list(finding.places(name, start, end))[:_MOST] if names[name] == 1 else []
        if places:
            found[name] = places
    return found


def count_tests(source: str) -> int:
    """How many tests a file declares by name, however often each would run."""
    if len(source) > LARGEST:
        return 1
    tokens = tokens_of(source)
    return sum(1 for at in range(len(tokens)) if _declares(tokens, at, _TESTS))


def _declares(tokens: list[Token], at: int, names: frozenset[str]) -> int:
    """Where the arguments of a declaration of tests open; 0 where there is none."""
    if tokens[at].kind != "name" or tokens[at].text not in names:
        return 0
    if at and tokens[at - 1].text in (".", "function", "const", "let", "var"):
        return 0
    at += 1
    while at + 1 < len(tokens) and tokens[at].text == "." and tokens[at + 1].kind == "name":
        if tokens[at + 1].text not in _VARIANTS:
            return 0
        at += 2
    return at if at < len(tokens) and tokens[at].text == "(" else 0


class _Finding:
    def __init__(self, source: str, tokens: list[Token], closing: dict[int, int]) -> None:
        self._source, self._tokens, self._closing = source, tokens, closing

    def bodies(self) -> Iterator[tuple[str, int, int]]:
        """Name, and brackets of the function body, of each test whose names are spelt out."""
        open_suites: list[tuple[int, str]] = []
        for at in range(len(self._tokens) - 2):
            open_suites = [(end, name) for end, name in open_suites if end > at]
            suite = not (opening := _declares(self._tokens, at, _TESTS))
            opening = opening or _declares(self._tokens, at, _SUITES)
            end = self._closing.get(opening, 0) if opening else 0
            if not end:
                continue
            first = self._tokens[opening + 1]
            plain = first.kind == "string" and "\\" not in first.text
            name = first.text[1:-1] if plain else "\0"  # a name that no test has
            if suite:
                open_suites.append((end, name))
                continue
            whole = "::".join([*(each for _, each in open_suites), name])
            body = self._body(opening, end)
            if body and "\0" not in whole:
                yield whole.partition("[")[0], *body

    def _body(self, opening: int, end: int) -> tuple[int, int] | None:
        """The brackets of the function among a call's arguments."""
        at = opening + 1
        while at < end:
            text = self._tokens[at].text if self._tokens[at].kind == "punct" else ""
            if text == "{" and self._tokens[at - 1].text in ("=>", ")"):
                return at, self._closing[at]
            at = self._closing.get(at, at) + 1 if text and text in OPEN else at + 1
        return None

    def places(self, test: str, start: int, end: int) -> Iterator[Alterable]:
        """What can be altered in the statements of a body."""
        at = start + 1
        while at < end:
            if self._begins(at, start):
                first = at + 1 if self._tokens[at].text == "await" else at
                yield from self._assertion(test, first, end)
            text = self._tokens[at].text if self._tokens[at].kind == "punct" else ""
            at = self._closing.get(at, at) + 1 if text and text in OPEN else at + 1

    def _begins(self, at: int, start: int) -> bool:
        """Whether a statement begins here that nothing before it decides on."""
        before, here = self._tokens[at - 1], self._tokens[at]
        if at == start + 1 or before.text in (";", "}"):
            return True
        if before.kind == "punct" and before.text in _CONTINUES:
            return False
        return before.line < here.line and before.text == ")" and not self._conditional(at - 1)

    def _conditional(self, closing: int) -> bool:
        """Whether the brackets that close here are those of `if (...)` and the like."""
        opening = next((each for each, end in self._closing.items() if end == closing), 0)
        return opening == 0 or self._tokens[opening - 1].text in ("if", "for", "while", "with", "else")

    def _assertion(self, test: str, at: int, end: int) -> Iterator[Alterable]:
        words = [token.text for token in self._tokens[at : at + 4]]
        if words[:1] == ["expect"] and words[1:2] == ["("]:
            yield from self._expectation(test, at, end)
        elif words in (["t", ".", "plan", "("], ["expect", ".", "assertions", "("]):
            for token in plain_literals(self._tokens, at + 4, self._closing.get(at + 3, at + 4)):
                yield self._spelt(test, token)  # how many assertions there are to be
        elif len(words) == 4 and words[0] in _OBJECTS and words[1] == "." and words[3] == "(":
            yield from self._call(test, at + 2, ava=words[0] == "t")
        elif words[:2] == ["assert", "("] and (closing := self._closing.get(at + 1)):
            ends = argument_ends(self._tokens, at + 1, closing)
            if ends:
                yield self._denied(test, at + 1, ends[0])

    def _call(self, test: str, at: int, *, ava: bool) -> Iterator[Alterable]:
        """An assertion by a method: of what it is compared with, or turned round."""
        method, opening = self._tokens[at].text, at + 1
        closing = self._closing.get(opening)
        if closing is None:
            return
        ends = argument_ends(self._tokens, opening, closing)
        literals = plain_literals(self._tokens, ends[0] + 1, ends[1]) if method in _EQUALITIES and len(ends) > 1 else []
        for token in literals:
            yield self._spelt(test, token)
        opposite = (_AVA.get(method) if ava else None) or _OPPOSITE.get(method)
        if method == "ok" and not ava:
            if ends:
                yield self._denied(test, opening, ends[0])
        elif not literals and opposite:
            yield self._turned(test, at, method, opposite)

    def _expectation(self, test: str, at: int, end: int) -> Iterator[Alterable]:
        """`expect(...)` with what follows it: `.toBe(3)`, `.not.toThrow()`, `.to.be.true`."""
        closing = self._closing.get(at + 1)
        if closing is None:
            return
        names: list[int] = []
        opening, place = 0, closing + 1
        while place + 1 < end and self._tokens[place].text == "." and self._tokens[place + 1].kind == "name":
            names.append(place + 1)
            place += 2
            if self._tokens[place].text == "(":
                opening = place
                break
        if not names or (opening and self._tokens[self._closing.get(opening, 0) + 1].text == "."):
            return
        words = [self._tokens[each].text for each in names]
        literals = (
            plain_literals(self._tokens, opening + 1, self._closing[opening])
            if opening and words[-1] in _MATCHERS
            else []
        )
        if "not" not in words:
            for token in literals:
                yield self._spelt(test, token)
        if "not" in words:
            negated = self._tokens[names[words.index("not")] + 1]
            if negated.text == "." and words.count("not") == 1:
                yield self._without_not(test, names[words.index("not")])
        elif not literals:
            first = self._tokens[names[-1] if words[0] in ("resolves", "rejects") else names[0]]
            yield self._alterable(test, first, (first.text, f"not.{first.text}"), telling=False)

    def _without_not(self, test: str, at: int) -> Alterable:
        """`.not.toBe` with `not.` left out."""
        start, stop = self._tokens[at].start, self._tokens[at + 2].start
        return Alterable(
            test, (self._span(start, stop),), ((self._source[start:stop],), ("",)), False, self._tokens[at].line
        )

    def _denied(self, test: str, opening: int, end: int) -> Alterable:
        """An argument with a `!` before the whole of it."""
        first, last = self._tokens[opening], self._tokens[end]
        spans = (self._span(first.start, first.start + 1), self._span(last.start, last.start + 1))
        return Alterable(test, spans, (("(", last.text), ("(!(", f"){last.text}")), False, first.line)

    def _turned(self, test: str, at: int, word: str, opposite: str) -> Alterable:
        return self._alterable(test, self._tokens[at], (word, opposite), telling=False)

    def _spelt(self, test: str, token: Token) -> Alterable:
        """A literal, and others that look as meant."""
        chance = random.Random(f"{test} {token.start}")  # noqa: S311 - which one is taken is drawn elsewhere
        options = dict.fromkeys([token.text])
        for _ in range(4 * _SPELLINGS):
            if len(options) < _SPELLINGS:
                options[other_spelling(token, chance)] = None
        return self._alterable(test, token, tuple(options), telling=True)

    def _alterable(self, test: str, token: Token, options: tuple[str, ...], *, telling: bool) -> Alterable:
        span = self._span(token.start, token.start + len(token.text))
        return Alterable(test, (span,), tuple((option,) for option in options), telling, token.line)

    def _span(self, start: int, stop: int) -> Span:
        before = len(self._source[:start].encode())
        return before, before + len(self._source[start:stop].encode())
