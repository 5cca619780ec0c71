"""`repoassay signals` over real runs: measured in the sandbox, kept beside attempts, read by reviewers."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from engine.metering import ASSETS
from interrupts import interruptible
from json_answers import data_of
from repoassay.cli.main import cli
from repoassay.errors import RepoAssayError
from repoassay.judges.prompt import signals_by_axis
from repoassay.records import RunFolder
from repoassay.review.rubric import read_rubric
from repoassay.review.study import HiddenPart

REPOASSAY = str(Path(sys.executable).with_name("repoassay"))
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
HOSTILE = "\\033[2J\\342\\200\\256gnp"
"""An escape, and an override of the direction of reading, as printf writes them."""
BAD = (
    "if [ -d repo/src/sums ]; then cd repo; echo x > sums.orig; printf"
    f' "\\n\\ndef unused(a):\\n    print(a)\\n    return a\\n    a += 1  # {HOSTILE}\\n" >> src/sums/__init__.py; fi'
)
TESTS = "from sums import total\n\n\ndef test_total():\n    assert total([0, 1, 2]) == 3\n"
EMPTY, GOOD, POOR = "nothing", "reference", "command"


def mini(into: Path) -> Path:
    """The mini suite, whose repository has tests of its own."""
    shutil.copytree(ASSETS / "suites" / "mini", into / "mini")
    tests = into / "mini" / "repositories" / "sums" / "tests"
    tests.mkdir()
    (tests / "test_sums.py").write_text(TESTS)
    return into / "mini"


def made(suite: Path, out: Path, *arguments: str) -> RunFolder:
    done = CliRunner().invoke(
        cli, ["run", str(suite), "--out", str(out), "--workers", "2", "--retries", "0", *arguments]
    )
    assert done.exit_code == 0, done.output
    (found,) = [out] if (out / "run.json").is_file() else out.iterdir()
    return RunFolder(found)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """Both mini tasks, by three agents; what was left at the deliverable changes no repository."""
    place = tmp_path_factory.mktemp("signals")
    agents = [each for name in (GOOD, EMPTY, POOR) for each in ("--agent", name)]
    return made(mini(place), place / "runs", *agents, "--agent-command", BAD)


@pytest.fixture(scope="module")
def whole(original: RunFolder) -> Any:
    """The document of measuring all of it once."""
    return document(original.path, "--reference")


@pytest.fixture
def run(original: RunFolder, whole: Any, tmp_path: Path) -> RunFolder:
    """A measured copy, with a suite of its own."""
    assert whole
    shutil.copytree(original.path, tmp_path / "runs" / "one", symlinks=True)
    shutil.copytree(original.plan.suite_folder, tmp_path / "mini")
    plan = tmp_path / "runs" / "one" / "run.json"
    plan.write_text(plan.read_text().replace(original.plan.suite_folder, str(tmp_path / "mini")))
    return RunFolder(tmp_path / "runs" / "one")


def told(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, [str(each) for each in ("signals", *arguments)])


def document(*arguments: str | Path) -> Any:
    done = told(*arguments, "--json")
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return data_of(done.stdout)


def refused(done: Result) -> str:
    assert isinstance(done.exception, RepoAssayError), (done.exception, done.output)
    return str(done.exception)


def place_of(run: RunFolder, agent: str) -> Path:
    (found,) = [f for f in run.finished() if f.attempt.agent == agent and f.attempt.task == "fix-total"]
    return found.folder / "signals.json"


def findings(one: Any) -> dict[str, Any]:
    return {each["id"]: each for each in one["measured"]["signals"] if each["state"] == "finding"}


def test_a_bad_change_is_found_and_the_reference_is_silent(original: RunFolder, whole: Any) -> None:
    by = {one["agent"]: one for one in whole["changes"]}
    assert by.keys() == {GOOD, EMPTY, POOR, None}
    assert whole["passed_over"] == 3
    assert findings(by[GOOD]) == findings(by[None]) == {}
    assert by[None]["reference"] and by[None]["attempt"] is None
    found = findings(by[POOR])
    assert {"artefacts", "dead_code"} <= found.keys(), found.keys()
    dead = found["dead_code"]["evidence"]
    assert any(each["path"] == "src/sums/__init__.py" and each["quote"].startswith("a += 1") for each in dead), dead
    assert by[EMPTY]["measured"] is None and "left no diff" in by[EMPTY]["problem"]


def test_it_is_kept_beside_the_attempt_where_reviewers_and_judges_read_it(original: RunFolder, whole: Any) -> None:
    from repoassay.report.attempt_timeline import read_story
    from repoassay.server.review.item_builder import evidence_for

    kept = json.loads(place_of(original, POOR).read_bytes())
    (one,) = [one for one in whole["changes"] if one["agent"] == POOR]
    assert kept == one["measured"]
    assert kept["schema"] == 1 and kept["versions"]["repoassay"] and "pytest" in kept["versions"]
    assert not place_of(original, EMPTY).exists()
    assert (original.path / "references" / "fix-total" / "signals.json").is_file()
    evidence = evidence_for(read_story(original, kept["attempt"]))
    assert evidence["signals"] == kept["signals"]
    hidden = HiddenPart(task="fix-total", system="command", agent="command", evidence=evidence)
    assert "[dead_code]" in signals_by_axis(hidden, read_rubric("mergeable"))["quality"]


@pytest.mark.long
def test_what_was_measured_is_not_measured_again_unless_asked(run: RunFolder) -> None:
    place = place_of(run, POOR)
    before = place.read_bytes()
    once = document(run.path)
    assert [one["before"] for one in once["changes"] if one["measured"]] == [True, True]
    assert place.read_bytes() == before
    again = document(f"{run.path}/{place.parent.name}", "--again")
    assert [one["before"] for one in again["changes"]] == [False]
    now = place.read_bytes()
    assert json.loads(now)["measured_at"] > json.loads(before)["measured_at"]
    assert json.loads(now)["signals"] == json.loads(before)["signals"]
    assert sorted(each.name for each in place.parent.iterdir() if "signals" in each.name) == ["signals.json"]


@pytest.mark.exhaustive
def test_nothing_else_of_the_run_changes(run: RunFolder) -> None:
    def everything() -> dict[str, bytes]:
        files = [each for each in run.path.rglob("*") if each.is_file() and each.name != "signals.json"]
        return {str(each): each.read_bytes() for each in files}

    place_of(run, GOOD).unlink()
    before = everything()
    assert told(run.path).exit_code == 0
    assert place_of(run, GOOD).is_file()
    assert everything() == before


def test_the_table_names_axis_path_and_line_and_nothing_unseen(run: RunFolder) -> None:
    done = told(run.path, "--reference")
    assert done.exit_code == 0, done.output
    assert re.search(r"^  quality +[0-9]+ findings$", done.stdout, re.MULTILINE), done.stdout
    assert re.search(r"^      src/sums/__init__\.py:\d+  .+", done.stdout, re.MULTILINE), done.stdout
    assert "reference of fix-total\n" in done.stdout
    assert "3 changes measured, 1 with findings, 3 from before; 1 not measured; 3 attempts passed over" in done.stdout
    assert not _UNSEEN.search(done.output)
    assert "      sums.orig:1  " in done.stdout


@pytest.mark.long
def test_a_kept_file_that_is_hostile_or_torn_is_a_sentence(run: RunFolder, tmp_path: Path) -> None:
    place = place_of(run, POOR)
    whole = place.read_bytes()
    for content in (whole[:-40], b"[]", whole.replace(b'"schema": 1', b'"schema": 2'), b"[" * 100_000):
        place.write_bytes(content)
        done = told(run.path)
        assert done.exit_code == 1
        assert ("Upgrade RepoAssay" if b'"schema": 2' in content else "cannot be read as signals") in done.stderr
        assert "1 with findings" not in done.stdout
        assert place.read_bytes() == content
    place.unlink()
    place.symlink_to(tmp_path / "elsewhere")
    assert "cannot be read as signals" in refused(told(f"{run.path}/{place.parent.name}"))
    assert told(f"{run.path}/{place.parent.name}", "--again").exit_code == 0
    assert not place.is_symlink() and not (tmp_path / "elsewhere").exists()


def test_text_of_a_kept_file_is_inert(run: RunFolder) -> None:
    place = place_of(run, POOR)
    kept = json.loads(place.read_bytes())
    for each in kept["signals"]:
        each["title"] = "\x1b[31m\u202etitle"
        for where in each["evidence"]:
            where["path"], where["text"] = "a\x1b]0;b\x07\n.py", "\x9b31m\r\u2066"
    place.write_text(json.dumps(kept))
    assert not _UNSEEN.search(told(run.path).output)
    assert not _UNSEEN.search(told(run.path, "--json").output)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda suite: shutil.rmtree(suite / "tasks" / "fix-total"), "The task fix-total is not there any more"),
        (shutil.rmtree, "The task fix-total is not there any more"),
        (lambda suite: (suite / "tasks/fix-total/instruction.md").write_text("Else."), "fix-total has changed since"),
        (lambda suite: (suite / "tasks/fix-total/task.toml").write_text("schema ="), "is not there any more"),
    ],
    ids=["task gone", "suite gone", "task changed", "task broken"],
)
def test_a_task_that_is_gone_or_changed_is_a_sentence(run: RunFolder, damage: Any, words: str) -> None:
    damage(Path(run.plan.suite_folder))
    place = place_of(run, POOR)
    place.unlink()
    done = told(run.path)
    assert done.exit_code == 1
    assert words in done.stderr and "Traceback" not in done.output
    assert "1 changes measured" in done.stdout  # the other was measured before
    assert words in refused(told(f"{run.path}/{place.parent.name}"))
    assert not place.exists()


def test_a_diff_that_is_gone_or_cannot_be_applied_has_nothing_to_measure(run: RunFolder) -> None:
    place = place_of(run, POOR)
    place.unlink()
    diff = place.parent / "submission" / "changes.diff"
    good = diff.read_bytes()
    for content, words in (
        (None, "left no diff"),
        (b" \n", "left no diff"),
        (good.replace(b" def largest", b" def another"), "cannot be applied"),
        (b"diff --git a/../../evil b/../../evil\n--- /dev/null\n+++ b/../../evil\n@@ -0,0 +1 @@\n+x\n", "cannot be"),
    ):
        diff.unlink(missing_ok=True)
        if content is not None:
            diff.write_bytes(content)
        done = told(run.path)
        assert done.exit_code == 0, done.output
        assert words in done.stderr, done.stderr
        assert words in refused(told(f"{run.path}/{place.parent.name}"))
        assert not place.exists()


@pytest.mark.long
def test_other_attempts_and_bad_names_are_sentences(run: RunFolder) -> None:
    other = next(f.attempt.id for f in run.finished() if f.attempt.task == "sum-ledger")
    assert "changes a repository" in refused(told(f"{run.path}/{other}"))
    assert "changes a repository" in refused(told(run.path, "--task", "sum-*"))
    assert "is called" in refused(told("nowhere", "--runs", run.path.parent))
    assert document("one", "--runs", run.path.parent, "--task", "fix-*")["passed_over"] == 0


def test_a_reference_with_findings_is_told(run: RunFolder) -> None:
    shutil.copy(place_of(run, POOR), run.path / "references" / "fix-total" / "signals.json")
    done = told(run.path, "--reference")
    assert done.exit_code == 1
    assert "1 references are not silent" in done.stdout
    assert told(run.path).exit_code == 0


@pytest.mark.exhaustive
def test_ctrl_c_keeps_what_is_done_and_the_next_goes_on(tmp_path: Path) -> None:
    different = 'echo "# $(date +%s%N)" >> repo/src/sums/__init__.py'
    run = made(
        mini(tmp_path), tmp_path / "runs", "--agent", "command", "--agent-command", different,
        "--attempts", "3", "--task", "fix-total",
    )  # fmt: skip
    with interruptible():
        process = subprocess.Popen(
            [REPOASSAY, "signals", str(run.path), "--workers", "1"], text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
    end = time.monotonic() + 60
    while not (kept := list(run.path.glob("attempts/*/signals.json"))) and time.monotonic() < end:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "are kept" in errors and "Traceback" not in errors
    before = {each: each.read_bytes() for each in run.path.glob("attempts/*/signals.json")}
    assert kept and 0 < len(before) < 3
    rest = document(run.path)
    assert sum(one["before"] for one in rest["changes"]) == len(before)
    assert all(each.read_bytes() == content for each, content in before.items())
    assert len(list(run.path.glob("attempts/*/signals.json"))) == 3
    states = {json.dumps(one["measured"]["signals"]) for one in rest["changes"]}
    assert not any("cancelled" in each for each in states)


POOR_PULL = (
    "if [ -f repo/src/cachetools/__init__.py ]; then cd repo; printf"
    ' "\\n\\ndef resize(cache, size):\\n    print(size)\\n    return cache\\n    size += 1\\n"'
    ' >> src/cachetools/__init__.py; git add -A; git commit -qm "Resize"; fi'
)


@pytest.mark.exhaustive
def test_the_bundled_pull_requests_are_silent_and_a_poor_one_is_not(tmp_path: Path) -> None:
    run = made(
        Path("pull-requests"), tmp_path / "runs", "--agent", "reference", "--agent", "command",
        "--agent-command", POOR_PULL,
    )  # fmt: skip
    whole = document(run.path, "--reference", "--workers", "2")
    assert whole["passed_over"] == 0
    by = {(one["task"], one["agent"]): one for one in whole["changes"]}
    tasks = {one["task"] for one in whole["changes"]}
    assert len(tasks) >= 7 and len(by) == 3 * len(tasks)
    for task in tasks:
        assert findings(by[task, None]) == findings(by[task, "reference"]) == {}
        assert (by[task, "command"]["measured"] is None) == (task != "pr-cachetools-resize")
    found = findings(by["pr-cachetools-resize", "command"])
    assert {"dead_code", "tests_added", "diff_coverage"} <= found.keys(), found.keys()
    places = {(each["path"], each["quote"]) for one in found.values() for each in one["evidence"]}
    assert ("src/cachetools/__init__.py", "size += 1") in places
