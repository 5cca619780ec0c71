"""Readers of transcripts, on records of real agents solving the check's edit task, and on hostile ones."""

from __future__ import annotations

import json
import random
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from repoassay import plugins
from repoassay.agents.transcripts import read_transcript
from repoassay.types import Usage
from repoassay.types.trajectory import Source, Trajectory

RECORDED = Path(__file__).parent / "recorded"
NAMES = sorted(path.name for path in RECORDED.iterdir())
READERS = sorted(plugins.bundled_plugins("repoassay.readers"))
SENT = Usage(input=6100, output=310, cached=4000)
"""What the scripted model sent in these runs: `dialogues/edit-ledger-account-prefix.toml` of the starter suite."""


def read(name: str, folder: Path | None = None) -> Trajectory:
    return read_transcript(name, folder or RECORDED / name, agent=name, model="m")


def test_there_are_records_of_every_bundled_agent_but_two() -> None:
    assert set(READERS) - set(NAMES) == {"printed", "swe-agent", "trae-agent", "atif"}  # read in tests of imports


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("aider", "acp", "kimi")])
def test_the_story_of_a_real_run_is_whole(name: str) -> None:
    found = read(name)
    assert not found.problems
    assert found.ending
    assert found.own.usage == SENT
    agent = [step for step in found.steps if step.source is Source.AGENT]
    assert len(agent) == 4
    assert [step.usage.total if step.usage else 0 for step in agent] == [1260, 1580, 1740, 1830]
    assert [step.index for step in found.steps] == list(range(1, len(found.steps) + 1))
    assert "I look at where accounts are selected." in agent[0].text
    (call,) = agent[0].calls
    assert "grep -n startswith" in json.dumps(call.arguments)
    (answer,) = agent[0].observations
    assert answer.call == call.id
    assert "posting.account.startswith(account)" in answer.text
    assert not answer.failed
    assert any("balance --account" in step.text for step in found.steps if step.source is Source.USER) or name in (
        "claude-code",
        "cline",
    )


@pytest.mark.parametrize("name", ["mini-swe-agent", "claude-code", "codex", "inspect", "aider"])
def test_the_version_is_what_the_agent_says(name: str) -> None:
    versions = {"mini-swe-agent": "2.4.6", "claude-code": "2.1.197", "codex": "0.169.0", "aider": "0.86.2"}
    assert read(name).version == versions.get(name, read(name).version) != ""


def test_claude_tells_its_calls_and_its_own_dollars() -> None:
    found = read("claude-code")
    assert found.own.calls == 4
    assert found.own.dollars is not None and found.own.dollars > 0
    assert "own price list" in found.own.note


def test_claude_that_was_killed_has_usage_by_message(tmp_path: Path) -> None:
    shutil.copytree(RECORDED / "claude-code", tmp_path / "t")
    lines = (tmp_path / "t" / "stdout.txt").read_text().splitlines()
    (tmp_path / "t" / "stdout.txt").write_text("\n".join(lines[:4]) + "\n" + lines[4][:50])
    found = read("claude-code", tmp_path / "t")
    assert found.own.usage is not None and found.own.usage.input > 0
    assert found.own.dollars is None
    assert found.problems


def test_codex_without_its_rollout_is_read_from_what_it_printed(tmp_path: Path) -> None:
    shutil.copy(RECORDED / "codex" / "stdout.txt", tmp_path)
    found = read("codex", tmp_path)
    assert found.own.usage == SENT
    assert [len(step.calls) for step in found.steps].count(1) == 3


def test_aider_is_read_from_its_chat_and_its_analytics() -> None:
    found = read("aider")
    assert found.own.usage == Usage(input=3900, output=280)
    assert found.own.calls == 2
    assert "no cached tokens" in found.own.note
    agent = [step for step in found.steps if step.source is Source.AGENT]
    assert [step.usage.output if step.usage else 0 for step in agent] == [40, 240]
    assert "REPLACE" in agent[1].text
    assert any("Applied edit" in step.text for step in found.steps if step.source is Source.SYSTEM)


def swe_agent(folder: Path, **changes: Any) -> Path:
    """A trajectory of the shape SWE-agent 1.1.0 writes."""
    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
    whole = {
        "trajectory": [
            {"action": "ls", "observation": "a.py", "response": "I look.", "thought": "I look.", "tool_calls": [call]},
            {"action": "submit", "observation": "", "response": "Done.", "thought": "Done."},
        ],
        "history": [{"role": "system", "content": "You work."}, {"role": "user", "content": "Fix it."}],
        "info": {
            "exit_status": "submitted",
            "swe_agent_version": "1.1.0",
            "model_stats": {"instance_cost": 0, "tokens_sent": 172, "tokens_received": 3, "api_calls": 2},
        },
        **changes,
    }
    place = folder / "files" / "swe" / "t1"
    place.mkdir(parents=True)
    (place / "t1.traj").write_text(json.dumps(whole))
    return folder


def test_swe_agent_is_read_with_its_own_estimate_called_one(tmp_path: Path) -> None:
    found = read("swe-agent", swe_agent(tmp_path))
    assert [step.source.value for step in found.steps] == ["system", "user", "agent", "agent"]
    assert found.steps[2].calls[0].arguments == {"command": "ls"}
    assert found.steps[2].observations[0].text == "a.py"
    assert found.steps[3].calls[0].arguments == {"command": "submit"}
    assert found.own.usage == Usage(input=172, output=3)
    assert found.own.dollars is None and "estimates" in found.own.note


def test_swe_agent_s_edits_are_calls_of_its_tools_and_its_demonstrations_nobody_s(tmp_path: Path) -> None:
    """Version 1.1 keeps the command line in the step and the call in the history."""
    edit = "str_replace_editor str_replace /repo/a.py --old_str 'a' --new_str 'b'"
    arguments = json.dumps({"command": "str_replace", "path": "/repo/a.py", "old_str": "a", "new_str": "b"})
    call = {"id": "c7", "type": "function", "function": {"name": "str_replace_editor", "arguments": arguments}}
    history = [
        {"role": "system", "content": "You work."},
        {"role": "user", "content": "Here is a demonstration.", "is_demo": True},
        {"role": "assistant", "content": "As shown.", "action": edit, "is_demo": True},
        {"role": "user", "content": [{"type": "text", "text": "Fix it."}]},
        {"role": "assistant", "content": "I edit.", "action": edit, "tool_calls": [call]},
    ]
    steps = [{"action": edit, "observation": "edited", "response": "I edit.", "thought": "I edit.", "state": {}}]
    found = read("swe-agent", swe_agent(tmp_path, history=history, trajectory=[*steps, *steps]))
    assert [step.text for step in found.steps] == ["You work.", "Fix it.", "I edit.", "I edit."]
    for step in found.steps[2:]:
        assert step.calls[0].name == "str_replace_editor" and step.calls[0].arguments["new_str"] == "b"
        assert [one.text for one in step.observations] == ["edited"]


def mini(folder: Path, messages: list[dict[str, Any]], name: str = "mini-swe-agent-1") -> Trajectory:
    """What is read of a file of mini-swe-agent with these messages."""
    (folder / "files").mkdir(parents=True, exist_ok=True)
    whole = {"info": {"exit_status": "Submitted", "mini_version": "1.17.5"}, "messages": messages}
    (folder / "files" / "t.traj.json").write_text(json.dumps({**whole, "trajectory_format": name}))
    return read("mini-swe-agent", folder)


FENCED = "THOUGHT: I look.\n\n```bash\ngrep -n 'x' a.py\nls\n```"
TAGGED = "THOUGHT: I look.\n<mswea_bash_command>\ngrep -n 'x' a.py\nls\n</mswea_bash_command>"


@pytest.mark.parametrize("said", [FENCED, TAGGED, FENCED.replace("```bash", "```mswea_bash_command")])
def test_mini_swe_agent_of_version_1_has_its_commands_and_what_they_printed(said: str, tmp_path: Path) -> None:
    twice = "THOUGHT: Two.\n```bash\nls\n```\n```bash\npwd\n```"
    found = mini(tmp_path, [
        {"role": "system", "content": "Answer with one ```bash block```."},
        {"role": "user", "content": "Example:\n```bash\nls\n```\nFix it."},
        {"role": "assistant", "content": said, "extra": {"response": {"usage": {"prompt_tokens": 9,
                                                                                "completion_tokens": 2}}}},
        {"role": "user", "content": "<returncode>1</returncode>\n<output>\n4: x = 1\n</output>"},
        {"role": "assistant", "content": twice},
        {"role": "user", "content": "Please always provide EXACTLY ONE action in triple backticks, found 2 actions."},
        {"role": "assistant", "content": FENCED},
        {"role": "user", "content": "The last command timed out and has been killed."},
    ])  # fmt: skip
    assert [step.source.value for step in found.steps] == ["system", "user", "agent", "agent", "user", "agent"]
    first = found.steps[2]
    assert first.text == "THOUGHT: I look."
    assert first.calls[0].name == "bash" and first.calls[0].arguments == {"command": "grep -n 'x' a.py\nls"}
    assert [(one.text, one.failed) for one in first.observations] == [("4: x = 1", True)]
    assert first.usage == Usage(input=9, output=2)
    assert not found.steps[3].calls and found.steps[3].text == twice
    assert "timed out" in found.steps[5].observations[0].text


def test_mini_swe_agent_of_version_2_has_its_commands_out_of_texts_and_responses(tmp_path: Path) -> None:
    shown = {"raw_output": "ok\n", "returncode": 0, "exception_info": None}
    text = mini(tmp_path, [
        {"role": "assistant", "content": FENCED, "extra": {"actions": [{"command": "ls"}], "cost": 0.5}},
        {"role": "user", "content": "<returncode>0</returncode>\n<output>\nok\n</output>", "extra": shown},
        {"role": "assistant", "content": FENCED, "extra": {"actions": []}},
    ], "mini-swe-agent-1.1")  # fmt: skip
    assert text.steps[0].calls[0].arguments == {"command": "ls"} and text.steps[0].text == "THOUGHT: I look."
    assert text.steps[0].observations[0].text == "ok\n"
    assert not text.steps[1].calls and "```bash" in text.steps[1].text
    items = [
        {"type": "reasoning", "summary": []},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
        {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": '{"command": "ls"}'},
    ]
    (step,) = mini(tmp_path, [
        {"object": "response", "output": items, "usage": {"input_tokens": 7, "output_tokens": 3}, "extra": {}},
        {"type": "function_call_output", "call_id": "c1", "output": "<returncode>0</returncode>", "extra": shown},
    ], "mini-swe-agent-1.1").steps  # fmt: skip
    assert step.text == "I look." and step.calls[0].arguments == {"command": "ls"}
    assert step.observations[0].text == "ok\n" and step.usage == Usage(input=7, output=3)


def test_mini_swe_agent_paid_for_an_answer_that_stands_in_the_complaint_about_it(tmp_path: Path) -> None:
    answer = {
        "choices": [{"message": {"content": "I am done."}}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3},
    }
    complaint = {"role": "user", "content": "No tool calls found.", "extra": {"response": answer, "cost": 0.5}}
    found = mini(tmp_path, [complaint], "mini-swe-agent-2.4")
    assert [(step.source, step.text) for step in found.steps] == [
        (Source.AGENT, "I am done."), (Source.USER, "No tool calls found."),
    ]  # fmt: skip
    assert found.own.usage == Usage(input=7, output=3) and found.steps[0].dollars == 0.5


def test_a_hostile_text_of_mini_swe_agent_is_searched_in_no_time(tmp_path: Path) -> None:
    started = time.monotonic()
    for text in ("```bash\n" * 20_000, "<mswea_bash_command>" * 9_000, "```bash\n" + "a\n" * 90_000, "``" * 90_000):
        mini(tmp_path, [{"role": "assistant", "content": text}])
    assert time.monotonic() - started < 15


@pytest.mark.parametrize("name", READERS)
def test_nothing_at_all_is_an_empty_story(name: str, tmp_path: Path) -> None:
    found = read(name, tmp_path)
    assert found.steps == ()
    assert found.own.usage is None
    assert read(name, tmp_path / "none").steps == ()


JUNK: list[Any] = [None, -1, 10**400, "x" * 3000, [], {}, [[]], {"a": {"b": []}}, True, 1.5e308, "\ud800", "NaN"]


def spoiled(value: Any, dice: random.Random) -> Any:
    if dice.random() < 0.06:
        return dice.choice(JUNK)
    if isinstance(value, dict):
        return {key: spoiled(item, dice) for key, item in value.items() if dice.random() > 0.03}
    return [spoiled(item, dice) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("name", NAMES)
def test_spoiled_records_never_break_a_reader(name: str, seed: int, tmp_path: Path) -> None:
    dice = random.Random(f"{name}{seed}")
    shutil.copytree(RECORDED / name, tmp_path / "t")
    for path in sorted((tmp_path / "t").rglob("*")):
        if path.is_file() and path.suffix in {".jsonl", ".txt"}:
            lines = [line for line in path.read_text().splitlines() if dice.random() > 0.05]
            path.write_text("\n".join(maybe_json(line, dice) for line in lines))
        elif path.is_file() and path.suffix == ".json":
            path.write_text(maybe_json(path.read_text(), dice))
    found = read(name, tmp_path / "t")
    assert Trajectory.model_validate_json(found.model_dump_json()) == found


def maybe_json(text: str, dice: random.Random) -> str:
    if dice.random() < 0.05:
        return text[: dice.randrange(len(text) + 1)]
    try:
        return json.dumps(spoiled(json.loads(text), dice))
    except ValueError:
        return text


@pytest.mark.parametrize("name", NAMES)
def test_links_out_of_the_transcript_are_not_followed(name: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    shutil.copytree(RECORDED / name, secret)
    (tmp_path / "t").mkdir()
    for path in secret.iterdir():
        (tmp_path / "t" / path.name).symlink_to(path)
    assert read(name, tmp_path / "t").steps == ()


def test_a_command_beside_quotations_of_other_kinds_is_found(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    texts = ("As it says:\n```shell\n$ ls\n```\nSo:\n```bash\nmake\n```", "```bash\na\n```\n```bash\nb\n```",
             "```sh\nls\n```")  # fmt: skip
    messages = [{"role": "assistant", "content": text} for text in texts]
    (tmp_path / "files" / "mini.traj.json").write_text(json.dumps({"messages": messages, "info": {}}))
    found = read("mini-swe-agent", tmp_path)
    assert [[call.arguments["command"] for call in step.calls] for step in found.steps] == [["make"], [], ["ls"]]
    assert found.steps[0].text == "As it says:\n```shell\n$ ls\n```\nSo:"


def test_lines_that_a_command_of_swe_agent_takes_are_no_commands(tmp_path: Path) -> None:
    steps = [
        {"action": "edit 3:4\nrm -rf tests && git log\nend_of_edit\n", "state": '{"open_file": "/r/a.java"}'},
        {"action": "edit 3:4\nend_of_edit", "state": "{"},
        {"action": "cat <<end_of_x\nedit 1:2\nend_of_x"},
        {"action": "plan\n{}\nend_of_plan"},
    ]
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "one.traj").write_text(json.dumps({"trajectory": steps, "info": {}}))
    calls = [call for step in read("swe-agent", tmp_path).steps for call in step.calls]
    assert [(call.name, call.arguments) for call in calls] == [
        ("edit", {"path": "/r/a.java", "lines": "3:4", "text": "rm -rf tests && git log\n"}),
        ("edit", {"lines": "3:4", "text": ""}),
        ("action", {"command": "cat <<end_of_x\nedit 1:2\nend_of_x"}),
        ("plan", {"lines": "", "text": "{}\n"}),
    ]


def test_endless_and_deep_records_are_bounded(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    messages = [
        {"role": "assistant", "content": "y" * 300_000},
        *({"role": "user", "content": "z"} for _ in range(30_000)),
    ]
    (folder / "mini.traj.json").write_text(json.dumps({"messages": messages, "info": {}}))
    found = read("mini-swe-agent", tmp_path)
    assert len(found.steps) == 20_000
    assert len(found.steps[0].text) == 200_000
    assert len(found.problems) == 2
    (folder / "mini.traj.json").write_text("[" * 200_000)
    assert read("mini-swe-agent", tmp_path).problems


def test_an_eval_file_is_read_too_and_a_torn_one_is_told(tmp_path: Path) -> None:
    import zipfile

    log = json.loads((RECORDED / "inspect" / "files" / "log.json").read_text())
    samples = log.pop("samples")
    (tmp_path / "files").mkdir()
    with zipfile.ZipFile(tmp_path / "files" / "a.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(log))
        archive.writestr("samples/1_epoch_1.json", json.dumps(samples[0]))
    found = read("inspect", tmp_path)
    assert found.own.usage == SENT and len(found.steps) == len(read("inspect").steps)
    content = (tmp_path / "files" / "a.eval").read_bytes()
    (tmp_path / "files" / "a.eval").write_bytes(content[: len(content) // 2])
    assert "not a whole .eval" in read("inspect", tmp_path).problems[0]


def test_aider_s_commands_have_what_they_printed() -> None:
    """From a real run whose commands printed, failed, were wrapped, and imitated its own marks."""
    found = read("aider", Path(__file__).parent / "aider_commands")
    (step,) = [step for step in found.steps if step.source is Source.AGENT]
    assert [call.name for call in step.calls] == ["edit", "bash", "bash", "bash"]
    assert step.calls[2].arguments["command"].endswith('terminal" && cat /nonexistent/file')
    answers = {one.call: one.text for one in step.observations}
    edited, first, second, third = (answers[call.id] for call in step.calls)
    assert edited == "Applied edit to tally.py"
    assert first.startswith("Running the whole thing\n> quoted line\n\n#### not a prompt") and first.endswith("row 2")
    assert second.split("\n")[-1] == "cat: /nonexistent/file: No such file or directory"
    assert third.endswith("No module named 'absent_module'")


def test_aider_without_what_it_printed_still_has_its_commands(tmp_path: Path) -> None:
    shutil.copytree(Path(__file__).parent / "aider_commands" / "files", tmp_path / "files")
    (step,) = [step for step in read("aider", tmp_path).steps if step.source is Source.AGENT]
    assert len(step.calls) == 4
    assert len(step.observations) == 1
