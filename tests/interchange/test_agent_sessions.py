"""Folders of sessions that agents keep of themselves become runs, with what was done, and what it took."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from repoassay.interchange import find_importer, import_run
from repoassay.report import read_trajectory
from repoassay.types import Outcome, Trajectory

RECORDED = Path(__file__).parents[1] / "agents" / "recorded"


def trajectories(source: Path, folder: Path, kind: str | None = None) -> dict[str, Trajectory]:
    found = import_run(kind, source, folder).run.finished()
    return {one.attempt.task: trajectory for one in found if (trajectory := read_trajectory(one.folder))}


@pytest.mark.parametrize(
    ("kind", "folder"),
    [("claude-code", "projects"), ("codex", "sessions"), ("gemini-cli", "tmp")],
)
def test_sessions_of_real_agents_lie_in_folders_of_tasks(tmp_path: Path, kind: str, folder: str) -> None:
    for task in ("one", "two"):
        shutil.copytree(RECORDED / kind / folder, tmp_path / "theirs" / task / f".{kind}" / folder)
    plugin, _ = find_importer(None, tmp_path / "theirs")
    assert plugin.name == kind
    found = trajectories(tmp_path / "theirs", tmp_path / "run")
    assert sorted(found) == ["one", "two"]
    commands = [str(call.arguments) for step in found["one"].steps for call in step.calls]
    assert any("grep" in command or "sed" in command or "pytest" in command for command in commands), commands
    assert found["one"].own.usage and found["one"].own.usage.input > 1000
    assert found["one"].model, "the session itself names the model"


def test_sessions_of_subagents_belong_to_their_session(tmp_path: Path) -> None:
    place = tmp_path / "theirs" / "projects" / "-work"
    shutil.copytree(RECORDED / "claude-code" / "projects" / "-workspace-repo", place)
    said = {
        "type": "assistant",
        "sessionId": "s",
        "message": {"id": "m", "content": [{"type": "text", "text": "Helper."}]},
    }
    (place / "session" / "subagents").mkdir(parents=True)
    (place / "session" / "subagents" / "agent-1.jsonl").write_text(json.dumps(said))
    (found,) = trajectories(tmp_path / "theirs", tmp_path / "run", "claude-code").values()
    assert found.steps[-1].text == "Helper."


def test_events_that_count_tokens_are_counted_once(tmp_path: Path) -> None:
    """As rollouts have them before there were records of usage: the sum comes again when nothing new was used."""

    def event(kind: str, **payload: object) -> dict[str, object]:
        return {"timestamp": "2026-01-01T10:00:00Z", "type": kind, "payload": payload}

    def count(total: int) -> dict[str, object]:
        info = {
            "total_token_usage": {"input_tokens": total},
            "last_token_usage": {"input_tokens": 100, "output_tokens": 10},
        }
        return event("event_msg", type="token_count", info=info)

    call = event("response_item", type="function_call", name="shell", call_id="c", arguments='{"command": ["ls"]}')
    first = event("event_msg", type="token_count", info=None)
    lines = [event("turn_context", model="some-model"), first, call, count(100), count(100),
             event("response_item", type="function_call_output", call_id="c", output="a.py"), count(200)]  # fmt: skip
    path = tmp_path / "rollout-1.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    found = trajectories(path, tmp_path / "run")["rollout-1"]
    assert found.own.usage and (found.own.usage.input, found.own.usage.output, found.own.calls) == (200, 20, 2)
    assert found.model == "some-model" and found.steps[0].observations[0].text == "a.py"


LOG = """OpenAI Codex v0.60.1 (research preview)
--------
workdir: /home/dev/repo
model: some-model
session id: 1-2
--------
user
Fix it.
thinking
**I look**
exec
bash -lc 'cd a &&
ls' in /home/dev/repo succeeded in 6ms:
b.py
exec
bash -lc "python b.py" in /home/dev/repo exited 1 in 2ms:
Traceback
file update
M /home/dev/repo/b.py
@@ -1 +1 @@
-old
+new
apply_patch(auto_approved=true) exited 0 in 7ms:
Success. Updated the following files:
file update:
diff --git a/b.py b/b.py
codex
Done.
tokens used
1,234
"""


def test_the_log_of_codex_tells_commands_and_edits(tmp_path: Path) -> None:
    (tmp_path / "theirs" / "demo").mkdir(parents=True)
    (tmp_path / "theirs" / "demo" / "stderr.txt").write_text(LOG)
    found = trajectories(tmp_path / "theirs", tmp_path / "run")["demo"]
    calls = [call for step in found.steps for call in step.calls]
    assert [call.arguments.get("command") for call in calls[:2]] == ["cd a &&\nls", "python b.py"]
    assert "*** Update File: /home/dev/repo/b.py" in calls[2].arguments["input"] and len(calls) == 3
    assert [seen.failed for step in found.steps for seen in step.observations] == [False, True, False]
    assert found.steps[1].reasoning == "**I look**" and found.steps[-1].text == "Done."
    assert (found.version, found.model, found.ending) == ("0.60.1", "some-model", "completed")
    assert "1,234 tokens in all" in found.own.note and found.own.usage is None


def test_trajectories_of_trae_agent(tmp_path: Path) -> None:
    call = {"call_id": "c", "name": "bash", "arguments": {"command": "ls"}}
    usage = {"input_tokens": 100, "output_tokens": 10, "cache_read_input_tokens": 40, "reasoning_tokens": 5}
    step = {
        "step_number": 1, "timestamp": "2026-01-01T10:00:00", "llm_response": {"content": "I look.", "usage": usage},
        "tool_calls": [call], "tool_results": [{"call_id": "c", "success": False, "result": "", "error": "no"}],
    }  # fmt: skip
    document = {
        "task": "Fix it.", "start_time": "2026-01-01T10:00:00", "end_time": "", "provider": "openai", "model": "m-1",
        "max_steps": 9, "llm_interactions": [], "agent_steps": [step, {"error": "401"}], "success": False,
    }  # fmt: skip
    (tmp_path / "theirs" / "demo").mkdir(parents=True)
    (tmp_path / "theirs" / "demo" / "trajectory.json").write_text(json.dumps(document))
    found = trajectories(tmp_path / "theirs", tmp_path / "run")["demo"]
    assert [step.text for step in found.steps] == ["Fix it.", "I look."]
    assert found.steps[1].calls[0].arguments == {"command": "ls"} and found.steps[1].observations[0].failed
    assert found.own.usage and (found.own.usage.input, found.own.usage.cached, found.own.calls) == (100, 40, 1)
    assert found.model == "m-1" and any("401" in line for line in found.problems)


CHAT = """# aider chat started at 2026-01-01 10:00:00

> Main model: some-model with whole edit format
#### Fix it.

ledger.py
```
new
```

> Tokens: 4.2k sent, 2.0k cache hit, 439 received. Cost: $0.04 message, $0.04 session.
> Applied edit to ledger.py
> Running pytest

#### More.

other.py
```
<<<<<<< SEARCH
old
=======
new
>>>>>>> REPLACE
```

> Tokens: 10,332 sent, 1.1k received.
> Applied edit to other.py
"""


def test_chats_of_aider_tell_edits_whole_or_in_parts_and_rounded_tokens(tmp_path: Path) -> None:
    (tmp_path / "theirs" / "demo").mkdir(parents=True)
    (tmp_path / "theirs" / "demo" / ".aider.chat.history.md").write_text(CHAT)
    found = trajectories(tmp_path / "theirs", tmp_path / "run")["demo"]
    calls = [call for step in found.steps for call in step.calls]
    assert [call.arguments.get("path") or call.arguments["command"] for call in calls] == [
        "ledger.py",
        "pytest",
        "other.py",
    ]
    assert [call.arguments.get("new_str") for call in calls] == ["new", None, "new"]
    replies = [step for step in found.steps if step.usage]
    assert [(step.usage.input, step.usage.output) for step in replies if step.usage] == [(4200, 439), (10332, 1100)]
    assert found.own.usage and (found.own.usage.input, found.own.usage.cached, found.own.calls) == (14532, 2000, 2)
    assert str(found.own.dollars) == "0.04" and "rounded" in found.own.note and found.model == "some-model"


def test_exercises_of_aiders_benchmark_have_results(tmp_path: Path) -> None:
    for name, outcomes in (("bob", [False, True]), ("zipper", [False, False])):
        place = tmp_path / "theirs" / "python" / "practice" / name
        place.mkdir(parents=True)
        (place / ".aider.chat.history.md").write_text(CHAT)
        results = {
            "testcase": name,
            "model": "m-1",
            "tests_outcomes": outcomes,
            "prompt_tokens": 14601,
            "completion_tokens": 1539,
        }
        (place / ".aider.results.json").write_text(json.dumps(results))
    found = list(import_run("aider", tmp_path / "theirs", tmp_path / "run").run.finished())
    assert {one.attempt.task: one.verdict.outcome for one in found} == {"bob": Outcome.PASSED, "zipper": Outcome.FAILED}
    assert found[0].attempt.agent == "aider @ m-1" and found[0].verdict.grader == "Aider's benchmark (reported)"
    assert found[0].attempt.spent and found[0].attempt.spent.usage.input == 14601
