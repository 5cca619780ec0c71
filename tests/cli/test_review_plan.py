"""A study's plan at the command line, and its figures there."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from json_answers import data_of
from repoassay.cli.main import cli
from repoassay.errors import BadInput
from repoassay.review import Item, add_rater, complete_plan, create_study, open_database, save_plan, submit
from repoassay.review.study import HiddenPart
from review.samples import NOW, RUBRIC, answers, study


@pytest.fixture
def place(tmp_path: Path) -> str:
    """Two agents, three tasks, two runs, one rater."""
    database = open_database(tmp_path / "reviews.sqlite")
    items = [
        Item(id=f"{agent}{task}{run}", hidden=HiddenPart(task=f"t{task}", system=agent, agent=agent, tests=run == 0))
        for agent in "ab"
        for task in range(3)
        for run in range(2)
    ]
    create_study(database, study(), RUBRIC, items, at=NOW)
    save_plan(database, "st", complete_plan(study(), RUBRIC, items), at=NOW, actor="lead")
    database.close()
    return str(tmp_path / "reviews.sqlite")


def call(place: str, *arguments: str) -> str:
    done = CliRunner().invoke(cli, ["review", *arguments, "--database", place])
    if isinstance(done.exception, BadInput):
        return str(done.exception)
    assert not done.exit_code, (done.output, done.exception)
    return done.stdout


def test_a_plan_is_shown_frozen_amended_and_items_decided(place: str) -> None:
    assert "not frozen" in call(place, "plan", "st")
    assert "no frozen plan" in call(place, "plan", "amend", "st", "--author", "L", "--change", "c", "--reason", "r")
    digest = call(place, "plan", "freeze", "st").strip()
    call(place, "plan", "amend", "st", "--author", "Lea", "--change", "one rater", "--reason", "she left")
    call(place, "plan", "exclude", "st", "a00", "--reason", "cut off")
    assert "a00: cut off" in call(place, "plan", "st")
    call(place, "plan", "include", "st", "a00", "--reason", "whole again")
    data = data_of(call(place, "plan", "show", "st", "--json"))
    assert data["plan_hash"] == digest and data["frozen"] and data["plan"]["agents"] == ["a", "b"]
    assert [(one["author"], one["reason"]) for one in data["amendments"]] == [("Lea", "she left")]
    assert [(one["item"], one["included"]) for one in data["inclusions"]] == [("a00", False), ("a00", True)]
    assert "has no item" in call(place, "plan", "exclude", "st", "zz", "--reason", "x")


def test_figures_print_minutes_and_the_mixed_model_and_never_a_p_of_zero(place: str) -> None:
    database = open_database(place)
    ana = add_rater(database, "st", "Ana", at=NOW).rater
    for number, item in enumerate(f"{agent}{task}{run}" for agent in "ab" for task in range(3) for run in range(2)):
        given = answers("ccccc" if number % 3 else "pcccc", would_merge=bool(number % 3), minutes=float(number))
        submit(database, ana, item, given, key=f"the-key-{item}-1", now=NOW)
    database.close()
    text = call(place, "figures", "st")
    assert "minutes to fix, all: 12 submissions, 1 of them need none" in text and "quartiles" in text
    assert "mixed model" in text and "p = 0.0000" not in text
    data = data_of(call(place, "figures", "st", "--json"))
    assert data["minutes"]["all"]["none"] == {"successes": 1, "n": 12} and len(data["drift"]) == 2
    assert data["differences"][0]["minutes_to_fix"]["tasks"] == 3
