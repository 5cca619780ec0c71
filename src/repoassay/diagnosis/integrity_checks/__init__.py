"""Integrity checks, one a file: each gives leads with evidence, tells trying from using, and says what would clear it.

The classes H1 to H10 are those of the project's survey of cheating in code benchmarks; `bypass` is the repository
left unused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from repoassay.diagnosis.case import AttemptCase
from repoassay.diagnosis.context import AttemptStory, story_of
from repoassay.diagnosis.integrity_checks.bypass import bypass
from repoassay.diagnosis.integrity_checks.fabricated import fabricated
from repoassay.diagnosis.integrity_checks.finding import IntegrityCheck, IntegrityFinding, IntegrityState, Severity
from repoassay.diagnosis.integrity_checks.forced_success import forced_success
from repoassay.diagnosis.integrity_checks.ground_truth import ground_truth
from repoassay.diagnosis.integrity_checks.history import history
from repoassay.diagnosis.integrity_checks.invention import invented
from repoassay.diagnosis.integrity_checks.judge import judge
from repoassay.diagnosis.integrity_checks.near_copy import near_copy
from repoassay.diagnosis.integrity_checks.package import package, package_requests
from repoassay.diagnosis.integrity_checks.special_casing import special_casing
from repoassay.diagnosis.integrity_checks.tests_edited import tests_edited
from repoassay.diagnosis.integrity_checks.upstream import upstream
from repoassay.types import Task, Trajectory, Verdict

__all__ = ["IntegrityCheck", "IntegrityFinding", "IntegrityState", "Severity", "findings_of", "integrity"]

_CHECKS: tuple[Callable[[AttemptStory], Iterator[IntegrityFinding]], ...] = (
    history,
    upstream,
    package,
    package_requests,
    ground_truth,
    tests_edited,
    special_casing,
    forced_success,
    fabricated,
    invented,
    near_copy,
    judge,
    bypass,
)
_MOST = 200


def integrity(
    trajectory: Trajectory, verdict: Verdict | None = None, facts: Task | AttemptCase | None = None
) -> tuple[IntegrityFinding, ...]:
    """Every lead on one attempt, in the order of the checks; at most 200 a check.

    Args:
        trajectory: What the agent did.
        verdict: How it was judged, if it was.
        facts: The task, or a `AttemptCase` with what else is known; checks that need an unknown fact stay silent.
    """
    return findings_of(story_of(trajectory, verdict, facts))


def findings_of(story: AttemptStory) -> tuple[IntegrityFinding, ...]:
    """The same for an attempt that was read already."""
    found: list[IntegrityFinding] = []
    for check in _CHECKS:
        for number, finding in enumerate(check(story)):
            if number >= _MOST:
                break
            found.append(finding)
    return tuple(found)
