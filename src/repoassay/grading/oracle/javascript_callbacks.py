"""Statements in callbacks that every passing run of a JavaScript test runs: those before the one end of the test.

A test that calls `done()`, or `t.end()`, at one place alone passes only where that place is reached, and with it all
that stands before it in the same function, and before that function in the one around it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise

from repoassay.grading.hidden_tests.javascript import plain_literals
from repoassay.grading.hidden_tests.javascript_tokens import Token, argument_ends
from repoassay.grading.oracle.javascript_declarations import function_body

__all__ = [
    "comparing_helpers", "constant_value", "ended_callbacks", "expected_answers", "functions_for_rows",
    "sure_block", "test_parameters", "waited_callbacks",
]  # fmt: skip

_REQUIRED = re.compile(r"""\b(forEach|each) *= *require\( *['"](?![./#])""")
_IMPORTED = re.compile(r"""\bimport *\{? *(forEach|each) *\}? *from *['"](?![./#])""")

_FARTHEST = 400
"""Steps back in which a constant is looked for."""


def test_parameters(tokens: list[Token], closing: Mapping[int, int], body: int) -> list[str]:
    """Names of the parameters of the function whose body opens here; none where they are no plain names."""
    arrow = body if tokens[body].text == "=>" else body - 1
    last = arrow - (tokens[arrow].text == "=>")
    if tokens[last].kind == "name":
        return [tokens[last].text] if tokens[arrow].text == "=>" else []
    opening = _opening(closing, last)
    words = tokens[opening + 1 : last] if opening else []
    if any(word.text != "," for word in words[1::2]) or any(word.kind != "name" for word in words[::2]):
        return []
    return [word.text for word in words[::2]]


def ended_callbacks(tokens: list[Token], closing: Mapping[int, int], start: int, end: int) -> Iterator[tuple[int, int]]:
    """The opening bracket of each callback within a test's body that runs, and where what certainly runs of it stops.

    Args:
        tokens: The file's.
        closing: Where its brackets close.
        start: The bracket that opens the test's body.
        end: The bracket that closes it.
    """
    for name in test_parameters(tokens, closing, start):
        uses = [at for at in range(start + 1, end) if tokens[at].kind == "name" and tokens[at].text == name
                and tokens[at - 1].text != "."]  # fmt: skip
        followed = {tokens[at + 1].text for at in uses}
        if followed <= {"(", ")", ","}:
            ends = [at for at in uses if not (_guarded(tokens, closing, at) or _fails(tokens, closing, at))]
        elif followed == {"."} and not _ends_itself(tokens, closing, start, end):
            ends = [at for at in uses if tokens[at + 2].text == "end" and tokens[at + 3].text == "("]
        else:
            continue
        if len(ends) == 1:
            yield from _around(tokens, closing, start, ends[0])


def _around(tokens: list[Token], closing: Mapping[int, int], start: int, at: int) -> Iterator[tuple[int, int]]:
    """Functions around the end of a test, inside out, as long as each is but a function's body."""
    while True:
        holding = (each for each in range(at - 1, start, -1) if closing.get(each, 0) > at)
        body = next((each for each in holding if tokens[each].text == "{"), start)
        if body == start or not _of_function(tokens, closing, body):
            return
        yield body, at
        at = body


def _of_function(tokens: list[Token], closing: Mapping[int, int], body: int) -> bool:
    """Whether a bracket opens the body of a function."""
    if tokens[body - 1].text == "=>":
        return True
    before = _opening(closing, body - 1) - 1
    return before > 0 and "function" in (tokens[before].text, tokens[before - 1].text)


def _opening(closing: Mapping[int, int], end: int) -> int:
    """Where the bracket opens that closes here; 0 where none does."""
    return next((at for at in range(end - 1, 0, -1) if closing.get(at) == end), 0)


def _guarded(tokens: list[Token], closing: Mapping[int, int], at: int) -> bool:
    """Whether a test is ended with an error here: `if (error) return done(error)`."""
    before = at - 1 - (tokens[at - 1].text == "return")
    before -= tokens[before].text == "{"
    condition = [token.text for token in tokens[max(0, before - 3) : before + 1]]
    given = tokens[at + 2 : closing.get(at + 1, at + 2)]
    return len(given) == 1 and given[0].kind == "name" and condition == ["if", "(", given[0].text, ")"]


def _fails(tokens: list[Token], closing: Mapping[int, int], at: int) -> bool:
    """Whether only a failure reaches the end here: `done(new Error())`, `.catch(done)`, `.on('error', done)`."""
    if tokens[at + 1].text == "(":
        return [token.text for token in tokens[at + 2 : at + 4]] == ["new", "Error"]
    before = [token.text.strip("'\"") for token in tokens[max(0, at - 3) : at]]
    call = next((each for each in range(at, 0, -1) if closing.get(each, 0) > at), 0)
    return (
        before[-2:] == ["catch", "("]
        or before == ["(", "error", ","]
        or (tokens[call - 1].text == "then" and before[-1:] == [","])
    )


def _ends_itself(tokens: list[Token], closing: Mapping[int, int], start: int, end: int) -> bool:
    """Whether a test may end as a promise does: it is an async function, or returns something itself."""
    head = start - 1 - (tokens[start - 1].text == "=>")
    head = _opening(closing, head) or head
    before = [token.text for token in tokens[max(0, head - 3) : head]]
    if "async" in before:
        return True
    at = start + 1
    while at < end:
        if tokens[at].text == "return":
            return True
        at = closing.get(at, at) + 1
    return False


def expected_answers(
    tokens: list[Token], closing: Mapping[int, int], at: int, end: int, *, waited: bool
) -> list[Token]:
    """Literals that a chain of calls expects of an answer, as supertest has it: `request(app).expect(200, done)`.

    No passing run leaves them out where the test ends as the chain calls `done`, or waits for it.

    Args:
        tokens: The file's.
        closing: Where its brackets close.
        at: Where the statement begins, without `await` or `return`.
        end: The bracket that closes the body.
        waited: Whether it begins with one of these.
    """
    if tokens[at].kind != "name" or tokens[at].text == "expect":
        return []
    found: list[Token] = []
    last, place = 0, at + 1
    while place < end:
        if tokens[place].text == "(" and place in closing:
            if tokens[place - 1].text == "expect":
                found += _expected_literals(tokens, place, closing[place])
            last, place = place, closing[place] + 1
        elif tokens[place].text == "." and tokens[place + 1].kind == "name":
            place += 2
        else:
            break
    whole = tokens[place].text in (";", "}") or (
        tokens[place].kind == "name" and tokens[place].line > tokens[place - 1].line
    )
    called = tokens[closing.get(last, 1) - 1].text
    counted = called == "done" or [called, "=", "after", "("] in (
        [token.text for token in tokens[each : each + 4]] for each in range(max(0, at - _FARTHEST), at)
    )  # `const cb = after(2, done)`: whatever it counts, an error ends the test
    ends = tokens[last - 1].text in ("expect", "end") and counted
    return found if last and whole and (waited or ends) else []


def waited_callbacks(tokens: list[Token], closing: Mapping[int, int], at: int, end: int) -> Iterator[tuple[int, int]]:
    """The brackets of the body of each callback that a chain of calls has by `then`, where the test waits for it.

    A promise that comes to no value fails the test, unless the chain has more than `then` with one function each.

    Args:
        tokens: The file's.
        closing: Where its brackets close.
        at: Where the statement begins, after its `await` or `return`.
        end: The bracket that closes the body.
    """
    found: list[tuple[int, int]] = []
    place = at + 1
    while place < end:
        if tokens[place].text in ("(", "[") and place in closing:
            call, place = place, closing[place] + 1
            if tokens[call - 1].text == "then" and tokens[call - 2].text == ".":
                body = function_body(tokens, closing, call, closing[call])
                ends = argument_ends(tokens, call, closing[call])
                if body is None or ends != [body[1] + (tokens[body[0]].text == "{")]:
                    return
                found.append(body)
            elif found:
                return
        elif tokens[place].text == "." and tokens[place + 1].kind == "name":
            place += 2
        else:
            break
    if tokens[at].kind == "name" and tokens[place].text not in ("?", "&", "|", ","):
        yield from found


def _expected_literals(tokens: list[Token], opening: int, end: int) -> list[Token]:
    """Literals among the arguments of one `expect`, but for the name of a header."""
    starts = [opening + 1, *(each + 1 for each in argument_ends(tokens, opening, end))]
    parts = [(one, other - 1) for one, other in pairwise(starts) if tokens[one].text != "done"]
    if len(parts) > 1 and tokens[parts[0][0]].kind == "string":
        parts = parts[1:]
    return [token for start, stop in parts for token in plain_literals(tokens, start, stop)]


def comparing_helpers(tokens: list[Token], closing: Mapping[int, int], equalities: Collection[str]) -> dict[str, int]:
    """Functions of a file that compare a parameter as what is expected, with the place of that parameter."""
    found: dict[str, int] = {}
    for at in range(1, len(tokens) - 3):
        words = [token.text for token in tokens[at : at + 3]]
        opening = at + 1 if tokens[at - 1].text == "function" else at + 2 if words[1:] == ["=", "("] else 0
        end = closing.get(opening, 0) if opening and tokens[opening].text == "(" else 0
        body = end + 1 + (tokens[end + 1].text == "=>") if 0 < end < len(tokens) - 2 else 0
        if not body or tokens[body].text != "{" or body not in closing:
            continue
        starts = [opening + 1, *(each + 1 for each in argument_ends(tokens, opening, end))][:-1]
        names = [tokens[each].text for each in starts]
        for call in range(body, closing[body] - 1):
            if tokens[call].text in equalities and tokens[call + 1].text == "(" and call + 1 in closing:
                ends = argument_ends(tokens, call + 1, closing[call + 1])
                wanted = tokens[ends[0] + 1].text if len(ends) > 1 and ends[1] == ends[0] + 2 else ""
                if wanted in names:
                    found[words[0]] = names.index(wanted)
    return found


def constant_value(
    tokens: list[Token], closing: Mapping[int, int], openings: Mapping[int, int], at: int, call: int, end: int
) -> tuple[int, int]:
    """The value of a constant that a call has as an argument; twice 0 where it is of another block, or used again.

    Args:
        tokens: The file's.
        closing: Where its brackets close.
        openings: Where its brackets open, by where they close.
        at: The constant's name.
        call: The bracket that opens the call.
        end: The bracket that closes the body.
    """
    place = call
    for _ in range(_FARTHEST):
        place = openings.get(place, place) - 1
        if place < 0 or place in closing:
            break
        if [token.text for token in tokens[place : place + 3]] == ["const", tokens[at].text, "="]:
            uses = [each for each in range(place, end) if tokens[each].text == tokens[at].text]
            return (place + 3, closing.get(place + 3, place + 3) + 1) if uses == [place + 1, at] else (0, 0)
    return 0, 0


def sure_block(
    tokens: list[Token], closing: Mapping[int, int], at: int, each: Collection[str]
) -> tuple[int, int] | None:
    """The brackets of a block within a body that every run goes through whole, and nothing in it is caught.

    That is the body of a loop over rows that are spelt out, or of `try {...} finally {...}`.

    Args:
        tokens: The file's.
        closing: Where its brackets close.
        at: Where the statement begins.
        each: Functions that call another for each row.
    """
    end = closing.get(at + 1)
    if tokens[at].text == "try" and end and tokens[end + 1].text == "finally":
        return at + 1, end
    if tokens[at].text == "for" and tokens[at + 1].text == "(" and end:
        of = next((place for place in range(at + 2, end) if tokens[place].text == "of"), end)
        table, body = of + 1, (end + 1, closing.get(end + 1, 0))
        rows = _counted(tokens, at + 2) or (_has_rows(tokens, closing, table) and closing.get(table, table) + 1 == end)
    elif tokens[at].text in each and tokens[at + 1].text == "(" and end:
        after = closing.get(at + 2, at + 2) + 1
        rows = _has_rows(tokens, closing, at + 2) and tokens[after].text == ","
        body = function_body(tokens, closing, after, end) or (0, 0)
    else:
        call = closing.get(at, at) + 1
        if [token.text for token in tokens[call : call + 3]] != [".", "forEach", "("] or call + 2 not in closing:
            return None
        rows = _has_rows(tokens, closing, at)
        body = function_body(tokens, closing, call + 2, closing[call + 2]) or (0, 0)
    leaves = any(token.text in ("return", "break", "continue") for token in tokens[body[0] : body[1]])
    return body if rows and body[1] and tokens[body[0]].text == "{" and not leaves else None


def _counted(tokens: list[Token], at: int) -> bool:
    """Whether a loop begins here that counts from a number up to a larger one: `let i = 0; i < 3; ...`."""
    words = [token.text for token in tokens[at : at + 8]]
    start, end = (words[3], words[7]) if len(words) == 8 else ("", "")
    spelt = start.isdecimal() and end.isdecimal() and int(start) < int(end)
    return spelt and words == ["let", words[1], "=", start, ";", words[1], "<", end]


def _has_rows(tokens: list[Token], closing: Mapping[int, int], at: int) -> bool:
    """Whether an array with a row begins here, or the name of a constant that is one."""
    if tokens[at].kind == "name":
        named = [each for each, token in enumerate(tokens) if token.text == tokens[at].text and token.kind == "name"]
        bound = [each for each in named if tokens[each - 1].text == "const" and tokens[each + 1].text == "="]
        changed = any(tokens[each + 1].text == "." and tokens[each + 2].text not in ("forEach", "map", "length")
                      for each in named if each + 2 < len(tokens))  # fmt: skip
        if len(bound) != 1 or changed:
            return False
        at = bound[0] + 2
    return tokens[at].text == "[" and tokens[at + 1].text not in ("]", "...", ",") and at in closing


def functions_for_rows(source: str) -> frozenset[str]:
    """Functions of packages that call another for each row: `forEach([1, 2], row => {...})`."""
    return frozenset((*_REQUIRED.findall(source), *_IMPORTED.findall(source)))
