"""The suite itself: 54 sound tasks, their figures, and reference outputs that pass."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest

from repoassay.agents.protocol import plain_name
from repoassay.engine import grade_outputs
from repoassay.engine.grading_context import GradingContext
from repoassay.errors import Problem
from repoassay.grading.registry import names
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.tasks import Advice
from repoassay.tasks.suite import find_suite
from repoassay.tasks.suite_lint import lint_suite
from repoassay.tasks.suite_manifest import DataState
from repoassay.types import Outcome, Reading
from shared_data import SHARED, needs_shared

UNGRADABLE = {"SpeechBrain_01", "SpeechBrain_04"}


def test_there_are_54_sound_tasks_with_two_readings_each() -> None:
    problems: list[Problem] = [item for found in lint_suite("gittaskbench", metrics=names()).values() for item in found]
    assert [str(item) for item in problems if not isinstance(item, Advice)] == []
    suite = find_suite("gittaskbench", metrics=names())
    assert len(suite.tasks) == 54
    for folder in suite.tasks:
        published = folder.task.grading.published
        assert published and published.result, folder.task.id
        assert published.differs, folder.task.id
        for _, criterion in folder.task.grading.criteria(Reading.PUBLISHED):
            assert criterion.metric.startswith("gtb_"), folder.task.id


def test_domains_and_market_values_are_the_papers() -> None:
    """Table 4 counts tasks, Table 9 values them; the values of all 54 sum to 1460.01 US dollars."""
    tasks = [folder.task for folder in find_suite("gittaskbench").tasks]
    assert Counter(task.domain for task in tasks) == {
        "Image Processing": 16, "Video Processing": 3, "Speech Processing": 8, "Physiological Signal Processing": 3,
        "Security and Privacy": 9, "Web Scraping": 6, "Office Document Processing": 9,
    }  # fmt: skip
    assert sum(task.economics.value for task in tasks if task.economics) == Decimal("1460.01")
    assert len({(task.domain, task.subdomain) for task in tasks}) == 24


@needs_shared
def test_every_file_that_could_be_had_is_the_one_listed() -> None:
    manifest = find_suite("gittaskbench").manifest
    assert manifest is not None
    states = {file.path: file.state(SHARED / "data") for file in manifest.files}
    assert sum(state is DataState.RIGHT for state in states.values()) == 119
    assert {path for path, state in states.items() if state is not DataState.RIGHT} == {
        file.path for file in manifest.files if not file.sha256
    }


@needs_shared
@pytest.mark.exhaustive
def test_reference_outputs_pass(tmp_path: Path) -> None:
    suite = find_suite("gittaskbench")
    for folder in suite.tasks:
        make = folder.solution / "make.py"
        assert make.is_file() != (folder.task.id in UNGRADABLE), folder.task.id
        if make.is_file():
            output = tmp_path / folder.task.id
            output.mkdir()
            expected = [plain_name(pattern) for pattern in folder.task.outputs.files]
            facts = {
                "inputs": str(folder.inputs), "truth": str(folder.tests), "output": str(output), "names": expected
            }  # fmt: skip
            subprocess.run([sys.executable, make], input=json.dumps(facts), text=True, check=True, capture_output=True)
    bench = GradingContext(None, Cache(), open_sandbox("namespaces", Cache()))
    verdicts = list(grade_outputs(suite, tmp_path, bench, workers=2))
    assert [
        f"{v.task}: {v.comments}" for v in verdicts if v.outcome is not Outcome.PASSED and v.result is not None
    ] == []
    assert {v.task for v in verdicts if v.result is None} == UNGRADABLE
