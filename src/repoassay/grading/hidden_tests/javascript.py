"""Changed copies of hidden JavaScript tests that an honest solution must fail; the counterpart of `canary`.

Only one kind of change: in an equality of `assert` directly in a test's function body, a literal of the expected value
becomes another. JavaScript is read as tokens, not parsed: what is not certain is no site.
"""

from __future__ import annotations

import random
import re

from repoassay.grading.hidden_tests.canary import MutationPoint, other
from repoassay.grading.hidden_tests.javascript_script import SCRIPT
from repoassay.grading.hidden_tests.javascript_tokens import (
    CLOSE,
    LARGEST,
    OPEN,
    Token,
    argument_ends,
    pairs_of,
    tokens_of,
)

__all__ = ["mutate", "other_spelling", "plain_literals", "sites"]

_TESTS, _SUITES = frozenset({"test", "it"}), frozenset({"describe", "suite"})
_EQUALITIES = frozenset({"equal", "strictEqual", "deepEqual", "deepStrictEqual"})
_ESCAPE = re.compile(r"(\\(?:u\{[^}]*\}|u.{4}|x..|.))", re.DOTALL)
_PLAIN_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def sites(source: str, test: str) -> list[MutationPoint]:
    """Every way to change the test `NAME` or `SUITE::NAME` of a test file."""
    return [MutationPoint(test, line, "altered") for line, _ in _expected(source, test)]


def mutate(source: str, site: MutationPoint, chance: random.Random) -> str:
    """The source with one literal changed; all else stays to the letter, line for line."""
    constants = next(found for line, found in _expected(source, site.test) if line == site.line)
    token = chance.choice(constants)
    return source[: token.start] + other_spelling(token, chance) + source[token.start + len(token.text) :]


def other_spelling(token: Token, chance: random.Random) -> str:
    """A number or string of another value, written like the one in `token`."""
    if token.kind == "number":
        value = float(token.text) if "." in token.text else int(token.text)
        return str(other(value, chance))
    pieces = _ESCAPE.split(token.text[1:-1])  # escapes at the odd places, which stay
    at = max(range(0, len(pieces), 2), key=lambda each: len(pieces[each]))
    pieces[at] = str(other(pieces[at], chance))
    return token.text[0] + "".join(pieces) + token.text[0]


def _expected(source: str, test: str) -> list[tuple[int, list[Token]]]:
    """Line and changeable literals of every usable assertion of a test."""
    if len(source) > LARGEST:
        return []
    tokens = tokens_of(source)
    closing = pairs_of(tokens)
    found: list[tuple[int, list[Token]]] = []
    taken: set[int] = set()
    for start, end in _bodies(tokens, closing, test):
        depth = 0
        for at in range(start + 1, end):
            text = tokens[at].text if tokens[at].kind == "punct" else ""
            if depth == 0 and tokens[at].line not in taken and (arguments := _equality(tokens, closing, at)):
                constants = plain_literals(tokens, *arguments)
                if constants:
                    taken.add(tokens[at].line)
                    found.append((tokens[at].line, constants))
            depth += (text in OPEN and text != "") - (text in CLOSE and text != "")
    return found


def _bodies(tokens: list[Token], closing: dict[int, int], test: str) -> list[tuple[int, int]]:
    """Brackets of the function body of a test, by its path of suites; none where its name is no plain string."""
    if test == SCRIPT:
        return [(-1, len(tokens)), *_called_at_once(tokens, closing)]
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


def _called_at_once(tokens: list[Token], closing: dict[int, int]) -> list[tuple[int, int]]:
    """Bodies of `(async () => {...})();` at the top of a script, which nobody can catch an exception of."""
    found, at = [], 0
    while at < len(tokens) and closing:
        end = closing.get(at, at)
        words = [token.text for token in tokens[at + 1 : at + 5]]
        if tokens[at].text == "(" and words == ["async", "(", ")", "=>"] and closing.get(at + 5) == end - 1:
            called = [token.text for token in tokens[end + 1 : end + 4]]
            if called[:2] == ["(", ")"] and called[2:] in ([], [";"]):
                found.append((at + 5, end - 1))
        at = end + 1
    return found


def _last_body(tokens: list[Token], closing: dict[int, int], start: int, end: int) -> tuple[int, int] | None:
    """The brackets of the function that is a call's last argument."""
    for at in range(start, end):
        if tokens[at].text == "{" and closing.get(at) in (end - 1, end - 2) and tokens[at - 1].text in ("=>", ")"):
            return at, closing[at]
    return None


def _equality(tokens: list[Token], closing: dict[int, int], at: int) -> tuple[int, int] | None:
    """First and last token of the second argument when a statement here is an equality of `assert`."""
    words = [token.text for token in tokens[at : at + 4]]
    if len(words) < 4 or words[0] != "assert" or words[1] != "." or words[3] != "(" or words[2] not in _EQUALITIES:
        return None
    if at and (tokens[at - 1].text not in ("{", ";", "}", ")") or _conditional(tokens, at)):
        return None
    end = closing.get(at + 3)
    if end is None:
        return None
    ends = argument_ends(tokens, at + 3, end)
    return (ends[0] + 1, ends[1]) if len(ends) > 1 else None


def _conditional(tokens: list[Token], at: int) -> bool:
    """Whether the statement here is what `if (...)` and the like decide on without braces."""
    opening, depth = at - 1, 0
    if tokens[opening].text != ")":
        return False
    while opening > 0:
        text = tokens[opening].text if tokens[opening].kind == "punct" else ""
        depth += (text == ")") - (text == "(")
        if depth == 0:
            break
        opening -= 1
    return opening > 0 and tokens[opening - 1].text in ("if", "for", "while", "with", "await")


def plain_literals(tokens: list[Token], start: int, end: int) -> list[Token]:
    """Literals of a value that consists of nothing else, or of texts that are joined to names; of any other, none."""
    found = []
    for at in range(start, end):
        token, key = tokens[at], tokens[at + 1].text == ":"
        if token.kind == "punct" and token.text in "[]{},:-":
            continue
        if token.kind == "name" and (key or token.text in ("null", "true", "false", "undefined")):
            continue
        if token.kind not in ("string", "number", "template") or (token.kind == "template" and "${" in token.text):
            return _joined_texts(tokens[start:end])
        if not key and (token.kind != "number" or _PLAIN_NUMBER.fullmatch(token.text)):
            found.append(token)
    return found


def _joined_texts(value: list[Token]) -> list[Token]:
    """Texts of `'a' + name + 'b'`, any of which changes the whole."""
    known = all(token.kind in ("string", "name") or token.text in ("+", ".") for token in value)
    signs = [token.text for token in value if token.kind == "punct"]
    return [token for token in value if token.kind == "string"] if known and "+" in signs else []
