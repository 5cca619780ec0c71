"""The index of a run folder says what its files say, however they change, and is used as long as they do not."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import threading
import time
import tracemalloc
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from repoassay.errors import BadInput
from repoassay.records import (
    IndexedAttempt,
    RunFolder,
    attempt_index,
    check_and_index,
    check_sound,
    extend_index,
    index_path,
    index_run,
)
from repoassay.types import Attempt, Ended, Exit, Outcome, Plan, Spending, Submission, Verdict

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    """A run of four attempts, with an index however small it is, of files however new they are."""
    monkeypatch.setenv("REPOASSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(attempt_index, "_SMALL", 0)
    monkeypatch.setattr(attempt_index, "_SETTLED", 0)
    return made(tmp_path / "run", 4)


def made(path: Path, count: int) -> RunFolder:
    plan = Plan(
        id="R", created=NOW, suite="s", suite_version="1", suite_folder="/s", tasks=(), agents={}, isolation="none"
    )
    run = RunFolder.create(path, plan)
    for number in range(1, count + 1):
        made_attempt(run, number)
    time.sleep(0.05)  # longer than the steps that times of files have
    return run


def made_attempt(run: RunFolder, number: int) -> None:
    attempt = Attempt(
        id=f"A{number}", run="R", task=f"t{number % 3}", task_digest="d", agent="a", number=number,
        retry_of="A1" if number == 2 else None, started=NOW, ended=NOW,
        submission=Submission(exit=Exit(ended=Ended.EXITED, code=0, wall=number / 7)),
        spent=Spending(calls=number) if number % 2 else None,
    )  # fmt: skip
    verdict = Verdict(
        task=attempt.task, task_digest="d", outcome=Outcome.FAILED, process=True,
        result=None if number == 3 else False, comments=("no",), grader="g", graded_at=NOW,
    )  # fmt: skip
    run.record(attempt, verdict)


def from_files(run: RunFolder) -> list[IndexedAttempt]:
    return [IndexedAttempt.of(one.attempt, one.verdict) for one in run.finished()]


def tell_apart(run: RunFolder) -> None:
    """Make the index say something that no file says."""
    with closing(sqlite3.connect(index_path("run", run.path))) as connection, connection:
        connection.execute("UPDATE attempts SET comment = 'out of the index'")


def comments(run: RunFolder) -> list[str]:
    return [attempt.comment for attempt in index_run(run.path).attempts]


def test_it_says_what_the_files_say_made_and_used(run: RunFolder) -> None:
    for _ in range(2):
        found = index_run(run.path)
        assert (list(found.attempts), found.torn) == (from_files(run), ())
    assert [attempt.spent for attempt in found.attempts] == [one.attempt.spent for one in run.finished()]
    tell_apart(run)
    assert comments(run) == ["out of the index"] * 4


def graded_again(folder: Path) -> None:
    record = json.loads((folder / "verdict.json").read_bytes())
    (folder / "verdict.1.json").write_text(json.dumps({**record, "comments": ["later"]}))


def edited(folder: Path) -> None:
    """As somebody would who hides it: of the same size, at the same time."""
    path = folder / "verdict.json"
    before = path.stat()
    path.write_bytes(path.read_bytes().replace(b'"no"', b'"NO"'))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def replaced(folder: Path) -> None:
    record = json.loads((folder / "attempt.json").read_bytes())
    (folder / "new").write_text(json.dumps({**record, "number": 77}))
    (folder / "new").rename(folder / "attempt.json")


@pytest.mark.parametrize("change", [graded_again, edited, replaced])
def test_an_attempt_whose_files_changed_is_read_again(run: RunFolder, change: Callable[[Path], None]) -> None:
    index_run(run.path)
    tell_apart(run)
    change(run.attempt_folder("A3"))
    found = index_run(run.path).attempts
    assert found[2] == from_files(run)[2]
    assert [attempt.comment == "out of the index" for attempt in found] == [True, True, False, True]


def test_an_attempt_that_cannot_be_read_is_refused_each_time(run: RunFolder) -> None:
    index_run(run.path)
    (run.attempt_folder("A3") / "verdict.json").unlink()
    for _ in range(2):
        with pytest.raises(BadInput, match="A3"):
            index_run(run.path)


def test_attempts_that_just_changed_are_not_relied_on(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempt_index, "_SETTLED", 60_000_000_000)
    index_run(run.path)
    tell_apart(run)
    assert comments(run) == ["no"] * 4


def test_more_attempts_and_torn_lines(run: RunFolder) -> None:
    journal = run.path / "journal.jsonl"
    index_run(run.path)
    with journal.open("ab") as stream:
        stream.write(b'{"torn\n\n{"schema_version":1,"event":"finished","attempt":"A1"}\n')
    assert (len(index_run(run.path).attempts), index_run(run.path).torn) == (4, (5,))
    shutil.copytree(run.attempt_folder("A1"), run.attempt_folder("A5"))
    path = run.attempt_folder("A5") / "attempt.json"
    path.write_bytes(path.read_bytes().replace(b'"A1"', b'"A5"', 1))
    with journal.open("ab") as stream:
        stream.write(b'{"schema_version":1,"event":"finished","attempt":"A5"}')  # a crash took its end
    for _ in range(2):
        assert [attempt.id for attempt in index_run(run.path).attempts] == ["A1", "A2", "A3", "A4", "A5"]
    run.journal.append("finished", attempt="A2")
    assert [attempt.id for attempt in index_run(run.path).attempts] == ["A1", "A2", "A3", "A4", "A5"]
    assert index_run(run.path).torn == run.journal.read().torn


def test_attempts_after_a_line_that_is_too_long(run: RunFolder) -> None:
    journal = run.path / "journal.jsonl"
    first, *others = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(first + b"x" * (2 << 20) + b"\n" + b"".join(others))
    for _ in range(2):
        assert (list(index_run(run.path).attempts), index_run(run.path).torn) == (from_files(run), (2,))


def test_a_journal_that_was_rewritten_is_read_anew(run: RunFolder) -> None:
    index_run(run.path)
    tell_apart(run)
    journal = run.path / "journal.jsonl"
    journal.write_bytes(b"".join(reversed(journal.read_bytes().splitlines(keepends=True))))
    assert list(index_run(run.path).attempts) == from_files(run)


def damage(path: Path) -> None:
    path.write_bytes(b"no database" * 1000)


def tear(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA user_version = 99")
        connection.execute("ALTER TABLE attempts DROP COLUMN wall")


def foreign(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE attempts (id)")
        connection.execute("PRAGMA user_version = 1")


@pytest.mark.parametrize("change", [Path.unlink, damage, tear, newer, foreign])
def test_an_index_that_does_not_fit_is_made_anew(run: RunFolder, change: Callable[[Path], None]) -> None:
    index_run(run.path)
    change(index_path("run", run.path))
    assert list(index_run(run.path).attempts) == from_files(run)
    tell_apart(run)
    assert comments(run) == ["out of the index"] * 4


def test_an_index_is_of_one_place_and_lies_in_the_cache(run: RunFolder, tmp_path: Path) -> None:
    """A run folder that somebody sends cannot bring an index: what lies in it is never looked at."""
    index_run(run.path)
    tell_apart(run)
    received = tmp_path / "received"
    shutil.copytree(run.path, received)
    shutil.copy(index_path("run", run.path), received / "index.sqlite")
    assert comments(RunFolder(received)) == ["no"] * 4
    assert not [path for path in run.path.rglob("*") if "sqlite" in path.name]


def test_without_a_cache_it_is_kept_in_memory(run: RunFolder, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    assert list(index_run(run.path).attempts) == from_files(run)


def linked(run: RunFolder) -> None:
    (run.attempt_folder("A2") / "log.txt").symlink_to("/etc/passwd")


def linked_whole(run: RunFolder) -> None:
    folder = run.attempt_folder("A2")
    folder.rename(run.path.with_name("elsewhere"))
    folder.symlink_to(run.path.with_name("elsewhere"))


def piped(run: RunFolder) -> None:
    os.mkfifo(run.attempt_folder("A2") / "log.txt")


def huge(run: RunFolder) -> None:
    with (run.attempt_folder("A2") / "log.txt").open("wb") as sparse:
        sparse.truncate((1 << 30) + 1)


def unfinished(run: RunFolder) -> None:
    """As when another run was put in its place, in whose journal it is not."""
    linked(run)
    lines = run.journal.path.read_bytes().splitlines(keepends=True)
    run.journal.path.write_bytes(b"".join(line for line in lines if b'"A2"' not in line))


def strange(run: RunFolder) -> None:
    (run.path / "attempts" / "A-5").mkdir()


def strange_link(run: RunFolder) -> None:
    (run.path / "attempts" / "A5").symlink_to(run.attempt_folder("A1"))


@pytest.mark.parametrize("change", [linked, linked_whole, piped, huge, unfinished, strange, strange_link])
def test_what_was_found_sound_is_looked_at_again_when_its_folder_changes(
    run: RunFolder, change: Callable[[RunFolder], None]
) -> None:  # fmt: skip
    found, others = check_and_index(run.path)
    assert (list(found.attempts), others) == (from_files(run), [])
    change(run)
    for _ in range(2):
        with pytest.raises(BadInput, match=r"is a link|not a plain file|is larger than|is no attempt of a run"):
            check_and_index(run.path)
        index_run(run.path)  # as `report` does, which refuses no links
        with pytest.raises(BadInput):
            check_sound(run.path)


def test_what_only_reports_have_read_is_not_taken_for_sound(run: RunFolder) -> None:
    linked(run)
    time.sleep(0.05)
    index_run(run.path)
    with pytest.raises(BadInput, match="is a link"):
        check_and_index(run.path)


def test_what_the_journal_does_not_finish_is_named(run: RunFolder) -> None:
    run.attempt_folder("A5").mkdir()
    for _ in range(2):
        found, others = check_and_index(run.path)
        assert (len(found.attempts), others) == (4, ["A5"])


def test_several_at_once_read_the_same(run: RunFolder) -> None:
    found: list[list[IndexedAttempt]] = []
    threads = [threading.Thread(target=lambda: found.append(list(index_run(run.path).attempts))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [from_files(run)] * 6


@pytest.mark.long
def test_memory_is_that_of_the_rows(run: RunFolder, tmp_path: Path) -> None:
    def peak(count: int) -> int:
        folder = made(tmp_path / f"of-{count}", count).path
        tracemalloc.start()
        for _ in range(2):
            index_run(folder)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(10)
    assert peak(420) - peak(20) < 400 * 1_500  # 20,000 bytes each, when whole records were held


def test_what_finished_meanwhile_is_taken_in_and_the_rest_is_not_looked_at(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    extend_index(run.path)
    tell_apart(run)
    (run.attempt_folder("A1") / "verdict.json").write_text("not looked at")
    made_attempt(run, 5)
    time.sleep(0.05)
    extend_index(run.path)
    read: list[str] = []
    taken = vars(attempt_index)["read_attempt"]

    def read_attempt(*given: Any) -> Any:
        read.append(given[1])
        return taken(*given)

    monkeypatch.setattr(attempt_index, "read_attempt", read_attempt)
    with pytest.raises(BadInput, match=r"A1/verdict\.json"):
        index_run(run.path)
    assert read == ["A1"]
    (run.attempt_folder("A5") / "attempt.json").unlink()
    made_attempt(run, 6)
    (run.attempt_folder("A6") / "attempt.json").unlink()
    with pytest.raises(BadInput, match=r"A6/attempt\.json"):
        extend_index(run.path)
