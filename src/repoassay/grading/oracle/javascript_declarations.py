"""Which tests a JavaScript file declares: by what name, in which suites, and with which function body.

Read as tokens. A name that is no plain text (of a row of a table, of a helper's argument) is a pattern. One body can
then stand behind many tests, which are altered together; it is given to one of them alone, whose name nothing else in
the file could have declared, so that none is blamed for what was altered in another's.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from repoassay.grading.hidden_tests.javascript_tokens import OPEN, Token, argument_ends

__all__ = ["count_declarations", "declared_bodies", "flat_tests", "function_body", "nested_test"]

_TESTS, _SUITES = frozenset({"test", "it", "specify"}), frozenset({"describe", "suite", "context"})
_VARIANTS = frozenset({"serial", "concurrent", "only", "sequential", "parallel"})
"""What may stand between the name of a function that declares tests and its arguments."""
_TABLED = frozenset({"each", "for"})
_ASKED = frozenset({"skipIf", "runIf"})
_OWNERS = frozenset({"t", "tap", "test", "st", "s2t"})
"""What may stand before it: `t.test(...)`."""
_HOLES = re.compile(r"\$\{[^{}]*\}|%[sdifjop#$]|\$[A-Za-z_][\w.]*|\$#")


@dataclass(frozen=True, slots=True)
class _Declared:
    """A declaration: a pattern of the whole name, cut at a bracket; whether it is plain; brackets of the body."""

    pattern: str
    name: str
    body: tuple[int, int] | None
    shared: bool = False


def count_declarations(tokens: list[Token], closing: Mapping[int, int]) -> int:
    """How many tests are declared, however often each would run."""
    tests = _test_names(tokens)
    return sum(1 for at in range(len(tokens)) if _opening(tokens, closing, at, tests)[0])


def declared_bodies(
    tokens: list[Token], closing: Mapping[int, int], tests: Collection[str] | None
) -> Iterator[tuple[str, int, int]]:
    """Name and brackets of the body of each test that can be told from the others.

    Args:
        tokens: The file's.
        closing: Where its brackets close.
        tests: Names, cut at a bracket, that decide; without them only tests whose names are spelt out are found.
    """
    found = list(_declarations(tokens, closing))
    plain = [each.name for each in found if each.name]
    for each in found:
        if each.name and each.body and not each.shared and plain.count(each.name) == 1:
            yield each.name, *each.body
    known = tests or ()
    bodies = {each.body for each in found if each.body and (each.shared or each.name not in known)}
    given: dict[tuple[int, int], str] = {}
    for name in sorted(known):
        behind = _matching(found, name, "{}") or _matching(found, name, "(?:.*::)?{}.*")
        if len(behind) == 1 and behind[0] and behind[0] in bodies:
            given.setdefault(behind[0], name)
    yield from ((name, *body) for body, name in given.items())


def _matching(found: list[_Declared], name: str, form: str) -> list[tuple[int, int] | None]:
    """Bodies of the declarations that may stand behind a name, of which `form` is the rest: what helpers add to it."""
    return [each.body for each in found if re.fullmatch(form.format(each.pattern), name, re.DOTALL)]


def flat_tests(
    tokens: list[Token], closing: Mapping[int, int], tests: Collection[str]
) -> Iterator[tuple[str, int, int]]:
    """Tests within tests that are reported by their own names alone, as tape does, each with its body's brackets."""
    known, found = _test_names(tokens), []
    for at in range(len(tokens) - 2):
        opening = _opening(tokens, closing, at, known)[0]
        if opening in closing:
            pattern, plain = _title(tokens, opening, rows=False)
            body = function_body(tokens, closing, opening, closing[opening])
            found.append((re.sub(r"\\(.)", r"\1", pattern.partition(r"\[")[0]) if plain else "", body))
    outer = {name for name, *_ in declared_bodies(tokens, closing, None)}
    names = [name for name, _ in found]
    for name, body in found:
        if body and name in tests and name not in outer and names.count(name) == 1:
            yield name, *body


def nested_test(tokens: list[Token], closing: Mapping[int, int], at: int) -> tuple[int, int] | None:
    """The brackets of the body of a test that a test declares here: `t.test('b', ...)`."""
    at += 2 if at + 1 < len(tokens) and tokens[at].text in _OWNERS and tokens[at + 1].text == "." else 0
    opening = _opening(tokens, closing, at, _TESTS)[0] if at < len(tokens) else 0
    return function_body(tokens, closing, opening, closing[opening]) if opening in closing else None


def function_body(tokens: list[Token], closing: Mapping[int, int], opening: int, end: int) -> tuple[int, int] | None:
    """The brackets of the body of the function among a call's arguments; of one without, its arrow and what ends it."""
    at = opening + 1
    while at < end:
        text = tokens[at].text if tokens[at].kind == "punct" else ""
        if text == "{" and tokens[at - 1].text in ("=>", ")"):
            return at, closing[at]
        if text == "=>" and tokens[at + 1].text != "{":
            return at, next(stop for stop in [*argument_ends(tokens, opening, end), end] if stop > at)
        at = closing.get(at, at) + 1 if text and text in OPEN else at + 1
    return None


def _test_names(tokens: list[Token]) -> frozenset[str]:
    """Names that declare tests in a file: `const NAME = test.extend()`, uvu's `suite('it')`, `localTest('a', ...)`."""
    words = [token.text for token in tokens]
    places = [at for at in range(1, len(words) - 3) if words[at] == "=" and words[at + 2 : at + 4] == [".", "extend"]]
    named = (words[at - 2] for at in range(2, len(words)) if words[at - 1] == "(" and tokens[at].kind == "string")
    extended = (words[at - 1] for at in places if words[at + 1] in _TESTS)
    return _TESTS.union(
        extended, _named_suites(tokens), (name for name in named if re.fullmatch(r"[a-z]\w*Test", name))
    )


def _named_suites(tokens: list[Token]) -> dict[str, str]:
    """What uvu's suites are called, by the names that then declare tests: `const NAME = suite('it')`."""
    return {
        tokens[at - 2].text: tokens[at + 2].text[1:-1]
        for at in range(2, len(tokens) - 3)
        if [each.text for each in tokens[at - 1 : at + 2]] == ["=", "suite", "("] and tokens[at + 2].kind == "string"
        and tokens[at + 3].text in (",", ")")
    }  # fmt: skip


def _opening(tokens: list[Token], closing: Mapping[int, int], at: int, names: frozenset[str]) -> tuple[int, bool]:
    """Where the arguments of a declaration open, 0 where there is none; and whether it stands for rows of a table."""
    if tokens[at].kind != "name" or tokens[at].text not in names:
        return 0, False
    before = tokens[at - 1].text if at else ""
    owned = at > 1 and tokens[at - 2].text in _OWNERS and (at < 3 or tokens[at - 3].text != ".")
    if before in ("function", "const", "let", "var") or (before == "." and not owned):
        return 0, False
    at, rows = at + 1, False
    while at + 2 < len(tokens) and tokens[at].text == "." and tokens[at + 1].kind == "name":
        word = tokens[at + 1].text
        if word in _TABLED | _ASKED:
            table = at + 2
            rows = rows or word in _TABLED
            at = closing.get(table, table) + 1 if tokens[table].text == "(" or tokens[table].kind == "template" else -1
        elif word in _VARIANTS:
            at += 2
        else:
            return 0, False
        if not 0 < at < len(tokens):
            return 0, False
    return (at, rows) if at < len(tokens) and tokens[at].text == "(" else (0, False)


def _declarations(tokens: list[Token], closing: Mapping[int, int]) -> Iterator[_Declared]:
    suites: list[tuple[int, str, bool]] = []
    within = -1
    tests = _test_names(tokens)
    functions, named = _shared_functions(tokens, closing, tests), _named_suites(tokens)
    for at in range(len(tokens) - 2):
        suites = [each for each in suites if each[0] > at]
        opening, rows = _opening(tokens, closing, at, tests)
        suite = not opening
        if suite:
            opening, rows = _opening(tokens, closing, at, _SUITES)
        end = closing.get(opening, 0) if opening else 0
        if not end:
            continue
        pattern, plain = _title(tokens, opening, rows)
        if suite:
            suites.append((end, pattern, plain))
        elif at > within:  # a test within a test is part of it
            within = end
            own = [re.escape(named[tokens[at].text])] if tokens[at].text in named else []
            whole = "::".join([*own, *(each for _, each, _ in suites), pattern])
            spelt = plain and all(each for _, _, each in suites)
            body = function_body(tokens, closing, opening, end)
            macro = functions.get(_argument(tokens, opening)) if body is None else None
            cut = whole.partition(r"\[")[0]
            yield _Declared(cut, re.sub(r"\\(.)", r"\1", cut) if spelt else "", body or macro, shared=body is None)


def _title(tokens: list[Token], opening: int, rows: bool) -> tuple[str, bool]:
    """A pattern of the name that a declaration begins with, and whether it is a plain text."""
    first, after = tokens[opening + 1], tokens[opening + 2].text
    text = re.sub(r"\\([\"'`])", r"\1", first.text[1:-1])
    if first.kind not in ("string", "template") or "\\" in text or after not in (",", ")"):
        return ".*", False
    if first.kind == "string" and not rows:
        return re.escape(text), True
    pieces = _HOLES.split(text)
    return ".*".join(map(re.escape, pieces)), first.kind == "template" and not rows and len(pieces) == 1


def _argument(tokens: list[Token], opening: int) -> str:
    """The name of the function that a declaration has after its own."""
    words = tokens[opening + 2 : opening + 5]
    named = len(words) == 3 and words[0].text == "," and words[1].kind == "name" and words[2].text in (",", ")")
    return words[1].text if named else ""


def _shared_functions(
    tokens: list[Token], closing: Mapping[int, int], tests: frozenset[str]
) -> dict[str, tuple[int, int]]:
    """Bodies of functions of the file that are nowhere used but as the function of a test: macros."""
    uses: dict[str, list[int]] = {}
    for at, token in enumerate(tokens):
        if token.kind == "name":
            uses.setdefault(token.text, []).append(at)
    given: dict[str, int] = {}
    for at in range(len(tokens) - 2):
        if opening := _opening(tokens, closing, at, tests)[0]:
            name = _argument(tokens, opening)
            given[name] = given.get(name, 0) + 1
    found = {}
    for name, number in given.items():
        declared = [at for at in uses.get(name, ()) if tokens[at - 1].text in ("const", "function")]
        if (
            len(declared) == 1
            and len(uses[name]) == number + 1
            and (body := _declared_body(tokens, closing, declared[0]))
        ):
            found[name] = body
    return found


def _declared_body(tokens: list[Token], closing: Mapping[int, int], at: int) -> tuple[int, int] | None:
    """The body of `function NAME(...) {` or `const NAME = async (...) => {`."""
    at += 1
    for word in ("=", "async", "function"):
        at += at < len(tokens) and tokens[at].text == word
    at = closing.get(at, at) + 1
    at += at < len(tokens) and tokens[at].text == "=>"
    return (at, closing[at]) if at < len(tokens) and tokens[at].text == "{" and at in closing else None
