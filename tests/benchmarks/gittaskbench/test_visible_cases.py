"""The sample cases beside the data: both readings agree with every recorded verdict."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.gittaskbench.casebook import agrees
from repoassay.grading.deliverable import Job, grade_deliverables
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.tasks.suite import find_suite
from repoassay.types import Reading
from shared_data import SHARED, needs_shared

pytestmark = needs_shared
EXPECTED = SHARED / "cases" / "visible_expected.json"
QUICK = {"Eparse", "Faker", "FunASR", "NeuroKit", "PDFPlumber", "Scrapy", "Trafilatura", "VideoPose3D"}
FAMILIES = (
    [
        family if family in QUICK else pytest.param(family, marks=pytest.mark.exhaustive)
        for family in sorted({name.rpartition("_")[0] for name in json.loads(EXPECTED.read_text())})
    ]
    if EXPECTED.is_file()
    else []
)


@pytest.fixture(scope="session")
def expected() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(EXPECTED.read_text())
    return found


def _make(tasks: list[str], place: Path) -> None:
    """Have the script beside the data write the candidates of these tasks."""
    path = SHARED / "cases" / "make_visible_cases.py"
    found = importlib.util.spec_from_file_location("make_visible_cases", path)
    assert found and found.loader
    script = importlib.util.module_from_spec(found)
    found.loader.exec_module(script)
    simple = {(task, case): (file, source) for task, case, file, source in script.PLAIN}
    for task, case in script.all_cases():
        if task in tasks:
            candidate = script.Candidate(SHARED / "data", place, task, case)
            if (task, case) in simple:
                script.plain(candidate, SHARED / "data", *simple[task, case])
            else:
                script.CASES[task, case](candidate)


def _answer(facts: dict[str, bool | None]) -> tuple[bool | None, bool | None]:
    return facts["process"], facts["result"]


@pytest.mark.by_day(3)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.long
def test_both_readings_agree(family: str, expected: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    suite = find_suite("gittaskbench", only=[f"{family}_*"])
    _make([folder.task.id for folder in suite.tasks if folder.task.id in expected], tmp_path)
    pairs = [
        (folder, case, facts) for folder in suite.tasks for case, facts in expected.get(folder.task.id, {}).items()
    ]
    assert pairs
    complaints = []
    for reading, key in ((Reading.FAIR, "sane"), (Reading.PUBLISHED, "published")):
        jobs = [Job(folder, tmp_path / case / folder.task.id) for folder, case, _ in pairs]
        graded = grade_deliverables(jobs, open_sandbox("namespaces", Cache()), reading=reading, workers=2)
        for (folder, case, facts), each in zip(pairs, graded, strict=True):
            verdict = each.verdict()
            if not agrees(verdict, _answer(facts[key])):
                shown = f"{verdict.outcome} ({verdict.process}, {verdict.result})"
                complaints.append(f"{folder.task.id}/{case} {key}: {shown}, not {facts[key]}: {verdict.comments}")
    assert not complaints, "\n".join(complaints)
