"""Calls of tools that an agent wrote as a program: `await tools.exec_command({cmd: "ls"})`, as Codex does since 2026.

The program is JavaScript. It is read, never run: arguments are literals, or names that a literal was given to before;
what is computed otherwise is left out, and a template keeps its `${...}` as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from repoassay.types import StepCall

__all__ = ["program_calls"]

_LONGEST = 200_000
_MOST = 50
_MOST_NAMED = 2_000_000
"""Characters that names stand for in a program: each may double the one before."""
_DEEPEST = 20
_CALL = re.compile(r"\btools\.([A-Za-z_]\w{0,80})\s*\(")
_GIVEN = re.compile(r"\b(?:const|let|var)\s+([A-Za-z_$][\w$]{0,80})\s*=\s*")
_WORD = re.compile(r"[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*")
_IN_WORD = re.compile(r"[\w$.]")
_NUMBER = re.compile(r"-?(?:\d[\d_]*)?\.?\d+(?:[eE][+-]?\d+)?")
_SPACE = re.compile(r"(?:\s|//[^\n]*|/\*(?s:.)*?\*/)*")
_JOIN = re.compile(r"\s*\.join\(\s*(?P<mark>\"[^\"\n]{0,20}\"|'[^'\n]{0,20}')\s*\)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_WORDS: Mapping[str, Any] = {"true": True, "false": False, "null": None, "undefined": None}


class _Unread(Exception):
    """An expression that is no literal."""


def program_calls(call: StepCall) -> tuple[StepCall, ...]:
    """The calls that a call's program makes, in the order they stand; none where it is no such program."""
    text = next((value for value in call.arguments.values() if isinstance(value, str) and "tools." in value), "")
    found: list[StepCall] = []
    reader = _Reader(text[:_LONGEST])
    for name, argument in reader.calls():
        arguments = argument if isinstance(argument, dict) else {"input": argument} if isinstance(argument, str) else {}
        found.append(StepCall(id=call.id, name=name, arguments=arguments))
        if len(found) == _MOST:
            break
    return tuple(found)


class _Reader:
    """Reads the literals of a program; strings and comments hold no calls."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._names: dict[str, Any] = {}
        self._named = 0
        self._at = 0

    def calls(self) -> Iterator[tuple[str, Any]]:
        """Each call of a tool: its name, and its first argument where it is one that can be read."""
        text, size = self._text, len(self._text)
        while self._at < size:
            start = self._at
            char = text[start]
            if char in "\"'`":
                self._skipped_string()
            elif text.startswith(("//", "/*"), start):
                self._space()
            elif _WORD.match(text, start) and (not start or not _IN_WORD.match(text[start - 1])):
                if call_match := _CALL.match(text, start):
                    self._at = call_match.end()
                    yield call_match[1], self._tried()
                elif match := _GIVEN.match(text, start):
                    self._at = match.end()
                    value = self._tried()
                    if value is not None and _is_flat(value):
                        self._names[match[1]] = value
                else:
                    self._at += 1
            else:
                self._at += 1

    def _tried(self) -> Any:
        """The value of the expression here; None, and nothing is read over, where it is no literal."""
        start = self._at
        try:
            return self._value(0)
        except (_Unread, IndexError):
            self._at = start
            return None

    def _space(self) -> None:
        found = _SPACE.match(self._text, self._at)
        self._at = max(found.end() if found else self._at, self._at)
        if self._text.startswith(("//", "/*"), self._at):  # a comment that never ends
            self._at = len(self._text)

    def _value(self, depth: int) -> Any:
        """A literal, and what is added to it: strings by +, a list by its join."""
        value = self._single(depth)
        while True:
            self._space()
            if isinstance(value, list) and (joined := _JOIN.match(self._text, self._at)):
                if not _is_flat(value):
                    raise _Unread
                self._at = joined.end()
                mark = joined["mark"][1:-1].replace("\\n", "\n").replace("\\t", "\t")
                value = mark.join(str(part) for part in value)
            elif isinstance(value, str) and self._text.startswith("+", self._at):
                self._at += 1
                added = self._single(depth)
                if not _is_scalar(added):
                    raise _Unread
                value += str(added)
            elif self._at >= len(self._text) or self._text[self._at] in ",;)}]:\n":
                return value
            elif self._text[self._at] in ".([?*/+-<>=&|%":
                raise _Unread
            else:
                return value

    def _single(self, depth: int) -> Any:
        if depth > _DEEPEST:
            raise _Unread
        self._space()
        char = self._text[self._at]
        if char in "\"'`":
            return self._string()
        if self._text.startswith("String.raw`", self._at):
            self._at += len("String.raw")
            return self._string(raw=True)
        if char == "{":
            return self._object(depth + 1)
        if char == "[":
            return self._list(depth + 1)
        if number := _NUMBER.match(self._text, self._at):
            self._at = number.end()
            return float(number[0].replace("_", ""))
        if word := _WORD.match(self._text, self._at):
            if word[0] not in _WORDS and word[0] not in self._names:
                raise _Unread
            self._at = word.end()
            return _WORDS[word[0]] if word[0] in _WORDS else self._name(word[0])
        raise _Unread

    def _name(self, name: str) -> Any:
        """What a name stands for; of a program that multiplies its texts, nothing more is read."""
        value = self._names[name]
        parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else (value,)
        self._named += sum(len(str(part)) + 1 for part in parts)
        if self._named > _MOST_NAMED:
            raise _Unread
        return value

    def _object(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self._at += 1
        while True:
            self._space()
            if self._text[self._at] == "}":
                self._at += 1
                return found
            key = self._key()
            self._space()
            if self._text[self._at] == ":":
                self._at += 1
                value = self._or_passed(depth)
            else:  # {patch} is {patch: patch}
                value = self._name(key) if key in self._names else None
            if value is not None:
                found[key] = value
            self._comma("}")

    def _key(self) -> str:
        if self._text[self._at] in "\"'":
            return str(self._string())
        word = _WORD.match(self._text, self._at)
        if word is None:
            raise _Unread
        self._at = word.end()
        return word[0]

    def _list(self, depth: int) -> list[Any]:
        found: list[Any] = []
        self._at += 1
        while True:
            self._space()
            if self._text[self._at] == "]":
                self._at += 1
                return found
            found.append(self._or_passed(depth))
            self._comma("]")

    def _or_passed(self, depth: int) -> Any:
        """The value here; where it is computed, it is passed over and None."""
        start = self._at
        try:
            return self._value(depth)
        except _Unread:
            self._at = start
            self._pass_over()
            return None

    def _pass_over(self) -> None:
        """Go to the end of an expression inside of brackets."""
        opened = 0
        while True:
            char = self._text[self._at]
            if char in "\"'`":
                self._skipped_string()
                continue
            if opened == 0 and char in ",}])":
                return
            opened += (char in "([{") - (char in ")]}")
            self._at += 1

    def _comma(self, closing: str) -> None:
        self._space()
        if self._text[self._at] == ",":
            self._at += 1
        elif self._text[self._at] != closing:
            raise _Unread

    def _skipped_string(self) -> None:
        start = self._at
        try:
            self._string()
        except (_Unread, IndexError):
            self._at = start + 1

    def _string(self, *, raw: bool = False) -> str:
        text, mark = self._text, self._text[self._at]
        at, parts = self._at + 1, list[str]()
        while text[at] != mark:
            char = text[at]
            if char == "\\" and not raw:
                piece, at = _escaped(text, at + 1)
                parts.append(piece)
                continue
            if char == "\n" and mark != "`":
                raise _Unread
            parts.append(char)
            at += 1
        self._at = at + 1
        return "".join(parts)


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, str | float | bool)


def _is_flat(value: object) -> bool:
    """Whether it is no structure in a structure, which names could nest and multiply without end."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else (value,)
    return all(map(_is_scalar, parts))


def _escaped(text: str, at: int) -> tuple[str, int]:
    """The character after a backslash, and where the text goes on."""
    char = text[at]
    digits = text[at + 1 : at + 3] if char == "x" else text[at + 1 : at + 5] if char == "u" else ""
    if digits and re.fullmatch(r"[0-9A-Fa-f]+", digits):
        return chr(int(digits, 16)), at + 1 + len(digits)
    if braced := re.compile(r"u\{([0-9A-Fa-f]{1,6})\}").match(text, at):
        return chr(min(int(braced[1], 16), 0x10FFFF)), braced.end()
    return _ESCAPES.get(char, char), at + 1
