"""`repoassay submit --share I/N` and `--collect`: the same verdicts as in one process, whoever starts the shares."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from command_line import repoassay
from repoassay.tasks.suite import find_suite
from repoassay.types import TaskKind

EDITS = [folder for folder in find_suite("starter").tasks if folder.task.kind is TaskKind.EDIT][:2]
USELESS = "--- /dev/null\n+++ b/note.txt\n@@ -0,0 +1 @@\n+nothing of use\n"
BROKEN = "--- a/nowhere.py\n+++ b/nowhere.py\n@@ -1 +1 @@\n-a\n+b\n"


def submit(cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return repoassay("submit", "--suite", "starter", "--submissions", "patches.jsonl", *arguments, cwd=cwd)


def write_patches(cwd: Path) -> int:
    rows = []
    for folder in EDITS:
        solution = (folder.path / "solution/changes.diff").read_text()
        rows += [{"id": folder.task.id, "patch": patch} for patch in (BROKEN, solution, USELESS, "", solution)]
    (cwd / "patches.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return len(rows)


def judged(path: Path) -> list[tuple[object, ...]]:
    records = [json.loads(line) for line in path.read_text().splitlines()]
    keys = ("id", "number", "patch_sha256", "message", "outcome", "success", "task_digest", "tests")
    return [tuple(str(record[key]) for key in keys) for record in records]


def lines(paths: Iterable[Path]) -> int:
    return sum(len(path.read_text().splitlines()) for path in paths)


@pytest.mark.long
def test_shares_come_to_what_one_process_comes_to(tmp_path: Path) -> None:
    count = write_patches(tmp_path)
    whole = submit(tmp_path, "--results", "whole.jsonl", "--no-cache", "--workers", "1")
    assert whole.returncode == 0, whole.stderr
    for index in (2, 0):
        done = submit(tmp_path, "--results", "r.jsonl", "--share", f"{index}/3", "--no-cache")
        assert done.returncode == 0, done.stderr
    assert not (tmp_path / "r.jsonl").exists()
    parts = sorted((tmp_path / "r.jsonl.parts").glob("*.jsonl"))
    assert [part.name for part in parts] == ["00000-of-00003.jsonl", "00002-of-00003.jsonl"]

    early = submit(tmp_path, "--results", "r.jsonl", "--collect", "--json")
    assert early.returncode == 1  # a share is missing
    assert json.loads(early.stdout)["data"] == {
        "submissions": count, "collected": lines(parts), "left": count - lines(parts),
    }  # fmt: skip
    before = lines(parts)
    with parts[0].open("a") as torn:
        torn.write('{"id": "edit')  # as a killed share leaves it
    last = submit(tmp_path, "--results", "r.jsonl", "--share", "1/3", "--no-cache")
    assert last.returncode == 0, last.stderr
    again = submit(tmp_path, "--results", "r.jsonl", "--collect")
    assert again.returncode == 0, again.stderr + again.stdout
    assert f"{count - before} collected, 0 without a verdict" in again.stdout
    assert sorted(judged(tmp_path / "r.jsonl")) == sorted(judged(tmp_path / "whole.jsonl"))
    third = submit(tmp_path, "--results", "r.jsonl", "--collect")
    assert f"{count} submissions: 0 collected" in third.stdout


def test_what_no_share_has_judged_is_graded_by_the_plain_command_and_by_no_share_twice(tmp_path: Path) -> None:
    count = write_patches(tmp_path)
    assert submit(tmp_path, "--results", "r.jsonl", "--share", "1/2").returncode == 0
    plain = submit(tmp_path, "--results", "r.jsonl", "--json")
    assert plain.returncode == 0, plain.stderr
    assert len(plain.stdout.splitlines()) == count // 2  # the other share was taken over
    assert len(judged(tmp_path / "r.jsonl")) == count
    nothing = submit(tmp_path, "--results", "r.jsonl", "--share", "0/2", "--json")
    assert (nothing.returncode, nothing.stdout) == (0, "")


def test_results_of_other_patches_in_a_part_are_not_taken(tmp_path: Path) -> None:
    write_patches(tmp_path)
    assert submit(tmp_path, "--results", "r.jsonl", "--share", "0/2").returncode == 0
    part = tmp_path / "r.jsonl.parts/00000-of-00002.jsonl"
    record: dict[str, Any] = json.loads(part.read_text().splitlines()[1])
    other = {**record, "patch_sha256": "0" * 64, "number": 4}
    part.write_text("".join(json.dumps(each) + "\n" for each in (record, other, {**record, "id": "edit-nothing"})))
    done = submit(tmp_path, "--results", "r.jsonl", "--collect")
    assert "1 collected" in done.stdout


def test_earlier_shares_count_as_answers_that_were_told(tmp_path: Path) -> None:
    """Else a forger would be charged less for what the same file tells in two shares than in one."""
    write_patches(tmp_path)
    folder = EDITS[0]
    solution = (folder.path / "solution/changes.diff").read_text()
    rows = [{"id": folder.task.id, "patch": USELESS}] * 4 + [{"id": folder.task.id, "patch": solution}] * 4
    (tmp_path / "patches.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert submit(tmp_path, "--results", "whole.jsonl", "--workers", "1").returncode == 0
    assert submit(tmp_path, "--results", "r.jsonl", "--share", "1/2", "--workers", "1").returncode == 0
    whole = [json.loads(line)["assurance"]["bits"] for line in (tmp_path / "whole.jsonl").read_text().splitlines()[4:]]
    part = tmp_path / "r.jsonl.parts/00001-of-00002.jsonl"
    assert [json.loads(line)["assurance"]["bits"] for line in part.read_text().splitlines()] == whole
    assert whole[0] > whole[-1]


def test_what_is_no_share_is_said_in_a_sentence(tmp_path: Path) -> None:
    write_patches(tmp_path)
    for text in ("3/3", "x", "1/0", "-1/3", "1/9999999"):
        done = submit(tmp_path, "--results", "r.jsonl", f"--share={text}")
        assert (done.returncode, "no share of work" in done.stderr) == (2, True), done.stderr
    assert "need a results file" in submit(tmp_path, "--share", "0/2").stderr
    assert "need a results file" in submit(tmp_path, "--collect").stderr
