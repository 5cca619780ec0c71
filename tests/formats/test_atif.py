"""Trajectories as ATIF: what its readers insist on."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal

from repoassay.formats.atif import ATIF_VERSION, to_atif
from repoassay.types import Usage
from repoassay.types.trajectory import Observation, OwnFigures, Source, StepCall, Trajectory, TrajectoryStep

WHOLE = Trajectory(
    agent="a",
    version="1",
    model="m",
    steps=(
        TrajectoryStep(index=1, source=Source.USER, text="Do it."),
        TrajectoryStep(
            index=2,
            source=Source.AGENT,
            text="",
            reasoning="Hm.",
            time=datetime(2026, 1, 2, tzinfo=UTC),
            calls=(StepCall(id="c", name="bash", arguments={"command": "ls"}), StepCall(name="bash")),
            observations=(Observation(call="c", text="a.py"), Observation(call="other", failed=True)),
            usage=Usage(input=10, output=4, cached=3, reasoning=2),
            dollars=Decimal("0.5"),
        ),
        TrajectoryStep(index=3, source=Source.TOOL, observations=(Observation(text="late"),)),
    ),
    own=OwnFigures(usage=Usage(input=10, output=4, cached=3), calls=1, dollars=Decimal("0.5"), note="n"),
    ending="done",
)


def test_every_step_is_numbered_and_has_a_message_and_a_known_source() -> None:
    found = to_atif(WHOLE, session="s")
    assert found["schema_version"] == ATIF_VERSION and found["session_id"] == "s"
    assert [step["step_id"] for step in found["steps"]] == [1, 2, 3]
    assert [step["source"] for step in found["steps"]] == ["user", "agent", "system"]
    assert all(isinstance(step["message"], str) for step in found["steps"])
    assert json.loads(json.dumps(found)) == found


def test_calls_have_ids_and_observations_name_only_calls_of_their_step() -> None:
    step = to_atif(WHOLE)["steps"][1]
    assert [call["tool_call_id"] for call in step["tool_calls"]] == ["c", "call-2-2"]
    assert step["observation"]["results"][0] == {"source_call_id": "c", "content": "a.py"}
    assert "source_call_id" not in step["observation"]["results"][1]
    assert step["extra"] == {"failed_calls": ["other"]}
    assert step["timestamp"].startswith("2026-01-02")


def test_prompt_tokens_include_cached_ones_and_what_is_unknown_is_left_out() -> None:
    found = to_atif(WHOLE)
    metrics = found["steps"][1]["metrics"]
    assert (metrics["prompt_tokens"], metrics["cached_tokens"], metrics["cost_usd"]) == (10, 3, 0.5)
    assert found["final_metrics"]["total_cost_usd"] == 0.5
    assert found["final_metrics"]["total_steps"] == 3
    empty = to_atif(Trajectory(agent="a"))
    assert empty["steps"] == [] and empty["final_metrics"] == {"total_steps": 0} and empty["session_id"] == "unknown"
    assert empty["agent"] == {"name": "a", "version": "unknown"}
