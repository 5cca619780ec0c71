"""Changed lines of the program that no test runs."""

from __future__ import annotations

from repoassay.signals.change import Change
from repoassay.signals.diffs import ranges
from repoassay.signals.names import definitions
from repoassay.signals.signal import Signal, SignalAxis, SignalEvidence, at_line, finding, silent, unknown_signal
from repoassay.signals.suite import SuiteRun

__all__ = ["diff_coverage"]

_ID, _TITLE = "diff_coverage", "Changed lines that no test runs"
_ENOUGH = 0.8
_RULE = f"fewer than {_ENOUGH:.0%} of the changed lines that can be run are, or a new function is never entered"


def diff_coverage(change: Change, head: SuiteRun) -> list[Signal]:
    """Report coverage of changed lines, as measured while all tests ran on the head."""
    if not any(each.path.endswith(".py") for each in change.sources()):
        why = "The change touches no Python program file, and only Python's coverage is measured."
        return [unknown_signal(_ID, SignalAxis.TESTING, _TITLE, why)]
    unmeasured = [path for path, lines in head.statements.items() if lines is None]
    total = sum(len(lines or ()) for lines in head.statements.values())
    missing = sum(len(lines) for lines in head.missing.values())
    notes = [*head.notes, f"{total - missing} of {total} changed lines that can be run are."]
    notes += [f"{path} could not be measured." for path in unmeasured[:5]]
    never = [found for path in head.missing for found in _never_entered(change, path, head)]
    if never or total - missing < _ENOUGH * total:
        return [
            finding(
                _ID, SignalAxis.TESTING, _TITLE, [*never, *_lines(change, head)], threshold=_RULE, notes=tuple(notes)
            )
        ]
    if unmeasured:
        return [
            unknown_signal(
                _ID, SignalAxis.TESTING, _TITLE, f"{unmeasured[0]} could not be measured; what could be, is covered."
            )
        ]
    return [silent(_ID, SignalAxis.TESTING, _TITLE, threshold=_RULE, notes=tuple(notes))]


def _never_entered(change: Change, path: str, head: SuiteRun) -> list[SignalEvidence]:
    tree = change.head.python(path)
    added = change.diff.by_new()[path].added if path in change.diff.by_new() else {}
    found = []
    for name in definitions(tree) if tree else ():
        body = range(name.line + 1, (name.node.end_lineno or name.line) + 1)
        inside = [line for line in head.statements.get(path) or () if line in body]
        if name.line in added and inside and set(inside) <= set(head.missing[path]):
            found.append(at_line(path, name.line, added[name.line], f"No test enters {name.name}."))
    return found


def _lines(change: Change, head: SuiteRun) -> list[SignalEvidence]:
    return [
        at_line(path, first, change.head.line(path, first),
                f"Not run: line {first}." if first == last else f"Not run: lines {first} to {last}.")
        for path, lines in head.missing.items() for first, last in ranges(lines)
    ]  # fmt: skip
