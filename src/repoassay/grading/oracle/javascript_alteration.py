"""Where a test of a JavaScript runner can be altered so that it must fail, whatever the runner and its assertions.

The text is read as tokens, TypeScript too, and not parsed: what is not certain is no place. Only statements directly in
a test's function body count, in that of a test within it, in loops over rows that are spelt out, and in the callback
that ends the test, since no passing run leaves them out. What is compared with something spelt out has that altered;
other assertions are inverted. How many there are to be (`t.plan`) is not altered: that fails however assertions are
judged, and so would believe who judges them all as passed.
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterator

from repoassay.grading.hidden_tests.javascript import other_spelling, plain_literals
from repoassay.grading.hidden_tests.javascript_tokens import (
    LARGEST,
    OPEN,
    Token,
    argument_ends,
    ends_with_line,
    pairs_of,
    tokens_of,
)
from repoassay.grading.oracle.alteration import Alterable
from repoassay.grading.oracle.javascript_callbacks import (
    comparing_helpers,
    constant_value,
    ended_callbacks,
    expected_answers,
    functions_for_rows,
    sure_block,
    test_parameters,
    waited_callbacks,
)
from repoassay.grading.oracle.javascript_declarations import (
    count_declarations,
    declared_bodies,
    flat_tests,
    nested_test,
)
from repoassay.grading.oracle.javascript_helpers import called_function, expected_by_name, verdict_keys, with_copies
from repoassay.grading.oracle.text import Span

__all__ = ["count_tests", "find_alterables"]

_OBJECTS = frozenset({"assert", "t"})
_EQUALITIES = frozenset({"equal", "strictEqual", "deepEqual", "deepStrictEqual", "is", "same", "strictSame"})
_MATCHERS = frozenset(
    {"toBe", "toEqual", "toStrictEqual", "toHaveLength", "toHaveBeenCalledTimes", "equal", "equals", "eql", "eq"}
)
_CHAI = ("True", "False", "Null", "NaN", "Function", "Object", "Array", "String", "Number", "Boolean", "Empty")
_PAIRS = (
    ("equal", "notEqual"), ("strictEqual", "notStrictEqual"), ("deepEqual", "notDeepEqual"), ("is", "not"),
    ("deepStrictEqual", "notDeepStrictEqual"), ("true", "false"), ("truthy", "falsy"), ("regex", "notRegex"),
    ("match", "doesNotMatch"), ("throws", "doesNotThrow"), ("rejects", "doesNotReject"),
    ("same", "notSame"), ("strictSame", "strictNotSame"), ("error", "ok"), ("exists", "notExists"),
    ("include", "notInclude"), ("property", "notProperty"), ("instanceOf", "notInstanceOf"), ("isOk", "isNotOk"),
    ("isDefined", "isUndefined"), *((f"is{word}", f"isNot{word}") for word in _CHAI),
)  # fmt: skip
_OPPOSITE = {**dict(_PAIRS), **{second: first for first, second in _PAIRS}}
_AVA = {"deepEqual": "notDeepEqual", "throws": "notThrows", "throwsAsync": "notThrowsAsync", "notThrows": "throws",
        "notThrowsAsync": "throwsAsync"}  # fmt: skip
_UVU = {"is": "is.not", **{word: f"not.{word}" for word in ("equal", "throws", "match", "type", "instance")}}
_NEAR = re.compile(r"""^(?:import|const|let|var) +(\w+) *(?:from|= *require\() *['"]\.""", re.MULTILINE)
"""Functions of other files of the repository, each the whole of its module."""
_SPELLINGS = 4
_MOST = 40
_CONTINUES = frozenset("([.,=+-*/<>&|?:!%^~") | {"=>", "..."}
"""What a statement cannot end with."""


def find_alterables(source: str, tests: Collection[str] | None = None) -> dict[str, list[Alterable]]:
    """Everything alterable of each test of a file by its name, suites before it, cut at a bracket.

    With the names of `tests`, cut alike, one test of each table, helper or macro is found as well.
    """
    if len(source) > LARGEST:
        return {}
    tokens = tokens_of(source)
    closing = pairs_of(tokens)
    finding = _Finding(source, tokens, closing)
    found = {}
    flat = list(flat_tests(tokens, closing, tests or ()))
    finding.apart = frozenset(start for _, start, _ in flat)
    for name, start, end in (*declared_bodies(tokens, closing, tests), *flat):
        if places := list(finding.whole(name, start, end))[:_MOST]:
            found[name] = places
    return found


def count_tests(source: str) -> int:
    """How many tests a file declares by name, however often each would run."""
    if len(source) > LARGEST:
        return 1
    tokens = tokens_of(source)
    return count_declarations(tokens, pairs_of(tokens))


class _Finding:
    def __init__(self, source: str, tokens: list[Token], closing: dict[int, int]) -> None:
        self._source, self._tokens, self._closing = source, tokens, closing
        self._objects = _OBJECTS
        self._openings = {end: start for start, end in closing.items()}
        self._helpers = comparing_helpers(tokens, closing, _EQUALITIES)
        self._uvu = "uvu/assert" in source
        self._each = functions_for_rows(source)
        self._near = frozenset(_NEAR.findall(source))
        self._copying = False
        self.apart: frozenset[int] = frozenset()  # bodies of tests within tests that are no part of these

    def whole(self, test: str, start: int, end: int) -> Iterator[Alterable]:
        """What can be altered in the body of a test, and in the callbacks that end it."""
        outer = self._objects
        words = [token.text for token in self._tokens[start:end]]
        uses = {one for one, dot, other in zip(words, words[1:], words[2:], strict=False) if dot == "."
                and other in ("end", "plan")}  # fmt: skip
        self._objects = outer | uses.intersection(test_parameters(self._tokens, self._closing, start))
        for begin, stop in ((start, end), *ended_callbacks(self._tokens, self._closing, start, end)):
            yield from self.places(test, begin, stop)
        self._objects = outer

    def places(self, test: str, start: int, end: int) -> Iterator[Alterable]:
        """What can be altered in the statements of a body; of a function without, in the value that it returns."""
        at, returned = start + 1, start >= 0 and self._tokens[start].text == "=>"
        while at < end:
            if self._begins(at, start):
                first = at + 1 if self._tokens[at].text in ("await", "return") else at
                waited = returned or first > at
                yield from self._assertion(test, first, end)
                for token in expected_answers(self._tokens, self._closing, first, end, waited=waited):
                    yield self._spelt(test, token)
                inner = nested_test(self._tokens, self._closing, first)
                if inner and inner[0] not in self.apart:
                    yield from self.whole(test, *inner)
                if looped := sure_block(self._tokens, self._closing, at, self._each):
                    yield from self.places(test, *looped)
                for body in waited_callbacks(self._tokens, self._closing, first, end) if waited else ():
                    yield from self.places(test, *body)
                if returned:
                    return
            text = self._tokens[at].text if self._tokens[at].kind == "punct" else ""
            at = self._closing.get(at, at) + 1 if text and text in OPEN else at + 1

    def _begins(self, at: int, start: int) -> bool:
        """Whether a statement begins here that nothing before it decides on."""
        before, here = self._tokens[at - 1], self._tokens[at]
        if at == start + 1 or before.text == ";":
            return True
        if here.text in ("[", "(", ".", ","):  # goes on with what stands before
            return False
        if before.text == "}":
            return True
        if before.kind == "punct" and before.text in _CONTINUES:
            return False
        return ends_with_line(before, here) and not (before.text == ")" and self._conditional(at - 1))

    def _conditional(self, closing: int) -> bool:
        """Whether the brackets that close here are those of `if (...)` and the like."""
        opening = next((each for each, end in self._closing.items() if end == closing), 0)
        return opening == 0 or self._tokens[opening - 1].text in ("if", "for", "while", "with", "else")

    def _assertion(self, test: str, at: int, end: int) -> Iterator[Alterable]:
        words = [token.text for token in self._tokens[at : at + 4]]
        if words[:1] == ["expect"] and words[1:2] == ["("] and (closing := self._closing.get(at + 1)):
            yield from self._expectation(test, closing + 1, end)
        elif should := self._should(at, end):
            yield from self._expectation(test, should, end)
        elif words[1:2] == ["("] and words[0] in self._helpers and at + 1 in self._closing:
            for token in self._compared(at + 1, self._helpers[words[0]], end):
                yield self._spelt(test, token)
        elif words[1:2] == ["("] and at + 1 in self._closing and (places := list(self._helped(test, at))):
            yield from places
        elif len(words) == 4 and words[0] in self._objects and words[1] == "." and words[3] == "(":
            yield from self._call(test, at + 2, ava=words[0] == "t")
        elif words[0] in self._objects and words[1] + words[3] == "[]" and self._tokens[at + 4].text == "(":
            yield from self._call(test, at + 2, ava=False)  # t['throws'](...)
        elif words[1:2] == ["("] and words[0] in (_EQUALITIES | _OPPOSITE.keys()) - {"not", "" if self._uvu else "is"}:
            yield from self._call(test, at, ava=False)  # taken out of `t` or of a library
        elif words[:2] == ["assert", "("] and (closing := self._closing.get(at + 1)):
            ends = argument_ends(self._tokens, at + 1, closing)
            if ends:
                yield self._denied(test, at + 1, ends[0])

    def _helped(self, test: str, call: int) -> Iterator[Alterable]:
        """A call of a function of the tests: what it is given as expected, or an assertion in a copy for this call."""
        function = None if self._copying else called_function(self._tokens, self._closing, self._openings, call)
        if function is None and self._tokens[call].text not in self._near:
            return
        for token in expected_by_name(self._tokens, self._closing, call + 1):
            yield self._spelt(test, token)
        if keys := verdict_keys(self._tokens, self._closing, call + 1):
            spans = tuple(self._span(key.start, key.start + len(key.text)) for key, _ in keys)
            options = (tuple(key.text for key, _ in keys), tuple(other for _, other in keys))
            yield Alterable(test, spans, options, False, self._tokens[call].line)
        if function is not None:
            self._copying = True
            places = list(self.places(test, *function.body))
            self._copying = False
            if copied := with_copies(self._source, self._tokens, function, call, places):
                yield copied

    def _call(self, test: str, at: int, *, ava: bool) -> Iterator[Alterable]:
        """An assertion by a method: of what it is compared with, or turned round."""
        opening = at + 1 + (self._tokens[at].kind == "string")
        method = self._tokens[at].text.strip("'\"")
        closing = self._closing.get(opening)
        if closing is None:
            return
        ends = argument_ends(self._tokens, opening, closing)
        literals = plain_literals(self._tokens, ends[0] + 1, ends[1]) if method in _EQUALITIES and len(ends) > 1 else []
        for token in literals:
            yield self._spelt(test, token)
        opposite = (_AVA if ava else _UVU if self._uvu else {}).get(method) or _OPPOSITE.get(method)
        if method in ("ok", "notOk"):
            if ends:
                yield self._denied(test, opening, ends[0])
        elif not literals and opposite:
            yield self._turned(test, at, method, opposite)

    def _compared(self, opening: int, number: int, end: int) -> list[Token]:
        """Literals of one argument of a call: its own, or those of the constant that it is."""
        starts = [opening, *argument_ends(self._tokens, opening, self._closing[opening])]
        if number + 1 >= len(starts):
            return []
        first, stop = starts[number] + 1, starts[number + 1]
        if stop == first + 1 and self._tokens[first].kind == "name":
            first, stop = constant_value(self._tokens, self._closing, self._openings, first, opening, end)
        return plain_literals(self._tokens, first, stop)

    def _should(self, at: int, end: int) -> int:
        """What follows `.should` in `value.of(it)[0].should.equal(3)`; 0 where no such chain begins here."""
        place = at + 1 if self._tokens[at].kind == "name" else end
        while place < end:
            if self._tokens[place].text == "." and self._tokens[place + 1].kind == "name":
                place += 2
                if self._tokens[place - 1].text == "should":
                    return place
            elif self._tokens[place].text in ("(", "[") and place in self._closing:
                place = self._closing[place] + 1
            else:
                break
        return 0

    def _expectation(self, test: str, place: int, end: int) -> Iterator[Alterable]:
        """What follows `expect(...)` or `.should`: `.toBe(3)`, `.not.toThrow()`, `.to.be.true`."""
        names: list[int] = []
        opening = 0
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
        token = self._tokens[at]
        return self._alterable(test, token, (token.text, token.text.replace(word, opposite)), telling=False)

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
