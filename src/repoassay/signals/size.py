"""How much the change touches, beside the reference: lines, files, and files where the reference has no business."""

from __future__ import annotations

from pathlib import PurePosixPath

from repoassay.signals.bench import ToolRunner
from repoassay.signals.change import Change
from repoassay.signals.diffs import Diff
from repoassay.signals.signal import (
    Signal,
    SignalAxis,
    SignalEvidence,
    at_line,
    at_path,
    judged,
    silent,
    unknown_signal,
)
from repoassay.signals.worktrees import is_document
from repoassay.survey import is_test_support

__all__ = ["size"]

_TIMES, _LINES, _FILES = 3.0, 60, 3
_SIZE, _SCOPE = "Size against the reference", "Files outside the reference's folders"
_SIZE_RULE = (
    f"more than {_TIMES:g} times the reference's lines and {_LINES} lines more, or more than twice its files and"
    f" {_FILES} more; tests and documents left out"
)
_SCOPE_RULE = "a changed file in a folder where the reference changes none; tests, documents and changelogs left out"


def size(change: Change, bench: ToolRunner) -> list[Signal]:
    """Compare with the reference; without one only the figures are given."""
    own = _figures(change.diff)
    sentence = f"The change: {own[0]} lines in {own[1]} files, {len(change.diff.files)} with tests and documents."
    if change.reference is None:
        why = f"The task has no reference change to compare with. {sentence}"
        return [
            unknown_signal("size", SignalAxis.QUALITY, _SIZE, why),
            unknown_signal("scope", SignalAxis.QUALITY, _SCOPE, why),
        ]
    theirs = _figures(change.reference)
    notes = (sentence, f"The reference: {theirs[0]} lines in {theirs[1]} files.")
    larger = own[0] > _TIMES * theirs[0] and own[0] > theirs[0] + _LINES
    wider = own[1] > 2 * theirs[1] and own[1] >= theirs[1] + _FILES
    evidence = _largest(change) if larger or wider else []
    return [judged("size", SignalAxis.QUALITY, _SIZE, evidence, threshold=_SIZE_RULE, notes=notes), _scope(change)]


def _scope(change: Change) -> Signal:
    assert change.reference is not None
    folders = {_folder(each.path) for each in change.reference.files}
    known = {each.path for each in change.reference.files}
    if not folders:
        return silent("scope", SignalAxis.QUALITY, _SCOPE, notes=("The reference changes nothing.",))
    evidence = [
        _at(change, each.path, "The reference changes nothing in this folder.")
        for each in change.diff.files
        if _counts(each.path) and each.path not in known and _folder(each.path) not in folders
    ]
    return judged("scope", SignalAxis.QUALITY, _SCOPE, evidence, threshold=_SCOPE_RULE)


def _figures(diff: Diff) -> tuple[int, int]:
    files = [each for each in diff.files if _counts(each.path)]
    return sum(len(each.added) + len(each.removed) for each in files), len(files)


def _largest(change: Change) -> list[SignalEvidence]:
    files = [each for each in change.diff.files if _counts(each.path)]
    files.sort(key=lambda each: -(len(each.added) + len(each.removed)))
    return [
        _at(change, each.path, f"{len(each.added)} lines added, {len(each.removed)} removed.") for each in files[:10]
    ]


def _at(change: Change, path: str, text: str) -> SignalEvidence:
    added = next((each.added for each in change.diff.files if each.path == path), {})
    line = min(added, default=None)
    return at_line(path, line, added[line], text) if line else at_path(path, text)


def _counts(path: str) -> bool:
    news = ("change", "history", "news")
    return not (is_test_support(path) or is_document(path) or any(part in path.lower() for part in news))


def _folder(path: str) -> str:
    return str(PurePosixPath(path).parent)
