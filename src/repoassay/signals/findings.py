"""What a checker says of base and of head, compared: the multiset of findings that only the head has."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from repoassay.signals.change import Change
from repoassay.signals.diffs import Diff
from repoassay.signals.signal import Signal, SignalAxis, SignalEvidence, at_line, judged, unknown_signal
from repoassay.signals.tools import CannotRun

__all__ = ["ToolFinding", "compared", "new_findings"]

_NUMBERS = re.compile(r"\b(lines?|columns?|col) \d+(-\d+)?")
_SPACE = re.compile(r"\s+")
MOST = 20_000
"""Findings of one run that are looked at."""


@dataclass(frozen=True, slots=True)
class ToolFinding:
    """One complaint of a tool: rule (empty where it has none), path, line from 1, message."""

    rule: str
    path: str
    line: int
    message: str


def new_findings(
    base: Iterable[ToolFinding], head: Iterable[ToolFinding], diff: Diff
) -> tuple[list[ToolFinding], list[ToolFinding]]:
    """Findings of the head beyond the base's: on lines the change added, and elsewhere.

    The key is rule, file (renames followed) and message with line numbers taken out. Where a key has more findings in
    the head than in the base, those are new that no base finding maps to through the diff, changed lines first.
    """
    by_old, by_new = diff.by_old(), diff.by_new()
    before: dict[tuple[str, str, str], list[int | None]] = defaultdict(list)
    for each in base:
        change = by_old.get(each.path)
        path = each.path if change is None else change.path
        before[(each.rule, path, _plain(each.message))].append(change.mapped(each.line) if change else each.line)
    after: dict[tuple[str, str, str], list[ToolFinding]] = defaultdict(list)
    for each in head:
        after[(each.rule, each.path, _plain(each.message))].append(each)
    changed, elsewhere = list[ToolFinding](), list[ToolFinding]()
    for key, found in after.items():
        known = before.get(key, [])
        surplus = len(found) - len(known)
        if surplus <= 0:
            continue
        added = by_new[key[1]].added if key[1] in by_new else {}
        left = _unmatched(found, known)
        left.sort(key=lambda each: (each.line not in added, each.line))
        for each in left[:surplus]:
            (changed if each.line in added else elsewhere).append(each)
    return sorted(changed, key=_order), sorted(elsewhere, key=_order)


def compared(
    tool: str, change: Change, run: Callable[[], tuple[list[ToolFinding], list[ToolFinding], str]]
) -> list[Signal]:
    """The two signals of a checker, `TOOL.changed_lines` and `TOOL.elsewhere`.

    Args:
        tool: Name of the checker.
        change: What is judged.
        run: Returns findings on base and on head, and a note on whose tool it was.
    """
    ids = (f"{tool}.changed_lines", f"{tool}.elsewhere")
    titles = (f"New {tool} findings on changed lines", f"New {tool} findings elsewhere, caused by the change")
    try:
        base, head, note = run()
    except CannotRun as reason:
        return [unknown_signal(id, SignalAxis.LINT, title, str(reason)) for id, title in zip(ids, titles, strict=True)]
    parts = new_findings(base[:MOST], head[:MOST], change.diff)
    notes: tuple[str, ...] = (note, "Checked with the base commit's configuration.")
    if len(head) > MOST or len(base) > MOST:
        notes = (*notes, f"Only the first {MOST} findings were compared.")
    return [
        judged(id, SignalAxis.LINT, title, [_evidence_of(tool, change, each) for each in part], notes=notes)
        for id, title, part in zip(ids, titles, parts, strict=True)
    ]


def _evidence_of(tool: str, change: Change, each: ToolFinding) -> SignalEvidence:
    rule = f" {each.rule}" if each.rule else ""
    return at_line(each.path, each.line, change.head.line(each.path, each.line), f"{tool}{rule}: {each.message}")


def _order(each: ToolFinding) -> tuple[str, int, str]:
    return each.path, each.line, each.rule


def _plain(message: str) -> str:
    return _SPACE.sub(" ", _NUMBERS.sub(r"\1 N", message)).strip()


def _unmatched(found: list[ToolFinding], known: list[int | None]) -> list[ToolFinding]:
    lines = Counter(known)
    left = []
    for each in found:
        if lines[each.line] > 0:
            lines[each.line] -= 1
        else:
            left.append(each)
    return left
