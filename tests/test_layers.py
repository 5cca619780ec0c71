"""The pages that draw the layers of imports draw them as pyproject.toml enforces them."""

from __future__ import annotations

import re
import tomllib

import pytest

from house_lists import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
LAYERS = PROJECT["tool"]["importlinter"]["contracts"][0]["layers"]


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_a_page_has_the_layers_of_pyproject(page: str) -> None:
    drawn = re.findall(r"^    cli >(?:.*\n)(?:    .*\n)*", (ROOT / page).read_text("utf-8"), re.MULTILINE)
    assert [" ".join(each.split()) for each in drawn] == [" > ".join(LAYERS)]


def test_each_room_stands_in_the_architecture() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    rooms = [room for layer in LAYERS for room in layer.split(" | ")]
    assert [room for room in rooms if not re.search(rf"`{room}(/|\.py)`", page)] == []
