"""Taking names out of what a rater sees: authors, trailers, addresses, branches, agents and models.

Prose may lose whole lines; a diff keeps every line, so that evidence stays anchored, and keeps words which belong to
the repository's own vocabulary.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import zip_longest

from repoassay.diffs import walk

__all__ = ["leaks", "leaks_name", "scrub_diff", "scrub_text"]

_GONE = "\0"
# A mark in the place of what was taken out would stand in agents' descriptions alone, and so unmask the controls.
_TRACE = re.compile(rf"^{_GONE} ?| ?{_GONE}", re.MULTILINE)
_NAMELESS = "x"
"""What a name becomes in the path of a file, which must not be empty."""

# Names that mean an agent, a model or its maker wherever they stand in a description of a change. Ordinary words that
# are also names (cursor, goose, devin, gemini) are removed when the study says that it compares them.
_KNOWN = (
    "aider", "anthropic", "chatgpt", "claude", "claude code", "codestral", "codex", "copilot", "deepseek", "devstral",
    "gpt", "github copilot", "kimi", "mini-swe-agent", "mistral", "moonshot", "openai", "opencode", "openhands",
    "opendevin", "qwen", "swe-agent", "windsurf",
)  # fmt: skip
_TRAILER = re.compile(
    r"^[ \t>*_-]*(co-authored-by|signed-off-by|authored-by|author|committer|reviewed-by|assisted-by|generated-by"
    r"|on-behalf-of|reported-by|tested-by|acked-by|helped-by|suggested-by|change-id|branch|head branch|from branch"
    r"|agent)[ \t*_]*:.*$",
    re.IGNORECASE | re.MULTILINE,
)
_CREDIT = re.compile(
    r"^.*\b(generated|created|written|made|produced|authored|implemented|opened|submitted)\b.{0,20}\b(with|by|using)\b"
    r".{0,200}$",
    re.IGNORECASE | re.MULTILINE,
)
_MAIL = re.compile(r"<?[A-Za-z0-9._%+\[\]-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}>?")
_HANDLE = re.compile(r"(?<![\w/@.`])@[A-Za-z0-9][A-Za-z0-9-]{0,38}(?:\[bot\])?(?![\w/@])")
_MAIL_HEADER = re.compile(r"^(from|subject|date|author|authordate|commit|commitdate|committer)\b", re.IGNORECASE)
_ROBOT = "\N{ROBOT FACE}"
_ZERO_WIDTH = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad]")


def scrub_text(text: str, names: Iterable[str] = (), branches: Iterable[str] = ()) -> str:
    """Return a description without who wrote it.

    Trailers and credits go as whole lines (a credit only where it names an agent, a model or an address); addresses,
    handles, branch names, agents and models are taken out without a trace.

    Args:
        text: Title, description or commit message.
        names: Agents, models and people of the study, as words in any case.
        branches: Names of branches.
    """
    known = _pattern([*_KNOWN, *names], loose=True)
    text = _ZERO_WIDTH.sub("", text).replace("\r\n", "\n").replace(_GONE, "")
    text = _TRAILER.sub("", text)
    text = _CREDIT.sub(
        lambda line: "" if known.search(line[0]) or "@" in line[0] or _ROBOT in line[0] else line[0], text
    )
    text = _MAIL.sub(_GONE, text)
    exact = _pattern(branches, loose=False)
    text = exact.sub(_GONE, text)
    text = known.sub(_GONE, text)
    text = _TRACE.sub("", _HANDLE.sub(_GONE, text).replace(_ROBOT, ""))
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n")


def scrub_diff(diff: str, names: Iterable[str] = (), vocabulary: str = "") -> str:
    """Return a unified diff without mail headers before its first file, and without names in what was added.

    Every line from the first file on stays, with its number. The study's `names` are taken out of added lines and of
    file names, unless the word is the repository's own: it stands in context or removed lines, or in `vocabulary`
    (the issue's text and the reference). So are addresses and attributions in added lines.

    Args:
        diff: Unified diff, with or without the headers of `git format-patch` and `git show`.
        names: Agents and models of the study.
        vocabulary: Text whose words are known to belong to the repository.
    """
    lines = diff.split("\n")
    start = next((number for number, line in enumerate(lines) if _opens_file(lines, number, line)), 0)
    if any(_MAIL_HEADER.match(line) for line in lines[:start]):
        lines = lines[start:]
    own = vocabulary + "\n" + "\n".join(line[1:] for line in lines if line[:1] in {" ", "-"})
    study = [name for name in names if name.strip()]
    strangers = _pattern([name for name in study if not _pattern([name], loose=True).search(own)], loose=True)
    signs = [row.sign for _, row in walk("\n".join(lines))]
    return "\n".join(_scrub_line(line, sign, strangers, own) for line, sign in zip_longest(lines, signs, fillvalue=""))


def leaks(text: str, names: Iterable[str] = ()) -> tuple[str, ...]:
    """Return what of `names`, known agents and models, and addresses still stands in a text, for the lead to see."""
    pattern = _pattern([*_KNOWN, *names], loose=True)
    found = [match[0] for match in pattern.finditer(text)] + [match[0] for match in _MAIL.finditer(text)]
    return tuple(dict.fromkeys(found))


def leaks_name(text: str) -> bool:
    """Whether a text names an agent, a model or its maker that is known by name."""
    return _pattern(_KNOWN, loose=True).search(text) is not None


def _opens_file(lines: list[str], number: int, line: str) -> bool:
    follows = lines[number + 1] if number + 1 < len(lines) else ""
    return line.startswith("diff --git ") or (line.startswith("--- ") and follows.startswith("+++ "))


def _scrub_line(line: str, sign: str, strangers: re.Pattern[str], own: str) -> str:
    if not sign and not line.startswith(("--- ", "+++ ")):
        sign = line[:1]  # outside of hunks, or in one longer than its head says
    if sign in {" ", "-", "@", "\\"}:
        return line
    if sign != "+":
        return strangers.sub(_NAMELESS, line)
    content = strangers.sub("", line)[1:]
    attribution = _TRAILER.fullmatch(content) is not None and "@" in content
    credit = _CREDIT.fullmatch(content) is not None and _pattern(_KNOWN, loose=True).search(content) is not None
    if attribution or credit:
        return "+"
    return "+" + _MAIL.sub(lambda match: match[0] if match[0].strip("<>") in own else "", content)


def _pattern(names: Iterable[str], *, loose: bool) -> re.Pattern[str]:
    """Match any of the names as a word; `loose`: also with what models carry behind them (claude-3.5, gpt-4o)."""
    every = sorted({name.strip() for name in names if name.strip()}, key=len, reverse=True)
    if not every:
        return re.compile(r"(?!)")
    # A space, dash, dot or underscore inside a name may be written as any of them.
    parts = [r"[\s._/-]?".join(re.escape(part) for part in re.split(r"[\s._/-]+", name) if part) for name in every]
    variant = r"sonnet|opus|haiku|mini|nano|turbo|coder|code|pro|flash|latest|preview|instruct|chat"
    # Each part ends at the end of a word, so there is one way only to split what follows a name.
    tail = rf"(?:[-_. ]?(?:v?\d+(?:[.\w]*\w)?|{variant})\b)*"
    body = "|".join(part for part in parts if part)
    return re.compile(rf"(?<![A-Za-z0-9])(?:{body}){tail if loose else ''}(?![A-Za-z0-9])", re.IGNORECASE)
