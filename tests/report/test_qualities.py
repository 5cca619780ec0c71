from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from repoassay.economics import Quality
from repoassay.economics.quality import QualityRule, QualitySource
from repoassay.errors import BadInput
from repoassay.report.qualities import reviewed_qualities
from repoassay.review.adjudication import Adjudication, DisagreementCause
from repoassay.review.adjudication_store import settle
from repoassay.review.answers import Answers
from repoassay.review.database import open_database
from repoassay.review.leases import open_item
from repoassay.review.rater_accounts import add_rater
from repoassay.review.studies import create_study
from repoassay.review.study import HiddenPart, Item, ItemPayload
from repoassay.review.submitting import submit
from repoassay.types import AxisAnswer
from review.samples import NOW, QUALITY, RUBRIC, items, later, study

LEVELS = {"s0": ("1", "1", "0.75"), "s1": ("0", "0.5", "1"), "s2": ("0", "0.25", "0.75")}


@pytest.fixture
def place(tmp_path: Path) -> str:
    """A database in which three people rated three of four items; the third was settled."""
    path = str(tmp_path / "reviews.sqlite")
    database = open_database(path)
    shown = [
        Item(
            id=f"s{number}", payload=ItemPayload(title="x"), hidden=HiddenPart(task=f"t{number}", attempt=f"A{number}")
        )
        for number in range(4)
    ]
    create_study(database, study(QUALITY), QUALITY, shown, at=NOW, by="lead")
    create_study(database, study(name="merge"), RUBRIC, shown, at=NOW, by="lead")
    for number in range(3):
        rater = add_rater(database, "st", f"r{number}", at=NOW).rater
        for item, levels in LEVELS.items():
            open_item(database, rater, item, later(1))
            given = Answers(axes={"quality": AxisAnswer(state=levels[number])})
            submit(database, rater, item, given, key=f"{item}-{number}-key", now=later(2))
    decided = {"axis": "quality", "state": "0.75", "cause": DisagreementCause.RATER_ERROR, "by": "lead", "at": later(3)}
    settle(database, "st", Adjudication.model_validate({"item": "s2", **decided}))
    database.close()
    return path


def test_quality_is_what_people_said_or_settled(place: str) -> None:
    found = reviewed_qualities(place)
    assert set(found) == {"A0", "A1", "A2"}
    assert (found["A0"].level, found["A0"].rule) == (Decimal(1), QualityRule.MAJORITY)
    assert (found["A1"].level, found["A1"].rule) == (Decimal("0.5"), QualityRule.MEDIAN)
    ratings = tuple((f"r{number}", Decimal(level)) for number, level in enumerate(LEVELS["s2"]))
    assert found["A2"] == Quality(Decimal("0.75"), QualityRule.ADJUDICATED, QualitySource.REVIEWED, found["A2"].ratings)
    assert [level for _, level in found["A2"].ratings] == [level for _, level in ratings]
    assert not found["A2"].flagged


def test_what_holds_no_quality_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"is not a file"):
        reviewed_qualities(str(tmp_path / "none"))
    database = open_database(tmp_path / "other.sqlite")
    create_study(database, study(), RUBRIC, items(1), at=NOW, by="lead")
    database.close()
    assert reviewed_qualities(str(tmp_path / "other.sqlite")) == {}
