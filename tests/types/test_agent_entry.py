"""Settings of an agent: typed in memory, a flat object of texts in files, as version 0.1 wrote them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given, strategies as st
from pydantic import ValidationError

from repoassay.types import AgentEntry, Plan
from repoassay.types.agent_entry import LIMITS, limit_value

OLD = {
    "kind": "codex", "version": "1.2", "model": "openai/gpt-5", "max_iterations": "30", "timeout": "0.5",
    "budget_usd": "0.25", "max_tokens": "9", "context_window": "100000",
}  # fmt: skip


def plan(agents: object) -> Plan:
    return Plan.model_validate(
        {"id": "R", "created": datetime.now(UTC), "suite": "s", "suite_version": "1", "suite_folder": "/s",
         "tasks": [], "isolation": "none", "agents": agents}
    )  # fmt: skip


def test_what_version_0_1_wrote_is_typed() -> None:
    entry = AgentEntry.of(OLD)
    assert entry == AgentEntry(
        kind="codex", model="openai/gpt-5", timeout=0.5, max_calls=30, max_tokens=9, context_window=100_000,
        budget_usd=Decimal("0.25"), options={"version": "1.2"},
    )  # fmt: skip
    assert entry.settings == OLD


def test_a_plan_is_written_as_it_was_read() -> None:
    agents = {"x": OLD, "command": {"command": "true", "agent": "old"}, "bare": {}}
    found = plan(agents)
    assert json.loads(found.model_dump_json())["agents"] == agents
    assert Plan.model_validate_json(found.model_dump_json()) == found


def test_a_file_with_impossible_settings_can_still_be_read() -> None:
    wrong = {"kind": "nothing", "timeout": "soon", "timout": "3", "max_iterations": "1.5"}
    entry = plan({"x": wrong}).agents["x"]
    assert (entry.timeout, entry.max_calls) == (None, None)
    assert entry.settings == wrong


@given(st.fixed_dictionaries({}, optional={name: st.integers(1, 10**12).map(str) for name in LIMITS}))
def test_limits_come_back_letter_by_letter(settings: dict[str, str]) -> None:
    assert AgentEntry.of(settings).settings == settings


@pytest.mark.parametrize("value", ["soon", "", "nan", "inf", "-1", "0", "1e13", "1e-99999999", True, None, []])
@pytest.mark.parametrize("name", LIMITS)
def test_an_impossible_limit_is_refused(name: str, value: object) -> None:
    with pytest.raises(ValueError, match="number above 0"):
        limit_value(name, value)


def test_only_counts_are_whole() -> None:
    with pytest.raises(ValidationError):
        AgentEntry.model_validate({"max_calls": 1.5})
    assert AgentEntry.model_validate({"timeout": 1.5, "budget_usd": "1.5"}).timeout == 1.5


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(ValidationError):
        AgentEntry.model_validate({"timout": 3})
