"""Whether the project's formatter would change lines of the change."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from repoassay.signals.bench import ToolRunner, TreeSide
from repoassay.signals.change import Change
from repoassay.signals.configuration import configured_checks, head_side, mentioned, places_checked, settings
from repoassay.signals.diffs import FileChange
from repoassay.signals.node_checks import node_tool
from repoassay.signals.signal import Signal, SignalAxis, SignalEvidence, at_line, judged, unknown_signal
from repoassay.signals.tools import CannotRun, Tool, binary, module
from repoassay.signals.worktrees import JAVASCRIPT

__all__ = ["formatting"]

_ID, _TITLE = "formatting", "Changed lines that the project's formatter would change"
_RUFF = ("format", "--no-cache", "--quiet", "--force-exclude", "--stdin-filename", "{path}", "-")
_MOST_FILES = 40
_MOST_COMPARED = 1_000_000
_Formats = Callable[[TreeSide, str, str], str]


def formatting(change: Change, bench: ToolRunner) -> list[Signal]:
    """Run the formatter the project configures over changed files; what it would change elsewhere does not count."""
    try:
        chosen, suffixes, note = _formatter(change, bench)
        files = [each for each in change.diff.files if each.new and PurePosixPath(each.new).suffix in suffixes]
        named = places_checked(change.base, r"\b(ruff\s+format|black|prettier)\b", bench.checks)
        if named:  # a contributor is told to format these and no others
            files = [each for each in files if any(f"{each.path}/".startswith(f"{place}/") for place in named)]
        side, evidence, left_out = head_side(change), list[SignalEvidence](), list[str]()
        for each in files[:_MOST_FILES]:
            path = each.path
            text = change.head.text(path)
            if text is None or not each.added:
                continue
            if not _was_formatted(change, bench, each, chosen):
                left_out.append(f"{path} was not formatted before the change and is left out.")
                continue
            evidence += _changed(each, text, chosen(side, path, f"The formatter on {path}"))
    except CannotRun as reason:
        return [unknown_signal(_ID, SignalAxis.LINT, _TITLE, str(reason))]
    if len(files) > _MOST_FILES:
        left_out.append(f"Only the first {_MOST_FILES} of {len(files)} files were looked at.")
    return [judged(_ID, SignalAxis.LINT, _TITLE, evidence, notes=(note, *left_out[:10]))]


def _was_formatted(change: Change, bench: ToolRunner, each: FileChange, chosen: _Formats) -> bool:
    old = each.old
    if old is None or (text := change.base.text(old)) is None:
        return True
    key = ("formatting", old)
    return (
        bench.remember(change.base, key, lambda: chosen(TreeSide(change.base), old, f"The formatter on {old}")) == text
    )


def _formatter(change: Change, bench: ToolRunner) -> tuple[_Formats, frozenset[str], str]:
    base = change.base
    python = frozenset({".py", ".pyi"})
    ruff = settings(base, "pyproject.toml").get("ruff", {})
    own = settings(base, "ruff.toml") or settings(base, ".ruff.toml")
    if "format" in own or (isinstance(ruff, dict) and "format" in ruff) or mentioned(
        base, r"\bruff[\s-]+format\b", bench.checks
    ):  # fmt: skip
        tool = binary("ruff", bench.environment)
        return _through(bench, tool, _RUFF), python, tool.note
    if configured_checks(base, "black") or mentioned(base, r"psf/black|id: black\b|\bblack (-|\.)", bench.checks):
        tool = module("black", bench.environment)
        return _through(bench, tool, ("--quiet", "--stdin-filename", "{path}", "-")), python, tool.note
    if configured_checks(base, "prettier"):
        tool = node_tool(change, bench, "prettier", "bin/prettier.cjs")
        return _through(bench, tool, ("--stdin-filepath", "{path}")), JAVASCRIPT, "prettier is the project's own."
    raise CannotRun("The project configures no formatter (ruff format, black, prettier).")


def _through(bench: ToolRunner, tool: Tool, arguments: tuple[str, ...]) -> _Formats:
    """Give a file of a side to the formatter, which prints what it would write."""

    def run(side: TreeSide, path: str, what: str) -> str:
        text = (side.tree.text(path) or "").encode("utf-8", "replace")
        words = [part.replace("{path}", path) for part in arguments]
        return bench.run(side, tool, *words, what=what, stdin=text).stdout.decode("utf-8", "replace")

    return run


def _changed(each: FileChange, text: str, formatted: str) -> list[SignalEvidence]:
    """Added lines that differ once formatted; where only blank lines are put in, the line before or after them."""
    before, after = text.splitlines(), formatted.splitlines()
    found: dict[int, str] = {}
    for start, end, written in _differences(before, after):
        touched = range(start + 1, end + 1) if end > start else (start, start + 1)
        line = next((line for line in touched if line in each.added), None)
        if line is not None:
            wanted = " / ".join(part.strip() for part in written[:3] if part.strip())
            found[line] = (
                f"The formatter would write: {wanted}" if wanted else "The formatter would change blank lines."
            )
    if before == after and text != formatted and each.added:
        found[max(each.added)] = "The formatter would change line ends or the end of the file."
    return [at_line(each.path, line, each.added[line], message) for line, message in sorted(found.items())]


def _differences(before: list[str], after: list[str]) -> Iterator[tuple[int, int, list[str]]]:
    """Where two lists differ: range of the first, and what stands there in the second. Coarse where they are long."""
    head = 0
    while head < min(len(before), len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    if len(old) * len(new) > _MOST_COMPARED:
        yield head, len(before) - tail, new
        return
    for kind, start, end, low, high in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            yield head + start, head + end, new[low:high]
