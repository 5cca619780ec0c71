"""What an attempt's calls make of its verdict where none of them was answered."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.metering import mini
from repoassay.engine.model_access import AttemptAccess
from repoassay.engine.verdict_adjustment import adjust_verdict
from repoassay.records import JOURNAL, to_json
from repoassay.types import Call, Outcome, Spending, Submission, Verdict


def account(into: Path, dialects: list[str]) -> AttemptAccess:
    """Every call was refused; a question of our own is refused in `responses` alone."""
    found = AttemptAccess(into, threading.Event())
    found.spent = Spending(failed=len(dialects), faults={"rejected": len(dialects)})
    found.own_look = lambda call: "it answers so to us as well" if call.dialect == "responses" else ""
    lines = [
        to_json(Call(attempt="a", seq=seq, at=datetime.now(UTC), dialect=dialect, forwarded=True, fault="rejected"))
        for seq, dialect in enumerate(dialects, 1)
    ]
    (into / JOURNAL).write_bytes(b"".join(line + b"\n" for line in lines))
    return found


@pytest.mark.parametrize(
    ("dialects", "outcome"),
    [
        (["responses", "responses"], Outcome.INFRA_FAULT),
        (["chat", "responses"], Outcome.NO_OUTPUT),
        (["responses", "chat"], Outcome.NO_OUTPUT),
        ([], Outcome.NO_OUTPUT),
    ],
)
def test_a_question_that_nobody_serves_excuses_no_other(tmp_path: Path, dialects: list[str], outcome: Outcome) -> None:
    (folder,) = mini().tasks
    verdict = Verdict(
        task="sum-ledger", task_digest=folder.digest, outcome=Outcome.NO_OUTPUT, process=False, result=False,
        grader="none", graded_at=datetime.now(UTC),
    )  # fmt: skip
    assert adjust_verdict(verdict, folder, Submission(), account(tmp_path, dialects)).outcome is outcome
