"""Run folders: written once, never overwritten, and the journal decides what counts."""

from __future__ import annotations

import errno
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from repoassay.errors import BadInput
from repoassay.records import RunFolder
from repoassay.records.durable_write import write_once
from repoassay.types import Attempt, Outcome, Plan, Submission, Verdict

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def a_plan() -> Plan:
    return Plan(
        id="R", created=NOW, suite="mini", suite_version="1", suite_folder="/s", tasks=(), agents={}, isolation="none"
    )


def an_attempt(name: str) -> Attempt:
    return Attempt(
        id=name, run="R", task="t", task_digest="d", agent="a", started=NOW, ended=NOW, submission=Submission()
    )


def a_verdict(outcome: Outcome = Outcome.PASSED) -> Verdict:
    return Verdict(
        task="t", task_digest="d", outcome=outcome, process=True, result=True, grader="repoassay/0", graded_at=NOW
    )


def test_a_record_comes_back_as_it_was(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path / "run", a_plan())
    run.record(an_attempt("A1"), a_verdict())
    (found,) = RunFolder(run.path).finished()
    assert found.attempt == an_attempt("A1")
    assert found.verdict == a_verdict()
    assert RunFolder(run.path).plan == a_plan()


def test_nothing_is_ever_overwritten(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path / "run", a_plan())
    run.record(an_attempt("A1"), a_verdict())
    with pytest.raises(FileExistsError):
        run.record(an_attempt("A1"), a_verdict(Outcome.FAILED))
    assert next(iter(run.finished())).verdict.outcome is Outcome.PASSED
    with pytest.raises(BadInput, match="never overwritten"):
        RunFolder.create(run.path, a_plan())


def test_an_attempt_counts_only_once_the_journal_says_so(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path / "run", a_plan())
    folder = run.attempt_folder("A1")
    write_once(folder / "attempt.json", an_attempt("A1").model_dump_json().encode())
    write_once(folder / "verdict.json", a_verdict().model_dump_json().encode())
    assert list(run.finished()) == []


def test_a_later_verdict_stands_beside_the_first_and_is_the_one_reported(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path / "run", a_plan())
    run.record(an_attempt("A1"), a_verdict())
    folder = run.attempt_folder("A1")
    for number in (2, 10):
        write_once(folder / f"verdict.{number}.json", a_verdict(Outcome.FAILED).model_dump_json().encode())
    write_once(folder / "verdict.11.json", a_verdict(Outcome.TAMPERING).model_dump_json().encode())
    assert next(iter(run.finished())).verdict.outcome is Outcome.TAMPERING
    assert (folder / "verdict.json").exists()


@pytest.mark.parametrize("content", [None, b"", b"{}", b"[]", b"\xff\xfe", b'{"id": 3}'])
def test_a_folder_that_is_no_run_is_one_sentence(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "run.json").write_bytes(content)
    with pytest.raises(BadInput) as error:
        RunFolder(tmp_path)
    assert str(tmp_path) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_crash_while_writing_leaves_no_half_file(tmp_path: Path) -> None:
    target = tmp_path / "file"
    write_once(target, b"whole")
    with pytest.raises(FileExistsError):
        write_once(target, b"other")
    assert target.read_bytes() == b"whole"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_where_a_disk_is_full_nothing_is_left_of_a_new_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_number: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*run\.json'"):
        RunFolder.create(tmp_path / "runs" / "run", a_plan())
    assert list(tmp_path.iterdir()) == []
