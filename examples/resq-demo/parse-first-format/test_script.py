from pathlib import Path

import pytest

import parse

FORMATS = ["{:d} {unit}", "{:d}", "{word:w}"]


@pytest.mark.parametrize("string, expected", [("5 km", FORMATS[0]), ("5", FORMATS[1]), ("five", FORMATS[2])])
def test_first_match_wins(string, expected):
    assert parse.parse_any(FORMATS, string)[0] == expected


def test_result():
    _, result = parse.parse_any(FORMATS, "5 km")
    assert result.fixed == (5,)
    assert result.named == {"unit": "km"}


def test_order_matters():
    assert parse.parse_any(["{a}", "{b:d}"], "5")[1].named == {"a": "5"}
    assert parse.parse_any(iter(["{b:d}", "{a}"]), "5")[1].named == {"b": 5}


def test_no_match_and_match_without_fields():
    assert parse.parse_any(FORMATS, "???") is None
    assert parse.parse_any([], "5") is None
    found, result = parse.parse_any(["bye", "hello"], "hello")
    assert found == "hello"
    assert result.fixed == ()


def test_compiled_formats():
    compiled = parse.compile("{:d}")
    assert parse.parse_any(["{:d} {unit}", compiled], "5")[0] is compiled
    assert parse.parse_any(["{:d} {unit}", compiled], "52")[1][0] == 52


def test_options():
    assert parse.parse_any(["HELLO", "{}"], "hello", case_sensitive=True)[0] == "{}"
    assert parse.parse_any(["HELLO", "{}"], "hello")[0] == "HELLO"
    assert parse.parse_any(["{:shout}"], "hi", extra_types={"shout": str.upper})[1][0] == "HI"


def test_neighbours_are_as_before():
    assert parse.parse("{:d}", "5").fixed == (5,)
    assert parse.parse("{:d}", "five") is None
    assert parse.search("{:d}", "take 5").fixed == (5,)


def test_exported():
    assert "parse_any" in parse.__all__
    assert "def parse_any" in Path("parse/__init__.pyi").read_text(encoding="utf-8")
