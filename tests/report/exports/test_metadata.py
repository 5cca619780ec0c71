"""Folders of every-eval-ever and Croissant documents say what the run and the suite say. Peers judge them elsewhere."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from repoassay.report import export_file, find_source
from repoassay.tasks import find_suite


def test_a_folder_has_figures_and_a_row_an_attempt(own_run: Path, tmp_path: Path) -> None:
    export_file(find_source(str(own_run), own_run.parent), "every-eval-ever", tmp_path / "store")
    records = {one["model_info"]["name"]: one for one in map(_read, (tmp_path / "store").rglob("*.json"))}
    assert sorted(records) == ["nothing", "reference"]
    record = records["reference"]
    (result,) = record["evaluation_results"]
    assert result["score_details"]["score"] == 1.0 and result["score_details"]["details"]["judged"] == "2"
    assert result["score_details"]["uncertainty"]["confidence_interval"]["lower"] < 1.0
    beside = tmp_path / "store" / record["detailed_evaluation_results"]["file_path"]
    assert hashlib.sha256(beside.read_bytes()).hexdigest() == record["detailed_evaluation_results"]["checksum"]
    rows = [json.loads(line) for line in beside.read_text().splitlines()]
    assert [row["evaluation"]["is_correct"] for row in rows] == [True, True]
    assert {row["evaluation_id"] for row in rows} == {record["evaluation_id"]}
    assert len({row["sample_id"] for row in rows}) == 2
    export_file(find_source(str(own_run), own_run.parent), "every-eval-ever", tmp_path / "again")
    names = [sorted(path.name for path in (tmp_path / name).rglob("*.json*")) for name in ("store", "again")]
    assert names[0] == names[1], "the same run and agent have the same name"


def test_croissant_describes_tasks_and_holds_no_test(tmp_path: Path) -> None:
    export_file(find_source("starter", tmp_path), "croissant", tmp_path / "croissant.json")
    text = (tmp_path / "croissant.json").read_text()
    document = json.loads(text)
    suite = find_suite("starter")
    (records,) = document["recordSet"]
    assert [row["tasks/id"] for row in records["data"]] == [folder.task.id for folder in suite.tasks]
    assert {row["tasks/digest"] for row in records["data"]} == {folder.digest for folder in suite.tasks}
    assert document["version"] == suite.suite.version
    hidden = [path for folder in suite.tasks for path in folder.tests.rglob("*.py")]
    assert hidden and not any(path.name in text for path in hidden if path.name.startswith("test_"))


def _read(path: Path) -> Any:
    return json.loads(path.read_text())
