"""A plain table of somebody's study, as CSV: a submission a line, 1 where an axis has a problem. METR's is bundled."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files

from pydantic import ValidationError

from repoassay.errors import BadInput
from repoassay.review.rubric import AnswerRole, Rubric, read_rubric
from repoassay.review.study import HiddenPart, Item, Study
from repoassay.text import join_names, printable
from repoassay.types import AxisAnswer, Rating

__all__ = ["Imported", "metr_example", "read_table"]

_MAX_TABLE = 64 * 2**20
_PLAIN = {"1": AnswerRole.PROBLEM, "0": AnswerRole.CLEAR, "-": AnswerRole.NOT_APPLICABLE, "?": AnswerRole.UNSURE}
_TESTS = {"pass": True, "fail": False, "": None}
_REQUIRED = ("submission", "task")


@dataclass(frozen=True, slots=True)
class Imported:
    """A study with its items and one rating a line of the table."""

    study: Study
    rubric: Rubric
    items: tuple[Item, ...]
    ratings: tuple[Rating, ...]


def metr_example() -> Imported:
    """Return the 15 reviewed changes of METR's comparison (2025-08-12) as ratings of one rater.

    Three lines are printed in its appendix (`origin` real); the other twelve are a synthetic reconstruction which
    agrees with every figure published, and say so. Would-merge and reasons were not published.
    """
    text = (files("repoassay.review") / "examples" / "metr.csv").read_text(encoding="utf-8")
    return read_table(
        text, read_rubric("mergeable"), study="metr", rater="metr", when=datetime(2025, 8, 12, tzinfo=UTC)
    )


def read_table(
    text: str, rubric: Rubric, *, study: str, rater: str, when: datetime, system: str = "", name: str = "table"
) -> Imported:
    """Read a table of ratings.

    Args:
        text: CSV with a header. Columns: `submission` and `task`; each axis by its key, holding a state of its scale or
            1 (problem), 0 (no problem), - (not applicable), ? (unsure); and if wanted `tests` (pass, fail or empty),
            `minutes`, `would_merge` (yes, no or empty), `rater`, `system`, `origin`, `notes`.
        rubric: Whose axes the columns name.
        study: What to call the study.
        rater: Who rated, where the table has no column of that name.
        when: When the ratings were made.
        system: What made the submissions, where the table does not say.
        name: What to call the table in errors.

    Raises:
        BadInput: In one sentence naming the line.
    """
    if len(text) > _MAX_TABLE:
        raise BadInput(f"{printable(name)} is larger than {_MAX_TABLE:,} characters.", "Split it.")
    try:
        rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as error:
        raise BadInput(
            f"{printable(name)} is no CSV that can be read: {printable(str(error))}.", "Write it anew."
        ) from None
    axes = [axis.key for axis in rubric.axes]
    absent = [key for key in (*_REQUIRED, *axes) if rows and key not in rows[0]]
    if absent or not rows:
        raise BadInput(
            f"{printable(name)} has no column {join_names(absent)}." if rows else f"{printable(name)} has no lines."
        )
    items: dict[str, Item] = {}
    ratings: list[Rating] = []
    turns: dict[str, int] = {}
    for number, row in enumerate(rows, 2):
        place = f"{printable(name)}, line {number}"
        try:
            item = _item(row, system, place)
            if items.setdefault(item.id, item) != item:
                raise BadInput(
                    f"{place}: {item.id!r} was another task, system or result before.", "Correct one of both."
                )
            ratings.append(_rating(row, rubric, axes, study, rater, when, number - 1, place))
            who = ratings[-1].rater
            turns[who] = turns.get(who, 0) + 1
            ratings[-1] = ratings[-1].model_copy(update={"position": turns[who]})
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            key = ".".join(map(str, first["loc"]))
            raise BadInput(
                f"{place}: {printable(key)}: {printable(str(first['msg']), 200)}.", "Correct that cell."
            ) from None
    named = Study(name=study, rubric=rubric.digest)
    return Imported(named, rubric, tuple(items.values()), tuple(ratings))


def _item(row: dict[str, str], system: str, place: str) -> Item:
    tests = _cell(row, "tests").lower()
    if tests not in _TESTS:
        raise BadInput(f"{place}: tests is {printable(tests)!r}.", "Write pass, fail or nothing.")
    hidden = HiddenPart(
        task=_cell(row, "task"),
        system=_cell(row, "system") or system,
        tests=_TESTS[tests],
        origin=_cell(row, "origin"),
    )
    return Item(id=_cell(row, "submission"), hidden=hidden)


def _rating(
    row: dict[str, str],
    rubric: Rubric,
    axes: Sequence[str],
    study: str,
    rater: str,
    when: datetime,
    number: int,
    place: str,
) -> Rating:
    states = {axis: _state(_cell(row, axis), axis, rubric, place) for axis in axes}
    would_merge = _cell(row, "would_merge").lower()
    if would_merge not in {"yes", "no", ""}:
        raise BadInput(f"{place}: would_merge is {printable(would_merge)!r}.", "Write yes, no or nothing.")
    try:
        minutes = float(_cell(row, "minutes")) if _cell(row, "minutes") else None
    except ValueError:
        raise BadInput(f"{place}: minutes is {printable(_cell(row, 'minutes'))!r}.", "Write a number.") from None
    who = _cell(row, "rater") or rater
    return Rating(
        id=f"{study}.{number}",
        study=study,
        submission=_cell(row, "submission"),
        rater=who,
        rubric=rubric.digest,
        axes={axis: AxisAnswer(state=state) for axis, state in states.items()},
        minutes=minutes,
        would_merge={"yes": True, "no": False}.get(would_merge),
        mergeable=rubric.mergeable(states),
        notes=_cell(row, "notes"),
        created=when,
        submitted=when,
    )


def _state(cell: str, axis: str, rubric: Rubric, place: str) -> str:
    levels = rubric.levels(axis)
    exact = [level.key for level in levels if level.key == cell]
    by_role = [level.key for level in levels if level.role is _PLAIN.get(cell)]
    if not exact and len(by_role) != 1:
        known = ", ".join(level.key for level in levels)
        raise BadInput(f"{place}: {axis} is {printable(cell)!r}.", f"Write 1, 0, - or ?, or one of {known}.")
    return (exact or by_role)[0]


def _cell(row: dict[str, str], key: str) -> str:
    # A short line leaves cells None.
    return (row.get(key) or "").strip()
