"""A study that leaves as a table and comes back is the same study; a damaged table is refused in one sentence."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from repoassay.db import Database
from repoassay.errors import BadInput
from repoassay.review.adjudication import Adjudication, DisagreementCause
from repoassay.review.adjudication_store import settle
from repoassay.review.comments import add_comment
from repoassay.review.database import open_database
from repoassay.review.figures_document import study_figures
from repoassay.review.leases import open_item
from repoassay.review.plan_store import amend_plan, decide_item
from repoassay.review.study import Reveal
from repoassay.review.study_import import keep_records
from repoassay.review.submitting import submit
from repoassay.review.tidy_files import read_tidy_rows, write_tidy_rows
from repoassay.review.tidy_import import records_of_table
from repoassay.review.tidy_table import study_records, tidy_rows
from repoassay.types import Anchor, AxisAnswer, RatingPhase
from review.samples import RUBRIC, answers, begun, later

TEXT = "=cmd|' /C calc'!A0, \"said\"\r\nsecond\nthird \u2028 \U0001f600"


def rated_study(database: Database) -> None:
    """Make a study with all that a table may hold."""
    phases = (RatingPhase.BLIND, RatingPhase.REVEALED)
    people = [
        each.rater for each in begun(database, "Ada", "'Ben", count=6, phases=phases, reveal=Reveal.AFTER_SUBMISSION)
    ]
    place = Anchor(path="a/x.py", side="old", line=3, end_line=4, quote="'tis\r\n")
    for person, states in ((people[0], "pcnuc"), (people[1], "ccncc")):
        for item in ("s0", "s1", "s4"):
            open_item(database, person, item, now=later(5))
            given = answers(states, notes=TEXT, minutes=17.25, active_seconds=3.5, wall_seconds=61.0, confidence=4)
            axes = given.axes | {"core": AxisAnswer(state=given.axes["core"].state, evidence=(place,))}
            submit(database, person, item, given.model_copy(update={"axes": axes}), key=f"key-of-{item}", now=later(60))
    add_comment(database, people[0], "s1", place, TEXT, now=later(6), axis="core")
    add_comment(database, people[0], "s1", place, "after", now=later(70))
    submit(
        database, people[0], "s1", answers("ccccc"), key="amended-1", now=later(80), phase=RatingPhase.REVEALED
    )  # fmt: skip
    settled = Adjudication(
        item="s0", axis="core", state="problem", cause=DisagreementCause.RATER_ERROR, by="lead", at=later(90), notes="-"
    )
    settle(database, "st", settled)
    decide_item(database, "st", "s4", included=False, reason="leak", at=later(91), actor="lead")
    amend_plan(database, "st", author="L", change="fewer", reason="ill", at=later(92), actor="lead")


def imported(path: Path, folder: Path) -> Database:
    """Import a table into a new database."""
    database = open_database(folder / "copy.sqlite")
    records = records_of_table(read_tidy_rows(path), rubric=RUBRIC, now=later(0))
    keep_records(database, records, at=later(100), actor="import")
    return database


@pytest.mark.by_day(3)
@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_the_export_of_an_import_is_the_table(database: Database, tmp_path: Path, ending: str) -> None:
    if ending == "parquet":
        pytest.importorskip("pyarrow", reason="needs pyarrow")
    rated_study(database)
    path, again = tmp_path / f"st.{ending}", tmp_path / f"again.{ending}"
    write_tidy_rows(tidy_rows(study_records(database, "st")), path)
    copy = imported(path, tmp_path)
    write_tidy_rows(tidy_rows(study_records(copy, "st")), again)
    assert again.read_bytes() == path.read_bytes()
    for phase in RatingPhase:
        assert study_figures(copy, "st", phase).to_dict() == study_figures(database, "st", phase).to_dict()
    with pytest.raises(BadInput, match="already a study 'st'"):
        keep_records(copy, study_records(database, "st"), at=later(1), actor="")
    copy.close()


def test_a_table_from_elsewhere_needs_five_columns(tmp_path: Path) -> None:
    lines = ["item,task,rater,axis,answer"]
    for rater in ("r1", "r2"):
        lines += [f"i1,t1,{rater},{axis.key},no_problem" for axis in RUBRIC.axes]
        lines += [f"i1,t1,{rater},minutes,12", f"i1,t1,{rater},would_merge,yes"]
    (tmp_path / "own.csv").write_text("\n".join(lines) + "\n")
    records = records_of_table(read_tidy_rows(tmp_path / "own.csv"), rubric=RUBRIC, name="own", now=later(0))
    assert [(each.minutes, each.would_merge, each.mergeable) for each in records.ratings] == [(12.0, True, True)] * 2


def test_names_with_dots_and_long_ones_are_told_apart(tmp_path: Path) -> None:
    pairs = [("a", "b.c"), ("a.b", "c"), ("i" * 64, "r" * 64), ("i" * 64, "r" * 63)]
    lines = ["item,task,rater,axis,answer"]
    lines += [f"{item},t1,{rater},{axis.key},no_problem" for item, rater in pairs for axis in RUBRIC.axes]
    (tmp_path / "own.csv").write_text("\n".join(lines) + "\n")
    given = [records_of_table(read_tidy_rows(tmp_path / "own.csv"), rubric=RUBRIC, now=later(0)) for _ in range(2)]
    assert [(each.submission, each.rater) for each in given[0].ratings] == pairs
    assert len({each.id for each in given[0].ratings}) == 4 and given[0].ratings == given[1].ratings


BROKEN: dict[str, tuple[tuple[str, str | None], dict[str, Any], str]] = {
    "another state": (("answer", "core"), {"answer": "perhaps"}, "column answer: 'perhaps' is no state of core"),
    "digits in groups": (("answer", "minutes"), {"answer": "1_0"}, "column answer: '1_0' is no number"),
    "an axis unknown": (("answer", "core"), {"axis": "kore"}, "column axis: 'kore' is no axis"),
    "a value that does not follow": (("answer", "minutes"), {"value": 3.0}, "column value: '3.0', but"),
    "derived otherwise": (("answer", "mergeable"), {"answer": "yes"}, "column answer: 'yes', but"),
    "a record unknown": (("answer", "core"), {"record": "vote"}, "column record: 'vote' is none"),
    "an item of two tasks": (("answer", "core"), {"task": "t9"}, "column task: 't9', but 't0' on a row"),
    "a name that is a path": (("item", None), {"item": "../../etc"}, "column item: '../../etc' is no name"),
    "a line of no number": (("comment", "core"), {"line": "x"}, "column line: 'x' is no whole number"),
    "ends before it begins": (("comment", "core"), {"end_line": 1}, "column file: evidence ends on line 1"),
    "a plan of another digest": (("answer", "core"), {"plan_hash": "0" * 64}, "column plan_hash: '000"),
    "settings that are none": (("study", None), {"answer": "[[[["}, "column answer: no settings"),
    "not the last": (("answer", "core"), {"last": False}, "column last: "),
    "a comment of another phase": (("comment", "core"), {"phase": "revealed"}, "column phase: 'revealed', but"),
    "too long": (("comment", "core"), {"comment": "a" * 10_001}, "column comment: longer than 10,000"),
    "half a pair": (("comment", "core"), {"comment": "\ud800"}, "column comment: .* is no text"),
    "a column unknown": (("item", None), {"sytem": "a"}, "'sytem' is no column.*system"),
    "a control unknown": (("item", None), {"control": "fine"}, "column control: "),
}


@pytest.mark.by_day(10)
@pytest.mark.parametrize("name", BROKEN)
def test_a_damaged_table_is_refused_naming_row_and_column(database: Database, tmp_path: Path, name: str) -> None:
    rated_study(database)
    path = tmp_path / "st.jsonl"
    write_tidy_rows(tidy_rows(study_records(database, "st")), path)
    (record, axis), change, expected = BROKEN[name]
    rows: list[dict[str, Any]] = [json.loads(line) for line in path.read_text().split("\n") if line]
    at = next(n for n, row in enumerate(rows) if row["record"] == record and row["axis"] == axis)
    # Cells of a rating or item are told on every row of it; changed on one they contradict the others.
    wanted = rows[at]["rating"] if name == "not the last" else None
    for row in rows:
        if row is rows[at] or (wanted and row["rating"] == wanted) or (record == "item" == row["record"] != name):
            row.update(change if row is rows[at] or wanted else {})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(BadInput, match=f"st.jsonl, row [0-9]+[,:].*{expected}"):
        list(tidy_rows(records_of_table(read_tidy_rows(path), rubric=RUBRIC, now=later(0))))


@pytest.mark.parametrize(
    "data", [b"", b"\0\0", b'item\r\n"a', b"item,item\r\n", b"\xff\xfe", b"PAR1PAR1", b"{", b"[1]\n"]
)
@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_what_is_no_table_is_refused(tmp_path: Path, data: bytes, ending: str) -> None:
    if ending == "parquet":
        pytest.importorskip("pyarrow", reason="needs pyarrow")
    path = tmp_path / f"t.{ending}"
    path.write_bytes(data)
    with pytest.raises(BadInput):
        records_of_table(read_tidy_rows(path), rubric=RUBRIC, now=later(0))


def test_a_row_of_several_lines_is_named_by_both_counts(tmp_path: Path) -> None:
    with (tmp_path / "t.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([["item", "comment", "line"], ["a", "x\ny", "1"], ["b", "", "one"]])
    with pytest.raises(BadInput, match=r"row 3 \(line 4\), column line: 'one'"):
        list(read_tidy_rows(tmp_path / "t.csv"))
