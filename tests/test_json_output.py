"""Documents on standard output: whole, or with lists whose items are printed as they come."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import click
import pytest
from click.testing import CliRunner

from repoassay.json_output import print_document


def printed(data: object) -> tuple[str, Any]:
    command = click.Command("one", callback=lambda: print_document(data))
    done = CliRunner().invoke(command, catch_exceptions=False)
    return done.output, json.loads(done.output)["data"]


@pytest.mark.parametrize("count", [0, 1, 2, 100, 101, 250])
def test_an_iterator_is_printed_as_the_list_it_makes(count: int) -> None:
    items = [{"number": number, "text": "\u202e\ud800"} for number in range(count)]
    text, data = printed({"before": 1, "many": iter(items), "after": [iter("ab")]})
    assert data == {"before": 1, "many": items, "after": [["a", "b"]]}
    assert [*data] == ["before", "many", "after"]
    assert text.isascii() and text.endswith("}\n")


def test_what_is_not_finite_is_null_in_items_too() -> None:
    assert printed({"a": math.nan, "b": iter([math.inf, 1.5])})[1] == {"a": None, "b": [None, 1.5]}


def test_no_more_than_a_few_items_are_held() -> None:
    alive = most = 0

    class Item(dict[str, int]):
        def __del__(self) -> None:
            nonlocal alive
            alive -= 1

    def items() -> Iterator[Item]:
        nonlocal alive, most
        for number in range(1000):
            alive += 1
            most = max(most, alive)
            yield Item(number=number)

    assert len(printed({"many": items()})[1]["many"]) == 1000
    assert most <= 200


def test_what_json_cannot_hold_is_no_list() -> None:
    with pytest.raises(TypeError, match="JSON"):
        printed({"a": object()})
