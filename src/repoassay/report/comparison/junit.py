"""A comparison as JUnit XML: one case a task, and one for the ruling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from repoassay.formats import JUnitCase, JUnitSuite, junit_document, write_junit_file
from repoassay.report.comparison.gate import Ruling
from repoassay.report.comparison.pairs import OutcomeChange, TaskPair
from repoassay.report.comparison.versus import Comparison, Versus
from repoassay.text import one_line

__all__ = ["junit", "write_junit"]

_MOST = 400


def junit(comparison: Comparison, rulings: Sequence[Ruling]) -> bytes:
    """The document: a suite for each comparison. A broken task is a failure, an unknown one skipped."""
    reasons = {id(ruling.versus): ruling.reasons for ruling in rulings}
    suites = [_suite(versus, reasons.get(id(versus))) for versus in comparison.versus]
    return junit_document(suites, "repoassay compare")


def write_junit(path: Path, comparison: Comparison, rulings: Sequence[Ruling]) -> None:
    """Write the document whole or not at all; raises as `write_junit_file`."""
    write_junit_file(path, junit(comparison, rulings))


def _suite(versus: Versus, reasons: Sequence[str] | None) -> JUnitSuite:
    name = f"{one_line(versus.first.label, 120)} to {one_line(versus.second.label, 120)}"
    return JUnitSuite(name, [*_ruling(name, reasons), *(_case(name, pair) for pair in versus.pairs)])


def _ruling(name: str, reasons: Sequence[str] | None) -> Iterator[JUnitCase]:
    if reasons:
        yield JUnitCase(name, "regression", "failure", one_line(" ".join(reasons), _MOST), "regression")
    elif reasons is not None:
        yield JUnitCase(name, "regression")


def _case(classname: str, pair: TaskPair) -> JUnitCase:
    name = one_line(pair.task, _MOST)
    before, after = (f"{rate.successes} of {rate.judged}" for rate in (pair.first, pair.second))
    if pair.change is OutcomeChange.BROKEN:
        comment = f": {one_line(pair.comment, _MOST)}" if pair.comment else ""
        return JUnitCase(classname, name, "failure", f"was {before}, is {after}{comment}", "broken")
    if pair.change is OutcomeChange.UNKNOWN:
        return JUnitCase(classname, name, "skipped", "no answer on both sides")
    return JUnitCase(classname, name)
