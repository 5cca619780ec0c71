"""Grading outputs made elsewhere: good, missing, hostile; always a verdict or a sentence."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

import repoassay as package
from command_line import repoassay
from interrupts import interruptible
from json_answers import data_of
from repoassay.attacks.patch_builder import diff

REPOASSAY = str(Path(sys.executable).with_name("repoassay"))
STARTER = Path(package.__file__).parent / "benchmarks/starter/suite"
DAILY = "sensor-log-daily"
BOOK = "workbook-budget-build"


def grade(cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return repoassay("grade", "starter", "--outputs", "outputs", *arguments, cwd=cwd)


def verdict(cwd: Path, task: str) -> dict[str, object]:
    done = grade(cwd, "--task", task, "--json")
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    (line,) = done.stdout.splitlines()
    found: dict[str, object] = data_of(line)
    assert {"task", "process", "result", "outcome", "comments", "criteria"} <= set(found)
    return found


def output(cwd: Path, task: str, name: str) -> Path:
    path = cwd / "outputs" / task / name
    path.parent.mkdir(parents=True)
    return path


def test_the_right_output_passes_and_results_are_one_line_a_task(tmp_path: Path) -> None:
    shutil.copyfile(STARTER / "tasks" / DAILY / "tests/daily.csv", output(tmp_path, DAILY, "daily.csv"))
    done = grade(tmp_path, "--task", "sensor-*", "--results", "out/results.jsonl")
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in (tmp_path / "out/results.jsonl").read_text().splitlines()]
    assert [(line["task"], line["outcome"]) for line in lines] == [
        (DAILY, "passed"),
        ("sensor-log-outages", "no_output"),
    ]
    assert all(criterion["passed"] for criterion in lines[0]["criteria"])
    again = grade(tmp_path, "--task", "sensor-*", "--results", "out/results.jsonl")
    assert again.returncode == 2
    assert "already exists" in again.stderr


def test_a_missing_folder_is_a_sentence_and_a_missing_task_a_verdict(tmp_path: Path) -> None:
    done = grade(tmp_path)
    assert done.returncode == 2
    assert "outputs" in done.stderr
    (tmp_path / "outputs").mkdir()
    found = verdict(tmp_path, DAILY)
    assert (found["outcome"], found["process"], found["result"]) == ("no_output", False, False)


def test_an_unreadable_file(tmp_path: Path) -> None:
    path = output(tmp_path, DAILY, "daily.csv")
    path.write_bytes(b"\x00\xff" * 50)
    path.chmod(0)
    found = verdict(tmp_path, DAILY)
    assert found["outcome"] == "no_output"


def test_a_two_gigabyte_sparse_file(tmp_path: Path) -> None:
    path = output(tmp_path, DAILY, "daily.csv")
    with path.open("wb") as stream:
        stream.truncate(2 * 2**30)
    found = verdict(tmp_path, DAILY)
    assert found["outcome"] == "no_output"
    assert "bytes" in json.dumps(found["comments"])


def bomb() -> bytes:
    """A workbook of a few hundred kilobytes whose sheet unpacks to 400 MB."""
    given = io.BytesIO()
    with zipfile.ZipFile(given, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        with archive.open("xl/worksheets/sheet1.xml", "w") as sheet:
            for _ in range(400):
                sheet.write(b"0" * 2**20)
    return given.getvalue()


@pytest.mark.long
def test_a_zip_bomb(tmp_path: Path) -> None:
    output(tmp_path, BOOK, "report.xlsx").write_bytes(bomb())
    assert verdict(tmp_path, BOOK)["outcome"] == "no_output"


@pytest.mark.parametrize("kind", ["symlink", "dangling", "fifo", "folder", "folder link"])
def test_what_is_not_a_file_is_named_and_not_followed(tmp_path: Path, kind: str) -> None:
    truth = STARTER / "tasks" / DAILY / "tests/daily.csv"
    if kind == "folder link":
        (tmp_path / "outputs").mkdir()
        (tmp_path / "outputs" / DAILY).symlink_to(truth.parent)
    else:
        path = output(tmp_path, DAILY, "daily.csv")
        if kind == "symlink":
            path.symlink_to(truth)
        elif kind == "dangling":
            path.symlink_to(tmp_path / "nowhere")
        elif kind == "fifo":
            os.mkfifo(path)
        else:
            path.mkdir()
    found = verdict(tmp_path, DAILY)
    assert found["outcome"] == "no_output"
    assert found["comments"]


def test_ctrl_c_drops_what_is_under_way_and_keeps_what_was_written(tmp_path: Path) -> None:
    """The edit's hidden tests would sleep until their limit, of minutes; the task before it has its verdict at once."""
    module = "src/pocketledger/__init__.py"
    before = (STARTER / "repositories" / "pocketledger" / module).read_text()
    output(tmp_path, "edit-ledger-monthly", "changes.diff").write_bytes(
        diff(module, before, f"{before}import time\ntime.sleep(1000)\n")
    )
    (tmp_path / "tmp").mkdir()
    line = [REPOASSAY, "grade", "starter", "--outputs", "outputs", "--results", "r.jsonl",
            "--task", "calendar-agenda", "--task", "edit-ledger-monthly"]  # fmt: skip
    with interruptible():
        running = subprocess.Popen(
            line, cwd=tmp_path, env={**os.environ, "TMPDIR": str(tmp_path / "tmp")}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
    until = time.monotonic() + 200
    while not ((tmp_path / "r.jsonl").is_file() and (tmp_path / "r.jsonl").read_text().endswith("\n")):
        assert running.poll() is None and time.monotonic() < until
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=250)
    assert (running.returncode, said.strip()) == (130, "Interrupted.")
    assert [json.loads(each)["task"] for each in (tmp_path / "r.jsonl").read_text().splitlines()] == ["calendar-agenda"]
    assert list((tmp_path / "tmp").iterdir()) == []
