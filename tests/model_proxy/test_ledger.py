"""Budgets and context windows: refused before forwarding, in the vendor's words, within one call of the limit."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from repoassay.model_proxy import Budget, CallLimits, Price, Prices
from repoassay.records.calls import read_calls

PROVIDER = {"chat": "up", "responses": "up", "messages": "plain", "gemini": "plain"}
BUDGET = {
    "chat": (403, "insufficient_quota"),
    "responses": (400, "billing_hard_limit_reached"),
    "messages": (400, "Your credit balance is too low to access the Anthropic API."),
    "gemini": (403, "PERMISSION_DENIED"),
}
CONTEXT = {
    "chat": "context_length_exceeded",
    "responses": "context_length_exceeded",
    "messages": "prompt is too long: ",
    "gemini": "INVALID_ARGUMENT",
}
PRICED = Prices([Price.model_validate({"model": "*", "from": date(2020, 1, 1), "input": "1", "output": "10"})])
SMALL = {"text": "ok", "usage": {"input": 100, "output": 20}}


@pytest.mark.parametrize("dialect", BUDGET)
@pytest.mark.parametrize("stream", [False, True])
def test_a_budget_of_calls_stops_the_next_one(build: Any, dialect: str, stream: bool) -> None:
    rig = build(SMALL)
    told: list[str] = []
    entry = rig.admit(model=f"{PROVIDER[dialect]}/m", budget=Budget(calls=2), on_exhausted=told.append)
    assert [rig.ask(entry, dialect, stream=stream).status for _ in range(2)] == [200, 200]
    assert not entry.exhausted.is_set()  # an agent that ends with its last call ends well
    refused = rig.ask(entry, dialect, stream=stream)
    status, word = BUDGET[dialect]
    assert refused.status == status and word in refused.body.decode()
    assert dialect == "gemini" or refused.headers["x-should-retry"] == "false"
    assert entry.exhausted.is_set() and told == ["The attempt's budget of 2 model calls is spent."]
    rig.ask(entry, dialect)
    totals = entry.close()
    assert (totals.calls, totals.refused, totals.exhausted, len(told)) == (2, 2, told[0], 1)
    assert len(rig.upstream.seen) == 2


@pytest.mark.parametrize(
    ("budget", "calls"),
    [(Budget(tokens=380), 3), (Budget(tokens=270), 2), (Budget(dollars=Decimal("0.00095")), 3), (Budget(tokens=0), 0)],
)
def test_tokens_and_dollars_stop_before_the_call_they_do_not_hold(build: Any, budget: Budget, calls: int) -> None:
    rig = build(SMALL, prices=PRICED)
    entry = rig.admit(budget=budget)
    answers = [rig.ask(entry).status for _ in range(5)]
    assert answers == [200] * calls + [403] * (5 - calls)
    assert entry.close().dollars == Decimal("0.0003") * calls


@pytest.mark.parametrize("budget", [Budget(calls=5), Budget(tokens=600), Budget(dollars=Decimal("0.0015"))])
def test_parallel_calls_do_not_overrun(build: Any, budget: Budget) -> None:
    rig = build({**SMALL, "delay": 0.02}, prices=PRICED)
    entry = rig.admit(budget=budget)
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: rig.ask(entry).status, range(20)))
    assert answers.count(200) == 5 and answers.count(403) == 15
    assert entry.close().usage.total == 600


def test_the_runs_budget_holds_over_attempts(build: Any) -> None:
    rig = build(SMALL, run_budget=Budget(calls=3))
    entries = [rig.admit(f"a{number}") for number in range(3)]
    answers = [rig.ask(entries[number % 3]).status for number in range(6)]
    assert answers == [200, 200, 200, 403, 403, 403]
    assert all("run's budget of 3" in entry.why for entry in entries)


def test_calls_the_upstream_failed_are_not_charged(build: Any) -> None:
    rig = build({**SMALL, "fault": {"status": 500, "times": 1}}, limits=CallLimits(retries=0))
    entry = rig.admit(budget=Budget(calls=1))
    assert [rig.ask(entry).status for _ in range(3)] == [500, 200, 403]


def test_a_cut_stream_is_charged_by_its_bytes_but_stays_unknown(build: Any) -> None:
    rig = build({**SMALL, "text": "word " * 200, "fault": {"cut": 3}})
    entry = rig.admit(budget=Budget(tokens=500))
    seen = len(rig.ask(entry, stream=True, max_tokens=1000).body)
    assert seen > 500  # more bytes than it was allowed tokens: charged what it was allowed
    assert rig.ask(entry).status == 403
    totals = entry.close()
    assert totals.usage.total == 0 and totals.unknown == 1


def test_wall_time(build: Any) -> None:
    rig = build(SMALL)
    entry = rig.admit(budget=Budget(seconds=0.3))
    assert rig.ask(entry).status in {200, 403}
    assert entry.exhausted.wait(10) and "0.3 seconds" in entry.why
    assert rig.ask(entry).status == 403


@pytest.mark.parametrize("dialect", CONTEXT)
def test_prompts_beyond_the_context_window(build: Any, dialect: str) -> None:
    rig = build(SMALL)
    entry = rig.admit(model=f"{PROVIDER[dialect]}/m", context_window=8000)
    assert rig.ask(entry, dialect, text="word " * 1000).status == 200
    long = rig.ask(entry, dialect, text="word " * 40_000)
    assert long.status == 400 and CONTEXT[dialect] in long.body.decode() and "8000" in long.body.decode()
    assert not entry.exhausted.is_set()
    assert rig.ask(entry, dialect, text="short again").status == 200
    rig.ask(entry, dialect, text="word " * 40_000)
    assert not entry.exhausted.is_set()
    rig.ask(entry, dialect, text="word " * 40_000)
    assert entry.exhausted.is_set() and "context window" in entry.why
    calls = read_calls(entry.journal.path).calls
    assert [call.refused for call in calls] == ["", "context", "", "context", "context"]


def test_the_upstreams_counts_correct_the_estimate(build: Any) -> None:
    text = "word " * 2000  # we say about 2,800 tokens
    rig = build({"text": "ok", "usage": {"input": 2000, "output": 1}})
    entry = rig.admit(context_window=2500)
    assert rig.ask(entry, text=text).status == 400
    assert rig.ask(entry, text="word " * 1000).status == 200  # the upstream says 2,000, so twice what we said at most
    assert rig.ask(entry, text=text).status == 400
