"""A setting that cannot be meant is one sentence: from `make_plan`, from `check`, and from the matrix of a run."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

import pytest

from engine.metering import mini
from repoassay.engine import Settings, make_plan
from repoassay.engine.agent_settings import read_entry
from repoassay.engine.execution import check
from repoassay.engine.matrix import spread
from repoassay.errors import BadInput
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.types import AgentEntry

WRONG = [
    ({"kind": "reference", "timout": "3"}, "timout", "'3'", "timeout"),
    ({"kind": "reference", "max_itterations": "abc"}, "max_itterations", "abc", "max_iterations"),
    ({"kind": "reference", "timeout": "soon"}, "timeout", "soon", "number above 0"),
    ({"kind": "reference", "timeout": -1}, "timeout", "-1", "number above 0"),
    ({"kind": "reference", "timeout": float("nan")}, "timeout", "nan", "number above 0"),
    ({"kind": "reference", "timeout": True}, "timeout", "True", "number above 0"),
    ({"kind": "codex", "max_calls": 1.5}, "max_calls", "1.5", "whole number above 0"),
    ({"kind": "codex", "budget_usd": Decimal("Infinity")}, "budget_usd", "Infinity", "number above 0"),
    ({"kind": "reference", "command": "true"}, "command", "true", "Known are"),
    ({"kind": "command", "comand": "true"}, "comand", "true", "command"),
    ({"kind": "codex", "template": Path("/x")}, "template", "/x", "text"),
    ({"kind": 5}, "kind", "5", "text"),
    ({"kind": "codex", "models": "no"}, "models", "no", "model"),
]


@pytest.mark.parametrize(("settings", "key", "value", "remedy"), WRONG)
def test_a_setting_that_cannot_be_meant(settings: dict[str, object], key: str, value: str, remedy: str) -> None:
    with pytest.raises(BadInput) as caught:
        make_plan(mini(), Settings(agents={"mine": settings}))
    assert "'mine'" in str(caught.value)
    assert f"'{key}'" in str(caught.value)
    assert value in str(caught.value)
    assert remedy in caught.value.remedy
    with pytest.raises(BadInput, match=key):
        spread({"mine": settings}, [], {}, {})


@pytest.mark.parametrize("settings", [{"timout": "3"}, {"timeout": "soon"}, {"max_iterations": "1.5"}])
def test_a_plan_out_of_a_file_is_checked_before_it_is_carried_out(settings: Mapping[str, str]) -> None:
    plan = make_plan(mini(), Settings(agents={"reference": {}}))
    text = plan.model_copy(update={"agents": {"reference": AgentEntry.of(settings)}}).model_dump_json()
    read = type(plan).model_validate_json(text)
    with pytest.raises(BadInput, match=next(iter(settings))):
        check(read, mini(), open_sandbox("none"))


def test_numbers_may_be_numbers_or_text_and_none_is_left_out() -> None:
    found = read_entry("a", {"kind": "codex", "max_calls": 3, "timeout": "2.50", "max_tokens": None, "budget_usd": 0.1})
    assert found == AgentEntry(kind="codex", max_calls=3, timeout=2.5, budget_usd=Decimal("0.1"))
    assert found == read_entry("a", {"kind": "codex", "max_iterations": "3", "timeout": 2.5, "budget_usd": "0.10"})


def test_options_may_stand_apart() -> None:
    apart = {"kind": "command", "options": {"command": "true"}}
    assert read_entry("a", apart) == read_entry("a", {"kind": "command", "command": "true"})


def test_a_typed_entry_is_checked_too() -> None:
    with pytest.raises(BadInput, match="colour"):
        read_entry("a", AgentEntry(kind="command", options={"colour": "red"}))
