"""Report files with the keys that SWE-bench's own tools write and read."""

from __future__ import annotations

import json
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from repoassay.benchmarks.swebench.evaluation import Evaluation
from repoassay.benchmarks.swebench.predictions import Prediction
from repoassay.benchmarks.swebench.reports import (
    has_report,
    instance_report,
    report_place,
    run_place,
    run_report,
    write_json,
)
from repoassay.sandbox import uv_program
from repoassay.types import HiddenTests, Outcome, TestResult, Verdict

TESTS = HiddenTests(
    fail_to_pass=("a", "b"), pass_to_pass=("c", "d"), runner="repository", patch="tests/test.patch", files=("t.py",)
)


def verdict(outcome: Outcome, **tests: str) -> Verdict:
    return Verdict(
        task="x", task_digest="", outcome=outcome, process=None, result=outcome is Outcome.PASSED, grader="g",
        graded_at=datetime.now(UTC), tests=tuple(TestResult(id=name, outcome=word) for name, word in tests.items()),
    )  # fmt: skip


def test_a_report_of_an_instance() -> None:
    one = Prediction("x-1", "org/model", "diff")
    report: Any = instance_report(one, TESTS, verdict(Outcome.FAILED, a="passed", b="failed", c="passed"))["x-1"]
    assert {key: report[key] for key in report if key != "tests_status"} == {
        "patch_is_None": False, "patch_exists": True, "patch_successfully_applied": True, "resolved": False,
    }  # fmt: skip
    assert report["tests_status"] == {
        "FAIL_TO_PASS": {"success": ["a"], "failure": ["b"]},
        "PASS_TO_PASS": {"success": ["c"], "failure": []},  # d is excluded: the solution does not pass it here
        "FAIL_TO_FAIL": {"success": [], "failure": []},
        "PASS_TO_FAIL": {"success": [], "failure": []},
    }
    report = instance_report(one, TESTS, verdict(Outcome.TAMPERING))["x-1"]
    assert report["tests_status"]["PASS_TO_PASS"] == {"success": [], "failure": ["c", "d"]}
    report = instance_report(one, TESTS, verdict(Outcome.PASSED, a="passed", b="passed"))["x-1"]
    assert report["resolved"]
    assert report["tests_status"]["FAIL_TO_PASS"]["success"] == ["a", "b"]


@pytest.mark.parametrize("outcome", Outcome)
def test_what_leaves_a_report(outcome: Outcome) -> None:
    left = {Outcome.PASSED, Outcome.FAILED, Outcome.TAMPERING, Outcome.BUDGET}
    assert has_report(verdict(outcome)) is (outcome in left)


def test_places_are_swebenchs_and_stay_inside(tmp_path: Path) -> None:
    assert report_place(tmp_path, "run", Prediction("x-1", "org/model", "")) == (
        tmp_path / "logs/run_evaluation/run/org__model/x-1/report.json"
    )
    assert run_place(tmp_path, "run", "org/model") == tmp_path / "org__model.run.json"
    hostile = report_place(tmp_path, "../..", Prediction("..", "/etc\n", ""))
    assert hostile == tmp_path / "logs/run_evaluation/..__../__etc_/_/report.json"


PREDICTIONS = {
    name: Prediction(name, "org/model", patch)
    for name, patch in {"good": "p", "bad": "p", "none": "", "broken": "p", "stranger": "p"}.items()
}
EVERY = ["good", "bad", "none", "broken", "untried"]


def test_a_report_of_a_run() -> None:
    report = run_report(EVERY, PREDICTIONS, {"good": True, "bad": False}, {"broken": Outcome.INFRA_FAULT})
    assert report == {
        "total_instances": 5, "submitted_instances": 5, "completed_instances": 2, "resolved_instances": 1,
        "unresolved_instances": 1, "empty_patch_instances": 1, "error_instances": 1, "completed_ids": ["bad", "good"],
        "incomplete_ids": ["untried"], "empty_patch_ids": ["none"],
        "submitted_ids": ["bad", "broken", "good", "none", "stranger"], "resolved_ids": ["good"],
        "unresolved_ids": ["bad"], "error_ids": ["broken"], "schema_version": 2, "unstopped_instances": 0,
        "unstopped_containers": [], "unremoved_images": [], "infra_failure_instances": 1,
        "infra_failure_ids": ["broken"], "ambiguous_failure_instances": 0, "ambiguous_failure_ids": [],
        "failure_reasons": {"broken": "infra_fault"},
    }  # fmt: skip


def test_errors_are_told_apart() -> None:
    verdicts = {
        "a": verdict(Outcome.PATCH_FAILED), "b": verdict(Outcome.INFRA_FAULT), "c": verdict(Outcome.NOT_GRADABLE),
        "d": verdict(Outcome.PASSED),
    }  # fmt: skip
    done = Evaluation(verdicts, {}, Path())
    assert dict(done.reasons) == {"the patch does not apply": 1, "we could not judge it": 2}
    assert done.unjudged == 2


_READER = """
import json, sys
from swebench.harness.reporting import make_run_report
from swebench.harness.utils import get_predictions_from_file
found = {each["instance_id"]: each for each in get_predictions_from_file(sys.argv[1], "none", "none")}
make_run_report(found, [{"instance_id": name} for name in sys.argv[2:]], "run")
"""


@pytest.mark.exhaustive
@pytest.mark.timeout(900)
def test_the_published_package_reads_our_reports_as_we_do(tmp_path: Path) -> None:
    """swebench 4.1.0, from our instances' reports, counts what our report of the run says."""
    out, theirs, venv = tmp_path / "out", tmp_path / "theirs", tmp_path / "venv"
    predictions = {name: each for name, each in PREDICTIONS.items() if name != "stranger"}
    lines = [
        {"instance_id": each.instance, "model_name_or_path": each.model, "model_patch": each.patch}
        for each in predictions.values()
    ]
    out.mkdir()
    (out / "preds.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    for name, outcome in (("good", Outcome.PASSED), ("bad", Outcome.FAILED)):
        place = report_place(out, "run", predictions[name])
        write_json(instance_report(predictions[name], TESTS, verdict(outcome, a="passed")), place)
    ours = run_report(EVERY, predictions, {"good": True, "bad": False}, {})
    write_json(ours, run_place(out, "run", "org/model"))
    python = str(venv / "bin/python")
    environment = {key: value for key, value in os.environ.items() if key != "VIRTUAL_ENV"}
    for command in (["venv", str(venv)], ["pip", "install", "--quiet", "--python", python, "swebench==4.1.0"]):
        subprocess.run([uv_program(), *command], check=True, capture_output=True, env=environment)
    theirs.mkdir()
    (theirs / "logs").symlink_to(out / "logs")
    subprocess.run([python, "-c", _READER, str(out / "preds.jsonl"), *EVERY], check=True, cwd=theirs, env=environment)
    read = json.loads((theirs / "org__model.run.json").read_text())
    written = json.loads((out / "org__model.run.json").read_text())
    assert read == {key: value for key, value in written.items() if key in read}
    assert len(written) - len(read) == 5  # keys of version 5; tests/peers compares those
