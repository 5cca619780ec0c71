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


def test_soft_matching_counts_likeness(tmp_path: Path, truth: Path) -> None:
    ours = written(tmp_path, "output.json", json.dumps([{"author": a, "text": t.replace("e", "")} for a, t in PAIRS]))
    assert listing_f1(ours, truth, format="json").value == 0
    assert 0.8 < listing_f1(ours, truth, format="json", soft=True).value < 1


def test_welcome_records_cost_nothing_and_earn_nothing(tmp_path: Path, truth: Path) -> None:
    records = [{"author": a, "text": t} for a, t in [*PAIRS[:2], ("Dan", "Four")]]
    ours = written(tmp_path, "output.json", json.dumps(records))
    assert listing_precision(ours, truth, format="json", also=["Dan\tFour"]).value == 1
    assert listing_recall(ours, truth, format="json", also=["Dan\tFour"]).value == pytest.approx(2 / 3)


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
