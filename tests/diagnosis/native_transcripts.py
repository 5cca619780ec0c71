"""Attempts written down shortly (`diagnosis.dialogue`), as the files that real agents would have left of them.

The shapes are those of the records in `tests/agents/recorded`; Aider's also of a run whose commands printed something.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from diagnosis.dialogue import CASES, Labelled, cases, items, trajectory
from repoassay.agents.transcripts import read_transcript

NATIVE = ("mini-swe-agent", "claude-code", "codex", "openhands", "aider")
_Turn = tuple[str, str, dict[str, Any], str, bool]
"""What was said, the tool's name ("" for none), its arguments, its output, and whether it failed."""

__all__ = ["NATIVE", "native_cases", "write_transcript"]


def native_cases(folder: Path, style: str = "", name: str = "native") -> Iterator[Labelled]:
    """The cases of a file as read from the native files of an agent: each its own, or all those of `style`."""
    assert (CASES / f"{name}.toml").is_file()
    for case in cases(name):
        agent = style or case.trajectory.agent
        place = folder / f"{case.id}-{agent}"
        write_transcript(case.talk, agent, place)
        yield replace(case, trajectory=read_transcript(agent, place, agent=agent, model="m"))


def write_transcript(talk: str, style: str, folder: Path) -> None:
    """Write what the agent of this name leaves of a dialogue."""
    writers = {
        "mini-swe-agent": _mini,
        "claude-code": _claude,
        "codex": _codex,
        "openhands": _openhands,
        "aider": _aider,
    }
    writers[style](talk, folder)


def _turns(talk: str, style: str) -> tuple[str, list[_Turn]]:
    """The prompt and the turns, with calls as an agent of this style makes them."""
    asked, turns = "", list[_Turn]()
    for step in trajectory(talk, style).steps:
        if step.source == "user":
            asked = step.text
        elif not step.calls:
            turns.append((step.text, "", {}, "", False))
        for call, answer in zip(step.calls, step.observations, strict=True):
            turns.append((step.text, call.name, dict(call.arguments), answer.text, answer.failed))
    return asked, turns


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def _lines(path: Path, entries: list[dict[str, Any]]) -> None:
    _put(path, "".join(json.dumps(entry) + "\n" for entry in entries))


def _mini(talk: str, folder: Path) -> None:
    asked, turns = _turns(talk, "mini-swe-agent")
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You can run commands."},
        {"role": "user", "content": asked},
    ]
    for number, (said, name, arguments, output, failed) in enumerate(turns):
        message: dict[str, Any] = {"role": "assistant", "content": said}
        if name:
            function = {"name": "bash", "arguments": json.dumps(arguments)}
            message["tool_calls"] = [{"id": f"call_{number}", "type": "function", "function": function}]
        messages.append(message)
        if name:
            code = 1 if failed else 0
            shown = {"returncode": code, "output": output + "\n" if output else ""}
            extra = {"raw_output": shown["output"], "returncode": code, "exception_info": ""}
            answer = {"role": "tool", "tool_call_id": f"call_{number}", "content": json.dumps(shown, indent=2)}
            messages.append({**answer, "extra": extra})
    info = {"mini_version": "2.4.6", "exit_status": "Submitted", "submission": "", "model_stats": {}}
    whole = {"info": info, "messages": messages, "trajectory_format": "mini-swe-agent-1.1"}
    _put(folder / "files" / "mini.traj.json", json.dumps(whole))


def _claude(talk: str, folder: Path) -> None:
    asked, turns = _turns(talk, "claude-code")
    _put(folder.parent / "prompt.md", asked)
    entries: list[dict[str, Any]] = [{"type": "system", "subtype": "init", "claude_code_version": "2.1.197"}]
    for number, (said, name, arguments, output, failed) in enumerate(turns):
        blocks: list[dict[str, Any]] = [{"type": "text", "text": said}] if said else []
        if name:
            blocks.append({"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": arguments})
        for block in blocks:
            message = {"id": f"msg_{number}", "role": "assistant", "content": [block]}
            entries.append({"type": "assistant", "message": message})
        if name:
            text = f"Exit code 1\n{output}" if failed else output or "(Bash completed with no output)"
            result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": text, "is_error": failed}
            entries.append({"type": "user", "message": {"role": "user", "content": [result]}})
    entries.append({"type": "result", "subtype": "success", "num_turns": len(turns), "is_error": False})
    _lines(folder / "stdout.txt", entries)


def _codex(talk: str, folder: Path) -> None:
    asked, turns = _turns(talk, "codex")
    entries: list[dict[str, Any]] = [
        {"type": "session_meta", "payload": {"id": "s", "cli_version": "0.169.0"}},
        _item({"type": "message", "role": "user", "content": [{"type": "input_text", "text": asked}]}),
    ]
    for number, (said, name, arguments, output, failed) in enumerate(turns):
        if said:
            content = [{"type": "output_text", "text": said}]
            entries.append(_item({"type": "message", "role": "assistant", "content": content}))
        if not name:
            continue
        key = f"call_{number}"
        if name == "apply_patch":
            call = {"type": "custom_tool_call", "name": name, "call_id": key, "input": arguments["input"]}
            answer = {"type": "custom_tool_call_output", "call_id": key, "output": "Success. Updated the files."}
        else:
            call = {"type": "function_call", "name": name, "call_id": key, "arguments": json.dumps(arguments)}
            told = (
                f"Chunk ID: 1bc9f9\nWall time: 0.2 seconds\nProcess exited with code {int(failed)}\nOutput:\n{output}"
            )
            answer = {"type": "function_call_output", "call_id": key, "output": told + "\n"}
        entries += [_item(call), _item(answer)]
    _lines(folder / "sessions" / "2026" / "11" / "21" / "rollout-1.jsonl", entries)
    _lines(folder / "stdout.txt", [{"type": "turn.completed"}])


def _item(payload: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": "2026-11-21T10:22:42.060Z", "type": "response_item", "payload": payload}


def _openhands(talk: str, folder: Path) -> None:
    asked, turns = _turns(talk, "openhands")
    user = {"role": "user", "content": [{"type": "text", "text": asked}]}
    events: list[dict[str, Any]] = [{"kind": "MessageEvent", "source": "user", "llm_message": user}]
    for number, (said, name, arguments, output, failed) in enumerate(turns):
        text = [{"type": "text", "text": said}]
        if not name:
            message = {"role": "assistant", "content": text}
            events.append({"kind": "MessageEvent", "source": "agent", "llm_message": message})
            continue
        key = f"call_{number}"
        call = {"id": key, "name": name, "arguments": json.dumps(arguments)}
        action = {"kind": "ActionEvent", "source": "agent", "thought": text if said else [], "tool_name": name}
        events.append({**action, "tool_call_id": key, "tool_call": call, "llm_response_id": f"r{number}"})
        seen = {"content": [{"type": "text", "text": output}], "is_error": False, "exit_code": int(failed)}
        events.append({"kind": "ObservationEvent", "source": "environment", "tool_call_id": key, "observation": seen})
    place = folder / "conversations" / "one"
    _put(place / "base_state.json", json.dumps({"id": "one", "execution_status": "finished"}))
    for number, event in enumerate(events):
        _put(place / "events" / f"event-{number:05}.json", json.dumps(event))


def _aider(talk: str, folder: Path) -> None:
    """Replies hold the edits and commands that stand together; commands run after the edits, and print to stdout."""
    asked = next((item.text for item in items(talk) if item.mark == "@"), "")
    chat = ["", "# aider chat started at 2026-11-21 10:24:02", ""]
    chat += ["> Aider v0.86.2  ", "> Model: openai/scripted-model with diff edit format  ", ""]
    chat += [f"#### {line}  " for line in asked.split("\n")]
    printed = ["Aider v0.86.2", "Model: openai/scripted-model with diff edit format", "", ""]
    for reply, notices, outputs in _replies(talk):
        chat += ["", *reply, "", "> Tokens: 1.5k sent, 70 received.  ", *notices]
        printed += [*(row for line in reply for row in _wrapped(line)), "", "Tokens: 1.5k sent, 70 received.", ""]
        printed += [f"Applied edit to {line[18:-2]}" for line in notices if line.startswith("> Applied edit")]
        for command, output in outputs:
            printed += ["", *_wrapped(f"Running {command}"), *output]
        if any(output for _, output in outputs):
            count = sum(len(output) + 1 for _, output in outputs)
            chat += ["> Add command output to the chat? (Y)es/(N)o/(D)on't ask again [Yes]: y  "]
            chat += [f"> Added {count} lines of output to the chat.  "]
            printed += [f"Added {count} lines of output to the chat."]
    _put(folder / "files" / "chat.md", "\n".join(chat) + "\n")
    _put(folder / "stdout.txt", "\n".join(printed) + "\n")


_Outputs = list[tuple[str, list[str]]]


def _replies(talk: str) -> Iterator[tuple[list[str], list[str], _Outputs]]:
    """The replies: their text, Aider's notices on them, and the commands with what they printed.

    What is said begins a reply; after a command an edit begins the next, since edits of one are applied first.
    """
    reply, notices, outputs = list[str](), list[str](), _Outputs()
    for item in items(talk):
        if item.mark == "@":
            continue
        if (item.mark in ">D" and reply) or (item.mark in "WE" and outputs):
            yield _with_commands(reply, outputs), [*notices, *_ran(outputs)], outputs
            reply, notices, outputs = [], [], []
        if item.mark in ">D":
            reply.append(item.text)
        elif item.mark in "WE":
            block = ["<<<<<<< SEARCH", *item.removed, "=======", *item.added, ">>>>>>> REPLACE"]
            reply += ["", item.text, "```python", *block, "```"]
            notices += [f"> {item.text}  ", f"> Applied edit to {item.text}  "]
        else:
            command = {"R": f"cat {item.text}", "F": f"curl -sL '{item.text}'"}.get(item.mark, item.text)
            outputs.append((command, item.output))
    if reply or outputs:
        yield _with_commands(reply, outputs), [*notices, *_ran(outputs)], outputs


def _with_commands(reply: list[str], outputs: _Outputs) -> list[str]:
    return [*reply, "", "```bash", *(command for command, _ in outputs), "```"] if outputs else reply


def _ran(outputs: _Outputs) -> list[str]:
    """What the chat history says of commands: the subject, padded, then the question and each as it starts."""
    if not outputs:
        return []
    commands = [command for command, _ in outputs]
    width = max(map(len, commands))
    subject = "\n".join(command.ljust(width) for command in commands)
    asked = f"> Run shell command{'s' if len(commands) > 1 else ''}? (Y)es/(N)o/(D)on't ask again [Yes]: y  "
    return [f"> {subject}  ", asked, *(f"> Running {command}  " for command in commands)]


def _wrapped(line: str) -> list[str]:
    return textwrap.wrap(line, 79, drop_whitespace=False, replace_whitespace=False) or [""]
