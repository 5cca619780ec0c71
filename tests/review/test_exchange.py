from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from repoassay.errors import BadInput, MissingExtra
from repoassay.review.exchange import (
    ratings_from_csv,
    ratings_from_jsonl,
    ratings_to_csv,
    ratings_to_jsonl,
    read_ratings,
    write_ratings,
)
from repoassay.types import Anchor, AxisAnswer, Rating, RatingPhase
from review.samples import NOW, rating

NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,8}", fullmatch=True)
TEXTS = st.text(max_size=30) | st.sampled_from(
    ["=1+1", "'", "''=x", "-3", "@a", "\r\n", 'a,b"c', "\u2028", "\x00", " x "]
)
NUMBERS = st.floats(0, 10**5, allow_nan=False)
TIMES = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - bounds are naive


@st.composite
def _anchors(draw: st.DrawFn) -> Anchor:
    line = draw(st.integers(1, 1000))
    path = draw(st.text(min_size=1, max_size=20))
    side = draw(st.sampled_from(["old", "new"]))
    end = line + draw(st.integers(0, 9))
    return Anchor.model_validate({"path": path, "side": side, "line": line, "end_line": end, "quote": draw(TEXTS)})


AXES = st.builds(AxisAnswer, state=NAMES, evidence=st.lists(_anchors(), max_size=2).map(tuple))
RATINGS = st.builds(
    Rating,
    id=NAMES,
    study=NAMES,
    submission=NAMES,
    rater=NAMES,
    rubric=st.just("a" * 64),
    phase=st.sampled_from(RatingPhase),
    version=st.integers(1, 50),
    amends=st.none() | NAMES,
    axes=st.dictionaries(NAMES, AXES, min_size=1, max_size=4),
    minutes=st.none() | NUMBERS,
    would_merge=st.none() | st.booleans(),
    mergeable=st.none() | st.booleans(),
    reason=TEXTS,
    confidence=st.none() | st.integers(1, 5),
    notes=TEXTS,
    others=st.dictionaries(NAMES, st.booleans() | st.integers(-9, 9) | NUMBERS | TEXTS, max_size=3),
    active_seconds=NUMBERS,
    wall_seconds=NUMBERS,
    position=st.integers(1, 999),
    created=TIMES,
    submitted=TIMES,
)


@pytest.mark.exhaustive
@given(st.lists(RATINGS, max_size=4))
def test_both_texts_come_back_exactly(given_ratings: list[Rating]) -> None:
    wanted = tuple(given_ratings)
    assert ratings_from_jsonl("".join(ratings_to_jsonl(wanted))) == wanted
    assert ratings_from_csv(ratings_to_csv(wanted)) == wanted


@settings(max_examples=10)
@given(st.lists(RATINGS, max_size=3), st.sampled_from([".jsonl", ".csv"]))
def test_files_come_back_exactly(tmp_path_factory: pytest.TempPathFactory, line: list[Rating], ending: str) -> None:
    place = tmp_path_factory.mktemp("exchange") / f"ratings{ending}"
    write_ratings(line, place)
    assert read_ratings(place) == tuple(line)


def test_types_of_free_answers_survive() -> None:
    made = rating().model_copy(update={"others": {"a": True, "b": 1, "c": 1.0, "d": "1", "e": "true"}})
    for back in (*ratings_from_jsonl("".join(ratings_to_jsonl([made]))), *ratings_from_csv(ratings_to_csv([made]))):
        assert [type(value) for value in back.others.values()] == [bool, int, float, str, str]


def test_a_spreadsheet_runs_nothing() -> None:
    text = ratings_to_csv([rating(notes="=HYPERLINK(1)"), rating(notes="@SUM(1)")])
    assert ",'=HYPERLINK(1)," in text and ",'@SUM(1)," in text


def test_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    line = (rating("pcnuc", notes="x"), rating(submission="s2"))
    write_ratings(line, tmp_path / "r.parquet")
    assert read_ratings(tmp_path / "r.parquet") == line
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(BadInput, match="no Parquet file"):
        read_ratings(tmp_path / "bad.parquet")


def test_parquet_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"repoassay\[datasets\]"):
        write_ratings([rating()], tmp_path / "r.parquet")


@pytest.mark.parametrize("spoil", ["{", "[]", "null", '{"id": 1}', "[" * 5000])
def test_a_wrong_line_is_named(spoil: str) -> None:
    with pytest.raises(BadInput, match="line 2 is no rating"):
        ratings_from_jsonl("".join(ratings_to_jsonl([rating()])) + spoil, "x.jsonl")


def test_wrong_tables(tmp_path: Path) -> None:
    good = ratings_to_csv([rating()])
    with pytest.raises(BadInput, match="another number of cells"):
        ratings_from_csv(good.rstrip() + ",more\r\n")
    with pytest.raises(BadInput, match="row 2 is no rating: minutes"):
        ratings_from_csv(good.replace(",30.0,", ",many,"))
    with pytest.raises(BadInput, match="no JSON"):
        ratings_from_csv(good.replace("others", "others", 1).rstrip() + "{\r\n")
    with pytest.raises(BadInput, match="ends in none of"):
        read_ratings(tmp_path / "x.xlsx")
    with pytest.raises(BadInput, match="cannot be read"):
        read_ratings(tmp_path / "none.csv")
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe")
    with pytest.raises(BadInput, match="cannot be read"):
        read_ratings(tmp_path / "bytes.csv")
    assert ratings_from_csv("") == () == ratings_from_jsonl("\n\n") and NOW.tzinfo is not None


@pytest.mark.parametrize("ending", [".jsonl", ".csv"])
def test_the_version_of_instructions_comes_back_and_is_left_out_where_there_was_none(
    tmp_path: Path, ending: str
) -> None:
    plain = rating("ccccc")
    pinned = rating("ccccc", "s2").model_copy(update={"instructions": 3})
    for line in ([plain], [plain, pinned]):
        path = tmp_path / f"ratings{ending}"
        write_ratings(line, path)
        assert list(read_ratings(path)) == line
        assert ("instructions" in path.read_text()) is (pinned in line)
