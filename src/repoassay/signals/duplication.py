"""Code copied from elsewhere in the repository, found by its tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from repoassay.signals.bench import ToolRunner
from repoassay.signals.change import Change
from repoassay.signals.signal import Signal, SignalAxis, SignalEvidence, at_line, judged
from repoassay.signals.worktrees import Tree, is_source

__all__ = ["duplication"]

_EXACT, _RENAMED, _LINES = 40, 60, 4
_RULE = (
    f"{_EXACT} tokens in a row, or {_RENAMED} but for names and literals, over at least {_LINES} added lines that stand"
    " elsewhere in the program too; imports, comments and tests left out"
)
_MOST_FILES, _MOST_TOKENS = 3_000, 1_000_000
_COMMENTS = {".py": r"\#[^\n]*", ".pyi": r"\#[^\n]*", ".rb": r"\#[^\n]*"}
_LEXEMES = r"""
    (?P<comment>{comment})
    |(?P<string>\"\"\"(?s:.*?)(?:\"\"\"|\Z)|'''(?s:.*?)(?:'''|\Z)|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)
    |(?P<number>\d[\w.]*)
    |(?P<name>[^\W\d]\w*)
    |(?P<line>\n)
    |(?P<other>[^\s\w])
"""
_IMPORT = re.compile(
    r"\s*(import\s|from\s+\S+\s+import\b|export\s+.*\sfrom\b|const\s.*=\s*require\(|use\s|\#include|package\s)"
)
_WORDS = frozenset({
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield", "function",
    "const", "let", "var", "new", "this", "switch", "case", "default", "throw", "typeof", "void", "export",
    "extends", "super", "static", "fn", "match", "impl", "struct", "enum", "func", "self",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    shape: str
    line: int


@dataclass(frozen=True, slots=True)
class _Copy:
    path: str
    first: int
    last: int
    of: str
    at: int
    renamed: bool


def duplication(change: Change, bench: ToolRunner) -> list[Signal]:
    """Compare runs of added lines with every other place of the head; moved code is in one place only."""
    added = {
        each.path: [run for run in _runs(_tokens(change.head, each.path), set(each.added)) if len(run) >= _EXACT]
        for each in change.sources()
    }
    copies = _copies(change.head, {path: runs for path, runs in added.items() if runs})
    evidence = [_evidence_of(change, each) for each in copies]
    return [judged("duplication", SignalAxis.QUALITY, "Code copied from elsewhere", evidence, threshold=_RULE)]


def _evidence_of(change: Change, each: _Copy) -> SignalEvidence:
    how = "the same but for names and literals" if each.renamed else "the same"
    sentence = f"Lines {each.first} to {each.last} are {how} as {each.of} from line {each.at}."
    return at_line(each.path, each.first, change.head.line(each.path, each.first), sentence)


def _copies(head: Tree, added: dict[str, list[list[_Token]]]) -> list[_Copy]:
    if not added:
        return []
    suffixes = {PurePosixPath(path).suffix for path in added}
    others = [path for path in head.files if PurePosixPath(path).suffix in suffixes and is_source(path)][:_MOST_FILES]
    kinds = ((_EXACT, False), (_RENAMED, True))
    windows = {kind: _windows(added, *kind) for kind in kinds}
    found: dict[tuple[str, int], _Copy] = {}
    left = _MOST_TOKENS
    for other in others:
        tokens = _tokens(head, other)
        left -= len(tokens)
        if left < 0:
            break
        for kind in kinds:
            size, renamed = kind
            for start, mark in _rolled(tokens, size, renamed=renamed):
                for path, first, last in windows[kind].get(mark, ())[:20]:
                    here, end = tokens[start].line, tokens[start + size - 1].line
                    # Of two copies in one file, the lower one is taken to be the copy.
                    if last - first + 1 >= _LINES and (path != other or end < first):
                        found.setdefault((path, first), _Copy(path, first, last, other, here, renamed))
    return _joined(sorted(found.values(), key=lambda each: (each.path, each.first)))


def _windows(added: dict[str, list[list[_Token]]], size: int, renamed: bool) -> dict[int, list[tuple[str, int, int]]]:
    """Path, first and last line of every window of added tokens, by hash."""
    found: dict[int, list[tuple[str, int, int]]] = {}
    for path, runs in added.items():
        for run in runs:
            for start, mark in _rolled(run, size, renamed=renamed):
                found.setdefault(mark, []).append((path, run[start].line, run[start + size - 1].line))
    return found


def _joined(copies: list[_Copy]) -> list[_Copy]:
    """Overlapping windows as one."""
    joined: list[_Copy] = []
    for each in copies:
        last = joined[-1] if joined else None
        if last and last.path == each.path and each.first <= last.last + 1:
            joined[-1] = _Copy(last.path, last.first, max(last.last, each.last), last.of, last.at, last.renamed)
        else:
            joined.append(each)
    return joined


def _rolled(tokens: list[_Token], size: int, *, renamed: bool) -> Iterator[tuple[int, int]]:
    """Start and hash of every window of `size` tokens."""
    base, modulus = 1_000_003, (1 << 61) - 1
    top = pow(base, size - 1, modulus)
    marks = [hash(each.shape if renamed else each.text) & 0xFFFFFFFF for each in tokens]
    value = 0
    for at, mark in enumerate(marks):
        if at >= size:
            value = (value - marks[at - size] * top) % modulus
        value = (value * base + mark) % modulus
        if at >= size - 1:
            yield at - size + 1, value


def _runs(tokens: list[_Token], added: set[int]) -> Iterator[list[_Token]]:
    """Tokens on added lines, parted where other lines with tokens lie between."""
    run: list[_Token] = []
    for each in tokens:
        if each.line in added:
            run.append(each)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _tokens(head: Tree, path: str) -> list[_Token]:
    text = head.text(path)
    if text is None:
        return []
    comment = _COMMENTS.get(PurePosixPath(path).suffix, r"//[^\n]*|/\*(?s:.*?)(?:\*/|\Z)")
    pattern = re.compile(_LEXEMES.replace("{comment}", comment), re.VERBOSE)
    skipped = {number for number, line in enumerate(text.split("\n"), 1) if _IMPORT.match(line[:500])}
    found: list[_Token] = []
    line = 1
    for each in pattern.finditer(text):
        kind, word = each.lastgroup, each[0]
        if kind not in ("line", "comment") and line not in skipped:
            shape = word if kind == "other" or word in _WORDS else f"<{kind}>"
            found.append(_Token(word, shape, line))
        line += word.count("\n")
    return found
