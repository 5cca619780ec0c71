"""The scripts that go with a table print every figure of `review figures --json` from that table alone."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib.resources import files
from math import isclose
from pathlib import Path
from random import Random
from typing import Any

import pytest

from repoassay.db import Database
from repoassay.review.adjudication import Adjudication, DisagreementCause
from repoassay.review.adjudication_store import settle
from repoassay.review.database import open_database
from repoassay.review.figures_document import Grouping, study_figures
from repoassay.review.plan_store import amend_plan, decide_item
from repoassay.review.rater_accounts import RaterRole, add_rater
from repoassay.review.studies import create_study
from repoassay.review.study import Golden, HiddenPart, Item, Reveal
from repoassay.review.submitting import submit
from repoassay.review.tidy_files import write_tidy_rows
from repoassay.review.tidy_table import study_records, tidy_rows
from repoassay.types import RatingPhase
from review.samples import NOW, RUBRIC, answers, later, study

LATER = {"mixed"}
"""The mixed model, which only `analyse.R` fits, by lme4 and with fewer intercepts."""
TOLD = {"method", "note", "undefined", "title"} | LATER
"""Keys of the document that are words about a figure, not figures, and those."""


def items_of_agents(tasks: int, runs: int) -> list[Item]:
    """Return runs of three agents, one of them on half of the tasks, and controls."""
    draw, made = Random(7), []
    for agent, model in (("a", "m1"), ("b", "m1"), ("c", "m2")):
        for task in range(tasks if agent != "c" else tasks // 2):
            for run in range(runs):
                hidden = HiddenPart(
                    task=f"t{task}", system=f"{agent} ({model})" if agent != "c" else "", agent=agent, model=model,
                    tests=draw.random() < 0.6 if task != 3 else None, human_minutes=60.0 + task if task % 2 else None,
                    flagged="memorised" if (agent, task, run) == ("b", 1, 0) else "",
                )  # fmt: skip
                made.append(Item(id=f"{agent}{task}.{run}", hidden=hidden))
    for number in range(6):
        kind = Golden.GOOD if number < 4 else Golden.BAD
        made.append(Item(id=f"control{number}", hidden=HiddenPart(task=f"t{number}", tests=True, golden=kind)))
    return made


def rated_by_three(database: Database, tasks: int, runs: int) -> None:
    """Make a study whose answers vary with the task, the agent and the rater; some are amended, settled, left out."""
    phases = (RatingPhase.BLIND, RatingPhase.REVEALED)
    items = items_of_agents(tasks, runs)
    settings = study(phases=phases, reveal=Reveal.AFTER_SUBMISSION, reference="revealed")
    create_study(database, settings, RUBRIC, items, at=NOW)
    people = [add_rater(database, "st", name, at=NOW).rater for name in ("Ada", "Ben", "Cem")]
    judge = add_rater(database, "st", "gpt", RaterRole.JUDGE, at=NOW).rater
    draw, ease = Random(3), Random(4)
    easy = {f"t{task}": ease.random() for task in range(max(tasks, 6))}
    for item in items:
        for number, person in enumerate([*people, judge]):
            if draw.random() < 0.15:
                continue
            chance = 0.25 + 0.5 * easy[item.hidden.task] + 0.1 * number - 0.2 * (item.hidden.agent == "b")
            states = "".join("c" if draw.random() < chance else draw.choice("pppnu") for _ in range(5))
            given = answers(states, minutes=float(draw.randint(0, 90)), would_merge=draw.random() < chance,
                            active_seconds=draw.uniform(5, 400))  # fmt: skip
            submit(database, person, item.id, given, key=f"key-{item.id}", now=later(1))
            if person is people[0] and draw.random() < 0.3:
                submit(database, person, item.id, answers("ccccc", would_merge=True), key=f"again-{item.id}",
                       now=later(2), phase=RatingPhase.REVEALED)  # fmt: skip
    cause = DisagreementCause.RATER_ERROR
    settle(database, "st", Adjudication(item="a0.0", axis="core", state="problem", cause=cause, by="l", at=later(3)))
    decide_item(database, "st", "a1.0", included=False, reason="leak", at=later(4), actor="lead")
    amend_plan(database, "st", author="L", change="fewer", reason="ill", at=later(5), actor="lead")


def differences(expected: object, found: object, place: str = "") -> list[str]:
    """Return where the script's document lacks a figure of ours or has another."""
    if isinstance(expected, dict):
        if not isinstance(found, dict):
            return [f"{place}: {found!r} instead of an object"]
        return [
            line
            for key, value in expected.items()
            if key not in TOLD
            for line in (
                differences(value, found[key], f"{place}.{key}") if key in found else [f"{place}.{key}: not computed"]
            )
        ]
    if isinstance(expected, list):
        if not isinstance(found, list) or len(found) != len(expected):
            return [f"{place}: {found!r} instead of {len(expected)} lines"]
        return [
            line
            for n, pair in enumerate(zip(expected, found, strict=True))
            for line in differences(*pair, f"{place}[{n}]")
        ]
    if isinstance(expected, float | int) and isinstance(found, float | int):
        return [] if isclose(expected, found, rel_tol=1e-8, abs_tol=1e-9) else [f"{place}: {found} not {expected}"]
    return [] if expected == found else [f"{place}: {found!r} not {expected!r}"]


def exported(database: Database, path: Path) -> Path:
    """Write the study's table."""
    write_tidy_rows(tidy_rows(study_records(database, "st")), path)
    return path


def printed(program: list[str], table: Path, *options: str) -> Any:
    """Return what a script prints."""
    done = subprocess.run([*program, str(table), *options], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def script(name: str) -> str:
    """Return the path of a script that the package brings."""
    return str(files("repoassay.review") / "examples" / name)


CASES: list[tuple[int, int, str, RatingPhase, Grouping]] = [
    (10, 2, "csv", RatingPhase.BLIND, "system"),
    (5, 1, "jsonl", RatingPhase.REVEALED, "model"),
]


@pytest.mark.by_day(1)
@pytest.mark.parametrize(("tasks", "runs", "ending", "phase", "by"), CASES)
@pytest.mark.long
def test_python_prints_every_figure(
    tmp_path: Path, tasks: int, runs: int, ending: str, phase: RatingPhase, by: Grouping
) -> None:
    pytest.importorskip("scipy", reason="needs scipy for Fisher's test")
    database = open_database(tmp_path / "study.sqlite")
    rated_by_three(database, tasks, runs)
    table = exported(database, tmp_path / f"st.{ending}")
    program = [sys.executable, "-I", "-S", script("analyse.py")]
    found = printed(program, table, "--phase", phase.value, "--by", by)
    assert differences(study_figures(database, "st", phase, by).to_dict(), found) == []


@pytest.mark.parametrize(("tasks", "runs", "ending", "phase", "by"), CASES)
def test_r_prints_every_figure(
    tmp_path: Path, tasks: int, runs: int, ending: str, phase: RatingPhase, by: Grouping
) -> None:
    rscript = shutil.which("Rscript")
    if rscript is None or ending == "jsonl":
        pytest.skip("needs Rscript, which reads the table as CSV" if rscript is None else "R reads CSV")
    if subprocess.run([rscript, "--vanilla", "-e", "library(jsonlite)"], capture_output=True, check=False).returncode:
        pytest.skip("needs R's package jsonlite")
    pytest.importorskip("scipy", reason="needs scipy for Fisher's test")
    database = open_database(tmp_path / "study.sqlite")
    rated_by_three(database, tasks, runs)
    table = exported(database, tmp_path / "st.csv")
    found = printed([rscript, "--vanilla", script("analyse.R")], table, "--phase", phase.value, "--by", by)
    assert differences(study_figures(database, "st", phase, by).to_dict(), found) == []
    assert found["mixed_model"]["term"]
