"""Functions of a JavaScript test file that assert for the tests that call them, and copies of them for one call alone.

A helper stands behind many tests, so that what is altered in it would fail all of these. A call gets a copy of its own
instead, beside the helper, in which the assertion is altered; what is not altered has a copy as well, so that no copy
tells by being one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from repoassay.grading.hidden_tests.javascript import plain_literals
from repoassay.grading.hidden_tests.javascript_tokens import Token, argument_ends
from repoassay.grading.oracle.alteration import Alterable
from repoassay.grading.oracle.text import Edits, Span

__all__ = ["NamedFunction", "called_function", "expected_by_name", "verdict_keys", "with_copies"]

_COPIES = 5
"""Copies of a function for one call, the real one among them."""

_FARTHEST = 4000
"""Steps back in which a function is looked for, brackets left out."""
_DECLARES = frozenset({"const", "function"})
_WITHIN = frozenset({"(", "=", ",", ":", "=>", "?", "[", "default", "export", "return", "."})
"""What a declaration that is a statement does not follow."""
_TYPED = frozenset({":", "<", ">", "[", "]", "|", ".", "&"})


_EXPECTED = re.compile(r"['\"]?(?:expect(?:ed|ation)?|wanted|want|output)(?:[A-Z_]\w*)?['\"]?")
"""What a helper of tests calls that with which it compares, among what it is given by name."""
_VERDICTS = {"valid": "invalid", "invalid": "valid"}


@dataclass(frozen=True, slots=True)
class NamedFunction:
    """A function with a name, by places of tokens: where its declaration begins and ends, its name, its body."""

    start: int
    end: int
    name: int
    body: tuple[int, int]


def called_function(
    tokens: list[Token], closing: Mapping[int, int], openings: Mapping[int, int], call: int
) -> NamedFunction | None:
    """The function that a call means; None where that is not certain.

    Args:
        tokens: The file's.
        closing: Where its brackets close.
        openings: Where its brackets open, by where they close.
        call: The name that is called.
    """
    name, place = tokens[call].text, call
    found: list[int] = []
    for _ in range(_FARTHEST):
        place = openings.get(place, place) - 1
        if place < 0 or place in closing:  # what is declared in this block, and in none nearer
            if found:
                function = _declared(tokens, closing, found[0]) if len(found) == 1 else None
                return function if function and _awaited(tokens, function, call) else None
            if place < 0 or _takes(tokens, openings, place, name):
                return None
        elif tokens[place].text == name and tokens[place - 1].text in (*_DECLARES, "let", "var", "class", ",", "{"):
            found.append(place)
    return None


def _takes(tokens: list[Token], openings: Mapping[int, int], body: int, name: str) -> bool:
    """Whether the function whose body opens here has a parameter of this name."""
    last = body - 1 - (tokens[body - 1].text == "=>")
    return any(token.text == name for token in tokens[openings.get(last, last) : last + 1])


def _awaited(tokens: list[Token], function: NamedFunction, call: int) -> bool:
    """Whether the caller waits for a function, or it is none to be waited for."""
    head = tokens[function.start : function.body[0]]
    return all(token.text != "async" for token in head) or tokens[call - 1].text in ("await", "return", "=>")


def _declared(tokens: list[Token], closing: Mapping[int, int], name: int) -> NamedFunction | None:
    start, at = name - 1, name + 1
    if tokens[start].text not in _DECLARES:
        return None
    plain = tokens[start].text == "function"
    if plain:
        start -= start > 0 and tokens[start - 1].text == "async"
    elif tokens[at].text == "=":
        at += 1
        for word in ("async", "function"):
            at += tokens[at].text == word
    else:
        return None
    arrow = not plain and tokens[at - 1].text != "function"
    at = closing.get(at, at if arrow and tokens[at].kind == "name" else len(tokens)) + 1
    while at < len(tokens) and (tokens[at].kind == "name" or tokens[at].text in _TYPED):  # the type of what it returns
        at += 1
    at += arrow and at < len(tokens) and tokens[at].text == "=>"
    if at not in closing or tokens[at].text != "{" or (start and tokens[start - 1].text in _WITHIN):
        return None
    end = closing[at]
    follows = tokens[end + 1] if end + 1 < len(tokens) else None
    if not plain and follows is not None and follows.text != ";" and follows.line == tokens[end].line:
        return None
    return NamedFunction(start, end, name, (at, end))


def expected_by_name(tokens: list[Token], closing: Mapping[int, int], opening: int) -> Iterator[Token]:
    """Texts that a call gives by the name of something expected: `check({input: 'a', expected: 'b'})`."""
    for key, end in _entries(tokens, closing, opening):
        if _EXPECTED.fullmatch(tokens[key].text):
            yield from (each for each in plain_literals(tokens, key + 2, end) if each.kind != "number")


def verdict_keys(tokens: list[Token], closing: Mapping[int, int], opening: int) -> list[tuple[Token, str]]:
    """Names of lists of what is `valid` and `invalid` that a call gives, each with the other one."""
    return [
        (tokens[key], _VERDICTS[tokens[key].text]) for key, end in _entries(tokens, closing, opening)
        if tokens[key].text in _VERDICTS and tokens[key + 2].text == "[" and tokens[key + 3].text not in ("]", "...")
        and closing.get(key + 2) == end - 1
    ]  # fmt: skip


def _entries(tokens: list[Token], closing: Mapping[int, int], opening: int) -> Iterator[tuple[int, int]]:
    """Name and end of each entry of the objects that a call is given."""
    for first in (opening, *argument_ends(tokens, opening, closing[opening])):
        if tokens[first + 1].text == "{" and first + 1 in closing:
            starts = [first + 1, *argument_ends(tokens, first + 1, closing[first + 1])]
            for start, end in pairwise(starts):
                if tokens[start + 2].text == ":":
                    yield start + 1, end


def with_copies(
    source: str, tokens: list[Token], function: NamedFunction, call: int, places: Sequence[Alterable]
) -> Alterable | None:
    """A call as it can be altered: of a copy of its function beside it, in which one of some places is altered.

    Args:
        source: The file.
        tokens: Its tokens.
        function: What is called.
        call: The name by which it is called.
        places: What can be altered in the function.
    """
    telling = any(place.telling for place in places)
    kept = [place for place in places if place.telling == telling]
    if not kept:
        return None
    name = f"{tokens[call].text}{call}"
    begin, end = (len(source[: tokens[each].start].encode()) for each in (function.start, function.end))
    names = [_span(source, tokens[each]) for each in (function.name, call)]
    altered = ((place, number) for number in range(1, 9) for place in kept if number < len(place.options))
    options = []
    for place, number in [(kept[0], 0), *altered][:_COPIES]:
        edits = Edits(source.encode())
        edits.swap(*names[0], name)
        for span, text in zip(place.spans, place.options[number], strict=True):
            edits.swap(*span, text)
        raw = edits.result().encode()
        copy = raw[begin : len(raw) - len(source.encode()) + end + 1].decode()
        options.append((f"{copy};", name))
    return Alterable(kept[0].test, ((begin, begin), names[1]), tuple(options), telling, tokens[call].line)


def _span(source: str, token: Token) -> Span:
    before = len(source[: token.start].encode())
    return before, before + len(token.text.encode())
