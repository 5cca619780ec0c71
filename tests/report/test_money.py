"""Tokens and dollars in reports: summed by where they went, and unknown where they are unknown."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from rich.console import Console

from repoassay.records import RunFolder
from repoassay.report import print_table, render, summarise
from repoassay.report.figures import dollars, tokens, why_unknown
from repoassay.report.money import sentence
from repoassay.types import Attempt, Outcome, Spending, Submission, Usage, Verdict

MakeRun = Callable[..., RunFolder]
START = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("spent", "text", "count"),
    [
        (None, "-", "-"),
        (Spending(), "$0.00", "0"),
        (Spending(dollars=Decimal("0.01234"), usage=Usage(input=1000, output=234)), "$0.0123", "1,234"),
        (Spending(dollars=Decimal("1234.5"), unknown=1), "$1,234.50", "0+"),
        (Spending(dollars=None), "unknown", "0"),
        (Spending(dollars=None, dollars_known=Decimal("0.5")), "$0.5000 + unknown", "0"),
    ],
)
def test_unknown_is_never_shown_as_nothing(spent: Spending | None, text: str, count: str) -> None:
    assert (dollars(spent), tokens(spent)) == (text, count)
    assert bool(why_unknown(spent)) == ("unknown" in text)


def test_a_sum_with_one_unknown_is_unknown_with_a_lower_bound() -> None:
    known = Spending(calls=1, dollars=Decimal(2), dollars_known=Decimal(2), faults={"cut": 1}, models=("m",))
    total = sum([known, Spending(dollars=None, dollars_note="no price"), known], Spending())
    assert total.dollars is None and total.dollars_known == 4 and total.dollars_note == "no price"
    assert (total.calls, total.faults, total.models) == (2, {"cut": 2}, ("m",))


def test_money_is_summed_by_where_it_went_and_unknown_stays_unknown(make_run: MakeRun) -> None:
    run = make_run(tasks=1, attempts=2)
    plan = run.plan
    known = Spending(calls=1, usage=Usage(input=10, output=5), dollars=Decimal("0.5"), dollars_known=Decimal("0.5"))
    unknown = known.model_copy(update={"dollars": None, "dollars_note": "no price for x", "dollars_known": Decimal(0)})
    for name, number, spent, retry, outcome in (
        ("A", 1, known, None, Outcome.INFRA_FAULT),
        ("B", 1, known, "A", Outcome.PASSED),
        ("C", 2, unknown, None, Outcome.PASSED),
    ):
        attempt = Attempt(
            id=name, run=plan.id, task="task-01", task_digest=plan.tasks[0].digest, agent="alpha", number=number,
            retry_of=retry, started=START, ended=START, submission=Submission(), spent=spent,
        )  # fmt: skip
        judged = None if outcome is Outcome.INFRA_FAULT else True
        verdict = Verdict(
            task="task-01", task_digest=plan.tasks[0].digest, outcome=outcome, process=judged, result=judged,
            grader="g", graded_at=START,
        )  # fmt: skip
        run.record(attempt, verdict)
    killed = run.attempt_folder("D")
    killed.mkdir()
    call = {"attempt": "D", "seq": 1, "at": START.isoformat(), "forwarded": True, "answered": True, "price": "0.25"}
    call["usage"] = {"input": 1, "output": 2}
    (killed / "usage.jsonl").write_text(json.dumps(call) + '\n{"attempt":"D","se')
    summary = summarise(run)
    spending = summary.spending
    assert spending.aside and spending.aside.dollars == Decimal("0.5")
    assert spending.unfinished and spending.unfinished.dollars == Decimal("0.25")
    assert spending.counted == summary.agents[0].spent
    assert spending.counted and spending.counted.dollars is None and spending.counted.dollars_known == Decimal("0.5")
    assert spending.total and (spending.total.calls, spending.total.usage.total) == (4, 48)
    assert "$0.5000 + unknown (no price for x)" in sentence(spending.counted)
    file = io.StringIO()
    print_table(summary, Console(file=file, width=100))
    text = " ".join(file.getvalue().split())
    assert "Spent in all: 4 calls, 48 tokens" in text and "$0.2500 and 3 tokens on attempts never finished" in text
    assert "no price for x" in render(summary)
