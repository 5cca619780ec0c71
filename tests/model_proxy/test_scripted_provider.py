"""The scripted model: one dialogue for every agent, its events in each vendor's order, and recordings of live runs."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from repoassay.errors import BadInput
from repoassay.model_proxy import Dialogue, Prices, ScriptedUpstream, known_upstreams, read_dialogue
from repoassay.model_proxy.scripted_provider import Script, ScriptedReply
from repoassay.model_proxy.tool_schemas import as_neutral, finish_call, shell_call
from repoassay.model_proxy.vendors import VENDORS, Reply, ToolUse
from repoassay.types.usage import Usage

REPLY = Reply("1", "m", "Hi.", (ToolUse("c0", "bash", {"command": "ls"}),), Usage(input=9, output=5, cached=4))
BASH = {"type": "function", "function": {"name": "bash", "parameters": {"properties": {"command": {}}}}}


def kinds(dialect: str) -> list[str]:
    lines = b"".join(VENDORS[dialect].stream_events(REPLY)).decode().split("\n")
    return [line.removeprefix("event: ") for line in lines if line.startswith("event: ")]


def test_the_order_of_anthropics_events() -> None:
    assert kinds("messages") == [
        "message_start",
        "ping",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]


def test_the_order_of_the_responses_events() -> None:
    assert kinds("responses") == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.output_item.added",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.output_item.done",
        "response.completed",
    ]


def test_the_order_of_chat_chunks() -> None:
    lines = [line[6:] for line in b"".join(VENDORS["chat"].stream_events(REPLY)).decode().split("\n\n") if line]
    assert lines[-1] == "[DONE]"
    chunks = [json.loads(line) for line in lines[:-1]]
    assert [list(chunk["choices"][0]["delta"]) if chunk["choices"] else "usage" for chunk in chunks] == [
        ["role", "content"],
        ["content"],
        ["tool_calls"],
        ["tool_calls"],
        [],
        "usage",
    ]
    assert chunks[4]["choices"][0]["finish_reason"] == "tool_calls"


def test_the_order_of_geminis_chunks() -> None:
    lines = [line[6:] for line in b"".join(VENDORS["gemini"].stream_events(REPLY)).decode().split("\n\n") if line]
    candidates = [json.loads(line)["candidates"][0] for line in lines]
    assert [list(candidate["content"]["parts"][0]) for candidate in candidates] == [
        ["text"],
        ["functionCall"],
        ["text"],
    ]
    assert [candidate.get("finishReason") for candidate in candidates] == [None, None, "STOP"]


@pytest.mark.parametrize("dialect", list(VENDORS))
def test_a_vendor_understands_itself(dialect: str) -> None:
    vendor = VENDORS[dialect]
    data = [line[6:] for line in b"".join(vendor.stream_events(REPLY)).split(b"\n") if line.startswith(b"data: {")]
    for body in (vendor.response(REPLY), vendor.join_events([json.loads(one) for one in data])):
        assert vendor.read_response(body) == ("Hi.", [("bash", {"command": "ls"})])


def test_shells_of_the_agents() -> None:
    def tool(**properties: Any) -> dict[str, Any]:
        return {"properties": properties, "required": list(properties)}

    text = {"type": "string"}
    assert shell_call({"bash": tool(command=text)}, "ls") == ("bash", {"command": "ls"})
    assert shell_call({"exec_command": tool(cmd=text)}, "ls") == ("exec_command", {"cmd": "ls"})
    assert shell_call({"Read": {}, "Bash": tool(command=text)}, "ls") == ("Bash", {"command": "ls"})
    gemini = shell_call({"run_shell_command": tool(command=text, description={"type": "STRING"})}, "ls")
    assert gemini == ("run_shell_command", {"command": "ls", "description": "scripted"})
    assert shell_call({"shell": tool(command={"type": "array"})}, "ls") == ("shell", {"command": ["bash", "-lc", "ls"]})
    assert shell_call({"Read": {}}, "ls") is None


def test_ends_of_the_agents() -> None:
    mini = finish_call("chat", {"bash": {"properties": {"command": {}}}})
    assert mini == ("bash", {"command": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"})
    assert finish_call("chat", {"bash": {}, "submit": {}}) == ("submit", {})
    assert finish_call("messages", {"Bash": {}}) is None
    assert as_neutral(*mini) == {"tool": "finish"}
    assert as_neutral("exec_command", {"cmd": "ls"}) == {"tool": "shell", "command": "ls"}
    assert as_neutral("Edit", {"x": 1}) == {"name": "Edit", "arguments": {"x": 1}}


def ask(script: Script, text: str = "", *, tools: bool = True, attempt: str = "a") -> tuple[int, dict[str, Any]]:
    body: dict[str, Any] = {"messages": [{"role": "user", "content": text}], **({"tools": [BASH]} if tools else {})}
    said: ScriptedReply = script.answer("chat", body, attempt, stream=False)
    return said.status, json.loads(b"".join(said.parts))


def test_turns_conditions_asides_and_the_end() -> None:
    whole = {
        "turn": [
            {"text": "one", "calls": [{"tool": "shell", "command": "ls"}], "plain": "for aider"},
            {"text": "two", "when": {"contains": "README", "lacks": "error"}},
        ],
        "aside": [{"when": {"contains": "title", "tools": False}, "text": "A title"}],
    }
    script = Script(Dialogue.model_validate(whole))
    assert ask(script, "go", tools=False)[1]["choices"][0]["message"]["content"] == "for aider"
    assert ask(script, "go", attempt="b")[1]["choices"][0]["finish_reason"] == "tool_calls"
    assert ask(script, "a title please", tools=False)[1]["choices"][0]["message"]["content"] == "A title"
    assert ask(script, "README error")[0] == 400
    assert ask(script, "README")[1]["choices"][0]["message"]["content"] == "two"
    assert ask(script, "README")[0] == 400
    assert len(script.sent("a")) == 3 and len(script.sent("b")) == 1 and script.sent("c") == ()


def test_a_request_without_tools_is_beside_a_dialogue_of_calls() -> None:
    script = Script(Dialogue.model_validate({"turn": [{"calls": [{"tool": "shell", "command": "ls"}]}]}))
    assert ask(script, tools=False)[1]["choices"][0]["message"]["content"] == "OK"
    assert ask(script)[1]["choices"][0]["finish_reason"] == "tool_calls"


@pytest.mark.parametrize(("end", "expected"), [("loop", "abab"), ("repeat", "abbb"), ("error", "ab  ")])
def test_ends(end: str, expected: str) -> None:
    script = Script(Dialogue.model_validate({"turn": [{"text": "a"}, {"text": "b"}], "end": end}))
    answers = [ask(script) for _ in range(4)]
    assert (
        "".join(body["choices"][0]["message"]["content"] if status == 200 else " " for status, body in answers)
        == expected
    )


@pytest.mark.parametrize(
    "text",
    [
        "turn = []",
        "[[turn]]\ncalls = [{tool = 'shell'}]",
        "[[turn]]\ncalls = [{tool = 'rm', command = 'x'}]",
        "[[turn]]\ntext = 1",
        "[[turn]]\nusage = {input = 1, cached = 2}",
        "[[turn]]\nfault = {status = 200}",
        "[[turn]",
        "[[turn]]\nsay = 'x'",
    ],
)
def test_bad_dialogues_are_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "d.toml"
    path.write_text(text)
    with pytest.raises(BadInput, match=r"d\.toml"):
        ScriptedUpstream(path)
    path.with_suffix(".jsonl").write_text("7\n")
    with pytest.raises(BadInput, match=r"d\.jsonl"):
        read_dialogue(path.with_suffix(".jsonl"))


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("dialect", list(VENDORS))
def test_a_recorded_run_can_be_repeated(build: Any, turn: Any, tmp_path: Path, dialect: str, stream: bool) -> None:
    path = tmp_path / "dialogue.jsonl"
    rig = build(turn, {"text": "Done.", "calls": [{"tool": "finish"}]})
    provider = "up" if dialect in {"chat", "responses"} else "plain"
    entry = rig.admit(model=f"{provider}/m", record=path)
    answers = [rig.ask(entry, dialect, stream=stream) for _ in range(2)]
    total = entry.close().usage
    again = build(turn, upstreams=[ScriptedUpstream(path)])
    repeated = again.admit("again", model="scripted/m")
    for answer in answers:
        vendor = VENDORS[dialect]
        other = again.ask(repeated, dialect, stream=stream)
        bodies = [vendor.join_events(one.events) if stream else one.json for one in (answer, other)]
        assert vendor.read_response(bodies[0]) == vendor.read_response(bodies[1])
    assert repeated.close().usage == total
    assert read_dialogue(path).turn[0].calls[0].tool == "shell"


@pytest.mark.parametrize(
    "body", [{"messages": 7}, {"messages": [7]}, {"messages": [{"role": "x"}], "tools": {"a": 1}}, {}]
)
def test_strange_requests_do_not_break_it(build: Any, turn: Any, body: Any) -> None:
    rig = build(turn, upstreams=[ScriptedUpstream(Dialogue.model_validate({"turn": [{"text": "x"}], "end": "loop"}))])
    entry = rig.admit(model="scripted/m")
    for dialect, tail in (("chat", "/chat/completions"), ("responses", "/responses"), ("messages", "/v1/messages")):
        assert rig.send(entry.urls(rig.gateway.origin)[dialect] + tail, body, {}).status in {200, 400}
    assert "gateway" not in entry.close().faults


def test_the_documented_dialogue_and_tables_are_read(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "model-proxy.md").read_text("utf-8")
    blocks = [part.split("```")[0] for part in page.split("```toml\n")[1:]]
    (tmp_path / "d.toml").write_text(next(block for block in blocks if "[[turn]]" in block))
    assert len(read_dialogue(tmp_path / "d.toml").turn) == 2
    (tmp_path / "p.toml").write_text(next(block for block in blocks if "[[price]]" in block))
    assert Prices.shipped(tmp_path / "p.toml").find("gemini/gemini-2.5-pro", date(2026, 1, 1)) is not None
    (tmp_path / "u.toml").write_text(next(block for block in blocks if "[upstream." in block))
    assert known_upstreams([tmp_path / "u.toml"])["mine"].concurrency == 8
