"""Rewards of real patches: attested or nothing, as trainers call for them, and what is said and counted."""

from __future__ import annotations

import asyncio
import logging
import math
import pickle
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from repoassay.attacks import aim, select_attacks
from repoassay.attacks.patch_builder import diff
from repoassay.errors import BadInput, InfraFault, Interrupted
from repoassay.rewards import Reward
from repoassay.tasks.suite import find_suite
from repoassay.types import Outcome
from ten_lines import STARTER

TASK = "edit-ledger-monthly"
TESTS = 13
(FOLDER,) = find_suite("starter", only=[TASK]).tasks
SOLUTION = (FOLDER.solution / "changes.diff").read_text()
USELESS = diff("note.txt", None, "nothing of use\n").decode()
TARGET = aim(FOLDER, STARTER / "repositories/pocketledger")
FORGED = [attack.make(TARGET).decode() for attack in select_attacks(["early exit", "pytest"]) if attack.fits(TARGET)][
    :4
]


def fenced(patch: str) -> str:
    return f"I did it.\n```diff\n{patch}```\n"


@pytest.fixture(scope="module")
def reward() -> Iterator[Reward]:
    with Reward(suite="starter", workers=2) as found:
        yield found


def test_only_an_attested_pass_is_rewarded(reward: Reward) -> None:
    assert len(FORGED) == 4
    completions = [fenced(SOLUTION), SOLUTION, fenced(USELESS), "I did it.", *map(fenced, FORGED)]
    said: dict[str, float] = {}
    extra: dict[str, list[str]] = {}
    given = reward(
        ["..."] * 8, completions, task=[TASK] * 8, completion_ids=[], log_metric=said.__setitem__,
        log_extra=extra.__setitem__,
    )  # fmt: skip
    assert given == [1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    assert said["repoassay/attested"] == 0.25 and said["repoassay/no_patch"] == 0.125
    assert said["repoassay/failed"] + said["repoassay/tampering"] == 0.625
    assert extra["verdict"][:4] == ["passed", "passed", "failed", "no_output"]
    found = reward.metrics()
    assert found["completions"] >= 8 and 0 < found["reward"] < 1 and found["suspected"] == found["tampering"]


def test_messages_verl_and_the_event_loop_give_the_same(reward: Reward) -> None:
    chat = [[{"role": "assistant", "content": fenced(patch)}] for patch in (SOLUTION, USELESS)]
    assert reward([None] * 2, chat, task=[TASK] * 2) == [1.0, 0.0]
    assert asyncio.run(reward.acall([None] * 2, chat, task=[TASK] * 2)) == [1.0, 0.0]
    one = reward.compute_score("starter", SOLUTION, TASK, {"index": 3}, reward_router_address="here")
    assert one == {"score": 1.0, "attested": 1.0, "suspected": 0.0, "fault": 0.0}
    many = reward.compute_scores(
        data_sources=["starter"] * 2, solution_strs=[SOLUTION, USELESS], ground_truths=["", TASK],
        extra_infos=[{"task": TASK}, {}],
    )  # fmt: skip
    assert [each["score"] for each in many] == [1.0, 0.0]
    assert reward.compute_scores([], [], []) == []


def test_the_same_patch_is_graded_and_charged_once(reward: Reward) -> None:
    reward.score([(TASK, SOLUTION)])
    before = reward.left(TASK)
    (again,) = reward.score([(TASK, fenced(SOLUTION))])
    assert again.repeated and again.attested and again.reward == 1.0
    assert reward.left(TASK) == before
    reward.score([(TASK, diff("other.txt", None, f"{before}\n").decode())])
    assert reward.left(TASK) < before


def test_a_pass_that_is_not_attested_earns_nothing_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    with (
        caplog.at_level(logging.WARNING, "repoassay.rewards"),
        Reward(suite="starter", require_attested=1000, workers=1) as strict,
    ):
        (found,) = strict.score([(TASK, SOLUTION)])
        assert (found.outcome, found.attested, found.reward) == (Outcome.PASSED, False, 0.0)
        assert "cannot be told from a forged one and earns 0." in found.why
        assert strict.metrics()["suspected"] == strict.metrics()["unattested"] == 1.0
        strict.score([(TASK, SOLUTION)])
    assert [each.getMessage() for each in caplog.records].count(f"{TASK}: {found.why}") == 1
    with Reward(suite="starter", require_attested=1000, unattested=None, workers=1) as masked:
        assert masked([None], [SOLUTION], task=[TASK]) == [None]
        with pytest.raises(InfraFault, match="cannot leave a completion out"):
            masked.compute_score("starter", SOLUTION, TASK)


def test_partial_credit_is_the_share_of_attested_tests() -> None:
    broken = diff("src/pocketledger/reports.py", None, "raise SystemExit(0)\n").decode()
    half = SOLUTION.replace("Decimal(0)", "0.0") if "Decimal(0)" in SOLUTION else SOLUTION.replace("__all__", "__alt__")
    assert half != SOLUTION
    with Reward(suite="starter", partial="tests", workers=2) as partial:
        worth = partial.left(TASK)
        scores = partial.score([(TASK, each) for each in (SOLUTION, USELESS, broken, half, *FORGED)])
        assert [each.reward for each in scores[:3]] == [1.0, 0.0, 0.0]
        some = scores[3].reward
        assert some is not None and 0 < some < 1 and (some * TESTS) == pytest.approx(round(some * TESTS))
        assert not any(each.reward for each in scores[4:])
        charged = sum(each.outcome in (Outcome.PASSED, Outcome.FAILED, Outcome.TAMPERING) for each in scores)
        assert partial.left(TASK) == pytest.approx(worth - charged * math.log2(1 + TESTS))
        assert partial.metrics()["partial"] == pytest.approx(1 / len(scores))


@pytest.fixture
def unsound(tmp_path: Path) -> Path:
    """A suite of one task whose solution does not pass, so that nobody is judged by it."""
    place = tmp_path / "unsound"
    shutil.copytree(
        STARTER, place, ignore=lambda folder, names: [n for n in names if folder.endswith("tasks") and n != TASK]
    )
    (place / "tasks" / TASK / "solution" / "changes.diff").write_text(USELESS)
    return place


@pytest.mark.long
def test_a_fault_of_ours_is_never_a_zero(unsound: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "repoassay.rewards"), Reward(suite=unsound, retries=1, workers=1) as skips:
        assert skips([None], [SOLUTION], task=[TASK]) == [None]
        assert skips.metrics()["faults"] == 1.0 and skips.left(TASK) == 0.0
        with pytest.raises(InfraFault, match="has no reward"):
            skips.compute_score("starter", SOLUTION, TASK)
    assert any("could not be judged" in each.getMessage() for each in caplog.records)
    with Reward(suite=unsound, retries=0, on_fault="nan", workers=1) as number:
        (given,) = number([None], [SOLUTION], task=[TASK])
        assert given is not None and math.isnan(given)
        assert number.compute_score("starter", SOLUTION, TASK)["fault"] == 1.0
    strict = Reward(suite=unsound, retries=0, on_fault="raise", workers=1)
    with strict, pytest.raises(InfraFault, match="could not be judged"):
        strict([None], [SOLUTION], task=[TASK])


def test_another_process_goes_on_with_the_account(tmp_path: Path, reward: Reward) -> None:
    with Reward(suite="starter", ledger=tmp_path / "told.sqlite", workers=1) as first:
        first.score([(TASK, SOLUTION), (TASK, USELESS)])
        copy = pickle.loads(pickle.dumps(first))
    with copy:
        assert copy.score([(TASK, USELESS)])[0].repeated
    with pytest.raises(BadInput, match="ledger=FILE"):
        pickle.dumps(reward)


def test_settings_and_columns_that_cannot_be(reward: Reward) -> None:
    settings: tuple[tuple[str, Any], ...] = (
        ("require_attested", 0), ("unattested", 2.0), ("partial", "all"), ("on_fault", "zero"), ("retries", -1),
        ("feedback", "full"),
    )  # fmt: skip
    for name, value in settings:
        with pytest.raises(BadInput, match=name):
            Reward(suite="starter", **{name: value})
    with pytest.raises(BadInput, match="column 'task'"):
        reward([None], [SOLUTION], id=[TASK])
    with pytest.raises(BadInput, match="Did you mean edit-ledger-monthly"):
        reward([None] * 2, [USELESS, SOLUTION], task=[TASK, "edit-ledger-monthyl"])
    with pytest.raises(BadInput, match="startr"):
        Reward(suite="startr")
    closed = Reward(suite="starter", workers=1)
    closed.close()
    with pytest.raises((Interrupted, RuntimeError)):
        closed.score([(TASK, SOLUTION)])
