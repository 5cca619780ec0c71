"""Steps written down while an attempt works: of every dialect, whole and streamed, each once, and without keys."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from repoassay.model_proxy.step_recorder import StepRecorder
from repoassay.records import STEPS, read_steps
from repoassay.types import Call, Source, TrajectoryStep, Usage

CALL = '{"command": "ls"}'


def asked(dialect: str, answered: bool) -> dict[str, Any]:
    """A request: the first of an attempt, or the second with the first answer and what the tool came to."""
    if dialect == "chat":
        said: list[dict[str, Any]] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Go."}]
        call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": CALL}}
        more = [
            {"role": "assistant", "content": "Looking.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "README.md sk-secret"},
        ]
        return {"messages": said + more * answered, "tools": [{"type": "unheard of"}]}
    if dialect == "messages":
        said = [{"role": "user", "content": [{"type": "text", "text": "Go."}]}]
        result = {"type": "tool_result", "tool_use_id": "c1", "content": "README.md sk-secret"}
        more = [
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "bash", "input": {}}]},
            {"role": "user", "content": [result, {"type": "document", "source": {"type": "url"}}][: 1 + answered]},
        ]
        return {"system": "Be brief.", "messages": said + more * answered}
    if dialect == "responses":
        said = [{"type": "message", "role": "user", "content": "Go."}]
        more = [
            {"type": "custom_tool_call", "call_id": "c1", "name": "bash", "input": "ls"},
            {"type": "custom_tool_call_output", "call_id": "c1", "output": "README.md sk-secret"},
            {"type": "of tomorrow"},
        ]
        return {"instructions": "Be brief.", "input": said + more * answered}
    said = [{"role": "user", "parts": [{"text": "Go."}]}]
    told = {"functionResponse": {"name": "bash", "response": {"output": "README.md sk-secret"}}}
    more = [
        {"role": "model", "parts": [{"functionCall": {"name": "bash", "args": {"command": "ls"}}}]},
        {"role": "user", "parts": [told]},
    ]
    return {"system_instruction": {"parts": [{"text": "Be brief."}]}, "contents": said + more * answered}


def answer(dialect: str, stream: bool) -> bytes:
    """A model's answer that calls a tool."""
    function = {"name": "bash", "arguments": CALL}
    if dialect == "chat":
        call = {"index": 0, "id": "c1", "type": "function", "function": function}
        message = {"content": "Looking.", "tool_calls": [call]}
        whole: dict[str, Any] = {"choices": [{"message": message}]}
        events: list[dict[str, Any]] = [
            {"choices": [{"delta": {"content": "Loo"}}]}, {"choices": [{"delta": {**message, "content": "king."}}]},
        ]  # fmt: skip
    elif dialect == "messages":
        use = {"type": "tool_use", "id": "c1", "name": "bash", "input": {"command": "ls"}}
        whole = {"content": [{"type": "text", "text": "Looking."}, use]}
        events = [
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Looking."}},
            {"type": "content_block_start", "index": 1, "content_block": {**use, "input": {}}},
            {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": CALL}},
        ]
    elif dialect == "responses":
        items = [
            {"type": "message", "content": [{"type": "output_text", "text": "Looking."}]},
            {"type": "custom_tool_call", "call_id": "c1", "name": "bash", "input": "ls"},
        ]
        whole = {"output": items}
        events = [{"type": "response.output_item.done", "item": item} for item in items]
    else:
        parts = [{"text": "Looking."}, {"functionCall": {"name": "bash", "args": {"command": "ls"}}}]
        whole = {"candidates": [{"content": {"parts": parts}}]}
        events = [{"candidates": [{"content": {"parts": [part]}}]} for part in parts]
    if not stream:
        return json.dumps(whole).encode()
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events) + b"data: [DONE]\n\n"


def call(dialect: str, seq: int, stream: bool) -> Call:
    return Call(
        attempt="a", seq=seq, at=datetime(2026, 1, 31, tzinfo=UTC), dialect=dialect, stream=stream, forwarded=True,
        answered=True, usage=Usage(input=10, output=5),
    )  # fmt: skip


def noted(folder: Path, dialect: str, stream: bool) -> tuple[TrajectoryStep, ...]:
    steps = StepRecorder(folder / STEPS, lambda data: data.replace(b"sk-secret", b"[key]"))
    for seq, second in enumerate((False, True, True), 1):  # the last says nothing that is new
        body = json.dumps(asked(dialect, second)).encode()
        steps.note(call(dialect, seq, stream), body, answer(dialect, stream))
    steps.note(call(dialect, 4, stream), b"\xff not JSON", b"{")
    steps.close()
    return read_steps(folder)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("dialect", ["chat", "messages", "responses", "gemini"])
def test_each_thing_said_is_one_step_whatever_the_dialect(tmp_path: Path, dialect: str, stream: bool) -> None:
    steps = noted(tmp_path, dialect, stream)
    assert [step.source for step in steps] == [Source.SYSTEM, Source.USER, *[Source.AGENT] * 3]
    assert [step.index for step in steps] == [1, 2, 3, 4, 5]
    assert (steps[0].text, steps[1].text, steps[2].text) == ("Be brief.", "Go.", "Looking.")
    (ran,) = steps[2].calls
    assert (ran.name, next(iter(ran.arguments.values()))) == ("bash", "ls")
    assert [one.text for one in steps[2].observations] == ["README.md [key]"]
    assert steps[3].observations == () and steps[2].usage == Usage(input=10, output=5)


def test_a_torn_or_strange_file_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    noted(tmp_path, "chat", stream=False)
    with (tmp_path / STEPS).open("ab") as stream:
        stream.write(b'{"index": 9, "sou')
    assert len(read_steps(tmp_path)) == 5
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / STEPS).symlink_to(tmp_path / STEPS)
    assert read_steps(tmp_path / "elsewhere") == ()
