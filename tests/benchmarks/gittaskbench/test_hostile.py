"""Hostile outputs cost their own verdict and nothing else: no crash, no hang, no escape, no undeserved pass."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchmarks.gittaskbench.hostile import CORPUS
from repoassay.engine import grade_outputs
from repoassay.engine.grading_context import GradingContext
from repoassay.grading.deliverable import LIMITS
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.tasks.suite import find_suite
from repoassay.types import Outcome, Reading
from shared_data import needs_shared

pytestmark = [needs_shared, pytest.mark.exhaustive]
OWNED = [Path("/tmp/owned"), Path("/tmp/repoassay-owned")]
TASKS = sorted({(item.suite, item.task) for item in CORPUS})


def test_the_corpus_is_large() -> None:
    assert len({item.name for item in CORPUS}) >= 60


@pytest.mark.parametrize("reading", list(Reading))
@pytest.mark.parametrize("part", range(4))
def test_every_hostile_output_gets_a_verdict_and_none_passes(part: int, reading: Reading, tmp_path: Path) -> None:
    """All of them take the way of outputs made elsewhere; a fault of ours is a failure of this test."""
    wrong = []
    cache = Cache()
    for suite, task in TASKS[part::4]:
        found = find_suite(suite, only=[task])
        for item in (item for item in CORPUS if (item.suite, item.task) == (suite, task)):
            place = tmp_path / item.name / task
            place.mkdir(parents=True)
            item.write(place)
            bench = GradingContext(found.repositories, cache, open_sandbox("namespaces", cache), reading=reading)
            verdict = next(grade_outputs(found, place.parent, bench))
            good = verdict.outcome in (Outcome.FAILED, Outcome.NO_OUTPUT, Outcome.NOT_GRADABLE)
            # The published scripts accept much that is nothing; that is what they are kept for.
            good |= reading is Reading.PUBLISHED and verdict.outcome is Outcome.PASSED
            if not good or verdict.seconds > LIMITS.seconds + 10:
                wrong.append(f"{task}/{item.name}: {verdict.outcome} in {verdict.seconds} s: {verdict.comments}")
            shutil.rmtree(place)
    assert not wrong, "\n".join(wrong)
    assert not any(path.exists() for path in OWNED)
