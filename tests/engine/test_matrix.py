"""Entries of a plan out of agents, models and sweeps; what they may cost; how many are made at a time."""

from __future__ import annotations

import threading
import time
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from engine.metering import PRICES, TINY, Watching, plan_run, said
from repoassay.engine import execute
from repoassay.engine.cost_bound import bound_of
from repoassay.engine.matrix import number, parse_sweeps, spread
from repoassay.engine.resumption import resume_run
from repoassay.engine.scheduler import Scheduler, all_slots, open_slots
from repoassay.errors import BadInput
from repoassay.records.slots import Slot
from repoassay.types import AgentEntry, Outcome

VENDOR = '[upstream.vendor]\nbase_url = "http://10.0.0.1/v1"\n'
AGENTS = {"a": {"kind": "a"}, "b": {"kind": "b"}, "reference": {"kind": "reference"}}


def test_every_agent_gets_every_model_and_every_combination_of_what_is_swept() -> None:
    sweeps = parse_sweeps(["timeout=120,600", "max-iterations=30,70"])
    found = spread(AGENTS, ["p/x", "p/y"], {"max_tokens": "9"}, sweeps)
    assert len(found) == 2 * 2 * 4 + 2
    assert found["a @ p/x, timeout=120, max_iterations=70"].settings == {
        "kind": "a", "model": "p/x", "max_tokens": "9", "timeout": "120", "max_iterations": "70",
    }  # fmt: skip
    assert found["reference, timeout=600"].settings == {"kind": "reference", "timeout": "600"}


def test_without_models_names_are_the_agents() -> None:
    assert spread(AGENTS, [], {"timeout": "5"}, {})["a"].settings == {"kind": "a", "timeout": "5"}


def test_what_is_swept_replaces_what_holds_for_all() -> None:
    found = spread({"a": {}}, [], {"timeout": "5"}, {"timeout": ["7"]})
    assert found == {"a, timeout=7": AgentEntry(kind="a", timeout=7)}


@pytest.mark.parametrize(
    "text", ["timeout", "timeout=", "timeout=1,,2", "timeout=0", "timeout=-1", "timeout=nan", "timeout=inf", "colour=1",
             "max_iterations=1.5", "max_tokens=1e99", "=1", "timeout=1e999999999"],
)  # fmt: skip
def test_a_bad_sweep_is_one_sentence(text: str) -> None:
    with pytest.raises(BadInput):
        parse_sweeps([text])


@given(st.text(max_size=20))
def test_a_value_is_a_number_above_nothing_or_refused(text: str) -> None:
    try:
        found = number("max_tokens", text)
    except BadInput:
        return
    assert int(found) > 0


@pytest.mark.parametrize("model", ["gpt-4", "/x", "x/"])
def test_a_model_names_its_provider(model: str) -> None:
    with pytest.raises(BadInput):
        spread({"a": {}}, [model], {}, {})


def test_limits_on_models_need_one() -> None:
    with pytest.raises(BadInput, match="max_tokens"):
        spread({"a": {}}, [], {"max_tokens": "1"}, {})


def test_too_many_combinations_are_refused() -> None:
    with pytest.raises(BadInput, match="1200"):
        spread({"a": {}}, ["p/x"], {}, {name: [str(n) for n in range(1, 41)] for name in ("timeout",)} | {
            "max_tokens": [str(n) for n in range(1, 31)]})  # fmt: skip


@pytest.mark.parametrize(
    ("limits", "prices", "budget", "dollars", "why"),
    [
        ({}, "", None, None, "no price"),
        ({"max_iterations": "5"}, PRICES, None, None, "neither"),
        ({"budget_usd": "0.5"}, PRICES, None, "3.0", "limits of each attempt"),
        ({"max_tokens": "1000"}, PRICES, None, "12", "limits of each attempt"),
        ({"max_tokens": "1000", "budget_usd": "0.5"}, PRICES, None, "3.0", "limits"),
        ({"budget_usd": "0.5"}, PRICES, "2", "2", "run's budget"),
        ({}, PRICES, "2", "2", "run's budget"),
    ],
)
def test_the_bound_is_known_or_says_why_not(
    tmp_path: Path, limits: dict[str, str], prices: str, budget: str | None, dollars: str | None, why: str
) -> None:
    prices = prices.replace("scripted/*", "vendor/*")
    run, _ = plan_run(tmp_path, [], limits, upstreams=VENDOR, models=["vendor/large"], prices=prices, attempts=3,
                      retries=1, budget_usd=budget)  # fmt: skip
    bound = bound_of(run.plan)
    assert bound.dollars == (Decimal(dollars) if dollars else None)
    assert why in bound.why
    assert bound.limited == ("dollars" in str(limits) or "budget_usd" in limits or budget is not None)


def test_scripted_and_local_models_cost_nothing(tmp_path: Path) -> None:
    run, _ = plan_run(tmp_path, [said()], models=["scripted/x", "ollama/y", "vllm/z"])
    assert bound_of(run.plan).free


@pytest.mark.exhaustive
def test_of_one_provider_only_so_many_attempts_are_made_at_a_time(tmp_path: Path) -> None:
    upstreams = '[upstream.gone]\nbase_url = "http://127.0.0.1:9/v1"\n'
    run, suite = plan_run(tmp_path, [said(delay=0.2)], models=["scripted/x", "gone/y"], attempts=4, workers=4,
                          concurrency={"scripted": 1}, upstreams=upstreams, agent={**TINY, "timeout": "2"})  # fmt: skip
    watching = Watching()
    execute(run, suite, all_slots(run), watching)
    assert watching.most_at_once["tiny @ scripted/x"] == 1
    assert watching.most_at_once["tiny @ gone/y"] > 1
    assert len(list(run.finished())) == 8


def test_the_queue_hands_out_everything_once_and_what_comes_back_again() -> None:
    slots = [Slot(f"t{number}", "p" if number % 2 else "q", 1) for number in range(40)]
    waiting = Scheduler(slots, lambda slot: slot.agent, {"p": 2})
    taken: list[Slot] = []
    busy, most = {"p": 0, "q": 0}, {"p": 0, "q": 0}
    lock, never = threading.Lock(), threading.Event()

    def work() -> None:
        while (slot := waiting.take(never)) is not None:
            with lock:
                taken.append(slot)
                busy[slot.agent] += 1
                most[slot.agent] = max(most[slot.agent], busy[slot.agent])
            time.sleep(0.001)
            with lock:
                busy[slot.agent] -= 1
            again = [Slot(slot.task, slot.agent, 1, "old", 1)] if slot.task == "t7" and not slot.tries else []
            waiting.done(slot, again)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(taken) == 41
    assert {slot.task for slot in taken} == {slot.task for slot in slots}
    assert most["p"] <= 2


@pytest.mark.long
def test_resume_makes_again_what_is_asked_for_and_nothing_else(tmp_path: Path) -> None:
    run, suite = plan_run(tmp_path, [said()], attempts=3)
    execute(run, suite, all_slots(run), Watching())
    first = [found.attempt.id for found in run.finished()]
    assert open_slots(run) == []
    assert open_slots(run, [Outcome.TIMED_OUT]) == []
    found = resume_run(run, Watching(), [Outcome.NO_OUTPUT])
    assert found.left == 3
    retries = [found.attempt for found in run.finished() if found.attempt.retry_of]
    assert sorted(str(attempt.retry_of) for attempt in retries) == sorted(first)
    assert len(list(run.finished())) == 6


def test_resume_refuses_settings_that_have_changed(tmp_path: Path) -> None:
    run, suite = plan_run(tmp_path, [said()], attempts=2)
    execute(run, suite, all_slots(run)[:1], Watching())
    (tmp_path / "dialogue.jsonl").write_text('{"text": "Another."}\n')
    with pytest.raises(BadInput, match="dialogue"):
        resume_run(run, Watching())
