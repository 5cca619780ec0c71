"""Sessions that belong together are one attempt, in the order of what happened, and what they share counts once."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from repoassay.errors import BadInput
from repoassay.interchange import find_importer, import_run
from repoassay.report import read_trajectory
from repoassay.types import Outcome, Source, Trajectory, Usage


def lines(path: Path, said: Iterable[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(one)}\n" for one in said))
    return path


def read(source: Path, folder: Path, kind: str | None = None) -> list[Trajectory]:
    found = [read_trajectory(one.folder) for one in import_run(kind, source, folder).run.finished()]
    return [one for one in found if one is not None]


def codex(second: int, kind: str, **payload: object) -> dict[str, Any]:
    return {"timestamp": f"2026-08-01T10:00:{second:02}Z", "type": kind, "payload": payload}


def ran(second: int, name: str, command: str, answer: object) -> list[dict[str, Any]]:
    given = json.dumps({"cmd": command})
    return [
        codex(second, "response_item", type="function_call", name="exec_command", call_id=name, arguments=given),
        codex(second, "response_item", type="function_call_output", call_id=name, output=answer),
    ]


def count(second: int, total: int, last: int) -> dict[str, Any]:
    used = {"input_tokens": last, "output_tokens": 1}
    info = {"total_token_usage": {"input_tokens": total}, "last_token_usage": used}
    return codex(second, "event_msg", type="token_count", info=info)


def test_a_subagent_of_codex_belongs_to_its_session_without_what_it_inherited(tmp_path: Path) -> None:
    inherited = [codex(1, "turn_context", model="m"), *ran(2, "c1", "ls", "a.py"), count(3, 100, 100)]
    first = [codex(0, "session_meta", id="parent", source="exec"), *inherited, count(9, 150, 50)]
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "parent", "depth": 1}}}
    again = [{**one, "timestamp": "2026-08-01T10:00:05Z"} for one in inherited]  # written anew, with a time of its own
    helper = [codex(5, "session_meta", id="child", source=source), *first[:1], *again,
              *ran(6, "c2", "pytest", [{"type": "input_text", "text": "1 failed\nE  boom"}]),
              count(7, 130, 30)]  # fmt: skip
    lines(tmp_path / "theirs" / "2026" / "08" / "01" / "rollout-2026-08-01T10-00-00-a.jsonl", first)
    lines(tmp_path / "theirs" / "2026" / "08" / "01" / "rollout-2026-08-01T10-00-05-b.jsonl", helper)
    (found,) = read(tmp_path / "theirs", tmp_path / "run")
    assert found.own.usage and (found.own.usage.input, found.own.calls) == (180, 3)
    assert [call.arguments["cmd"] for step in found.steps for call in step.calls] == ["ls", "pytest"]
    answers = [one.text for step in found.steps for one in step.observations]
    assert answers == ["a.py", "1 failed\nE  boom"]  # not the JSON of its parts


def test_sessions_are_known_by_what_they_hold_whatever_they_are_called(tmp_path: Path) -> None:
    lines(tmp_path / "codex" / "copied.jsonl", [codex(0, "session_meta", id="a"), *ran(1, "c", "ls", "x")])
    chat: dict[str, Any] = {"sessionId": "s", "projectHash": "p", "startTime": "2026-01-01T10:00:00Z"}
    call = {"id": "c", "name": "run_shell_command", "args": {"command": "ls"}, "status": "success"}
    said: dict[str, Any] = {"id": "m", "type": "gemini", "content": "", "model": "g", "toolCalls": [call]}
    lines(tmp_path / "gemini" / "mine.jsonl", [chat, said])
    for kind, folder in (("codex", "codex"), ("gemini-cli", "gemini")):
        assert find_importer(None, tmp_path / folder)[0].name == kind
        (found,) = read(tmp_path / folder, tmp_path / f"run-{kind}")
        assert [len(step.calls) for step in found.steps if step.source is Source.AGENT] == [1]


def test_rollouts_of_codex_before_they_had_payloads(tmp_path: Path) -> None:
    called = {
        "type": "function_call",
        "name": "shell",
        "call_id": "c",
        "arguments": '{"command": ["bash", "-lc", "ls"]}',
    }
    said: list[dict[str, Any]] = [{"id": "u", "timestamp": "2025-05-01T10:00:00Z", "instructions": ""},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Do it."}]},
            called, {"type": "function_call_output", "call_id": "c", "output": '{"output": "a.py"}'}]  # fmt: skip
    (found,) = read(lines(tmp_path / "rollout-2025-05-01.jsonl", said), tmp_path / "run")
    assert [step.source for step in found.steps] == [Source.USER, Source.AGENT]
    assert found.steps[1].observations


def claude(second: int, name: str, text: str, **rest: object) -> dict[str, Any]:
    message = {"id": name, "role": "assistant", "model": "c", "content": [{"type": "text", "text": text}]}
    return {
        "type": "assistant",
        "sessionId": "s",
        "timestamp": f"2026-08-01T10:00:{second:02}Z",
        "message": message,
        **rest,
    }


def test_a_subagent_of_claude_code_speaks_when_it_did(tmp_path: Path) -> None:
    place = tmp_path / "theirs" / "projects" / "-work"
    head = {"type": "summary", "summary": "x", "sessionId": "s"}
    lines(place / "s.jsonl", [head, claude(1, "a", "I delegate."), claude(9, "b", "It is done.")])
    lines(place / "s" / "subagents" / "agent-1.jsonl", [claude(3, "h1", "I help."), claude(5, "h2", "I helped.")])
    (found,) = read(tmp_path / "theirs", tmp_path / "run")
    assert [step.text for step in found.steps] == ["I delegate.", "I help.", "I helped.", "It is done."]


def test_what_claude_code_printed_is_a_session_and_belongs_to_the_one_it_kept(tmp_path: Path) -> None:
    bash = {"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": "pytest"}}
    message = {"id": "m", "model": "claude-x", "content": [bash], "usage": {"input_tokens": 10, "output_tokens": 5}}
    said = {"type": "assistant", "message": message}
    told = {"type": "result", "session_id": "s", "total_cost_usd": 0.25, "num_turns": 1, "usage": message["usage"]}
    start = {"type": "system", "subtype": "init", "session_id": "s"}
    printed: list[dict[str, Any]] = [start, {**said, "session_id": "s"}, told]
    source = tmp_path / "theirs"
    lines(source / "a-task" / "out.log", printed)
    lines(source / "b-task" / "again.jsonl", [{**one, "session_id": "other"} for one in printed])
    lines(source / "c-task" / "cursor.jsonl", [start, {**said, "session_id": "s", "message": {"content": []}}])
    found = import_run(None, source, tmp_path / "alone").run.finished()
    assert sorted(one.attempt.task for one in found) == ["a-task", "b-task"]
    lines(source / "home" / "projects" / "-work" / "s.jsonl", [{**said, "sessionId": "s"}])
    run = import_run(None, source, tmp_path / "both").run
    told_of = {one.attempt.task: read_trajectory(one.folder) for one in run.finished()}
    assert sorted(told_of) == ["b-task", "home"]
    for one in told_of.values():
        assert one is not None and [call.name for step in one.steps for call in step.calls] == ["Bash"]
        assert (str(one.own.dollars), one.own.usage) == ("0.25", Usage(input=10, output=5))


def test_chats_of_qwen_code_are_not_taken_for_claude_code(tmp_path: Path) -> None:
    message = {"role": "model", "parts": [{"text": "Hello"}]}
    lines(tmp_path / "theirs" / "q.jsonl", [{"sessionId": "s", "uuid": "u", "type": "assistant", "message": message}])
    with pytest.raises(BadInput, match="no format that is read"):
        find_importer(None, tmp_path / "theirs")


def test_trajectories_of_mini_swe_agent_before_they_had_a_format(tmp_path: Path) -> None:
    said = [{"role": "system", "content": "s"}, {"role": "user", "content": "Do it."},
            {"role": "assistant", "content": "I look.\n\n```bash\nls\n```"},
            {"role": "user", "content": "<returncode>0</returncode>\n<output>\na.py\n</output>"}]  # fmt: skip
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "one.traj.json").write_text(json.dumps(said))
    (found,) = read(tmp_path / "theirs", tmp_path / "run", "mini-swe-agent")
    assert found.steps[-1].calls[0].arguments == {"command": "ls"} and found.steps[-1].observations[0].text == "a.py"


def test_what_harbor_writes_of_codex_is_read_as_the_text_it_was(tmp_path: Path) -> None:
    content = str([{"type": "input_text", "text": "Script completed\n"}, {"type": "input_text", "text": "1 passed"}])
    call = {
        "tool_call_id": "c",
        "function_name": "exec",
        "arguments": {"input": "await tools.exec_command({cmd: 'ls'})"},
    }
    step = {"step_id": 1, "source": "agent", "message": "", "tool_calls": [call],
            "observation": {"results": [{"source_call_id": "c", "content": content}]}}  # fmt: skip
    document = {
        "schema_version": "ATIF-v1.7",
        "session_id": "s",
        "agent": {"name": "codex", "version": "1"},
        "steps": [step],
    }
    path = tmp_path / "one.json"
    path.write_text(json.dumps(document))
    (found,) = read(path, tmp_path / "run", "atif")
    assert found.steps[0].observations[0].text == "Script completed\n\n1 passed"


@pytest.mark.parametrize("outer", ["mini-swe-agent", "harbor-jobs", "swe-bench"])
def test_a_folder_of_two_formats_is_of_the_one_that_holds_the_other(tmp_path: Path, outer: str) -> None:
    source = tmp_path / "theirs"
    if outer == "mini-swe-agent":
        whole = {"info": {"submission": ""}, "messages": [], "trajectory_format": "mini-swe-agent-1.1"}
        (source / "one").mkdir(parents=True)
        (source / "one" / "one.traj.json").write_text(json.dumps(whole))
        (source / "preds.json").write_text('{"one": {"model_patch": "", "instance_id": "one"}}')
    elif outer == "swe-bench":  # a folder of the leaderboard's, with sessions among its trajectories
        lines(source / "trajs" / "one.jsonl", [claude(1, "a", "I fix.")])
        lines(source / "all_preds.jsonl", [{"model_patch": "", "instance_id": "one"}])
    else:
        lines(source / "job" / "t__1" / "agent" / "sessions" / "rollout-1.jsonl", [codex(0, "session_meta", id="a")])
        lines(source / "job" / "t__1" / "result.json", [{"trial_name": "t__1", "task_name": "t"}])
    assert find_importer(None, source)[0].name == outer


def trial(folder: Path) -> Path:
    result = {"trial_name": "t__1", "task_name": "t", "agent_info": {"name": "claude-code", "version": "2.1"},
              "agent_result": {"n_input_tokens": None}, "verifier_result": {"rewards": {"reward": 1.0}}}  # fmt: skip
    lines(folder / "result.json", [result])
    return folder / "agent"


def test_a_trial_of_harbor_without_atif_is_read_from_what_its_agent_kept(tmp_path: Path) -> None:
    """As Claude Code's are before Harbor wrote ATIF of it: sessions, or what it printed, or both."""
    bash = {"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": "pytest"}}
    usage = {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 5}
    message = {"id": "m", "model": "claude-x", "content": [bash], "usage": usage}
    told: dict[str, Any] = {"type": "result", "total_cost_usd": 0.25, "num_turns": 1, "usage": usage}
    printed: list[dict[str, Any]] = [{"type": "assistant", "message": message, "session_id": "s"}, told]
    kept = trial(tmp_path / "theirs" / "printed")
    lines(kept / "claude-code.txt", printed)
    both = trial(tmp_path / "theirs" / "with-session")
    lines(both / "claude-code.txt", printed)
    session = {"type": "assistant", "sessionId": "s", "message": message}
    lines(both / "sessions" / "projects" / "-app" / "s.jsonl", [session])
    found = read(tmp_path / "theirs", tmp_path / "run")
    assert len(found) == 2
    for one in found:
        assert [call.arguments for step in one.steps for call in step.calls] == [{"command": "pytest"}]
        assert one.own.usage and (one.own.usage.input, one.own.usage.cached, one.own.usage.output) == (100, 90, 5)
        assert (str(one.own.dollars), one.model, one.agent) == ("0.25", "claude-x", "claude-code")


def test_a_folder_of_the_leaderboard_says_who_resolved_and_all_others_did_not(tmp_path: Path) -> None:
    source = tmp_path / "theirs"
    rows = [{"instance_id": f"a__a-{n}", "model_patch": "diff", "model_name_or_path": "m"} for n in (1, 2, 3)]
    lines(source / "all_preds.jsonl", rows)
    lines(source / "results" / "results.json", [{"resolved": ["a__a-1"], "no_generation": [], "no_logs": ["a__a-3"]}])
    results = {
        one.attempt.task: one.verdict.result for one in import_run(None, source, tmp_path / "run").run.finished()
    }
    assert results == {"a__a-1": True, "a__a-2": False, "a__a-3": None}


def test_reports_of_the_harness_are_taken_with_trajectories(tmp_path: Path) -> None:
    source = tmp_path / "theirs"
    for name in ("a__a-1", "b__b-2", "c__c-3"):
        whole = {"info": {"submission": "diff"}, "messages": [], "trajectory_format": "mini-swe-agent-1.1"}
        lines(source / name / f"{name}.traj.json", [whole])
    lines(source / "logs" / "a__a-1" / "report.json", [{"a__a-1": {"resolved": True}}])
    lines(source / "model.run.json", [{"resolved_ids": ["a__a-1"], "unresolved_ids": ["b__b-2"]}])
    found = import_run(None, source, tmp_path / "run")
    outcomes = {one.attempt.task: one.verdict.outcome for one in found.run.finished()}
    assert outcomes == {"a__a-1": Outcome.PASSED, "b__b-2": Outcome.FAILED, "c__c-3": Outcome.NOT_GRADABLE}
    assert "1 of 3 attempts have no reported result." in found.missing
