"""What agents are told: our templates, a user's own, and what neither can do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from repoassay.agents.prompting import render_prompt
from repoassay.errors import BadInput
from repoassay.tasks import TaskFolder
from repoassay.tasks.suite import find_suite


def task(name: str) -> TaskFolder:
    return find_suite("starter", only=[name]).tasks[0]


def test_a_deliverable_is_told_everything_by_absolute_path() -> None:
    folder = task("sensor-log-daily")
    said = render_prompt(folder)
    for part in ("# Objective", "# How to work", "/workspace/repo", "/workspace/inputs/north.tlog", "/workspace/output",
                 "  - daily.csv", "/env/bin/python", folder.instruction.strip()):  # fmt: skip
        assert part in said


def test_an_edit_is_told_the_instruction_and_the_repository_alone() -> None:
    folder = task("edit-ledger-account-prefix")
    said = render_prompt(folder)
    assert folder.instruction.strip() in said and "/workspace/repo" in said
    for part in ("output", "inputs", "test_", "solution"):
        assert part not in said.replace(folder.instruction.strip(), "")


def test_a_template_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "p.j2"
    path.write_text("{{ kind }} {{ task }}: {{ output_files|join(',') }} {{ instruction|length }}\n")
    folder = task("sensor-log-daily")
    assert render_prompt(folder, path) == f"deliverable sensor-log-daily: daily.csv {len(folder.instruction.strip())}\n"


@pytest.mark.parametrize(
    "text", ["{{ solution }}", "{% if %}", "{{ instruction.__class__.__mro__ }}", "{% include '/etc/passwd' %}"]
)
def test_templates_that_reach_further_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "p.j2"
    path.write_text(text)
    with pytest.raises(BadInput, match="cannot be used"):
        render_prompt(task("sensor-log-daily"), path)


def test_templates_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be used"):
        render_prompt(task("sensor-log-daily"), tmp_path / "none")
    (tmp_path / "b").write_bytes(b"\xff")
    with pytest.raises(BadInput, match="cannot be used"):
        render_prompt(task("sensor-log-daily"), tmp_path / "b")


def test_an_instruction_is_text_and_never_a_template() -> None:
    folder = replace(task("edit-ledger-account-prefix"), instruction="{{ 7 * 7 }} {% x %}")
    assert "{{ 7 * 7 }} {% x %}" in render_prompt(folder)
