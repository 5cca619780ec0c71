"""Records of quotes in shapes that people choose."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from repoassay.benchmarks.gittaskbench.metrics.listings import (
    listing_f1,
    listing_precision,
    listing_recall,
    read_listing,
)
from repoassay.errors import InfraFault
from repoassay.grading.protocol import UnreadableOutput

PAIRS = [("Ann", "One “day”."), ("Bob", "Two, of them"), ("Cay", "Three it's")]


def written(folder: Path, name: str, text: str) -> Path:
    place = folder / name
    place.write_text(text, encoding="utf-8")
    return place


@pytest.fixture
def truth(tmp_path: Path) -> Path:
    return written(tmp_path, "gt.json", json.dumps([{"author": a, "text": t} for a, t in PAIRS]))


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("json", json.dumps({"n": 3, "quotes": [{"Author": a, "Quote": t, "tags": []} for a, t in PAIRS]})),
        ("json", "\n".join(json.dumps({"author": {"name": a}, "content": t}) for a, t in PAIRS)),
        ("csv", "tags;Author;Quote\n" + "".join(f'x;{a};"{t}"\n' for a, t in PAIRS)),
        ("csv", "text,author\n" + "".join(f'"{t}",{a}\n' for a, t in PAIRS)),
        (
            "xml",
            "<r>" + "".join(f"<q><text>{t}</text><by>{a}</by><tags><tag>t</tag></tags></q>" for a, t in PAIRS) + "</r>",
        ),
        ("xml", "<r name='x'>" + "".join(f'<quote author="{a}">{t}</quote>' for a, t in PAIRS) + "</r>"),
        ("xml", '<r xmlns="urn:x"><!-- c -->' + "".join(f'<q author="{a}" text="{t}"/>' for a, t in PAIRS) + "</r>"),
        ("xml", "<r>" + "".join(f'<q><f name="author">{a}</f><f name="text">{t}</f></q>' for a, t in PAIRS) + "</r>"),
    ],
)
def test_every_shape_holds_the_same_records(format: str, text: str, tmp_path: Path) -> None:
    assert read_listing(written(tmp_path, "output", text), format) == PAIRS


def test_matching_is_one_to_one(tmp_path: Path, truth: Path) -> None:
    records = [{"author": "Ann", "text": "One day."}, *[{"author": "bob", "text": "'Two,  of them'"}] * 2]
    ours = written(tmp_path, "output.json", json.dumps(records))
    assert listing_recall(ours, truth, format="json").value == 0
    assert listing_recall(ours, truth, format="json", casefold=True).value == pytest.approx(1 / 3)
    assert listing_precision(ours, truth, format="json", casefold=True).value == pytest.approx(1 / 3)


def test_soft_matching_counts_likeness_of_slips_alone(tmp_path: Path) -> None:
    long = "A text that is long enough for one letter of it to be a slip and no more."
    truth = written(
        tmp_path, "truth.json", json.dumps([{"author": "Ann", "text": long}, {"author": "Bob", "text": "Two"}])
    )
    ours = written(
        tmp_path, "output.json", json.dumps([{"author": "Ann", "text": long[1:]}, {"author": "Bob", "text": "wo"}])
    )
    assert listing_f1(ours, truth, format="json").value == 0
    assert 0.48 < listing_f1(ours, truth, format="json", soft=True).value < 0.5


def test_records_of_a_further_page_are_right_together_or_left_out(tmp_path: Path, truth: Path) -> None:
    def recall(pairs: list[tuple[str, str]], also: list[str]) -> float:
        ours = written(tmp_path, "output.json", json.dumps([{"author": a, "text": t} for a, t in pairs]))
        return listing_recall(ours, truth, format="json", also=also).value

    last = "\t".join(PAIRS[2])
    assert recall(PAIRS, [last]) == recall(PAIRS[:2], [last]) == 1
    assert recall(PAIRS[:2], []) == pytest.approx(2 / 3)
    assert recall(PAIRS, [last, "Dan\tFour"]) == pytest.approx(3 / 4)
    assert recall([*PAIRS[:2], ("Dan", "Four")], ["Dan\tFour"]) == pytest.approx(3 / 4)


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("xml", "<a><b></a>"),
        ("xml", "no xml"),
        ("xml", '<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>&e;</a>'),
        ("xml", '<!DOCTYPE a [<!ENTITY e "x">]><a>&e;</a>'),
        ("xml", "<a>" * 5000 + "</a>" * 5000),
        ("json", "[1,"),
        ("csv", "a\0b,c\n"),
    ],
)
def test_hostile_files_are_refused(format: str, text: str, tmp_path: Path) -> None:
    with pytest.raises(UnreadableOutput):
        read_listing(written(tmp_path, "output", text), format)


@pytest.mark.parametrize(("format", "text"), [("json", "{}"), ("csv", "author,text\n"), ("xml", "<a/>"), ("json", "3")])
def test_no_records_measure_nought(format: str, text: str, tmp_path: Path, truth: Path) -> None:
    assert read_listing(written(tmp_path, "output", text), format) == []


def test_an_unknown_format_is_our_fault(truth: Path) -> None:
    with pytest.raises(InfraFault, match="yaml"):
        listing_f1(truth, truth, format="yaml")
