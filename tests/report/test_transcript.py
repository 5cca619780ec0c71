"""Steps laid out for reading: of every agent whose records are kept, and of records made to hurt."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from repoassay.agents.transcripts import read_transcript
from repoassay.report.transcript import LAYOUT_CHARACTERS, ShownCall, lay_out_transcript
from repoassay.types import Call, Observation, Source, StepCall, Trajectory, TrajectoryStep, Usage

RECORDED = Path(__file__).parents[1] / "agents/recorded"
NOW = datetime(2026, 1, 31, tzinfo=UTC)


def calls_of(name: str) -> list[ShownCall]:
    told = lay_out_transcript(read_transcript(name, RECORDED / name, agent=name, model="m"), ())
    assert told.left_out == 0
    return [call for step in told.steps for call in step.calls]


@pytest.mark.parametrize("name", sorted(path.name for path in RECORDED.iterdir()))
def test_every_agent_shows_what_it_ran_and_what_it_changed(name: str) -> None:
    calls = calls_of(name)
    ran = " ".join(call.command for call in calls)
    changed = [line for call in calls for edit in call.edits for line in edit.lines]
    wrote = any("startswith" in text or ":" in text for sign, text in changed if sign == "+")
    assert "grep -n startswith" in ran or name == "aider"
    assert wrote or "sed" in ran or "python" in ran or "cat >" in ran
    if name != "aider":
        assert any("posting.account" in one.text for call in calls for one in call.outputs)


def step(
    index: int, *calls: StepCall, answers: tuple[Observation, ...] = (), usage: Usage | None = None
) -> TrajectoryStep:
    return TrajectoryStep(index=index, source=Source.AGENT, calls=calls, observations=answers, usage=usage)


def a_call(seq: int, price: str | None) -> Call:
    return Call(
        attempt="a", seq=seq, at=NOW, forwarded=True, answered=True, usage=Usage(input=100 * seq, output=seq),
        price=None if price is None else Decimal(price),
    )  # fmt: skip


def test_the_gateway_says_what_a_step_cost_where_calls_and_steps_fit() -> None:
    steps = (step(1, usage=Usage(input=7)), TrajectoryStep(index=2, source=Source.USER, text="go on"), step(3))
    record = Trajectory(agent="x", steps=steps)
    fit = lay_out_transcript(record, [a_call(1, "0.25"), a_call(2, None)]).steps
    assert [(one.usage and one.usage.input, one.dollars, one.counted) for one in fit] == [
        (100, Decimal("0.25"), True), (None, None, False), (200, None, True),
    ]  # fmt: skip
    alone = lay_out_transcript(record, [a_call(1, "0.25")]).steps
    assert [(one.usage and one.usage.input, one.counted) for one in alone] == [(7, False), (None, False), (None, False)]


def test_answers_stand_with_the_calls_they_answer() -> None:
    first = StepCall(id="a", name="bash", arguments={"command": "true"})
    second = StepCall(id="b", name="bash", arguments={"command": ["bash", "-lc", "false"]})
    answers = (Observation(call="b", text="no", failed=True), Observation(call="a", text="yes"), Observation(text="?"))
    (shown,) = lay_out_transcript(Trajectory(agent="x", steps=(step(1, first, second, answers=answers),)), ()).steps
    assert [(call.command, [one.text for one in call.outputs]) for call in shown.calls] == [
        ("true", ["yes"]), ("false", ["no"]),
    ]  # fmt: skip
    assert shown.calls[1].outputs[0].failed and [one.text for one in shown.outputs] == ["?"]


@pytest.mark.parametrize(
    ("call", "lines"),
    [
        (StepCall(name="write_file", arguments={"file_path": "/a", "content": "x\ny"}), [("+", "x"), ("+", "y")]),
        (
            StepCall(name="Edit", arguments={"file_path": "/a", "old_string": "x\ny", "new_string": "x\nz"}),
            [(" ", "x"), ("-", "y"), ("+", "z")],
        ),
        (
            StepCall(
                name="apply_patch", arguments={"input": "*** Begin Patch\n*** Update File: a\n-x\n+y\n*** End Patch"}
            ),
            [("@", "*** Begin Patch"), ("@", "*** Update File: a"), ("-", "x"), ("+", "y"), ("@", "*** End Patch")],
        ),
        (
            StepCall(name="edit", arguments={"filePath": "/a", "oldString": "x", "newString": "y"}),
            [("-", "x"), ("+", "y")],
        ),
        (
            StepCall(name="edit", arguments={"edits": [{"path": "/a", "oldText": "x", "newText": "y"}]}),
            [("-", "x"), ("+", "y")],
        ),
        (
            StepCall(name="edit", arguments={"path": "/a", "old_str": "s\n" * 900 + "x", "new_str": "s\n" * 900 + "y"}),
            [(" ", "s"), (" ", "s"), (" ", "s"), ("-", "x"), ("+", "y")],
        ),
    ],
)
def test_edits_are_diffs(call: StepCall, lines: list[tuple[str, str]]) -> None:
    (shown,) = lay_out_transcript(Trajectory(agent="x", steps=(step(1, call),)), ()).steps
    assert [line for edit in shown.calls[0].edits for line in edit.lines] == lines


@pytest.mark.long
def test_records_made_to_hurt_are_bounded() -> None:
    huge = "x\n" * 5_000_000
    edit = StepCall(name="edit", arguments={"path": "/a", "old_str": "a\n" * 40_000, "new_str": "b\n" * 40_000})
    odd = StepCall(name="t" * 100_000, arguments={"deep": [[[[{"k": huge}]]]]})
    steps = [step(number, odd, edit, answers=(Observation(text=huge),)) for number in range(1, 60)]
    told = lay_out_transcript(Trajectory(agent="x", steps=tuple(steps)), ())
    assert told.steps and told.left_out == 59 - len(told.steps) > 0
    size = sum(len(one.text) for shown in told.steps for call in shown.calls for one in call.outputs)
    assert size < LAYOUT_CHARACTERS
