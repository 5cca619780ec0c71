"""SWE-bench's predictions, reports and leaderboard folders: read as runs, and written out of runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mini_runs import DIFF
from repoassay.errors import BadInput
from repoassay.interchange import ForeignAttempt, find_importer, import_run
from repoassay.report import export_file, find_source
from repoassay.types import Outcome

IDS = ("a__b-1", "a__b-2", "a__b-3", "a__b-4")


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """What the harness leaves: one resolved, one not, one empty, one in error."""
    folder = tmp_path / "theirs"
    folder.mkdir()
    rows = [
        {"instance_id": name, "model_name_or_path": "sys", "model_patch": DIFF if name != IDS[2] else ""}
        for name in IDS
    ]
    (folder / "preds.json").write_text(json.dumps({row["instance_id"]: row for row in rows}))
    tests = {
        "FAIL_TO_PASS": {"success": ["t::one"], "failure": []},
        "PASS_TO_PASS": {"success": [], "failure": ["t::two"]},
    }
    for name, good in ((IDS[0], True), (IDS[1], False)):
        place = folder / "logs" / "run_evaluation" / "run" / "sys" / name
        place.mkdir(parents=True)
        report = {"patch_successfully_applied": True, "resolved": good, "tests_status": tests}
        (place / "report.json").write_text(json.dumps({name: report}))
    summary = {"resolved_ids": [IDS[0]], "unresolved_ids": [IDS[1]], "empty_patch_ids": [IDS[2]], "error_ids": [IDS[3]]}
    (folder / "sys.run.json").write_text(json.dumps({**summary, "schema_version": 2}))
    return folder


def test_predictions_come_with_what_the_harness_said(theirs: Path, tmp_path: Path) -> None:
    assert find_importer(None, theirs)[0].name == "swe-bench"
    found = {one.attempt.task: one for one in import_run(None, theirs, tmp_path / "run").run.finished()}
    assert [found[name].verdict.outcome for name in IDS] == [
        Outcome.PASSED, Outcome.FAILED, Outcome.NO_OUTPUT, Outcome.NOT_GRADABLE,
    ]  # fmt: skip
    assert [test.outcome for test in found[IDS[1]].verdict.tests] == ["passed", "failed"]
    assert found[IDS[0]].verdict.grader == "SWE-bench's harness (reported)"
    assert found[IDS[0]].verdict.assurance is None


def test_a_summary_alone_says_what_came_of_each_instance_that_it_lists(theirs: Path, tmp_path: Path) -> None:
    summary = theirs / "sys.run.json"
    assert find_importer(None, summary)[0].name == "swe-bench"
    found = {one.attempt.task: one for one in import_run(None, summary, tmp_path / "run").run.finished()}
    assert [found[name].verdict.outcome for name in IDS] == [
        Outcome.PASSED, Outcome.FAILED, Outcome.NO_OUTPUT, Outcome.NOT_GRADABLE,
    ]  # fmt: skip
    assert {one.attempt.agent for one in found.values()} == {"sys.run"}


def test_predictions_of_any_name_are_found_below_a_folder_if_they_are_the_only_ones(
    theirs: Path, tmp_path: Path
) -> None:
    deep = tmp_path / "theirs" / "artifacts" / "first.jsonl"
    deep.parent.mkdir()
    (theirs / "preds.json").rename(deep)
    deep.write_text("".join(f"{json.dumps(row)}\n" for row in json.loads(deep.read_text()).values()))
    assert find_importer(None, theirs)[0].name == "swe-bench"
    run = import_run(None, theirs, tmp_path / "run").run
    assert {one.attempt.task: one.verdict.result for one in run.finished()}[IDS[0]] is True
    (deep.parent / "second.jsonl").write_text(deep.read_text())
    with pytest.raises(
        BadInput, match=r"several files of predictions: artifacts/first\.jsonl, artifacts/second\.jsonl"
    ):
        import_run(None, theirs, tmp_path / "again")


def test_a_report_without_its_instance_is_of_the_one_that_its_folder_names(theirs: Path, tmp_path: Path) -> None:
    place = theirs / "logs" / "run_evaluation" / "run" / "sys" / IDS[0] / "report.json"
    place.write_text(json.dumps(json.loads(place.read_text())[IDS[0]]))
    (theirs / "sys.run.json").unlink()
    found = {one.attempt.task: one.verdict for one in import_run(None, theirs, tmp_path / "run").run.finished()}
    assert found[IDS[0]].result is True and [test.outcome for test in found[IDS[0]].tests] == ["passed", "failed"]
    assert found[IDS[3]].result is None


def test_a_run_is_the_same_summary_after_the_way_in_and_out(theirs: Path, tmp_path: Path) -> None:
    run = import_run("swe-bench", theirs, tmp_path / "run").run
    export_file(find_source(str(run.path), tmp_path), "swe-bench-report", tmp_path / "sys.out.json")
    said = json.loads((tmp_path / "sys.out.json").read_text())
    before = json.loads((theirs / "sys.run.json").read_text())
    assert all(said[key] == before[key] for key in before)
    assert said["completed_ids"] == list(IDS[:2]) and said["total_instances"] == 4
    export_file(find_source(str(run.path), tmp_path), "swe-bench", tmp_path / "predictions.jsonl")
    again = import_run("swe-bench", tmp_path / "predictions.jsonl", tmp_path / "again").run
    assert [one.attempt.task for one in again.finished()] == list(IDS)


def test_what_the_harness_says_its_machine_spoiled_blames_nobody(theirs: Path, tmp_path: Path) -> None:
    summary = json.loads((theirs / "sys.run.json").read_text())
    reasons = {IDS[1]: "out_of_memory\x1b[2J"}
    more = {"infra_failure_ids": [IDS[1]], "ambiguous_failure_ids": [], "failure_reasons": reasons}
    (theirs / "sys.run.json").write_text(json.dumps(summary | more))
    found = {one.attempt.task: one.verdict for one in import_run(None, theirs, tmp_path / "run").run.finished()}
    assert found[IDS[1]].outcome is Outcome.NOT_GRADABLE
    (told,) = [line for line in found[IDS[1]].comments if "out_of_memory" in line]
    assert "\x1b" not in told
    assert found[IDS[0]].outcome is Outcome.PASSED
    export_file(find_source(str(tmp_path / "run"), tmp_path), "swe-bench-report", tmp_path / "sys.out.json")
    assert IDS[1] in json.loads((tmp_path / "sys.out.json").read_text())["ambiguous_failure_ids"]


def test_a_folder_for_the_leaderboard_is_one_that_is_read(theirs: Path, tmp_path: Path) -> None:
    run = import_run("swe-bench", theirs, tmp_path / "run").run
    export_file(find_source(str(run.path), tmp_path), "swe-bench-leaderboard", tmp_path / "entry")
    assert {path.name for path in (tmp_path / "entry").iterdir()} == {
        "all_preds.jsonl",
        "metadata.yaml",
        "README.md",
        "logs",
    }
    again = import_run(None, tmp_path / "entry", tmp_path / "again").run
    words = {one.attempt.task: one.verdict.result for one in again.finished()}
    assert words[IDS[0]] is True and words[IDS[1]] is False
    with pytest.raises(BadInput, match="no empty folder"):
        export_file(find_source(str(run.path), tmp_path), "swe-bench-leaderboard", tmp_path / "entry")


class _Two:
    title, gives, version, lost = "two agents", "run", "", ()

    def recognizes(self, source: Path) -> bool:
        """Never."""
        return False

    def attempts(self, source: Path) -> list[ForeignAttempt]:
        """One attempt of each."""
        return [ForeignAttempt("t", name, patch=b"x") for name in ("one", "other")]


def test_several_agents_are_refused_rather_than_mixed(tmp_path: Path) -> None:
    run = import_run(f"{__name__}:_Two", tmp_path, tmp_path / "runs" / "two").run
    with pytest.raises(BadInput, match="several agents: one, other"):
        export_file(find_source(str(run.path), tmp_path), "swe-bench", tmp_path / "p.jsonl")
    assert not (tmp_path / "p.jsonl").exists()
