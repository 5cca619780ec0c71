"""`repoassay attack`, end to end: figures, resume, exit codes, one-sentence errors, Ctrl-C."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from command_line import repoassay
from json_answers import records_of
from repoassay.attacks.patch_builder import diff
from repoassay.tasks.suite import find_suite

REPOASSAY = str(Path(sys.executable).with_name("repoassay"))
LISTENING = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from repoassay.cli.main import main; main()"
)
"""The command, which hears SIGINT even where the tests were started in the background."""
TASK = ("starter", "--task", "edit-ledger-monthly")


def attack(cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return repoassay("attack", *arguments, cwd=cwd)


@pytest.mark.long
def test_figures_and_no_second_try_of_what_is_there(tmp_path: Path) -> None:
    asked = (*TASK, "--family", "output", "--out", "trials.jsonl", "--workers", "2")
    done = attack(tmp_path, *asked)
    assert done.returncode == 0, done.stderr
    assert "edit-ledger-monthly: 3 attacks, passed: 0 of 3 by a plain harness, 0 by RepoAssay" in done.stdout
    kept = (tmp_path / "trials.jsonl").read_text()
    again = attack(tmp_path, *asked, "--json")
    trials, (told,) = records_of(again.stdout, "trial"), records_of(again.stdout, "task")
    assert [{**trial, "schema_version": 1} for trial in trials] == [json.loads(line) for line in kept.splitlines()]
    assert (tmp_path / "trials.jsonl").read_text() == kept
    assert told["tried"] == 3 and told["passes"] == []


WEAK = """schema = 1
[task]
id = "weak"
title = "Something that hardly anything tests"
kind = "edit"
domain = "Tests"
provenance = "made for this test"
licence = "Apache-2.0"
[repository]
source = "bundled:little"
licence = "MIT"
[environment]
requirements = "environment/requirements.txt"
[grading.tests]
fail_to_pass = ["test_little.py::test_it_is_there"]
seconds = 20
[economics]
value = 1.0
low = 1.0
high = 1.0
source = "made up"
"""


def weak_suite(place: Path) -> Path:
    """A suite of one task whose test holds nothing but that a name is there."""
    task = place / "tasks" / "weak"
    for folder in (task / "environment", task / "tests", task / "solution", place / "repositories" / "little/little"):
        folder.mkdir(parents=True)
    (place / "suite.toml").write_text('schema = 1\n[suite]\nname = "weak"\nversion = "1"\ntitle = "Weak"\n')
    (task / "task.toml").write_text(WEAK)
    (task / "instruction.md").write_text("Add `answer()`.\n")
    edit = next(folder for folder in find_suite("starter").tasks if folder.task.id == TASK[2])
    shutil.copy(edit.path / "environment" / "requirements.txt", task / "environment")
    (task / "tests" / "test_little.py").write_text("import little\n\n\ndef test_it_is_there():\n    little.answer\n")
    source = place / "repositories" / "little/little" / "__init__.py"
    source.write_text("one = 1\n")
    (task / "solution" / "changes.diff").write_bytes(
        diff("little/__init__.py", "one = 1\n", "one = 1\n\n\ndef answer():\n    return 42\n")
    )
    return place


@pytest.mark.long
def test_a_pass_is_told_and_leaves_with_1(tmp_path: Path) -> None:
    weak_suite(tmp_path / "weak")
    done = attack(tmp_path, "weak", "--family", "answers", "--sample", "1", "--seed", "3")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "weak: 1 attacks, passed: 1 of 1 by a plain harness, 1 by RepoAssay" in done.stdout
    assert "fooled 1 times: test_little.py::test_it_is_there" in done.stdout


def test_mistakes_are_told_in_a_sentence(tmp_path: Path) -> None:
    for arguments, said in (
        (("nowhere",), "There is no suite or folder"),
        ((*TASK, "--family", "coins"), "There is no family of attacks"),
        (("starter", "--task", "nothing*"), "No task of"),
        (("gittaskbench",), "no task that is graded by a patch"),
        ((*TASK, "--out", str(tmp_path)), "cannot be written"),
    ):
        done = attack(tmp_path, *arguments)
        assert done.returncode == 2, done.stderr
        assert said in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.exhaustive
def test_an_interrupt_keeps_what_is_done(tmp_path: Path) -> None:
    out = tmp_path / "trials.jsonl"
    begun = subprocess.Popen(
        [sys.executable, "-c", LISTENING, "attack", *TASK, "--no-plain", "--workers", "1", "--out", str(out)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    for _ in range(1200):
        if out.exists() and out.read_bytes().count(b"\n") >= 2:
            break
        time.sleep(0.1)
    begun.send_signal(signal.SIGINT)
    _, said = begun.communicate(timeout=60)
    assert begun.returncode == 130, said
    assert "keeps what is done" in said
    assert "Traceback" not in said
    assert all(json.loads(line)["attack"] for line in out.read_text().splitlines())
