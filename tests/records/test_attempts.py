"""The one reader of attempts: whole records and the columns of tables say the same, and refuse the same."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from repoassay.errors import BadInput
from repoassay.records import RunFolder
from repoassay.records.attempts import ALL, TABLE, Fields, finished_ids, read_attempt, read_attempts
from repoassay.types import Attempt, Ended, Exit, Outcome, Plan, Spending, Submission, Usage, Verdict

NOW = datetime(2026, 1, 1, tzinfo=UTC)
BOTH: tuple[Fields[Any, Any], ...] = (ALL, TABLE)


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    plan = Plan(
        id="R", created=NOW, suite="s", suite_version="1", suite_folder="/s", tasks=(), agents={}, isolation="none"
    )
    run = RunFolder.create(tmp_path / "run", plan)
    for name, retry_of in (("A1", None), ("A2", "A1")):
        spent = Spending(
            calls=2, usage=Usage(input=30, output=4), dollars=Decimal("0.125"), dollars_known=Decimal("0.1")
        )
        ending = Exit(ended=Ended.EXITED, code=0, wall=1.5)
        attempt = Attempt(
            id=name, run="R", task="t", task_digest="d", agent="a", number=1, retry_of=retry_of, started=NOW,
            ended=NOW + timedelta(seconds=3), submission=Submission(exit=ending), spent=spent,
        )  # fmt: skip
        verdict = Verdict(
            task="t", task_digest="d", outcome=Outcome.FAILED, process=True, result=False, comments=("no",),
            grader="g", graded_at=NOW,
        )  # fmt: skip
        run.record(attempt, verdict)
    return run


def test_columns_are_those_of_the_whole_records(run: RunFolder) -> None:
    for (attempt, verdict), (columns, judged) in zip(
        read_attempts(run.path, ALL), read_attempts(run.path, TABLE), strict=True
    ):
        assert columns.model_dump(mode="json").items() <= _within(attempt, columns).items()
        assert judged.model_dump(mode="json").items() <= _within(verdict, judged).items()
    assert [attempt.retry_of for attempt, _ in read_attempts(run.path, TABLE)] == [None, "A1"]


def _within(whole: Attempt | Verdict, columns: object) -> dict[str, object]:
    """The whole record as JSON, cut to the keys that the columns have, at every depth."""

    def cut(value: object, like: object) -> object:
        if isinstance(value, dict) and isinstance(like, dict):
            return {key: cut(value[key], like[key]) for key in like}
        return value

    found = cut(whole.model_dump(mode="json"), columns.model_dump(mode="json"))  # type: ignore[attr-defined]  # columns
    assert isinstance(found, dict)
    return found


def test_the_latest_verdict_counts(run: RunFolder) -> None:
    folder = run.attempt_folder("A1")
    document = json.loads((folder / "verdict.json").read_bytes())
    for number, outcome in ((2, "timed_out"), (10, "passed")):
        (folder / f"verdict.{number}.json").write_text(json.dumps({**document, "outcome": outcome}))
    (folder / "verdict.later.json").write_text("no verdict of ours")
    for fields in BOTH:
        assert read_attempt(run.path, "A1", fields)[1].outcome is Outcome.PASSED


def test_files_of_repoassay_0_1_read_the_same(run: RunFolder) -> None:
    before = list(run.finished())
    for path in run.path.rglob("*.json*"):
        lines = [json.loads(line) for line in path.read_bytes().splitlines()] if path.suffix == ".jsonl" else None
        for one in lines if lines is not None else [json.loads(path.read_bytes())]:
            assert next(iter(one)) == "schema_version"
        if path.name != "run.json":  # whose key 0.1 wrote already
            path.write_bytes(
                path.read_bytes().replace(b'{"schema_version":1,', b"{").replace(b'  "schema_version": 1,\n', b"")
            )
            assert b"schema_version" not in path.read_bytes()
    assert list(RunFolder(run.path).finished()) == before


def test_an_attempt_that_finishes_twice_is_one(run: RunFolder) -> None:
    run.journal.append("finished", attempt="A1")
    assert finished_ids(run.path) == ["A1", "A2"]


@pytest.mark.parametrize("name", ["../A1", "", "A1/..", "A" * 200, ".", "A1\n"])
def test_a_name_that_is_no_id_opens_nothing(run: RunFolder, name: str) -> None:
    with pytest.raises(BadInput, match="no id of an attempt"):
        read_attempt(run.path, name, TABLE)


def test_an_attempt_in_the_folder_of_another_is_refused(run: RunFolder) -> None:
    (run.attempt_folder("A1") / "attempt.json").write_bytes((run.attempt_folder("A2") / "attempt.json").read_bytes())
    for fields in BOTH:
        with pytest.raises(BadInput, match=r"A1/attempt\.json is of attempt 'A2'"):
            read_attempt(run.path, "A1", fields)
