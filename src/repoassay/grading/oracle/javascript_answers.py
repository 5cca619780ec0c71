"""What a JavaScript test expects of an answer over HTTP by a chain of calls, as supertest has it.

`request(app).get('/').expect(200, done)` holds assertions that no passing run leaves out: the test ends where the chain
calls `done`, or waits for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from repoassay.grading.hidden_tests.javascript import plain_literals
from repoassay.grading.hidden_tests.javascript_tokens import Token, argument_ends

__all__ = ["expected_answers"]


def expected_answers(
    tokens: list[Token], closing: Mapping[int, int], at: int, end: int, *, waited: bool
) -> list[Token]:
    """Literals that the chain expects which is the statement here; none where nothing waits for it.

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
                found += _expected(tokens, place, closing[place])
            last, place = place, closing[place] + 1
        elif tokens[place].text == "." and tokens[place + 1].kind == "name":
            place += 2
        else:
            break
    whole = tokens[place].text in (";", "}") or (
        tokens[place].kind == "name" and tokens[place].line > tokens[place - 1].line
    )
    ends = tokens[last - 1].text in ("expect", "end") and tokens[closing.get(last, 1) - 1].text == "done"
    return found if last and whole and (waited or ends) else []


def _expected(tokens: list[Token], opening: int, end: int) -> list[Token]:
    """Literals among the arguments of one `expect`, but for the name of a header."""
    starts = [opening + 1, *(each + 1 for each in argument_ends(tokens, opening, end))]
    parts = [(one, other - 1) for one, other in pairwise(starts) if tokens[one].text != "done"]
    if len(parts) > 1 and tokens[parts[0][0]].kind == "string":
        parts = parts[1:]
    return [token for start, stop in parts for token in plain_literals(tokens, start, stop)]
