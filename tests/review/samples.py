"""Values that many tests of reviews begin with."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from repoassay.db import Database
from repoassay.review.answers import Answers, Context, rated
from repoassay.review.rater_accounts import Invitation, add_rater
from repoassay.review.rubric import Rubric, read_rubric
from repoassay.review.studies import create_study
from repoassay.review.study import HiddenPart, Item, ItemPayload, Study
from repoassay.types import AxisAnswer, Rating

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
RUBRIC = read_rubric("mergeable")
QUALITY = read_rubric("quality")


def later(seconds: float) -> datetime:
    """Return the clock that many seconds on."""
    return NOW + timedelta(seconds=seconds)


def answers(states: str = "ccccc", **more: Any) -> Answers:
    """Return complete answers: p problem, c clear, n not applicable, u unsure, one letter an axis in order."""
    names = {"p": "problem", "c": "no_problem", "n": "not_applicable", "u": "unsure"}
    axes = {axis.key: AxisAnswer(state=names[letter]) for axis, letter in zip(RUBRIC.axes, states, strict=True)}
    return Answers(**{"axes": axes, "minutes": 30.0, "would_merge": False} | more)


def rating(states: str = "ccccc", submission: str = "s1", rater: str = "r1", **more: Any) -> Rating:
    """Return a rating with those answers."""
    keys = {"version", "phase", "amends", "position", "id", "created", "submitted", "study"}
    place: dict[str, Any] = {"id": f"{submission}.{rater}.{more.get('version', 1)}", "study": "st"}
    place |= {"created": NOW, "submitted": later(60), "submission": submission, "rater": rater}
    place |= {key: value for key, value in more.items() if key in keys}
    given = answers(states, **{key: value for key, value in more.items() if key not in keys})
    return rated(given, RUBRIC, Context(**place))


def quality_rating(level: str, submission: str = "s1", rater: str = "r1") -> Rating:
    """Return a rating on the quality rubric."""
    given = Answers(axes={"quality": AxisAnswer(state=level)})
    place = Context(
        id=f"{submission}.{rater}", study="st", submission=submission, rater=rater, created=NOW, submitted=NOW
    )
    return rated(given, QUALITY, place)


def items(count: int = 4, systems: int = 2) -> list[Item]:
    """Return items `s0`... of as many systems, two runs a task."""
    return [
        Item(
            id=f"s{number}",
            payload=ItemPayload(title=f"Change {number}", diff="--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-1\n+2\n"),
            hidden=HiddenPart(task=f"t{number // 2}", system=f"system-{number % systems}", tests=number % 2 == 0),
        )
        for number in range(count)
    ]


def study(rubric: Rubric = RUBRIC, **more: Any) -> Study:
    """Return a study named `st`."""
    return Study(**{"name": "st", "rubric": rubric.digest} | more)


def begun(database: Database, *names: str, count: int = 4, **more: Any) -> list[Invitation]:
    """Create a study with items and raters."""
    create_study(database, study(**more), RUBRIC, items(count), at=NOW, by="lead")
    return [add_rater(database, "st", name, at=NOW) for name in names]
