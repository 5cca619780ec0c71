"""Commands an agent ran, whatever it calls its shell."""

from __future__ import annotations

from typing import Any

import pytest

from repoassay.agents.evidence import commands_run
from repoassay.model.trajectory import Observation, Source, Step, StepCall, Trajectory


def ran(*steps: Step) -> list[tuple[int, str, str, bool | None]]:
    found = commands_run(Trajectory(agent="a", steps=steps))
    return [(each.step, each.command, each.output, each.failed) for each in found]


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        ({"command": "pytest -q"}, "pytest -q"),
        ({"command": ["bash", "-lc", "pytest"]}, "bash -lc pytest"),
        ({"cmd": "ls", "timeout": 3}, "ls"),
    ],
)
def test_a_command_with_its_answer(arguments: dict[str, Any], command: str) -> None:
    step = Step(
        index=1, source=Source.AGENT, calls=(StepCall(id="1", name="bash", arguments=arguments),),
        observations=(Observation(call="1", text="done", failed=True),),
    )  # fmt: skip
    assert ran(step) == [(1, command, "done", True)]


@pytest.mark.parametrize("arguments", [{}, {"path": "a.py"}, {"command": ""}, {"command": 3}, {"command": [1, "a"]}])
def test_other_tools_are_no_commands(arguments: dict[str, Any]) -> None:
    assert ran(Step(index=1, source=Source.AGENT, calls=(StepCall(name="edit", arguments=arguments),))) == []


def test_an_answer_in_a_later_step_is_found_and_others_are_not() -> None:
    one = StepCall(id="1", name="bash", arguments={"command": "a"})
    two = StepCall(id="2", name="bash", arguments={"command": "b"})
    steps = (
        Step(index=1, source=Source.AGENT, calls=(one, two)),
        Step(index=2, source=Source.TOOL, observations=(Observation(call="2", text="B"),)),
    )
    assert ran(*steps) == [(1, "a", "", None), (1, "b", "B", False)]


def test_much_is_cut() -> None:
    call = StepCall(name="bash", arguments={"command": "x" * 100_000})
    step = Step(index=1, source=Source.AGENT, calls=(call,) * 3000, observations=())
    found = commands_run(Trajectory(agent="a", steps=(step,)))
    assert len(found) == 2000
    assert len(found[0].command) == 20_000
