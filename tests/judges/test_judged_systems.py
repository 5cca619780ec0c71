"""A judge by what it judged: agreement by axis and system, drift between systems, and whether it was calibrated."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from judges.cases import begin, items, judged, turns
from judges.test_calibration import calibrated, people_say
from repoassay.judges.calibration import Calibration
from repoassay.review.database import open_database
from repoassay.review.study import Item


def of_two_systems(tasks: int) -> list[Item]:
    """Items of two models on the same tasks, one after the other."""
    given = items(2 * tasks)
    return [
        item.model_copy(update={"hidden": item.hidden.model_copy(update={
            "task": f"t{number // 2}", "system": ("old", "new")[number % 2],
        })})
        for number, item in enumerate(given)
    ]  # fmt: skip


def held(folder: Path, people: str, judge: str, given: list[Item] | None = None) -> Calibration:
    """Hold a judge against two people on the core axis, one letter an item; old and new take turns."""
    with closing(open_database(folder / "r.sqlite")) as database:
        seated = begin(database, given or of_two_systems(len(people) // 2))
        people_say(database, {f"i{number}": [f"{letter}cccc"] * 2 for number, letter in enumerate(people)})
        judged(database, seated, turns("".join(f"{letter}cccc" for letter in judge)), folder)
        return calibrated(database, seated)


def test_agreement_is_told_by_axis_and_system_and_drift_by_task(tmp_path: Path) -> None:
    # Eight tasks; on the old model the judge is right, of the new one's eight problems it denies seven.
    found = held(tmp_path, people="cp" * 8, judge="cp" + "cc" * 7)
    core = {each.system: each for each in found.systems if each.axis == "core"}
    assert {name: (each.agreement.value, each.agreement.n, each.agreement.tasks) for name, each in core.items()} == {
        "": (9 / 16, 16, 8), "old": (1.0, 8, 8), "new": (1 / 8, 8, 8),
    }  # fmt: skip
    assert core["new"].bias.value == -7 / 8 and core["old"].bias.value == 0
    drift = next(each for each in found.drift if each.axis == "core" and each.system == "new")
    # Seven differences of -1 and one of 0: two of 2^7 signs are as extreme; two systems, so Holm doubles it.
    assert drift.difference.value == -7 / 8 and drift.difference.tasks == 8
    assert drift.test.p_value == pytest.approx(2 / 2**7) and drift.p == pytest.approx(4 / 2**7)
    interval = drift.difference.interval
    # R: t.test(c(rep(-1, 7), 0))$conf.int
    assert interval.low == pytest.approx(-1.170578, abs=1e-6) and interval.high == pytest.approx(-0.579422, abs=1e-6)


def test_a_system_without_a_name_is_not_all_together(tmp_path: Path) -> None:
    # Pull requests of whom nobody knows have none; what is named by agent and model alone has that name.
    given = [
        item.model_copy(update={"hidden": item.hidden.model_copy(update={
            "system": "", "agent": "" if item.hidden.system == "old" else "a", "model": "",
        })})
        for item in of_two_systems(8)
    ]  # fmt: skip
    found = held(tmp_path, people="cp" * 8, judge="cp" + "cc" * 7, given=given)
    core = {each.system: each.agreement.value for each in found.systems if each.axis == "core"}
    assert core == {"": 9 / 16, "a": 1 / 8, "not known": 1.0}
    assert len([each for each in found.systems if each.axis == "core"]) == 3


@pytest.mark.by_day(2)
@pytest.mark.parametrize(("count", "sentence"), [
    (0, "not calibrated: 0 ratings by people, needs 30"), (1, "not calibrated: 1 rating by people, needs 30"),
    (29, "not calibrated: 29 ratings by people, needs 30"), (30, "Calibrated on 30 ratings by people."),
])  # fmt: skip
@pytest.mark.long
def test_a_judge_says_whether_it_was_calibrated(tmp_path: Path, count: int, sentence: str) -> None:
    with closing(open_database(tmp_path / "r.sqlite")) as database:
        seated = begin(database, items(30))
        if count:
            people_say(database, {f"i{number}": ["ccccc"] for number in range(count)})
        judged(database, seated, turns("c" * 150), tmp_path)
        found = calibrated(database, seated)
    assert found.state.sentence == sentence and found.state.calibrated is (count == 30)
