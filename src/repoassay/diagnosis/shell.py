"""Shell text as simple commands, so that what stands in a here-document or between quotes is never taken for one.

Permissive and linear in time: unfinished quotes and here-documents end with the text, and no text is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

__all__ = ["Redirect", "Simple", "parse"]

_LONGEST = 50_000
_MOST_COMMANDS = 500
_DEEPEST = 4
_WRAPPERS = frozenset({"sudo", "time", "nohup", "exec", "command", "builtin", "nice", "stdbuf", "xvfb-run", "unbuffer"})
_SHELLS = frozenset({"bash", "sh", "zsh", "dash"})
_KEYWORDS = frozenset({"if", "then", "elif", "else", "do", "while", "until", "!", "{", "}", "fi", "done", "(", ")"})
_OPERATORS = ("&&", "||", ";;", "|&", ";", "|", "&", "\n", "(", ")")
_REDIRECTS = ("&>>", "&>", "<<<", "<<-", "<<", ">>", ">&", "<&", ">|", ">", "<")
_PAIRS = ("$(", "`")


@dataclass(frozen=True, slots=True)
class Redirect:
    """`> target` and its like; `descriptor` is the digits before it, empty when there are none."""

    operator: str
    target: str
    descriptor: str = ""


@dataclass(frozen=True, slots=True)
class Simple:
    """One simple command.

    Attributes:
        words: The command and its arguments, quotes removed and wrappers (`sudo`, `env A=1`, `timeout 9`) taken off.
        after: The operator before it (`&&`, `|`, ...), empty for the first.
        text: A here-document or here-string given to it, empty when there is none.
        cwd: The folder by the `cd` commands before it, empty when there were none.
    """

    words: tuple[str, ...]
    after: str = ""
    redirects: tuple[Redirect, ...] = ()
    text: str = ""
    cwd: str = ""
    limited: bool = False

    @property
    def name(self) -> str:
        """The command, without its folder."""
        return PurePosixPath(self.words[0]).name if self.words else ""

    @property
    def writes(self) -> tuple[str, ...]:
        """Files that take what it prints."""
        plain = (item.target for item in self.redirects if item.operator in {">", ">>", ">|", "&>", "&>>", ">&"})
        return tuple(target for target in plain if target and not target.isdigit() and not target.startswith("/dev/"))


@dataclass
class _Open:
    """A command being read."""

    words: list[str] = field(default_factory=list)
    after: str = ""
    redirects: list[Redirect] = field(default_factory=list)
    text: str = ""
    inner: list[str] = field(default_factory=list)


def parse(text: str) -> tuple[Simple, ...]:
    """Every simple command of a shell text, those of `bash -c`, `$(...)` and pipelines included, in order."""
    found: list[Simple] = []
    _parse(text[:_LONGEST], found, 0, "")
    return tuple(found[:_MOST_COMMANDS])


def _parse(text: str, found: list[Simple], depth: int, cwd: str) -> None:
    for opened in _commands(text):
        for inner in opened.inner if depth < _DEEPEST else ():
            _parse(inner, found, depth + 1, cwd)
        simple = _unwrapped(opened, cwd)
        if len(found) >= _MOST_COMMANDS:
            return
        if not simple.words:
            if simple.redirects:
                found.append(simple)
            continue
        script = _script(simple)
        if script is not None and depth < _DEEPEST:
            _parse(script, found, depth + 1, cwd)
            continue
        if simple.name in {"cd", "pushd"} and len(simple.words) > 1:
            cwd = _joined(cwd, simple.words[1])
        found.append(simple)


def _joined(cwd: str, to: str) -> str:
    return str(PurePosixPath(cwd) / to)[:1000] if cwd or to else ""


def _script(simple: Simple) -> str | None:
    """The commands given to a shell: `bash -c TEXT`, `bash <<EOF`, `eval TEXT`; None for other commands."""
    if simple.name == "eval":
        return " ".join(simple.words[1:])
    if simple.name in _SHELLS:
        for place, word in enumerate(simple.words[1:], 1):
            if word.startswith("-") and not word.startswith("--") and "c" in word:
                return simple.words[place + 1] if place + 1 < len(simple.words) else None
        if len(simple.words) == 1 and simple.text:
            return simple.text
    return None


def _unwrapped(opened: _Open, cwd: str) -> Simple:
    words = list(opened.words)
    limited = False
    while words:
        head = PurePosixPath(words[0]).name
        if words[0] in _KEYWORDS or _assigns(words[0]):
            words.pop(0)
        elif head in _WRAPPERS or (head == "env" and len(words) > 1):
            words.pop(0)
            while words and words[0].startswith("-"):
                words.pop(0)
        elif head == "timeout":
            limited = True
            words.pop(0)
            while words and (words[0].startswith("-") or words[0][:1].isdigit()):
                words.pop(0)
        elif head in {"uv", "poetry", "pipenv", "conda", "mamba"} and len(words) > 2 and words[1] == "run":
            words = words[2:]
            while words and words[0].startswith("-"):
                words = words[2:] if words[0] in {"-n", "--name", "-p", "--with", "--python"} else words[1:]
        else:
            break
    return Simple(tuple(words), opened.after, tuple(opened.redirects), opened.text, cwd, limited)


def _assigns(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()


def _commands(text: str) -> Iterator[_Open]:
    """Split at operators; here-documents are taken from the lines that follow theirs."""
    opened, waiting = _Open(), list[tuple[_Open, str, bool]]()
    at, size = 0, len(text)
    word: list[str] | None = None

    def close() -> None:
        nonlocal word
        if word is not None:
            _add(opened, "".join(word))
            word = None

    while at < size:
        char = text[at]
        if char == "\\" and at + 1 < size:
            if text[at + 1] != "\n":
                word = _more(word or [], text[at + 1])
            at += 2
        elif char in "'\"":
            at, quoted = _quoted(text, at)
            word = _more(word or [], quoted)
            if char == '"':
                opened.inner.extend(_substitutions(quoted))
        elif text.startswith(_PAIRS, at):
            at, inner = _substituted(text, at)
            opened.inner.append(inner)
            word = _more(word or [], "$(...)")
        elif char == "#" and word is None:
            at = _line_end(text, at)
        elif char not in "<>&|;()\n \t\r":
            word = _more(word or [], char)
            at += 1
        elif redirect := next((sign for sign in _REDIRECTS if text.startswith(sign, at)), ""):
            digits = "".join(word) if word is not None and "".join(word).isdigit() else ""
            if digits:
                word = None
            close()
            at = _redirect(text, at + len(redirect), redirect, digits, opened, waiting)
        elif operator := next((sign for sign in _OPERATORS if text.startswith(sign, at)), ""):
            close()
            at += len(operator)
            if operator == "\n" and waiting:
                for owner, delimiter, tabs in waiting:
                    at, body = _here(text, at, delimiter, tabs)
                    owner.text = owner.text or body
                waiting.clear()
            if waiting:
                # The document comes after this line; hold the commands of the line until it was read.
                held = _rest_of_line(text, at)
                at_after = held
                for owner, delimiter, tabs in waiting:
                    at_after, body = _here(text, at_after, delimiter, tabs)
                    owner.text = owner.text or body
                text = text[:at] + text[at:held].rstrip("\n") + "\n" + text[at_after:]
                size = len(text)
                waiting.clear()
            yield opened
            opened = _Open(after=operator)
        elif char.isspace():
            close()
            at += 1
        else:
            word = _more(word or [], char)
            at += 1
    close()
    yield opened


def _more(word: list[str], part: str) -> list[str]:
    word.append(part)
    return word


def _add(opened: _Open, word: str) -> None:
    if len(opened.words) < 2000:
        opened.words.append(word)


def _rest_of_line(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _quoted(text: str, at: int) -> tuple[int, str]:
    """The text between quotes that open at `at`, and where it ends; an unfinished one takes the rest."""
    quote, parts, place = text[at], list[str](), at + 1
    while place < len(text):
        char = text[place]
        if char == quote:
            return place + 1, "".join(parts)
        if char == "\\" and quote == '"' and place + 1 < len(text):
            following = text[place + 1]
            parts.append(following if following in '"\\$`' else "" if following == "\n" else char + following)
            place += 2
            continue
        parts.append(char)
        place += 1
    return place, "".join(parts)


def _substituted(text: str, at: int) -> tuple[int, str]:
    if text[at] == "`":
        end = text.find("`", at + 1)
        end = len(text) if end < 0 else end
        return end + 1, text[at + 1 : end]
    depth, place = 1, at + 2
    while place < len(text) and depth:
        if text[place] in "'\"":
            place, _ = _quoted(text, place)
            continue
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        place += 1
    return place, text[at + 2 : place - 1 if depth == 0 else place]


def _substitutions(quoted: str) -> list[str]:
    found, at = list[str](), quoted.find("$(")
    while at >= 0 and len(found) < 20:
        end, inner = _substituted(quoted, at)
        found.append(inner)
        at = quoted.find("$(", end)
    return found


def _redirect(text: str, at: int, sign: str, digits: str, opened: _Open, waiting: list[tuple[_Open, str, bool]]) -> int:
    while at < len(text) and text[at] in " \t":
        at += 1
    at, target = _word(text, at)
    if sign in {"<<", "<<-"}:
        waiting.append((opened, target, sign == "<<-"))
    elif sign == "<<<":
        opened.text = target
    else:
        opened.redirects.append(Redirect(sign, target, digits))
    return at


def _word(text: str, at: int) -> tuple[int, str]:
    parts: list[str] = []
    while at < len(text) and not text[at].isspace() and text[at] not in ";|&()<>":
        if text[at] in "'\"":
            at, part = _quoted(text, at)
            parts.append(part)
        elif text[at] == "\\" and at + 1 < len(text):
            parts.append(text[at + 1])
            at += 2
        else:
            parts.append(text[at])
            at += 1
    if not parts and at < len(text) and text[at] == "&":
        at += 1
    return at, "".join(parts)


def _here(text: str, at: int, delimiter: str, tabs: bool) -> tuple[int, str]:
    lines = []
    while at < len(text):
        end = _rest_of_line(text, at)
        line = text[at:end].rstrip("\n")
        at = end
        if (line.lstrip("\t") if tabs else line).rstrip() == delimiter:
            break
        lines.append(line)
    return at, "\n".join(lines)
