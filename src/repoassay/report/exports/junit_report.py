"""A run as JUnit XML, for the test views of CI systems: a case an attempt, its class the agent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from repoassay.formats import JUnitCase, JUnitSpool
from repoassay.records import FinishedAttempt, Slot, counting_attempts
from repoassay.report.exporters import ExportSource
from repoassay.text import one_line
from repoassay.types import Attribution

__all__ = ["JUnitReport"]

_MOST = 400


class JUnitReport:
    """The attempts that count. What the agent failed at is a failure, our faults are errors, the ungradable skipped."""

    title = "a run as JUnit XML: a test case an attempt, its class the agent"
    takes = ("run",)
    version = "JUnit XML as Jenkins and GitLab read it"
    lost = ("Patches, trajectories, tokens, dollars, criteria and single tests.", "Attempts that were retried.")

    def export(self, source: ExportSource) -> Iterator[bytes]:
        """Yield the document."""
        assert source.run is not None
        found = counting_attempts(source.run.plan, list(source.attempts()), lambda one: one.attempt)
        with JUnitSpool(source.run.plan.suite) as cases:
            for slot, one in sorted(found.items(), key=lambda pair: (pair[0].agent, pair[0].task, pair[0].number)):
                cases.add(_case(slot, one))
            yield from cases.parts()


def _case(slot: Slot, found: FinishedAttempt) -> JUnitCase:
    verdict, attempt = found.verdict, found.attempt
    problem: Literal["", "failure", "error", "skipped"] = "" if verdict.result else "failure"
    if verdict.result is None:
        problem = "skipped" if verdict.outcome.whose is Attribution.SUITE else "error"
    lines = [*verdict.comments] or [verdict.outcome.value]
    return JUnitCase(
        slot.agent, f"{slot.task}#{slot.number}", problem,
        seconds=f"{max(0.0, (attempt.ended - attempt.started).total_seconds()):.3f}",
        message=one_line(lines[0], _MOST) if problem else "",
        kind=verdict.outcome.value if problem else "",
        text="\n".join(lines[1:]) if problem else "",
    )  # fmt: skip
