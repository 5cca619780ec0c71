"""What an agent is told: the text of the issue, else the changelog's lines, the pull request's words or the message.

A text that holds a line of the solution is passed over for the next one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from repoassay.construct.history import History
from repoassay.construct.mining.rules import CommitFacts
from repoassay.errors import InfraFault
from repoassay.workspace import run_git

__all__ = [
    "MOST_LETTERS", "InstructionSource", "instruction_sources", "leaked_line", "pick_instruction", "source_lines",
]  # fmt: skip

_CHANGELOG = re.compile(
    r"(^|/)((change|history|news|release|whats?_?new)[^/]*(\.(md|rst|txt|adoc))?"
    r"|(changelog\.d|changes|news|newsfragments|changelog|releasenotes|whatsnew)/.*)$",
    re.IGNORECASE,
)
_CLOSES = re.compile(r"\b(?:fix(?:es|ed)?|close[sd]?|resolve[sd]?)\b:?\s+(?:[\w.-]+/[\w.-]+)?#(\d{1,9})", re.IGNORECASE)
_NUMBER = re.compile(r"(?:#|\bgh-|/(?:issues|pull)/)(\d{1,9})\b", re.IGNORECASE)
_TRAILER = re.compile(
    r"^(signed-off-by|co-authored-by|reviewed-by|cc|acked-by|change-id|tested-by|reported-by|helped-by"
    r"|pull-request|git-svn-id|\(cherry picked)\b", re.IGNORECASE,
)  # fmt: skip
_ROLE = re.compile(r":[a-zA-Z:+.-]+:`~?([^`<]+?)(?:\s*<[^`]*>)?`")
_REFERENCE = re.compile(
    r"`#\d+ <[^>]*>`_{1,2}|(?::(?:issue|pr|gh|pull|user|ghissue|ghpull|bug|cve)s?:`[^`]*`)"
    r"|\[?`?(?:(?:gh-|#)\d+`?|(?:pull request|issue|pr) ?#?\d+)(?:\]\([^)]*\)|\][\[(][^\])]*[\])]|\]|`?_{1,2})?"
    r"|https?://\S*/(?:issues|pull|commit)/\w+\S*",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"(also |and )?(fix\w*|same)\b.{0,80}\b(as well|too|likewise)\W*"
    r"|.{0,40}\b(follow[- ]?up|(previous|last|earlier) (commit|fix|change)|(another|second) (attempt|try|fix))\b.*",
    re.IGNORECASE,
)  # fmt: skip
"""One line that can be understood only by who knows another change."""
MOST_LETTERS = 20_000
"""Letters of an instruction, at most."""
_LEAST_WORDS, _LEAST_LETTERS = 4, 20
_LEAST_LINE = 12
_ENOUGH_WORDS = 40
"""Different words from which a text stands alone."""


@dataclass(frozen=True, slots=True)
class InstructionSource:
    """A text that says what was wanted, and where it was found: `issue`, `changelog`, `pull request` or `message`."""

    name: str
    text: str


def instruction_sources(
    history: History, facts: CommitFacts, issues: Mapping[int, str]
) -> Iterator[InstructionSource]:  # fmt: skip
    """Yield texts in the order in which they are to be preferred; each says something."""
    merge = _merge_message(history, facts.commit)
    for name, text in (
        ("issue", _issue(facts, merge, issues)),
        ("changelog", _changelog(history, facts)),
        ("pull request", _pull_request(facts, merge, issues)),
        ("message", _message(facts)),
    ):
        if len(_words(text)) >= _LEAST_WORDS and len(text) >= _LEAST_LETTERS and not _ELSEWHERE.fullmatch(text.strip()):
            yield InstructionSource(name, text[:MOST_LETTERS].strip() + "\n")


def pick_instruction(
    sources: Iterable[InstructionSource], solution: Sequence[str]
) -> tuple[InstructionSource | None, list[str]]:
    """The first text that holds no line of the solution, and sentences on those passed over.

    Where that is of few words, the next texts that say something else follow it.
    """
    passed: list[str] = []
    taken: list[InstructionSource] = []
    for source in sources:
        words = set(_words(source.text))
        distinct = {word for each in taken for word in _words(each.text)}
        if len(distinct) >= _ENOUGH_WORDS or (taken and len(words - distinct) < _LEAST_WORDS):
            continue
        leak = leaked_line(source.text, solution)
        if leak is None:
            taken.append(source)
        else:
            passed.append(f"The {source.name} holds a line of the solution: {leak[:80]}")
    if not taken:
        return None, passed
    name, text = " and ".join(each.name for each in taken), "\n".join(each.text for each in taken)
    return InstructionSource(name, text), passed


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]{2,}", text.lower())


def leaked_line(text: str, solution: Sequence[str]) -> str | None:
    """The first line of the solution that a text holds word for word; None where it holds none."""
    flat = " ".join(text.split())
    return next((line for line in solution if line in flat), None)


def source_lines(diff: bytes, counts: Callable[[str], bool]) -> list[str]:
    """Lines that a diff adds to files that count, long enough to tell something and not removed by it as well."""
    added: list[str] = []
    removed: set[str] = set()
    inside = False
    for row in diff.decode(errors="replace").splitlines():
        if row.startswith("diff --git "):
            inside = counts(row.rpartition(" b/")[2])
        elif inside and row[:1] in "+-" and not row.startswith(("+++ ", "--- ")):
            line = " ".join(row[1:].split())
            if row.startswith("-"):
                removed.add(line)
            elif len(line.replace(" ", "")) >= _LEAST_LINE and re.search(r"[^\w\s.]", line):
                added.append(line)
    return [line for line in dict.fromkeys(added) if line not in removed]


def _issue(facts: CommitFacts, merge: str, issues: Mapping[int, str]) -> str:
    """The issue that the commit or its pull request closes."""
    for text in (facts.message, merge):
        for number in map(int, _CLOSES.findall(text)):
            if number in issues:
                return _posted(issues[number])
    numbers = [int(each) for each in _NUMBER.findall(facts.message) if int(each) != _request(facts, merge)]
    return next((_posted(issues[number]) for number in numbers if number in issues), "")


def _request(facts: CommitFacts, merge: str) -> int | None:
    """Number of the pull request: at the end of the first line, as squashed ones have it, or in the merge's."""
    found = re.search(r"\(#(\d{1,9})\)$", facts.subject.strip()) or re.match(r"Merge pull request #(\d{1,9})", merge)
    return int(found[1]) if found else None


def _changelog(history: History, facts: CommitFacts) -> str:
    """Lines that the commit adds to a changelog, each entry as one paragraph of a list."""
    paths = [each.path for each in facts.files if _CHANGELOG.search(each.path) and not each.path.endswith(".py")]
    if not paths:
        return ""
    shown = run_git(
        history.place, "show", "--format=", "--unified=0", "--no-renames", "--no-ext-diff", "--no-textconv",
        "--no-color", facts.commit, "--", *paths, env={"GIT_LITERAL_PATHSPECS": "1"},
    ).decode(errors="replace")  # fmt: skip
    rows = [row[1:] for row in shown.splitlines() if row.startswith("+") and not row.startswith("+++ ")]
    entries: list[str] = []
    fresh = True
    for row in rows:
        line = row.strip()
        if not line or re.fullmatch(r"[=~^'\"#*_-]{3,}", line) or _heading(line):
            fresh = True
            continue
        bullet = re.match(r"[-*+]\s+|\d+\.\s+", line)
        if bullet or fresh or not entries:
            entries.append(line[bullet.end() :] if bullet else line)
        else:
            entries[-1] += f" {line}"
        fresh = False
    texts = [text for entry in entries if len(text := _plain(entry)) >= _LEAST_LETTERS]
    return texts[0] if len(texts) == 1 else "\n".join(f"- {each}" for each in texts)


def _heading(line: str) -> bool:
    return bool(
        re.match(r"#{1,6}\s|\.\. ", line)
        or re.fullmatch(r"(version )?v?\d+(\.\d+)+\S*(\s.{0,30})?|(unreleased|released?\b.*)", line, re.IGNORECASE)
        or (len(line.split()) <= 2 and not re.search(r"[`'\".(]", line))
    )


def _pull_request(facts: CommitFacts, merge: str, issues: Mapping[int, str]) -> str:
    number = _request(facts, merge)
    if number is not None and number in issues:
        return _posted(issues[number])
    _, _, words = merge.partition("\n")
    return "\n".join(_plain(row) for row in words.strip().splitlines() if not _TRAILER.match(row.strip())).strip()


def _posted(text: str) -> str:
    """What somebody wrote at a forge, without trailers, comments of forms, and references outside of its code."""
    kept: list[str] = []
    fenced = False
    for row in re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL).splitlines():
        fence = row.lstrip().startswith(("```", "~~~"))
        fenced ^= fence
        code = fence or fenced or row.startswith(("    ", "\t", "> "))
        if code or not _TRAILER.match(row.strip()):
            kept.append(row.rstrip() if code else _plain(row))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()


def _message(facts: CommitFacts) -> str:
    """The commit's message without trailers, references, and the list of commits that a squash leaves."""
    squashed = _request(facts, "") is not None
    kept: list[str] = []
    for row in facts.message.splitlines():
        line = row.strip()
        if squashed and kept and re.match(r"[*-] ", line):
            break  # from here on it tells how the change came about, commit by commit
        if _TRAILER.match(line) or re.fullmatch(r"-{3,}", line):
            continue
        kept.append(_plain(row))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()


def _plain(text: str) -> str:
    """A line without markup of roles and without numbers that only lead to where the change can be read."""
    rest = _ROLE.sub(r"`\1`", _REFERENCE.sub("", text)).replace("``", "`")
    rest = re.sub(
        r"\(\s*(by|see|and|,|via|fix(es|ed)?|closes)?\s*\)|\[\s*\](\([^)]*\))?", "", rest, flags=re.IGNORECASE
    )
    rest = re.sub(r"\b(fix(es|ed)?|close[sd]?|resolve[sd]?|see|refs?)\s*(?=[.,;:]?\s*$)", "", rest, flags=re.IGNORECASE)
    return re.sub(r"\s+([.,;:])", r"\1", re.sub(r"[ \t]{2,}", " ", rest)).rstrip(" ,;:")


def _merge_message(history: History, commit: str) -> str:
    """What the merge says that brought a commit to the default branch; empty where none did."""
    try:
        walk = ("rev-list", "--reverse", "--ancestry-path", "--merges", "--first-parent", f"{commit}..HEAD")
        merges = run_git(history.place, *walk).decode().split()
    except InfraFault:
        return ""
    if not merges:
        return ""
    try:  # a commit of the first-parent line was not brought by a merge
        run_git(history.place, "merge-base", "--is-ancestor", commit, f"{merges[0]}^1")
    except InfraFault:
        return history.message(merges[0])
    return ""
