"""Odd variants of text outputs, with what the published scripts said of each when they were run (commit c910ed2)."""

from __future__ import annotations

import json
import random
import zlib
from pathlib import Path

import pytest

from benchmarks.gittaskbench.original_criteria.odd_texts import odd_texts
from benchmarks.gittaskbench.test_visible_cases import _make
from repoassay.grading.deliverable import Job, grade_deliverables
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.tasks.suite import find_suite
from repoassay.types import Reading
from shared_data import needs_shared

pytestmark = needs_shared
SAID: dict[str, dict[str, str]] = json.loads(Path(__file__).with_name("odd_texts.json").read_text("utf-8"))
ANSWERS = {"passed": (True, True), "failed": (True, False), "unread": (False, False)}
QUICK = {"Faker_02", "InvisibleWatermark_02", "Scrapy_03"}
TASKS = [task if task in QUICK else pytest.param(task, marks=pytest.mark.exhaustive) for task in SAID]


@pytest.mark.parametrize("task", TASKS)
def test_published_says_what_the_scripts_said(task: str, tmp_path: Path) -> None:
    (folder,) = find_suite("gittaskbench", only=[task]).tasks
    _make([task], tmp_path / "made")
    (source,) = (path for path in (tmp_path / "made" / SAID[task]["case"] / task).rglob("*") if path.is_file())
    contents = dict(odd_texts(source.read_bytes(), random.Random(zlib.crc32(task.encode()))))
    wanted = {name: answer for key, answer in ANSWERS.items() for name in SAID[task][key].split()}
    for name in wanted:
        (tmp_path / name).mkdir()
        (tmp_path / name / source.name).write_bytes(contents[name])
    jobs = [Job(folder, tmp_path / name) for name in wanted]
    graded = grade_deliverables(jobs, open_sandbox("namespaces", Cache()), reading=Reading.PUBLISHED, workers=2)
    said = {name: each.verdict() for name, each in zip(wanted, graded, strict=True)}
    wrong = {
        name: (verdict.process, verdict.result, verdict.comments)
        for name, verdict in said.items()
        if (bool(verdict.process), bool(verdict.result)) != wanted[name]
    }
    assert not wrong
