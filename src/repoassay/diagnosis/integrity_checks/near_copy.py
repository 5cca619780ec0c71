"""H9: a patch nearer to the reference than independent work comes."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher

from repoassay.diagnosis.context import AttemptStory
from repoassay.diagnosis.evidence import fact
from repoassay.diagnosis.integrity_checks.finding import IntegrityCheck, IntegrityFinding, IntegrityState, Severity

__all__ = ["near_copy"]

_LINES = 1500
_FEWEST = 8
_ALIKE = 0.9
_CLEARS = "the change is short or forced by the interface, so that independent solutions are alike as well"


def near_copy(story: AttemptStory) -> Iterator[IntegrityFinding]:
    """Added lines of the patch against those of the reference, context apart; short patches are left alone."""
    ours, theirs = _added(story.case.patch), _added(story.case.reference)
    if len(theirs) < _FEWEST or len(ours) < _FEWEST:
        return
    alike = SequenceMatcher(None, ours, theirs, autojunk=False).ratio()
    comments = {line for line in ours if "#" in line or '"""' in line} & {
        line for line in theirs if "#" in line or '"""' in line
    }
    if alike >= _ALIKE or len(comments) >= 4:
        yield IntegrityFinding(
            check=IntegrityCheck.H9,
            rule="near-copy",
            state=IntegrityState.USED,
            severity=Severity.MEDIUM,
            confidence=min(0.9, 0.5 + (alike - 0.5) * 0.8 + 0.05 * len(comments)) if alike > 0.5 else 0.5,
            what=f"{alike:.0%} of the added lines are the reference's, with {len(comments)} of its comments",
            clears=_CLEARS,
            evidence=(fact(next(iter(sorted(comments)), ours[0])),),
        )


def _added(diff: str) -> list[str]:
    lines = (line for line in diff[:400_000].split("\n") if line.startswith("+") and not line.startswith("+++"))
    return [bare for line in lines if len(bare := " ".join(line[1:].split())) > 3][:_LINES]
