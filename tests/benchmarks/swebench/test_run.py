"""`repoassay swebench run`, over edit tasks that are at hand: verdicts, reports, a second call."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from interrupts import interruptible
from json_answers import data_of
from repoassay.benchmarks.swebench.evaluation import sorted_predictions
from repoassay.benchmarks.swebench.predictions import Prediction, read_predictions
from repoassay.cli.main import cli
from repoassay.errors import BadInput
from repoassay.formats import import_rows
from repoassay.tasks import find_suite
from swe_rows import SWE
from ten_lines import STARTER

REPOASSAY = str(Path(sys.executable).with_name("repoassay"))
GOOD, BAD, EMPTY, BROKEN = (
    "edit-ledger-account-prefix", "edit-ledger-monthly", "edit-ledger-elided-amount", "edit-cachetools-peek"
)  # fmt: skip


def prediction(name: str, patch: str | None, model: str = "org/model") -> dict[str, str | None]:
    return {"instance_id": name, "model_name_or_path": model, "model_patch": patch}


def patch_for(name: str) -> str:
    return (STARTER / "tasks" / name / "solution/changes.diff").read_text("utf-8")


def run(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(cli, ["swebench", "run", "--out", str(folder), *arguments])


@pytest.fixture
def predictions(tmp_path: Path) -> Path:
    file = tmp_path / "preds.json"
    useless = "--- /dev/null\n+++ b/NOTES\n@@ -0,0 +1 @@\n+Nothing.\n"
    given = [prediction(GOOD, patch_for(GOOD)), prediction(BAD, useless), prediction(EMPTY, " \n")]
    given.append(prediction(BROKEN, "nonsense"))
    file.write_text(json.dumps({str(each["instance_id"]): each for each in given}))
    return file


def test_predictions_in_and_reports_out(tmp_path: Path, predictions: Path) -> None:
    out = tmp_path / "out"
    result = run(out, "--predictions", str(predictions), "--suite", str(STARTER), "--run-id", "june", "--workers", "2")
    assert result.exit_code == 0, result.output
    report = json.loads((out / "org__model.june.json").read_text())
    assert (report["resolved_ids"], report["unresolved_ids"]) == ([GOOD], [BAD])
    assert (report["empty_patch_ids"], report["error_ids"]) == ([EMPTY], [BROKEN])
    assert (report["submitted_instances"], report["schema_version"]) == (4, 2)
    folder = out / "logs/run_evaluation/june/org__model"
    assert sorted(each.name for each in folder.iterdir()) == sorted([GOOD, BAD])
    assert json.loads((folder / GOOD / "report.json").read_text())[GOOD]["resolved"]
    assert "     1 in error: the patch does not apply" in result.output
    assert f"{'resolved':<12} {1:>5}" in result.output
    again = run(out, "--predictions", str(predictions), "--suite", str(STARTER), "--run-id", "june", "--json")
    found = data_of(again.stdout)
    assert (found["resolved"], found["unresolved"], found["empty"], found["error"]) == (1, 1, 1, 1)
    [error] = found["errors"]
    assert error["outcome"] == "patch_failed"
    assert error["reason"]
    assert "(known)" not in again.stdout  # which is JSON alone
    assert f"{'PASS':<12} {GOOD}  (known)" in again.stderr.splitlines()


@pytest.mark.long
def test_ctrl_c_says_what_was_reached(tmp_path: Path) -> None:
    names = sorted(task.task.id for task in find_suite(STARTER).tasks if task.task.kind.changes_repository)
    patch = "--- /dev/null\n+++ b/NOTES\n@@ -0,0 +1 @@\n+Nothing.\n"
    (tmp_path / "preds.jsonl").write_text("".join(json.dumps(prediction(name, patch)) + "\n" for name in names))
    words = ["swebench", "run", "--predictions", "preds.jsonl", "--suite", str(STARTER), "--no-cache", "--json"]
    with interruptible():
        running = subprocess.Popen(
            [REPOASSAY, *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
    assert running.stderr is not None
    told = [running.stderr.readline() for _ in range(2)]
    running.send_signal(signal.SIGINT)
    answer, rest = running.communicate(timeout=120)
    assert running.returncode == 130, rest
    assert told[1].startswith("FAIL ")
    found = json.loads(answer)
    said = (
        rf"Stopped after (\d+) of {len(names)} predictions \(\1 FAIL\)\. Repeat the command: with --no-cache all is.*"
    )
    assert found["data"] is None and re.fullmatch(said, found["problems"][0])
    reports = list((tmp_path / "logs/run_evaluation/repoassay/org__model").iterdir())
    assert 1 <= len(reports) < len(names)


def test_the_solutions_as_predictions(tmp_path: Path) -> None:
    words = ("--predictions", "gold", "--suite", str(STARTER), "--instance", GOOD, "--instance", "no*")
    result = run(tmp_path, *words)
    assert result.exit_code == 0, result.output
    idle, told = result.stderr.split("\n", 1)
    assert idle == "No prediction matches 'no*'; the others are judged."
    assert told.startswith("Judging 1 predictions; the environment and the proof of a new one")
    report = json.loads((tmp_path / "gold.repoassay.json").read_text())
    assert (report["total_instances"], report["resolved_ids"]) == (1, [GOOD])


def test_a_place_for_reports_that_cannot_be_made_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = run(tmp_path / "file/x", "--predictions", "gold", "--suite", str(STARTER), "--instance", GOOD)
    assert isinstance(result.exception, BadInput)
    assert "file/x' cannot be made: Not a directory. Choose another folder." in str(result.exception)


def test_an_instance_that_is_no_task_is_an_error_and_stops_none(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    unknown = {**SWE, "instance_id": "a__b-1", "repo": "a/b"}
    rows.write_text("".join(json.dumps(each) + "\n" for each in (SWE, unknown)))
    import_rows(rows, tmp_path / "suite")
    (tmp_path / "preds.jsonl").write_text(json.dumps(prediction("a__b-1", SWE["patch"])) + "\n")
    for source in (("--dataset", str(rows)), ("--suite", str(tmp_path / "suite"))):
        result = run(tmp_path, "--predictions", str(tmp_path / "preds.jsonl"), *source)
        assert result.exit_code == 1, result.output
        assert "     1 in error: we could not judge it" in result.output
        report = json.loads((tmp_path / "org__model.repoassay.json").read_text())
        assert (report["error_ids"], report["incomplete_ids"]) == (["a__b-1"], [SWE["instance_id"]])
        told = run(tmp_path, "--predictions", str(tmp_path / "preds.jsonl"), *source, "--json")
        [error] = data_of(told.stdout)["errors"]
        assert (error["instance"], error["outcome"]) == ("a__b-1", "infra_fault")
        assert "the table does not know the repository 'a/b'" in error["reason"]


def test_what_is_refused(tmp_path: Path, predictions: Path) -> None:
    neither = run(tmp_path, "--predictions", str(predictions))
    assert isinstance(neither.exception, BadInput)
    nobody = run(tmp_path, "--predictions", str(predictions), "--suite", str(STARTER), "--instance", "x*")
    assert "No prediction matches 'x*'" in str(nobody.exception)
    (tmp_path / "other.jsonl").write_text(json.dumps(prediction("edit-ledger-monthli", "p")) + "\n")
    strange = run(tmp_path, "--predictions", str(tmp_path / "other.jsonl"), "--suite", str(STARTER))
    assert "There is no task 'edit-ledger-monthli'" in str(strange.exception)
    assert "edit-ledger-monthly" in str(strange.exception)


def test_of_several_predictions_the_last_counts(tmp_path: Path) -> None:
    file = tmp_path / "preds.jsonl"
    file.write_text("".join(json.dumps(prediction("x", patch)) + "\n" for patch in ("a", "b")))
    assert read_predictions(file) == {"x": Prediction("x", "org/model", "b")}


def test_tasks_that_share_an_environment_follow_each_other() -> None:
    tasks = {folder.task.id: folder for folder in find_suite("starter").tasks}
    given = [Prediction(name, "m", "p") for name in ("unknown", BAD, BROKEN, GOOD, EMPTY)]
    names = [each.instance for each in sorted_predictions(given, tasks)]
    assert names[0] == "unknown"
    places = sorted(names.index(name) for name in (GOOD, BAD, EMPTY))
    assert places[-1] - places[0] == 2


def test_the_verb_enters_as_a_plug_in() -> None:
    result = CliRunner().invoke(cli, ["--help"])
    assert "Commands of benchmarks and plug-ins" in result.output
    assert "swebench" in result.output
    assert CliRunner().invoke(cli, ["swebench", "run", "--help"]).exit_code == 0
