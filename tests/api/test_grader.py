"""Patches graded from Python: one, many, without blocking, and given up."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

import repoassay as ra
from repoassay.attacks.patch_builder import diff
from repoassay.tasks.suite import find_suite
from ten_lines import STARTER

TASK = "edit-ledger-account-prefix"
MODULE = "src/pocketledger/__init__.py"
OLD = (STARTER / "repositories" / "pocketledger" / MODULE).read_text()
SLEEPS = diff(MODULE, OLD, f"{OLD}import time\ntime.sleep(1000)\n")


@pytest.fixture(scope="module")
def solution() -> str:
    (folder,) = find_suite("starter", only=[TASK]).tasks
    return (folder.solution / "changes.diff").read_text()


@pytest.fixture(scope="module")
def grader() -> Iterator[ra.Grader]:
    with ra.Grader(suite="starter", workers=2, cache=False) as found:
        yield found


def test_one_patch_many_patches_and_patches_in_a_loop(grader: ra.Grader, solution: str) -> None:
    assert grader.submit(TASK, solution).verdict.outcome is ra.Outcome.PASSED
    answers = list(grader.submit_many([(TASK, solution), (TASK, ""), (TASK, "oops")]))
    wanted = [ra.Outcome.PASSED, ra.Outcome.NO_OUTPUT, ra.Outcome.PATCH_FAILED]
    assert [answer.verdict.outcome for answer in answers] == wanted

    async def both() -> list[ra.GradedSubmission]:
        return list(await asyncio.gather(grader.asubmit(TASK, solution), grader.asubmit(TASK, "")))

    assert [answer.verdict.outcome for answer in asyncio.run(both())] == wanted[:2]


@pytest.mark.long
def test_a_patch_is_given_up_when_nobody_waits_for_it_any_more(grader: ra.Grader) -> None:
    began = time.monotonic()
    cancel = threading.Event()
    threading.Timer(1.0, cancel.set).start()
    with pytest.raises(ra.Interrupted, match="given up"):
        grader.submit(TASK, SLEEPS, cancel=cancel)

    async def impatient() -> None:
        await asyncio.wait_for(grader.asubmit(TASK, SLEEPS), 1.0)

    with pytest.raises(TimeoutError):
        asyncio.run(impatient())
    assert time.monotonic() - began < 60
    assert grader.submit(TASK, "").verdict.outcome is ra.Outcome.NO_OUTPUT


def test_a_closed_grader_takes_nothing() -> None:
    grader = ra.Grader(suite="starter", workers=1)
    grader.close()
    grader.close()
    with pytest.raises(ra.Interrupted, match="closed"):
        grader.submit(TASK, "")


def test_settings_that_cannot_be(grader: ra.Grader) -> None:
    with pytest.raises(ra.BadInput, match="Did you mean"):
        grader.submit("edit-ledger-monthyl", "")
    with pytest.raises(ra.BadInput, match="either"):
        ra.Grader()
    cases: tuple[tuple[dict[str, Any], str], ...] = (
        ({"feedback": "evrything"}, "feedback"),
        ({"workers": 0}, "workers is 0"),
        ({"repeat": 0}, "repeat is 0"),
        ({"timeout": -1}, "timeout"),
        ({"require_attested": float("nan")}, "require_attested"),
        ({"isolation": "nmespaces"}, "Did you mean namespaces"),
    )
    for settings, said in cases:
        with pytest.raises(ra.BadInput, match=said):
            ra.Grader(suite="starter", **settings)
