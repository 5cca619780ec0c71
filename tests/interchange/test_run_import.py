"""A run of another tool becomes a run folder that everything of ours reads, and that says what it is."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from command_line import repoassay
from json_answers import data_of
from mini_runs import DIFF, write_run
from repoassay.engine import GradingContext
from repoassay.errors import BadInput, InfraFault, Interrupted
from repoassay.interchange import find_importer, import_run, judge_run
from repoassay.records import FinishedAttempt, RunFolder
from repoassay.report import read_trajectory
from repoassay.sandbox import Cache, open_sandbox
from repoassay.tasks import find_suite
from repoassay.types import Outcome, Verdict

TASK = "edit-ledger-monthly"


def test_attempts_are_what_the_files_say(tmp_path: Path) -> None:
    source = write_run(tmp_path / "theirs", {"demo__one-1": DIFF, "demo__two-2": ""})
    done = import_run(None, source, tmp_path / "run")
    assert (done.attempts, done.found, dict(done.refused)) == (2, 2, {})
    first, second = RunFolder(tmp_path / "run").finished()
    assert (first.attempt.task, first.attempt.agent) == ("demo__one-1", "mini-swe-agent")
    assert (first.folder / "submission" / "changes.diff").read_text() == DIFF
    assert first.verdict.outcome is Outcome.NOT_GRADABLE and first.verdict.result is None
    assert second.verdict.outcome is Outcome.NO_OUTPUT, "an empty patch is a fact, whoever reports"
    spent = first.attempt.spent
    assert spent and str(spent.dollars) == "0.25" and (spent.usage.input, spent.usage.output) == (200, 20)
    trajectory = read_trajectory(first.folder)
    assert trajectory and trajectory.steps[2].calls[0].arguments == {"command": "ls"}
    assert (first.folder / "transcript" / "files" / "demo__one-1.traj.json").is_file()
    assert any("no reported result" in line for line in done.missing)


@pytest.mark.long
def test_what_is_imported_says_so_and_is_not_resumed(tmp_path: Path) -> None:
    source = write_run(tmp_path / "theirs", {"demo__one-1": DIFF})
    done = repoassay("import", str(source), "--out", "run", "--json", cwd=tmp_path)
    assert done.returncode == 0 and data_of(done.stdout)["attempts"] == 1, done.stderr
    report = repoassay("report", "run", "--html", "page.html", cwd=tmp_path)
    said = " ".join(report.stdout.split())
    assert "Imported from theirs, mini-swe-agent" in said and "that tool's own reports" in said
    assert "own reports" in (tmp_path / "page.html").read_text()
    resumed = repoassay("resume", "run", cwd=tmp_path)
    assert resumed.returncode == 2 and "was imported from mini-swe-agent" in resumed.stderr
    attempt = next(RunFolder(tmp_path / "run").finished()).attempt.id
    assert "sed -i" in repoassay("show", f"run/{attempt}", cwd=tmp_path).stdout


@pytest.mark.long
def test_judging_replaces_what_was_reported(tmp_path: Path) -> None:
    suite = find_suite("starter")
    folder = next(folder for folder in suite.tasks if folder.task.id == TASK)
    solution = next(folder.path.glob("solution/*.diff")).read_text()
    source = write_run(tmp_path / "theirs", {TASK: solution, "edit-of-nobody": DIFF})
    done = import_run("mini-swe-agent", source, tmp_path / "run", suite=suite)
    cache = Cache()
    assert judge_run(done.run, suite, GradingContext(suite.repositories, cache, open_sandbox("namespaces", cache))) == 1
    verdicts = {found.attempt.task: found.verdict for found in RunFolder(tmp_path / "run").finished()}
    assert verdicts[TASK].outcome is Outcome.PASSED and verdicts[TASK].assurance is not None
    assert any("nobody reported not_gradable" in line for line in verdicts[TASK].comments)
    assert verdicts["edit-of-nobody"].outcome is Outcome.NOT_GRADABLE


def test_no_claim_stands_in_a_run_that_was_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass is claimed of a wrong patch, of none, of a task that asks for files, and of one that the suite lacks."""
    store = {"model_patch": DIFF}
    claims = {TASK: store, "edit-ledger-elided-amount": {}, "sensor-log-daily": store, "edit-of-nobody": store}
    samples = [
        {"id": name, "epoch": 1, "store": kept, "scores": {"match": {"value": "C"}}} for name, kept in claims.items()
    ]
    log = {"eval": {"eval_id": "x", "task": "t", "model": "m/x"}, "status": "success", "samples": samples}
    (tmp_path / "log.json").write_text(json.dumps(log))
    suite, cache = find_suite("starter"), Cache()
    run = import_run("inspect", tmp_path / "log.json", tmp_path / "run", suite=suite).run
    bench = GradingContext(suite.repositories, cache, open_sandbox("namespaces", cache))

    def spoil(*_: object) -> Verdict:
        raise InfraFault("The machine is on fire.", "Leave.")

    with monkeypatch.context() as patched:
        patched.setattr("repoassay.interchange.run_judging.judge", spoil)
        assert judge_run(run, suite, bench) == 0
    found = {each.attempt.task: each.verdict for each in run.finished()}
    assert {name: verdict.outcome.value for name, verdict in found.items()} == {
        TASK: "infra_fault", "edit-ledger-elided-amount": "not_gradable", "sensor-log-daily": "not_gradable",
        "edit-of-nobody": "not_gradable",
    }  # fmt: skip
    assert judge_run(run, suite, bench) == 1
    found = {each.attempt.task: each.verdict for each in run.finished()}
    assert found[TASK].outcome.value in ("failed", "patch_failed")
    assert all(verdict.comments[-1] == "inspect_ai (match) reported passed." for verdict in found.values())


@pytest.mark.parametrize("content", ["", "{", "[]", '{"info": 3, "messages": "x"}', '{"messages": [1, {"role": 3}]}'])
def test_a_file_that_is_none_is_an_attempt_with_problems_or_a_sentence(tmp_path: Path, content: str) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "x.traj.json").write_text(content)
    done = import_run("mini-swe-agent", tmp_path / "theirs", tmp_path / "run")
    found = next(done.run.finished())
    assert found.attempt.task == "x" and found.verdict.outcome is Outcome.NOT_GRADABLE


def test_messages_alone_are_known_by_the_name_of_their_file(tmp_path: Path) -> None:
    said = [{"role": "user", "content": "Mend it."}, {"role": "assistant", "content": "```bash\nls\n```"}]
    (tmp_path / "one.traj.json").write_text(json.dumps(said))
    found = next(import_run(None, tmp_path, tmp_path / "run").run.finished())
    trajectory = read_trajectory(found.folder)
    assert trajectory and [call.arguments for step in trajectory.steps for call in step.calls] == [{"command": "ls"}]


def test_hostile_names_and_links_stay_where_they_are(tmp_path: Path) -> None:
    source = write_run(tmp_path / "theirs", {"good__one-1": DIFF})
    bad = json.loads((source / "good__one-1" / "good__one-1.traj.json").read_text())
    bad["instance_id"] = "../../../../evil\x1b[31m"
    (source / "bad.traj.json").write_text(json.dumps(bad))
    (source / "link.traj.json").symlink_to("/etc/passwd")
    done = import_run("mini-swe-agent", source, tmp_path / "run")
    assert done.attempts == 1 and len(done.refused) == 1
    assert not any("\x1b" in name for name in done.refused)


def test_what_is_there_is_never_overwritten(tmp_path: Path) -> None:
    source = write_run(tmp_path / "theirs", {"demo__one-1": DIFF})
    import_run(None, source, tmp_path / "run")
    before = sorted((tmp_path / "run").rglob("*"))
    with pytest.raises(BadInput, match="not empty"):
        import_run(None, source, tmp_path / "run")
    assert sorted((tmp_path / "run").rglob("*")) == before
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_nothing_recognisable_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("hello")
    with pytest.raises(BadInput, match="looks like no format that is read"):
        find_importer(None, tmp_path / "x")
    with pytest.raises(BadInput, match=r"There is no .*nope"):
        find_importer(None, tmp_path / "nope")


def test_formats_are_listed_with_what_is_lost(tmp_path: Path) -> None:
    entries = {entry["name"]: entry for entry in data_of(repoassay("formats", "--json", cwd=tmp_path).stdout)}
    assert entries["mini-swe-agent"]["reads"] == "run" and entries["atif"]["writes"] == "run"
    assert "lost:" in repoassay("formats", "mini-swe-agent", cwd=tmp_path).stdout
    assert repoassay("formats", "mini-swe", cwd=tmp_path).returncode == 2


def test_trajectories_of_swe_agent_are_read_with_patch_model_and_estimates(tmp_path: Path) -> None:
    steps = [{"action": "ls", "observation": "a.py", "thought": "I look.", "response": "I look."}]
    info = {
        "exit_status": "submitted", "submission": DIFF, "swe_agent_version": "1.1.0",
        "model_stats": {"instance_cost": 0.5, "tokens_sent": 90, "tokens_received": 9, "api_calls": 1},
    }  # fmt: skip
    config = json.dumps({"agent": {"model": {"name": "some-model"}}})
    document = {"trajectory": steps, "history": [], "info": info, "replay_config": config}
    (tmp_path / "theirs" / "a__b-1").mkdir(parents=True)
    (tmp_path / "theirs" / "a__b-1" / "a__b-1.traj").write_text(json.dumps(document))
    found = next(import_run(None, tmp_path / "theirs", tmp_path / "run").run.finished())
    assert (found.attempt.task, found.attempt.agent) == ("a__b-1", "swe-agent @ some-model")
    assert found.attempt.spent and str(found.attempt.spent.dollars) == "0.5" and found.attempt.spent.usage.input == 90
    trajectory = read_trajectory(found.folder)
    assert trajectory and trajectory.steps[0].observations[0].text == "a.py"
    assert (found.folder / "submission" / "changes.diff").read_text() == DIFF


@pytest.mark.long
def test_judging_that_was_stopped_goes_on(tmp_path: Path) -> None:
    """The same call judges what still has a report alone, and a folder from elsewhere is refused."""
    suite = find_suite("starter")
    names = [folder.task.id for folder in suite.tasks if any(folder.path.glob("solution/*.diff"))][:3]
    solutions = {name: next((suite.path / "tasks" / name).glob("solution/*.diff")).read_text() for name in names}
    write_run(tmp_path / "theirs", solutions)
    cancel, counted = threading.Event(), list[str]()

    def stop(found: FinishedAttempt, verdict: Verdict) -> None:
        counted.append(found.attempt.task)
        cancel.set()

    done = import_run("mini-swe-agent", tmp_path / "theirs", tmp_path / "run", suite=suite)
    cache = Cache()
    bench = GradingContext(suite.repositories, cache, open_sandbox("namespaces", cache))
    with pytest.raises(Interrupted, match="1 verdicts are kept"):
        judge_run(done.run, suite, bench, cancel=cancel, progress=stop)
    call = ("import", "theirs", "--out", "run", "--suite", "starter", "--judge", "--json")
    again = repoassay(*call, cwd=tmp_path)
    assert again.returncode == 0 and data_of(again.stdout)["judged"] == len(names) - 1, again.stderr
    graders = {found.verdict.grader for found in RunFolder(tmp_path / "run").finished()}
    assert not any(grader.endswith("(reported)") for grader in graders)
    assert data_of(repoassay(*call, cwd=tmp_path).stdout)["judged"] == 0
    write_run(tmp_path / "others", solutions)
    other = repoassay("import", "others", *call[2:], cwd=tmp_path)
    assert other.returncode == 2 and "not one that was imported from others" in other.stderr
