"""Verbs on Ray clusters that they start themselves on this machine."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from command_line import repoassay
from repoassay.tasks import find_suite

pytest.importorskip("ray")

NAMES = ("edit-ledger-monthly", "sensor-log-daily", "sensor-log-outages")
ONLY = [word for name in NAMES for word in ("--task", name)]


def without_times(record: dict[str, Any]) -> dict[str, Any]:
    told = {key: value for key, value in record.items() if key not in ("graded_at", "seconds")}
    return told | {"tests": [(test["id"], test["outcome"]) for test in record["tests"]]}


@pytest.mark.long
def test_outputs_have_the_verdicts_they_have_without(tmp_path: Path) -> None:
    for folder in find_suite("starter", only=NAMES).tasks[:2]:
        source = folder.solution if folder.task.kind.changes_repository else folder.tests
        shutil.copytree(source, tmp_path / "outputs" / folder.task.id)
    found = []
    for executor in ("local", "ray"):
        done = repoassay(
            "grade", "starter", "--outputs", "outputs", *ONLY, "--executor", executor, "--workers", "2",
            "--results", f"{executor}.jsonl", cwd=tmp_path,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        lines = (tmp_path / f"{executor}.jsonl").read_text().splitlines()
        found.append([without_times(json.loads(line)) for line in lines])
    assert [each["outcome"] for each in found[0]] == ["passed", "passed", "no_output"]
    assert found[1] == found[0]


@pytest.mark.long
def test_a_cluster_that_cannot_be_had_leaves_no_results(tmp_path: Path) -> None:
    (tmp_path / "outputs").mkdir()
    done = repoassay(
        "grade", "starter", "--outputs", "outputs", "--results", "r.jsonl", "--executor", "ray://127.0.0.1:9",
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode != 0
    assert "no Ray cluster at 127.0.0.1:9" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["outputs"]
