"""Which attempt counts in a slot: the last of its retry chain, within the plan."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from repoassay.records.slots import AttemptStatus, Slot, counting_attempts, places, slots_of
from repoassay.types import Plan, PlannedTask, TaskKind

PLAN = Plan(
    id="R", created=datetime(2026, 1, 1, tzinfo=UTC), suite="s", suite_version="1", suite_folder="/s",
    tasks=tuple(
        PlannedTask(id=name, digest="d", folder="/s", title=name, kind=TaskKind.EDIT, domain="web") for name in ("t", "u")
    ),
    agents={"a": {}, "b": {}}, attempts=2, isolation="none",
)  # fmt: skip


@dataclass(frozen=True)
class One:
    id: str
    task: str = "t"
    agent: str = "a"
    number: int = 1
    retry_of: str | None = None


def test_slots_are_those_of_the_plan_in_order_of_agent_task_and_number() -> None:
    assert slots_of(PLAN)[:3] == [Slot("t", "a", 1), Slot("t", "a", 2), Slot("u", "a", 1)]
    assert len(slots_of(PLAN)) == PLAN.size
    assert {slot.agent for slot in slots_of(PLAN, "b")} == {"b"}


def test_the_last_of_a_chain_counts_and_the_earlier_name_it() -> None:
    chain = [One("1"), One("2", retry_of="1"), One("3", retry_of="2"), One("4", number=2)]
    found = places(PLAN, chain)
    assert [place.standing for place in found] == [
        AttemptStatus.SUPERSEDED, AttemptStatus.SUPERSEDED, AttemptStatus.COUNTS, AttemptStatus.COUNTS
    ]  # fmt: skip
    assert [place.replaced_by for place in found] == ["3", "3", None, None]
    assert counting_attempts(PLAN, chain, lambda one: one) == {Slot("t", "a", 1): chain[2], Slot("t", "a", 2): chain[3]}


def test_a_retry_fills_the_slot_of_the_first_whatever_it_says_itself() -> None:
    chain = [One("1"), One("2", task="u", number=2, retry_of="1")]
    assert counting_attempts(PLAN, chain, lambda one: one) == {Slot("t", "a", 1): chain[1]}


def test_a_slot_outside_the_plan_counts_nowhere_and_a_circle_ends() -> None:
    assert places(PLAN, [One("1", task="v")])[0].standing is AttemptStatus.OUTSIDE_PLAN
    found = places(PLAN, [One("1", retry_of="2"), One("2", retry_of="1")])
    assert [place.standing for place in found].count(AttemptStatus.COUNTS) >= 1
