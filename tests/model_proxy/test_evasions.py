"""Four ways past a budget or a network policy, on real sockets: each stopped, and what it would have been without."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from model_proxy.biller import UNASKED, Biller
from model_proxy.conftest import address, request_body, send
from repoassay.model_proxy import AttemptSession, Budget, CallLimits, Upstream
from repoassay.model_proxy.server import Gateway
from waiting import wait_until

SLACK = 100
"""Tokens by which the estimate of one of these small prompts may be wrong."""


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Any]:
    """Make a biller, and a session at a model proxy before it."""
    with ExitStack() as stack:

        def make(
            budget: Budget | None = None, most: int = 1 << 30, run_budget: Budget | None = None
        ) -> tuple[Biller, Gateway, AttemptSession]:
            biller = stack.enter_context(Biller(most))
            upstream = Upstream(name="up", base_url=f"{biller.origin}/v1")
            limits = CallLimits(first_wait=0.01, settle=5.0)
            gateway = stack.enter_context(Gateway([upstream], limits=limits, budget=run_budget))
            return biller, gateway, gateway.admit("a", model="up/m", journal=tmp_path / "usage.jsonl", budget=budget)

        yield make


def ask(gateway: Gateway, entry: AttemptSession, **more: Any) -> int:
    url = entry.urls(gateway.origin)["chat"] + "/chat/completions"
    return send(url, {**request_body("chat"), **more}, timeout=60).status


def abort(gateway: Gateway, entry: AttemptSession, dialect: str = "chat") -> int:
    """Begin a stream, read its first piece, hang up."""
    connection = http.client.HTTPConnection("127.0.0.1", int(gateway.origin.rpartition(":")[2]), timeout=60)
    url = address(entry.urls(gateway.origin), dialect, stream=True)
    body = request_body(dialect, stream=True)
    body.pop("max_tokens", None)
    connection.request("POST", url.removeprefix(gateway.origin), json.dumps(body))
    response = connection.getresponse()
    response.read1(50)
    connection.close()
    return response.status


@pytest.mark.parametrize("dialect", ["chat", "messages", "responses", "gemini"])
def test_streams_that_are_aborted_cost_what_they_cost(scene: Any, dialect: str) -> None:
    biller, gateway, entry = scene(Budget(tokens=50_000))
    answers = [abort(gateway, entry, dialect) for _ in range(20)]
    entry.close()
    assert {400, 403} & set(answers) and biller.billed <= 50_000 + SLACK
    assert entry.ledger.tokens == biller.billed and entry.totals().unknown == 0


def test_without_a_budget_they_would_cost_eight_times_as_much(scene: Any) -> None:
    biller, gateway, entry = scene()
    assert [abort(gateway, entry) for _ in range(20)] == [200] * 20
    entry.close()
    old_charge = 20 * (SLACK + 2_000)  # a cut stream was charged its prompt and 2,000 tokens
    assert old_charge < 50_000 < biller.billed == entry.totals().usage.total > 20 * UNASKED


@pytest.mark.parametrize("choices", [1, 3])
def test_parallel_calls_without_a_limit_share_what_is_left(scene: Any, choices: int) -> None:
    biller, gateway, entry = scene(Budget(tokens=60_000))
    with ThreadPoolExecutor(30) as pool:
        answers = list(pool.map(lambda _: ask(gateway, entry, n=choices), range(30)))
    assert 200 in answers and 403 in answers
    assert biller.billed <= 60_000 + SLACK
    assert all(body["max_tokens"] * choices <= 60_000 for body in biller.bodies)


@pytest.mark.long
def test_without_a_budget_all_of_them_are_upstream_at_once(scene: Any) -> None:
    biller, gateway, entry = scene()
    with ThreadPoolExecutor(30) as pool:
        assert list(pool.map(lambda _: ask(gateway, entry), range(30))) == [200] * 30
    assert biller.billed > 600_000 and "max_tokens" not in biller.bodies[0]


def test_calls_that_say_how_much_they_take_still_go_side_by_side(scene: Any) -> None:
    biller, gateway, entry = scene(Budget(tokens=60_000))
    biller.gate.clear()
    with ThreadPoolExecutor(4) as pool:
        asking = [pool.submit(ask, gateway, entry, max_tokens=1_000) for _ in range(4)]
        wait_until(lambda: biller.at_once == 4)
        biller.gate.set()
        assert [one.result() for one in asking] == [200] * 4


def test_a_call_waits_for_an_aborted_one_that_is_still_at_work(scene: Any) -> None:
    biller, gateway, entry = scene(Budget(tokens=30_000))
    biller.gate.clear()
    assert abort(gateway, entry) == 200
    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(ask, gateway, entry)
        time.sleep(0.3)  # time enough for it to overtake, had it been let in
        assert biller.at_once == 1 and not second.done()
        biller.gate.set()
        assert second.result() == 200
    assert ask(gateway, entry) == 403
    assert biller.most_at_once == 1 and biller.billed <= 30_000 + SLACK


def test_without_a_budget_it_overlaps(scene: Any) -> None:
    biller, gateway, entry = scene()
    biller.gate.clear()
    for _ in range(5):
        assert abort(gateway, entry) == 200
    wait_until(lambda: biller.at_once == 5)
    biller.gate.set()


def test_attempts_share_the_budget_of_their_run(scene: Any, tmp_path: Path) -> None:
    biller, gateway, first = scene(run_budget=Budget(tokens=60_000))
    passes = [first, *(gateway.admit(f"b{n}", model="up/m", journal=tmp_path / f"{n}.jsonl") for n in range(9))]
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda entry: ask(gateway, entry), passes))
    assert 200 in answers and 403 in answers and biller.billed <= 60_000 + SLACK


def test_a_pass_that_is_closed_under_a_call_is_charged_all_it_was_allowed(scene: Any) -> None:
    biller, gateway, entry = scene(Budget(tokens=10_000))
    gateway.limits = gateway._open_door().limits = CallLimits(settle=0.1)
    biller.gate.clear()
    abort(gateway, entry)
    assert entry.close().unknown == 1
    assert entry.ledger.tokens >= biller.billed - SLACK


def test_a_limit_that_the_model_does_not_take_is_lowered(scene: Any) -> None:
    biller, gateway, entry = scene(Budget(tokens=60_000), most=9_000)
    assert ask(gateway, entry) == 200
    assert biller.bodies[0]["max_tokens"] == 8_192
