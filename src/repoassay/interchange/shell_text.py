"""Text of a shell, cut where the shell itself would cut it: into commands, alternatives and words."""

from __future__ import annotations

import re
import shlex

__all__ = ["alternatives", "has_body", "heading", "inner_of", "is_compound_command", "shell_words", "split_commands"]

_ENDS = {
    "if": "fi", "for": "done", "while": "done", "until": "done", "select": "done", "case": "esac", "{": "}", "[[": "]]",
}  # fmt: skip
"""Words that begin a compound command -> the word that ends it."""
_GO_ON = frozenset({"then", "else", "elif", "do", "!", "time"})
"""Words after which a command begins."""
_HEREDOC = re.compile(r"<<(-?)[ \t]*(['\"]?)([\w.-]+)\2|<<(-?)[ \t]*\\([\w.-]+)")
_WORD = re.compile(r"[^\s;&|()<>'\"`$\\#]+")
_FUNCTION = re.compile(r"(?:function\s+)?[\w.-]+\s*\(\)\s*|function\s+[\w.-]+\s*(?=\{)")
_BRACKETS = re.compile(r"(?:\((?P<round>.*)\)|\{\s(?P<curly>.*?);?\s*\})(?:\s*(?:\d?>\s*/dev/null|2>&1))*", re.DOTALL)
_NOT_CLOSED = "A command of its Dockerfile has a quote or bracket that is not closed."


class _Scanner:
    """Walks over a text; `cut` says at which separators outside of all else it is divided."""

    def __init__(self, text: str, cut: frozenset[str]) -> None:
        self._text, self._cut = text, cut
        self._at, self._start = 0, 0
        self._open: list[str] = []
        self._begins = True
        self._bodies: list[tuple[str, bool]] = []
        self.parts: list[str] = []

    def run(self) -> list[str]:
        """The parts; raises ValueError where a quote, bracket or compound command is not closed."""
        while self._at < len(self._text):
            self._step(self._text[self._at])
        if self._open:
            raise ValueError(_NOT_CLOSED)
        self._take(len(self._text))
        return [part for part in map(str.strip, self.parts) if part]

    def _take(self, end: int) -> None:
        self.parts.append(self._text[self._start : end])

    def _step(self, letter: str) -> None:
        if letter in "'\"`$\\":
            self._at, self._begins = _after_quoted(self._text, self._at), False
        elif letter == "#" and (not self._at or self._text[self._at - 1] in " \t\n;&|("):
            end = self._text.find("\n", self._at)
            self._text = self._text[: self._at] + ("" if end < 0 else self._text[end:])
        elif letter in ";&|\n":
            self._separate(letter)
        elif letter in "()":
            self._bracket(letter)
        elif letter == "<" and (match := _HEREDOC.match(self._text, self._at)):
            self._bodies.append((match[3] or match[5], bool(match[1] or match[4])))
            self._at = match.end()
        elif letter == "<" and self._text.startswith("<<<", self._at):
            self._at += 3
        elif letter.isspace() or letter in "<>":
            self._at += 1
        else:
            self._word()

    def _separate(self, letter: str) -> None:
        text, here = self._text, self._at
        double = text[here : here + 2]
        mark = double if double in ("&&", "||", ";;") else letter
        if letter == "&" and (double == "&>" or text[here - 1 : here] in ("<", ">")):
            self._at += 1
            return
        self._begins = True
        self._at += len(mark)
        if letter == "\n" and self._bodies:
            self._pass_bodies()
        if mark in self._cut and not self._open and not self._bodies:  # what follows a heredoc stays with its text
            end = self._at if letter == "\n" and "<<" in text[self._start : here] else here
            self._take(end)
            self._start = self._at

    def _pass_bodies(self) -> None:
        for word, indented in self._bodies:
            while self._at < len(self._text):
                end = self._text.find("\n", self._at)
                end = len(self._text) if end < 0 else end
                line, self._at = self._text[self._at : end], min(end + 1, len(self._text))
                if (line.lstrip("\t") if indented else line) == word:
                    break
        self._bodies.clear()

    def _bracket(self, letter: str) -> None:
        self._at += 1
        if letter == "(":
            self._open.append(")")
            self._begins = True
        elif self._open[-1:] == [")"]:
            self._open.pop()
            self._begins = False
        elif self._open[-1:] == ["esac"]:  # the end of a pattern
            self._begins = True
        else:
            raise ValueError(_NOT_CLOSED)

    def _word(self) -> None:
        if self._begins and (match := _FUNCTION.match(self._text, self._at)):
            self._at = match.end()
            return
        found = _WORD.match(self._text, self._at)
        word = found[0] if found else self._text[self._at]
        self._at += len(word)
        if not self._begins and (word, self._open[-1:]) != ("]]", ["]]"]):
            return
        if self._open and word == self._open[-1]:
            self._open.pop()
            self._begins = False
        elif word in _ENDS:
            self._open.append(_ENDS[word])
            self._begins = word not in ("for", "case", "select")
        else:
            self._begins = word in _GO_ON


def _after_quoted(text: str, at: int) -> int:
    """Where what begins with a quote, a dollar or a backslash ends."""
    letter = text[at]
    if letter == "\\":
        return at + 2
    if letter == "'":
        return _end_of(text, "'", at + 1)
    if letter == "$":
        return _after_dollar(text, at)
    at += 1
    while at < len(text) and text[at] != letter:
        at = _after_quoted(text, at) if text[at] in ("\\", "$") or (letter == '"' and text[at] == "`") else at + 1
    if at >= len(text):
        raise ValueError(_NOT_CLOSED)
    return at + 1


def _after_dollar(text: str, at: int) -> int:
    ends = {"(": ")", "{": "}"}.get(text[at + 1 : at + 2])
    if ends is None:
        return _end_of(text, "'", at + 2) if text.startswith("$'", at) else at + 1
    depth, at, begins = 1, at + 2, text[at + 1]
    while at < len(text) and depth:
        if text[at] in "'\"`$\\" and not (ends == "}" and text[at] == "'"):
            at = _after_quoted(text, at)
            continue
        depth += (text[at] == begins) - (text[at] == ends)
        at += 1
    if depth:
        raise ValueError(_NOT_CLOSED)
    return at


def _end_of(text: str, letter: str, at: int) -> int:
    end = text.find(letter, at)
    if end < 0:
        raise ValueError(_NOT_CLOSED)
    return end + 1


def split_commands(text: str) -> list[str]:
    """Split at `&&`, `;` and line ends; compound commands, alternatives and pipes stay whole, as do heredocs.

    Raises:
        ValueError: A quote, bracket or compound command is not closed.
    """
    return _Scanner(text, frozenset({"&&", ";", "\n"})).run()


def alternatives(command: str) -> list[str]:
    """Split a command at `||`."""
    return _Scanner(command, frozenset({"||"})).run()


def has_body(command: str) -> bool:
    """Whether a command has a heredoc, whose text follows in lines of its own."""
    return "\n" in command and bool(_HEREDOC.search(command))


def heading(command: str) -> str:
    """A command without the text of its heredocs."""
    return command.partition("\n")[0] if has_body(command) and not is_compound_command(command) else command


def is_compound_command(command: str) -> bool:
    """Whether a command is a loop, a condition, a function, or several in brackets."""
    return bool(re.match(r"(if|for|while|until|select|case|\{)(?=\s)|\(", command) or _FUNCTION.match(command))


def inner_of(command: str) -> str | None:
    """What stands between the brackets of a command that is nothing else, but for what it says being thrown away."""
    match = _BRACKETS.fullmatch(command)
    if match is None:
        return None
    inner = match["round"] if match["curly"] is None else match["curly"]
    try:
        split_commands(inner)
    except ValueError:  # these brackets are two commands'
        return None
    return inner


def shell_words(command: str) -> list[str]:
    """The words of a command; what `$(...)` stands for stays in the word that it is in.

    Raises:
        ValueError: A quote is not closed.
    """
    kept: list[str] = []
    plain, at = "", 0
    while at < len(command):
        end = at + 1
        if command[at] == "'":
            end = _end_of(command, "'", at + 1)
            plain += command[at:end]
        elif command[at] == "\\":
            end = at + 2
            plain += command[at:end]
        elif command.startswith("$(", at):
            end = _after_dollar(command, at)
            plain += f"\0{len(kept)}\0"
            kept.append(command[at:end])
        else:
            plain += command[at]
        at = end
    try:
        words = shlex.split(plain)
    except ValueError as error:
        raise ValueError(_NOT_CLOSED) from error
    return [re.sub("\0(\\d+)\0", lambda match: kept[int(match[1])], word) for word in words]
