"""Named values in lines and in JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from repoassay.benchmarks.gittaskbench.metrics.fields import fields_right
from repoassay.errors import InfraFault

FIELDS = ["title", "author", "date", "url"]
TRUTH = "title: A lake: blue\nauthor: Ann\ndate:2025-02-21\nurl:https://a.org/x/Y\n"


def right(folder: Path, text: str, format: str = "lines") -> float:
    (folder / "gt.txt").write_text(TRUTH if format == "lines" else json.dumps({"Title": "T, t", "Author": "Ann  Bo"}))
    (folder / "output.txt").write_text(text, encoding="utf-8")
    fields = FIELDS if format == "lines" else ["title", "author"]
    return fields_right(folder / "output.txt", folder / "gt.txt", fields=fields, format=format).value


@pytest.mark.parametrize(
    "text",
    [
        TRUTH,
        "\n".join(reversed(TRUTH.splitlines())),
        "URL: http://A.org/x/Y/\nPublish Date: 21 February 2025\nAuthor: ann\nTitle: a lake: blue - Site\n",
        "- **Title**: A lake: blue\n- **Author**: Ann\n- **Date**: 2025/02/21\n- **URL**: <https://a.org/x/Y>\n",
        "标题\uff1aA lake\uff1ablue\n作者\uff1aAnn\n日期\uff1a2025年2月21日\n网址\uff1ahttps://a.org/x/Y\n",
        json.dumps(
            {"title": "A lake: blue", "author": "Ann", "date": "2025-02-21", "url": "https://a.org/x/Y"}, indent=1
        ),
    ],
)
def test_values_are_found_however_they_are_written(text: str, tmp_path: Path) -> None:
    assert right(tmp_path, text) == 1


@pytest.mark.parametrize(
    ("text", "share"),
    [
        (TRUTH.replace("Ann", "Bob"), 0.75),
        (TRUTH.replace("-21", "-22"), 0.75),
        (TRUTH.replace("/Y", "/y"), 0.75),
        (TRUTH + "title: Another\n", 0.75),
        ("https://a.org/x/Y", 0),
        ("title author date url 2025-02-21", 0),
        (" :" * 1000 + "\n" + " " * 5000 + "x\n" + "a" * 100_000, 0),
    ],
)
def test_wrong_and_missing_values_cost(text: str, share: float, tmp_path: Path) -> None:
    assert right(tmp_path, text) == share


@pytest.mark.parametrize(
    "data",
    [{"/Title": "T, t", "/Author": "Ann Bo"}, {"a": [{"dc:title": "t t", "author": ["Ann", "Bo"]}]},
     [{"TITLE": "T t", "Authors": "Ann Bo"}]],
)  # fmt: skip
def test_json_may_nest(data: object, tmp_path: Path) -> None:
    assert right(tmp_path, json.dumps(data), "json") == 1


@pytest.mark.parametrize("data", [{}, [1], {"Title": None}, {"Title": True, "Author": "Bob"}])
def test_json_without_them_has_none(data: object, tmp_path: Path) -> None:
    assert right(tmp_path, json.dumps(data), "json") == 0


def test_a_reference_without_the_field_is_our_fault(tmp_path: Path) -> None:
    place = tmp_path / "gt.txt"
    place.write_text(TRUTH)
    with pytest.raises(InfraFault, match="isbn"):
        fields_right(place, place, fields=["isbn"], format="lines")
