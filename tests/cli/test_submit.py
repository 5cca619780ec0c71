"""`repoassay submit` and `stats results`, end to end on the bundled suite."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from command_line import repoassay
from interrupts import interruptible
from json_answers import data_of
from repoassay.tasks.suite import find_suite
from repoassay.types import TaskKind

REPOASSAY = str(Path(sys.executable).with_name("repoassay"))
EDITS = [folder for folder in find_suite("starter").tasks if folder.task.kind is TaskKind.EDIT][:3]
USELESS = "--- /dev/null\n+++ b/note.txt\n@@ -0,0 +1 @@\n+nothing of use\n"
BROKEN = "--- a/nowhere.py\n+++ b/nowhere.py\n@@ -1 +1 @@\n-a\n+b\n"


def solution(place: Path) -> str:
    return (place / "solution/changes.diff").read_text()


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def submit(cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return repoassay("submit", "--suite", "starter", *arguments, cwd=cwd)


def rows() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for folder in EDITS:
        name = folder.task.id
        found += [
            {"id": name, "patch": solution(folder.path)},
            {"instance_id": name, "model_patch": None, "model_name_or_path": "none"},
            {"id": name, "patch": USELESS},
            {"id": name, "patch": BROKEN},
        ]
    return found


@pytest.mark.long
def test_every_kind_of_answer_in_order_with_results_report_and_figures(tmp_path: Path) -> None:
    write(tmp_path / "patches.jsonl", rows())
    done = submit(tmp_path, "--submissions", "patches.jsonl", "--results", "results.jsonl", "--junit", "junit.xml",
                  "--workers", "2", "--no-cache", "--feedback", "full")  # fmt: skip
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    words = [record["message"] for record in records]
    assert words == ["PASS", "PATCH FAILED", "FAIL", "PATCH FAILED"] * len(EDITS)
    assert [record["number"] for record in records] == [0, 1, 2, 3] * len(EDITS)
    assert all(record["test_suite_feedback"] for record in records if record["message"] != "PASS")
    suite = ET.parse(tmp_path / "junit.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == (str(len(records)), "9", "0")
    before = (tmp_path / "results.jsonl").read_bytes()
    again = submit(tmp_path, "--submissions", "patches.jsonl", "--results", "results.jsonl")
    assert again.returncode == 0
    assert (tmp_path / "results.jsonl").read_bytes() == before  # nothing is graded twice

    told = repoassay("stats", "results", "results.jsonl", "--k", "1,4,5", "--json", cwd=tmp_path)
    whole = data_of(told.stdout)["all"]
    assert whole["shares"] == {"PASS": 0.25, "FAIL": 0.25, "PATCH FAILED": 0.5, "TIMED OUT": 0.0}
    values = [rate["value"] for rate in whole["pass_at_k"]]
    assert values == [0.25, 1.0, None]
    assert whole["pass_at_k"][2]["left_out"] == len(EDITS)
    table = repoassay("stats", "results", "results.jsonl", cwd=tmp_path)
    assert "pass@1" in table.stdout and "PATCH FAILED" in table.stdout


def test_results_of_other_patches_are_refused_not_reused(tmp_path: Path) -> None:
    name = EDITS[0].task.id
    write(tmp_path / "one.jsonl", [{"id": name, "patch": BROKEN}])
    assert submit(tmp_path, "--submissions", "one.jsonl", "--results", "r.jsonl").returncode == 0
    write(tmp_path / "one.jsonl", [{"id": name, "patch": USELESS}])
    done = submit(tmp_path, "--submissions", "one.jsonl", "--results", "r.jsonl")
    assert done.returncode == 2
    assert "another patch" in done.stderr and "Traceback" not in done.stderr


def test_leniency_is_asked_for_and_recorded(tmp_path: Path) -> None:
    folder = next(each for each in EDITS if "\n " in solution(each.path))
    drifted = []
    hunk = False
    for line in solution(folder.path).splitlines(keepends=True):
        first = hunk and line.startswith(" ") and len(line) > 2
        drifted.append(line[:-1] + "  # drifted\n" if first else line)
        hunk = line.startswith("@@")
    write(tmp_path / "p.jsonl", [{"id": folder.task.id, "patch": "".join(drifted)}])
    strict = data_of(submit(tmp_path, "--submissions", "p.jsonl", "--json").stdout)
    assert strict["message"] == "PATCH FAILED"
    lax = submit(tmp_path, "--submissions", "p.jsonl", "--json", "--lenient", "--results", "lax.jsonl")
    record = data_of(lax.stdout)
    assert record["message"] == "PASS", record
    assert any("leniently" in comment for comment in record["comments"])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"id": "no-such-task", "patch": ""}\n', "There is no task"),
        ('{"patch": ""}\n', "id"),
        ("[1, 2]", "patches.jsonl"),
        ("{" * 5000, "patches.jsonl"),
        ("", "patches.jsonl"),
    ],
)
def test_bad_submissions_are_a_sentence(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "patches.jsonl").write_text(content)
    done = submit(tmp_path, "--submissions", "patches.jsonl")
    assert done.returncode == 2, done.stdout
    assert said in done.stderr and "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 3


@pytest.mark.long
def test_control_c_keeps_what_is_done(tmp_path: Path) -> None:
    patches = [f"--- /dev/null\n+++ b/note{n}.txt\n@@ -0,0 +1 @@\n+{n}\n" for n in range(400)]
    write(tmp_path / "patches.jsonl", [{"id": EDITS[0].task.id, "patch": patch} for patch in patches])
    with interruptible():
        running = subprocess.Popen(
            [REPOASSAY, "submit", "--suite", "starter", "--submissions", "patches.jsonl", "--results", "r.jsonl",
             "--no-cache"],
            cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    results = tmp_path / "r.jsonl"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (not results.exists() or results.read_text().count("\n") < 3):
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 130, said
    assert "keeps what is done" in said and "Traceback" not in said
    kept = results.read_text().splitlines()
    assert 3 <= len(kept) < 400
    assert [json.loads(line)["number"] for line in kept] == list(range(len(kept)))


@pytest.mark.exhaustive
def test_submits_killed_again_and_again_judge_nothing_twice_and_lose_nothing(tmp_path: Path) -> None:
    names = [folder.task.id for folder in EDITS]
    patches = [BROKEN.replace("nowhere", f"nowhere{number}") for number in range(3000)]
    write(tmp_path / "p.jsonl", [{"id": names[n % 3], "patch": patch} for n, patch in enumerate(patches)])
    command = ["submit", "--suite", "starter", "--submissions", "p.jsonl", "--results", "r.jsonl", "--no-cache"]
    results = tmp_path / "r.jsonl"
    for more in (1, 500, 300):
        before = results.read_bytes().count(b"\n") if results.exists() else 0
        running = subprocess.Popen(
            [REPOASSAY, *command], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and (
            not results.exists() or results.read_bytes().count(b"\n") < before + more
        ):
            assert running.poll() is None
            time.sleep(0.02)
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    with results.open("ab") as stream:
        stream.write(b'{"schema_version": 1, "id": "')  # as a kill in the middle of a line leaves it
    done = repoassay(*command, cwd=tmp_path)
    assert done.returncode == 0 and "3000 submissions: 3000 PATCH FAILED" in done.stdout
    records = [json.loads(line) for line in results.read_text().splitlines()]
    assert [(one["id"], one["number"]) for one in records] == [(names[n % 3], n // 3) for n in range(3000)]
    assert [one["patch_sha256"] for one in records] == [hashlib.sha256(each.encode()).hexdigest() for each in patches]
