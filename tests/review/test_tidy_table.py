from __future__ import annotations

from pathlib import Path

import pytest

from repoassay.db import Database
from repoassay.errors import BadInput
from repoassay.review.comments import add_comment
from repoassay.review.leases import open_item
from repoassay.review.submitting import submit
from repoassay.review.tidy_files import read_tidy_rows, write_tidy_rows
from repoassay.review.tidy_table import study_records, tidy_rows
from repoassay.types import Anchor
from review.samples import NOW, answers, begun, later


@pytest.mark.by_day(2)
@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_table_comes_back_exactly_with_the_text_of_comments(database: Database, tmp_path: Path, ending: str) -> None:
    if ending == "parquet":
        pytest.importorskip("pyarrow", reason="needs pyarrow")
    rater = begun(database, "Ada")[0].rater
    open_item(database, rater, "s1", now=later(5))
    place = Anchor(path="a/x.py", line=1, end_line=2, quote="=1+1")
    add_comment(database, rater, "s1", place, '=cmd, a "quoted"\r\nline', now=later(6), axis="core")
    submit(database, rater, "s1", answers("pcnuc", notes="'so"), key="12345678", now=later(60))
    rows = tidy_rows(study_records(database, "st"))
    path = tmp_path / f"st.{ending}"
    write_tidy_rows(rows, path)
    assert tuple(row for _, row in read_tidy_rows(path)) == rows
    said = next(row for row in rows if row["record"] == "comment")
    assert (said["comment"], said["file"], said["line"]) == ('=cmd, a "quoted"\r\nline', "a/x.py", 1)
    core = next(row for row in rows if row["record"] == "answer" and row["axis"] == "core")
    assert (core["answer"], core["role"], core["tests"], core["system"]) == ("problem", "problem", "failed", "system-1")
    assert (core["opened_at"], core["submitted_at"]) == (later(5), later(60)) and later(0) == NOW


def test_a_damaged_cell_is_named(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("item,line\r\na,1\r\nb,one\r\n")
    with pytest.raises(BadInput, match="row 3, column line: 'one' is no whole number"):
        list(read_tidy_rows(tmp_path / "t.csv"))
