"""The published command line: grading leaves records and exit codes that mean something, eval counts what is there."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import repoassay
import repoassay.tasks
from repoassay.benchmarks.gittaskbench.formats import ResultRecord, append_record, read_report
from shared_data import SHARED, needs_shared

pytestmark = pytest.mark.exhaustive

STARTER = Path(repoassay.tasks.__file__).parent / "starter"
DAILY = "sensor-log-daily"
PASS = ResultRecord(True, True, "2025-07-18T21:46:22", "an older pass")


def gittaskbench(cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-c", "from repoassay.benchmarks.gittaskbench.cli.main import main; main()", *arguments],
        cwd=cwd, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    return done


def grade(cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return gittaskbench(cwd, "grade", "--suite", "starter", *arguments)


def answer(place: Path, text: str | None = None) -> None:
    """Put the right output of the task DAILY into a folder, or another text under its name."""
    place.mkdir(parents=True)
    shutil.copyfile(STARTER / "tasks" / DAILY / "tests/daily.csv", place / "daily.csv")
    if text is not None:
        (place / "daily.csv").write_text(text)


def records(results: Path, task: str = DAILY) -> list[dict[str, object]]:
    return [json.loads(line) for line in (results / task / "results.jsonl").read_text().splitlines()]


def verdicts(results: Path, task: str = DAILY) -> list[tuple[object, object]]:
    return [(record["Process"], record["Result"]) for record in records(results, task)]


def test_a_pass_then_a_failure_then_nothing_then_a_pass(tmp_path: Path) -> None:
    output = tmp_path / "output" / DAILY
    answer(output)
    assert grade(tmp_path, "--taskid", DAILY).returncode == 0
    wrong = (output / "daily.csv").read_text().splitlines()
    (output / "daily.csv").write_text("\n".join(line for number, line in enumerate(wrong) if number != 1))
    assert grade(tmp_path, "--taskid", DAILY).returncode == 1
    (output / "daily.csv").unlink()
    assert grade(tmp_path, "--taskid", DAILY).returncode == 1
    output.rmdir()
    assert grade(tmp_path, "--taskid", DAILY).returncode == 1
    answer(output)
    assert grade(tmp_path, "--taskid", DAILY).returncode == 0
    expected = [(True, True), (True, False), (False, False), (False, False), (True, True)]
    assert verdicts(tmp_path / "test_results") == expected
    for record in records(tmp_path / "test_results"):
        assert set(record) == {"Process", "Result", "TimePoint", "comments"}
        assert record["comments"]


@pytest.mark.parametrize("kind", ["empty", "unrelated", "link", "file"])
def test_no_usable_output_never_keeps_an_older_pass(tmp_path: Path, kind: str) -> None:
    append_record(tmp_path / "test_results", DAILY, PASS)
    output = tmp_path / "output" / DAILY
    if kind == "file":
        output.parent.mkdir()
        output.write_text("x")
    elif kind == "link":
        answer(tmp_path / "elsewhere")
        output.parent.mkdir()
        output.symlink_to(tmp_path / "elsewhere")
    else:
        output.mkdir(parents=True)
        (output / ("daily.csv" if kind == "empty" else "notes.txt")).touch()
    done = grade(tmp_path, "--taskid", DAILY)
    assert done.returncode == 1, done.stderr
    assert verdicts(tmp_path / "test_results") == [(True, True), (False, False)]


def test_a_grading_that_cannot_take_place_never_keeps_an_older_pass(tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    shutil.copytree(STARTER / "tasks" / DAILY, suite / DAILY)
    shutil.copytree(STARTER / "repositories", suite / "repositories")
    (suite / DAILY / "task.toml").write_text("schema = 1\n")
    append_record(tmp_path / "test_results", DAILY, PASS)
    done = gittaskbench(tmp_path, "grade", "--suite", str(suite), "--taskid", DAILY)
    assert done.returncode == 2
    assert "task.toml" in done.stderr
    assert verdicts(tmp_path / "test_results") == [(True, True), (None, None)]


def test_the_folder_of_one_task_is_that_folder_and_of_all_has_one_for_each(tmp_path: Path) -> None:
    answer(tmp_path / "mine")
    answer(tmp_path / "every" / DAILY)
    (tmp_path / "linked").symlink_to(tmp_path / "mine")
    for place in ("mine", "mine/", "linked"):
        assert grade(tmp_path, "--taskid", DAILY, "--output_dir", place, "--result", "deep/r").returncode == 0
    assert verdicts(tmp_path / "deep/r") == [(True, True)] * 3
    suite = tmp_path / "suite"
    for task in (DAILY, "sensor-log-outages"):
        shutil.copytree(STARTER / "tasks" / task, suite / task)
    shutil.copytree(STARTER / "repositories", suite / "repositories")
    done = gittaskbench(tmp_path, "grade", "--all", "--suite", str(suite), "--output_dir", "every", "--result", "all")
    assert done.returncode == 1, done.stderr
    assert "2 tasks: 1 passed, 1 no_output" in done.stdout
    assert verdicts(tmp_path / "all") == [(True, True)]
    assert verdicts(tmp_path / "all", "sensor-log-outages") == [(False, False)]
    evaluated = gittaskbench(tmp_path, "eval", "--suite", str(suite), "--result", "all")
    assert "Process Success Rate: 50.00%" in evaluated.stdout


def test_verbose_before_and_after_the_command(tmp_path: Path) -> None:
    answer(tmp_path / "output" / DAILY)
    arguments = ("grade", "--suite", "starter", "--taskid", DAILY)
    quiet = gittaskbench(tmp_path, *arguments).stdout
    before = gittaskbench(tmp_path, "-v", *arguments).stdout
    after = gittaskbench(tmp_path, *arguments, "-v").stdout
    assert before == after != quiet
    assert "table_cells_f1" in before
    assert "table_cells_f1" not in quiet


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Usage"),
        (["grade"], "--taskid"),
        (["grade", "--all", "--taskid", "Faker_01"], "--taskid"),
        (["grade", "--taskid", "Faker_1"], "Did you mean Faker_01?"),
        (["grade", "--taskid", "*"], "no task '*'"),
        (["grade", "--taskid", "../Faker_01"], "no task"),
        (["grade", "--taskid", "Faker_01", "--criteria", "lenient"], "published"),
        (["grade", "--taskid", "Faker_01", "--output_dir", "a-file"], "a-file"),
        (["grade", "--taskid", "Faker_01", "--result", "a-file"], "a-file"),
        (["eval"], "test_results"),
        (["eval", "--result", "."], "no readable record"),
        (["frobnicate"], "frobnicate"),
    ],
)
def test_bad_usage_is_a_sentence(tmp_path: Path, arguments: list[str], said: str) -> None:
    (tmp_path / "a-file").write_text("")
    done = gittaskbench(tmp_path, *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["a-file"]


def test_version_and_help_name_the_exit_codes_and_the_old_numbers(tmp_path: Path) -> None:
    assert repoassay.__version__ in gittaskbench(tmp_path, "--version").stdout
    told = gittaskbench(tmp_path, "grade", "--help").stdout
    assert re.findall(r"^ +(\d+)  ", told, re.MULTILINE) == ["0", "1", "2", "3", "4", "130"]
    assert "--criteria published" in told


def test_eval_counts_the_last_records_and_lists_the_rest(tmp_path: Path) -> None:
    results = tmp_path / "test_results"
    append_record(results, "Faker_01", PASS)
    append_record(results, "Faker_01", ResultRecord(True, False))
    append_record(results, "Faker_02", PASS)
    append_record(results, "Nobody_01", PASS)
    (results / "Faker_03").mkdir()
    (results / "stray.txt").touch()
    done = gittaskbench(tmp_path, "eval", "--output_file", "report.txt")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "report.txt").read_text() in done.stdout
    report = read_report(tmp_path / "report.txt")
    assert (report.total, report.process_rate, report.result_rate) == (54, 3.70, 1.85)
    assert report.result_success == ("Faker_02",)
    for line in (
        "Recorded: 2, Missing: 52",
        "Result Success Rate over recorded tasks: 50.00% (1 of 2)",
        "- Faker_03/results.jsonl: is missing",
        "- Nobody_01: is not the id of a task",
        "- stray.txt: is no folder of a task",
    ):
        assert line in done.stdout.splitlines()
    again = gittaskbench(tmp_path, "eval", "--output_file", "report.txt")
    assert again.returncode == 2
    assert "already exists" in again.stderr


def test_eval_chooses_names_that_are_free(tmp_path: Path) -> None:
    append_record(tmp_path / "test_results", "Faker_02", PASS)
    for _ in range(3):
        assert gittaskbench(tmp_path, "-v", "eval").returncode == 0
    assert len(list(tmp_path.glob("evaluation_report_*.txt"))) == 3


def test_nobody_reading_changes_nothing(tmp_path: Path) -> None:
    answer(tmp_path / "output" / DAILY)
    script = "from repoassay.benchmarks.gittaskbench.cli.main import main; main()"
    started = subprocess.Popen(
        [sys.executable, "-c", script, "grade", "--suite", "starter", "--taskid", DAILY, "-v"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert started.stdout is not None and started.stderr is not None
    started.stdout.close()
    said = started.stderr.read()
    started.stderr.close()
    assert started.wait(timeout=240) == 0
    assert said == b""
    assert verdicts(tmp_path / "test_results") == [(True, True)]


@needs_shared
def test_eval_of_the_published_results(tmp_path: Path) -> None:
    done = gittaskbench(tmp_path, "eval", "--result", str(SHARED / "data/test_results_for_show"))
    assert done.returncode == 0
    assert "Process - True: 35, False: 8" in done.stdout
    assert "Result - True: 23, False: 20" in done.stdout
