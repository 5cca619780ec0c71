"""Files that work leaves behind and nobody would commit: logs, backups, scratch scripts, summaries, binaries."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from repoassay.signals.bench import ToolRunner
from repoassay.signals.change import Change
from repoassay.signals.diffs import FileChange
from repoassay.signals.signal import Signal, SignalAxis, at_line, at_path, judged
from repoassay.signals.worktrees import is_document
from repoassay.survey import is_test_support

__all__ = ["artefacts"]

_LEFT = re.compile(
    r".*\.(log|orig|rej|bak|tmp|temp|swp|swo|pyc|pyo|class|o|prof|lprof|dmp|pid|coverage|lcov)|.*~|\.DS_Store|nohup\.out"
    r"|core(\.\d+)?|\.coverage(\..*)?|coverage\.xml|Thumbs\.db|npm-debug\.log.*|.*\.(patch|diff)",
    re.IGNORECASE,
)
_LEFT_FOLDERS = frozenset({
    "__pycache__", "node_modules", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".venv", "venv", ".idea", ".vscode",
    "htmlcov", ".tox", ".nox", ".aider",
})  # fmt: skip
_SCRATCH = re.compile(
    r"(scratch|tmp|temp|debug|repro|reproduce|try|playground|demo|verify|check|quick|simple|manual|my|sample|run)"
    r"([_-].*)?\.(py|js|ts|sh|mjs|cjs)|(test|fix)([_-](fix|issue|bug|script|it|changes?|solution|feature|manual).*)\.(py|js|sh)"
    r"|patch_.*\.py",
    re.IGNORECASE,
)
_SUMMARY = re.compile(
    r"((implementation|change|changes|fix|solution|work|task|pr|pull[_-]request|feature|issue)([_-].*)?"
    r"|.*(summary|notes|plan|todo))\.(md|txt)",
    re.IGNORECASE,
)
_NEWS = re.compile(r"change(s|log).*|.*release.*", re.IGNORECASE)
_LARGE = 500_000


def artefacts(change: Change, bench: ToolRunner) -> list[Signal]:
    """Look at added files by name and kind; those the reference adds too do not count."""
    known = {each.path for each in change.reference.files} if change.reference else set()
    evidence = []
    for each in change.diff.files:
        if each.old is None and each.path not in known and (what := _what(change, each)):
            first = each.first
            evidence.append(at_line(each.path, first, each.added[first], what) if first else at_path(each.path, what))
    rule = f"added files by name, binary files outside tests and documents, files over {_LARGE // 1000} kB"
    return [judged("artefacts", SignalAxis.QUALITY, "Stray files", evidence, threshold=rule)]


def _what(change: Change, each: FileChange) -> str:
    path = PurePosixPath(each.path)
    top = len(path.parts) == 1
    if _LEFT_FOLDERS & set(path.parts[:-1]) or any(part.endswith(".egg-info") for part in path.parts):
        return "A folder that tools make by themselves."
    if _LEFT.fullmatch(path.name):
        return "A file that tools or editors leave behind."
    if top and _SCRATCH.fullmatch(path.name):
        return "A scratch script at the top of the repository, by its name."
    if top and _SUMMARY.fullmatch(path.name) and not _NEWS.fullmatch(path.name):
        return "A text about the work rather than for its readers, by its name."
    size = sum(len(text) + 1 for text in each.added.values())
    if each.binary and not (is_test_support(each.path) or _documents(path)):
        return "A binary file."
    if size > _LARGE or (each.binary and change.head.bytes(each.path, 2 * _LARGE) is None):
        return f"A file of more than {_LARGE // 1000} kB."
    if top and not size and not each.binary and not path.name.startswith("."):
        return "An empty file at the top of the repository."
    return ""


def _documents(path: PurePosixPath) -> bool:
    return is_document(str(path.with_suffix(".md"))) or bool({"assets", "static", "docs", "images"} & set(path.parts))
