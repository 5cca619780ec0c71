"""While a run is executed, the index of its folder is kept up to date."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from repoassay.engine import execution
from repoassay.records import RunFolder, attempt_index, index_path
from repoassay.types import Attempt, Outcome, Plan, Submission, Verdict

if TYPE_CHECKING:
    import pytest

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def finish(run: RunFolder, name: str) -> None:
    attempt = Attempt(
        id=name, run="R", task="t", task_digest="d", agent="a", started=NOW, ended=NOW, submission=Submission()
    )
    verdict = Verdict(
        task="t", task_digest="d", outcome=Outcome.FAILED, process=True, result=False, grader="g", graded_at=NOW
    )
    run.record(attempt, verdict)


def indexed(run: RunFolder) -> int:
    place = index_path("run", run.path)
    if not place.exists():
        return 0
    with closing(sqlite3.connect(place, timeout=60)) as connection:
        tables = connection.execute("SELECT COUNT(*) FROM sqlite_master WHERE name = 'attempts'").fetchone()
        return int(connection.execute("SELECT COUNT(*) FROM attempts").fetchone()[0]) if tables[0] else 0


def test_what_is_finished_is_indexed_long_before_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPOASSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(attempt_index, "_SMALL", 0)
    monkeypatch.setattr(attempt_index, "_SETTLED", 0)
    monkeypatch.setattr(execution, "_INDEXED", 0.1)
    plan = Plan(
        id="R", created=NOW, suite="s", suite_version="1", suite_folder="/s", tasks=(), agents={}, isolation="none"
    )
    run = RunFolder.create(tmp_path / "run", plan)
    with execution._index_kept(run.path):
        for number in (1, 2):
            finish(run, f"A{number}")
            deadline = time.monotonic() + 60
            while indexed(run) < number and time.monotonic() < deadline:
                time.sleep(0.02)
            assert indexed(run) == number
        (run.attempt_folder("A3")).mkdir()
        run.journal.append("finished", attempt="A3")  # cannot be read: told by who reads it, and stops nothing here
    assert indexed(run) == 2
