"""Other tools read what we write: predictions, trajectories, figures and metadata. Run by `make test-peers`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mini_runs import DIFF, write_run
from peers.python import needs_peers, run_peer
from repoassay.interchange import import_run, judge_run
from repoassay.records import RunFolder
from repoassay.report import export_file, find_source
from repoassay.tasks import find_suite

PEERS = {
    "atif": "harbor",
    "croissant": "mlcroissant",
    "every-eval-ever": "every-eval-ever",
    "mini-swe-agent": "mini-swe-agent",
    "swe-bench": "swebench",
    "swe-bench-report": "swebench",
}
TASK = "edit-ledger-monthly"


@pytest.fixture(scope="module")
def judged_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An imported run of three tasks: one passes here, one is handed in empty, one has no task here."""
    from repoassay.engine import GradingContext
    from repoassay.sandbox import Cache, open_sandbox

    place, suite = tmp_path_factory.mktemp("peers"), find_suite("starter")
    folder = next(folder for folder in suite.tasks if folder.task.id == TASK)
    solution = next(folder.path.glob("solution/*.diff")).read_text()
    theirs = write_run(place / "theirs", {TASK: solution, "demo__two-2": "", "demo__three-3": DIFF})
    done = import_run("mini-swe-agent", theirs, place / "run", suite=suite)
    cache = Cache()
    judge_run(done.run, suite, GradingContext(suite.repositories, cache, open_sandbox("namespaces", cache)))
    return place / "run"


def written(run: Path, kind: str, file: Path) -> Path:
    export_file(find_source(str(run), run.parent), kind, file)
    return file


PREDICTIONS = """
import sys
from swebench.harness.utils import get_predictions_from_file
for one in get_predictions_from_file(sys.argv[1], "some/dataset", "test"):
    print(one["instance_id"], one["model_name_or_path"], len(one["model_patch"]))
"""


@needs_peers
def test_swebench_reads_our_predictions(judged_run: Path, tmp_path: Path) -> None:
    told = run_peer("-c", PREDICTIONS, str(written(judged_run, "swe-bench", tmp_path / "preds.jsonl"))).splitlines()
    own = {found.attempt.task: found for found in RunFolder(judged_run).finished()}
    assert sorted(line.split()[0] for line in told) == sorted(own)
    lengths = {line.split()[0]: int(line.split()[2]) for line in told}
    for task, found in own.items():
        assert lengths[task] == len((found.folder / "submission" / "changes.diff").read_text())


REPORT = """
import json, sys
from pathlib import Path
from swebench.harness.reporting import LOG_REPORT, RUN_EVALUATION_LOG_DIR, make_run_report
leaderboard, where = Path(sys.argv[1]), Path(sys.argv[2])
predictions = {}
for line in (leaderboard / "all_preds.jsonl").read_text().splitlines():
    one = json.loads(line)
    name = one["instance_id"]
    predictions[name] = one
    place = where / RUN_EVALUATION_LOG_DIR / "run" / one["model_name_or_path"].replace("/", "__") / name
    place.mkdir(parents=True)
    if (leaderboard / "logs" / name / "report.json").exists():
        (place / LOG_REPORT).write_bytes((leaderboard / "logs" / name / "report.json").read_bytes())
made = make_run_report(predictions, [{"instance_id": name} for name in predictions], "run")
(where / "theirs.json").write_bytes(made.read_bytes())
"""


@needs_peers
def test_the_harness_makes_of_our_reports_what_we_make(
    judged_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = written(judged_run, "swe-bench-leaderboard", tmp_path / "board")
    run_peer("-c", REPORT, str(folder), str(tmp_path))
    theirs = json.loads((tmp_path / "theirs.json").read_text())
    ours = json.loads(written(judged_run, "swe-bench-report", tmp_path / "report.json").read_text())
    assert ours["resolved_ids"] == theirs["resolved_ids"] == [TASK]
    assert ours["empty_patch_ids"] == theirs["empty_patch_ids"] == ["demo__two-2"]
    assert ours["error_ids"] == theirs["error_ids"] == ["demo__three-3"]
    for key in ("submitted_ids", "submitted_instances", "total_instances", "schema_version", "incomplete_ids"):
        assert ours[key] == theirs[key], key
    assert theirs.keys() <= ours.keys()
    assert ours["failure_reasons"] == {"demo__three-3": "not_gradable"}
    back = import_run("swe-bench", folder, tmp_path / "back").run
    results = [
        {one.attempt.task: one.verdict.result for one in run.finished()} for run in (RunFolder(judged_run), back)
    ]
    assert results[0] == results[1]


ATIF = """
import sys
from harbor.models.trajectories import Trajectory
for line in open(sys.argv[1]):
    one = Trajectory.model_validate_json(line)
    print(one.schema_version, len(one.steps))
"""


@needs_peers
def test_harbor_reads_our_trajectories(judged_run: Path, tmp_path: Path) -> None:
    lines = run_peer("-c", ATIF, str(written(judged_run, "atif", tmp_path / "a.jsonl"))).splitlines()
    assert len(lines) == 3 and {line.split()[0] for line in lines} == {"ATIF-v1.8"}


EVALS = """
import sys
from pathlib import Path
from every_eval_ever.validator.validation_core import validate_file
for name in sys.argv[1:]:
    report = validate_file(Path(name))
    print(report.valid, report.file_type, report.line_count, report.errors)
"""


@needs_peers
def test_every_eval_ever_validates_our_folder(judged_run: Path, tmp_path: Path) -> None:
    folder = written(judged_run, "every-eval-ever", tmp_path / "store")
    files = [str(path) for path in sorted(folder.rglob("*.json*"))]
    assert run_peer("-c", EVALS, *files).splitlines() == ["True aggregate 0 []", "True instance 2 []"]


CROISSANT = """
import sys, mlcroissant
dataset = mlcroissant.Dataset(jsonld=sys.argv[1])
for record in dataset.records("tasks"):
    print(record["tasks/id"])
"""


@needs_peers
def test_mlcroissant_reads_the_tasks_of_a_suite(tmp_path: Path) -> None:
    export_file(find_source("starter", tmp_path), "croissant", tmp_path / "croissant.json")
    told = run_peer("-c", CROISSANT, str(tmp_path / "croissant.json")).split()
    assert told == [folder.task.id for folder in find_suite("starter").tasks]


MINI = """
import json, sys
from minisweagent.agents.default import DefaultAgent
from minisweagent.environments.local import LocalEnvironment
from minisweagent.models.test_models import DeterministicModel, make_output
turns = [make_output("I look.", [{"command": "echo here"}]), make_output("Done.", [
    {"command": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && printf 'the patch'"}])]
agent = DefaultAgent(DeterministicModel(outputs=turns), LocalEnvironment(), system_template="s",
                     instance_template="{{task}}", output_path=sys.argv[1])
agent.run("Fix it.")
agent.save(__import__("pathlib").Path(sys.argv[1]))
"""


@needs_peers
def test_what_mini_swe_agent_writes_is_read(tmp_path: Path) -> None:
    from repoassay.report import read_trajectory

    (tmp_path / "theirs" / "demo").mkdir(parents=True)
    run_peer("-c", MINI, str(tmp_path / "theirs" / "demo" / "demo.traj.json"))
    (found,) = import_run(None, tmp_path / "theirs", tmp_path / "run").run.finished()
    trajectory = read_trajectory(found.folder)
    assert trajectory and "echo here" in str([call.arguments for step in trajectory.steps for call in step.calls])
    assert any("here" in seen.text for step in trajectory.steps for seen in step.observations)
