"""What is put into a JavaScript script without tests, so that the runner knows it ran to its end.

Node ends when its event loop is empty, and so also when a promise is never settled or a callback never called. Code
under test could leave a script's last assertions out in this way. Therefore asynchronous functions count themselves in
and out, callbacks that assert must have been called, and `process.exit` and `process.exitCode` are the runner's own.
No line moves.
"""

from __future__ import annotations

from repoassay.grading.hidden_tests.javascript_tokens import LARGEST, Token, argument_ends, pairs_of, tokens_of

__all__ = ["SCRIPT", "watched"]

SCRIPT = "__script__"
"""The one test of a script without tests."""
_WATCH = "__repoassay_script"
_NOT_OWED = frozenset(
    {"throws", "rejects", "doesNotThrow", "doesNotReject", "catch", "on", "once", "addListener", "addEventListener"}
)
"""Calls that may well never call the function they are given, or that judge themselves what it throws."""
_ASSERTS = frozenset({"assert", "__repoassay"})
"""What assertions begin with, those that only send their operands too."""
_KEYWORDS = frozenset({"if", "for", "while", "switch", "catch", "with", "function"})


def watched(source: str) -> str:
    """The source with what tells the runner how far it got; unchanged where its brackets cannot be told."""
    if len(source) > LARGEST:
        return source
    tokens = tokens_of(source)
    closing = pairs_of(tokens)
    if not closing:
        return source
    put: list[tuple[int, int, str]] = []  # where, how many characters go, what comes
    for at, token in enumerate(tokens):
        if token.text == "async" and token.kind == "name":
            put += _counted(tokens, closing, at)
        elif token.text == "(" and at in closing and at and tokens[at - 1].kind == "name":
            put += _owed(tokens, closing, at)
        elif token.text == "process" and _ending(tokens, at):
            put.append((token.start, len(token.text), f"globalThis.{_WATCH}"))
    for start, length, text in sorted(put, key=lambda change: change[:2], reverse=True):
        source = source[:start] + text + source[start + length :]
    return source


def _ending(tokens: list[Token], at: int) -> bool:
    """Whether `process.exit` or `process.exitCode` stands here."""
    words = [token.text for token in tokens[at + 1 : at + 3]]
    return words in ([".", "exit"], [".", "exitCode"]) and (at == 0 or tokens[at - 1].text != ".")


def _counted(tokens: list[Token], closing: dict[int, int], at: int) -> list[tuple[int, int, str]]:
    """Changes that count an asynchronous function with a body in braces in and out; none for other functions."""
    body = _body(tokens, closing, at + 1)
    if body is None:
        return []
    start, end = tokens[body].start + 1, tokens[closing[body]].start
    name = f"__repoassay_{body}"
    return [
        (start, 0, f" const {name} = globalThis.{_WATCH}.begin(); try {{"),
        (end, 0, f"}} finally {{ {name}(); }} "),
    ]


def _body(tokens: list[Token], closing: dict[int, int], at: int) -> int | None:
    """The opening brace of the body of a function whose parameters, name or `function` are at `at`."""
    while at < len(tokens) and tokens[at].kind == "name":
        at += 1  # not past the star of a generator, which need not be run to its end
    if at < len(tokens) and tokens[at].text == "(" and at in closing:
        at = closing[at] + 1
    if at < len(tokens) and tokens[at].text == "=>":
        at += 1
    return at if at < len(tokens) and tokens[at].text == "{" and at in closing else None


def _owed(tokens: list[Token], closing: dict[int, int], opening: int) -> list[tuple[int, int, str]]:
    """Changes that make the functions among a call's arguments be missed if nobody calls them, where they assert."""
    callee = tokens[opening - 1].text
    if callee in _NOT_OWED or callee in _KEYWORDS or (opening > 1 and tokens[opening - 2].text == "function"):
        return []
    changes: list[tuple[int, int, str]] = []
    start = opening + 1
    for number, end in enumerate(argument_ends(tokens, opening, closing[opening])):
        inside = tokens[start:end]
        asserts = any(each.text in _ASSERTS for each in inside) and not (callee == "then" and number == 1)
        if asserts and _is_function(tokens, closing, start, end):
            last = tokens[end - 1]
            changes.append((tokens[start].start, 0, f"globalThis.{_WATCH}.owe("))
            changes.append((last.start + len(last.text), 0, ")"))
        start = end + 1
    return changes


def _is_function(tokens: list[Token], closing: dict[int, int], start: int, end: int) -> bool:
    """Whether an argument is a function written out in place, and nothing more."""
    if tokens[start].text == "async":
        start += 1
    if start + 1 >= end:
        return False
    if tokens[start].text == "function":
        body = _body(tokens, closing, start)
        return body is not None and closing[body] == end - 1
    if tokens[start].text == "(" and start in closing:
        return closing[start] + 1 < end and tokens[closing[start] + 1].text == "=>"
    return tokens[start].kind == "name" and tokens[start + 1].text == "=>"
