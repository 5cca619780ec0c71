"""A verdict as the score of a sample in Inspect's logs, and read back out of one."""

from __future__ import annotations

import math
from typing import Any

from repoassay.agents import mapping
from repoassay.interchange.foreign_run import ReportedResult
from repoassay.text import printable
from repoassay.types import Attribution, Outcome, TestResult, Verdict

__all__ = ["CORRECT", "INCORRECT", "score_of_verdict", "told_result", "told_verdict"]

CORRECT, INCORRECT = "C", "I"
_OWN = "repoassay"
"""The key of a score's metadata under which a verdict of ours stands whole."""
_MOST_TESTS = 2000
_KEPT = ("outcome", "process", "result", "reading", "grader", "comments", "assurance", "criteria", "tests")


def score_of_verdict(verdict: Verdict, diff: bytes = b"") -> dict[str, Any]:
    """The fields of a `Score`: value, reason, explanation and metadata.

    The value is NaN, by which Inspect leaves a sample out of its figures, where the outcome is not the agent's doing.

    Args:
        verdict: The verdict.
        diff: What was handed in, where that changes a repository.
    """
    ours = verdict.outcome.whose is not Attribution.AGENT
    value: str | float = CORRECT if verdict.outcome is Outcome.PASSED else INCORRECT
    whole = verdict.model_copy(update={"tests": verdict.tests[:_MOST_TESTS]}).model_dump(mode="json", include={*_KEPT})
    metadata: dict[str, Any] = {_OWN: whole}
    if diff:
        metadata["diff"] = diff.decode("utf-8", "replace")
    return {
        "value": math.nan if ours else value,
        "reason": verdict.outcome.value if ours else None,
        "explanation": "\n".join(_explained(verdict)),
        "metadata": metadata,
    }


def _explained(verdict: Verdict) -> list[str]:
    """What came of it, and why, as lines that may be shown anywhere."""
    lines = [f"{verdict.outcome.value.replace('_', ' ')}, judged by {printable(verdict.grader, 200)}"]
    if verdict.assurance is not None:
        lines.append(f"assurance: {verdict.assurance.grade}, {verdict.assurance.bits:g} bits")
    if verdict.tests:
        passed = sum(test.outcome == "passed" for test in verdict.tests)
        lines.append(f"{passed} of {len(verdict.tests)} hidden tests passed")
        bad = [test for test in verdict.tests if test.outcome != "passed"][:20]
        lines += [f"{test.outcome}: {printable(test.id, 200)}" for test in bad]
    for item in verdict.criteria[:50]:
        state = {True: "met", False: "not met", None: "unknown"}[item.passed]
        lines.append(f"{printable(item.metric, 80)} of {printable(item.of, 120)}, {item.threshold}: {state}")
    return lines + [printable(line, 2000) for line in verdict.comments[:20]]


def told_verdict(score: dict[str, Any]) -> dict[str, Any]:
    """What a score of ours says of its verdict; empty of a score by anybody else. As hostile as its file."""
    return mapping(score, "metadata", _OWN)


def told_result(score: dict[str, Any]) -> ReportedResult | None:
    """The verdict that a score of ours tells, as a report; None of a score by anybody else."""
    verdict = told_verdict(score)
    try:
        outcome = Outcome(str(verdict.get("outcome")))
        tests = tuple(TestResult.model_validate(test) for test in verdict.get("tests") or ())
    except (ValueError, TypeError):
        return None
    passed = outcome is Outcome.PASSED if outcome.whose is Attribution.AGENT else None
    by = str(verdict.get("grader") or "the writer").removesuffix(" (reported)")
    lines = verdict.get("comments")
    comments = tuple(str(line)[:2000] for line in lines[:20]) if isinstance(lines, list) else ()
    here = () if passed else (f"The outcome was {outcome.value}.",)
    return ReportedResult(passed, by, tests=tests, comments=(*here, *comments))
