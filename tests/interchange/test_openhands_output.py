"""Outputs of OpenHands: rows of the SDK and of three ages before it, with what its evaluation wrote beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mini_runs import DIFF
from repoassay.interchange import find_importer, import_run
from repoassay.records import FinishedAttempt
from repoassay.report import read_trajectory
from repoassay.types import Outcome, Source, Trajectory

Row = dict[str, Any]


def sdk_row() -> Row:
    def action(name: str, arguments: Row, number: int) -> list[Row]:
        call = {"id": f"call_{number}", "name": name, "arguments": json.dumps(arguments)}
        about = {"timestamp": f"2026-11-01T10:00:0{number}", "tool_name": name, "tool_call_id": f"call_{number}"}
        content = [{"type": "text", "text": "no such file"}]
        seen = (
            {"output": "fine", "metadata": {"exit_code": 0}} if number == 1 else {"content": content, "is_error": True}
        )
        return [
            {"kind": "ActionEvent", "source": "agent", "thought": [{"type": "text", "text": "I look."}],
             "tool_call": call, "llm_response_id": f"response-{number}", **about},
            {"kind": "ObservationEvent", "source": "environment", "observation": seen, **about},
        ]  # fmt: skip

    said = {"role": "user", "content": [{"type": "text", "text": "Fix it."}]}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "cache_read_tokens": 40, "response_id": "response-1"}
    return {
        "instance_id": "demo__one-1", "error": None, "metadata": {"llm": {"model": "some-model"}},
        "test_result": {"git_patch": DIFF},
        "metrics": {"accumulated_cost": 0.5, "accumulated_token_usage": usage, "token_usages": [usage]},
        "history": [{"kind": "MessageEvent", "source": "user", "llm_message": said},
                    *action("terminal", {"command": "ls"}, 1),
                    *action("file_editor", {"command": "create", "path": "/a", "file_text": "x"}, 2)],
    }  # fmt: skip


def called_row() -> Row:
    def event(number: int, action: str, name: str, arguments: Row) -> list[Row]:
        call = {"id": "toolu_1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 40}}
        response = {"id": f"r-{number}", "model": "m", "usage": usage, "choices": [{"message": {"tool_calls": [call]}}]}
        named = {"function_name": name, "tool_call_id": "toolu_1", "model_response": response}
        told = {"id": number, "source": "agent", "action": action, "tool_call_metadata": named}
        metadata = {"exit_code": 1 if action == "run" else None}
        seen = {
            "id": number + 1,
            "cause": number,
            "observation": action,
            "content": "seen",
            "extras": {"metadata": metadata},
        }
        return [{**told, "args": {"thought": "I look."}, "timestamp": "2026-01-01T10:00:00"}, seen]

    return {
        "instance_id": "demo__two-2", "metadata": {"llm_config": {"model": "some-model"}}, "instruction": "Fix it.",
        "test_result": {"git_patch": DIFF, "report": {"resolved": True}}, "metrics": {"accumulated_cost": 0.5},
        "history": [{"id": 0, "source": "user", "action": "message", "args": {"content": "Fix it."}},
                    {"id": 1, "source": "user", "action": "recall", "args": {"query": "Fix it."}},
                    {"id": 2, "cause": 1, "observation": "recall", "content": "nothing"},
                    *event(3, "run", "execute_bash", {"command": "ls"}),
                    *event(5, "edit", "str_replace_editor", {"command": "insert", "path": "/a", "new_str": "x"})],
    }  # fmt: skip


def argued_row() -> Row:
    usage = {"prompt_tokens": 200, "completion_tokens": 20}
    return {
        "instance_id": "demo__three-3", "test_result": {"git_patch": ""}, "error": "It ran out of steps.",
        "metrics": {"accumulated_cost": 0.0, "accumulated_token_usage": usage, "token_usages": [usage, usage]},
        "history": [{"id": 0, "source": "user", "action": "message", "args": {"content": "Fix it."}},
                    {"id": 1, "source": "agent", "action": "run", "args": {"command": "ls", "thought": "I look."}},
                    {"id": 2, "cause": 1, "observation": "run", "content": "a.py",
                     "extras": {"metadata": {"exit_code": 0}}},
                    {"id": 3, "source": "agent", "action": "write", "args": {"path": "/a", "content": "x"}},
                    {"id": 4, "cause": 3, "observation": "error", "content": "no"}],
    }  # fmt: skip


def first_row() -> Row:
    pairs = [
        [{"action": "message", "content": "Fix it."}, {"observation": "null", "content": ""}],
        [
            {"action": "run", "command": "ls", "thought": "I look."},
            {"observation": "run", "content": "a", "exit_code": 0},
        ],
        [{"action": "write", "path": "/a", "content": "x"}, {"observation": "write", "content": "written"}],
    ]
    issue = {"owner": "demo", "repo": "four", "number": 4}
    return {
        "issue": issue,
        "git_patch": DIFF,
        "history": pairs,
        "metrics": {"accumulated_cost": 0.5, "costs": [0.2, 0.3]},
    }


def taken(folder: Path, *rows: Row | str) -> tuple[list[FinishedAttempt], list[Trajectory]]:
    text = "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
    (folder / "theirs").mkdir()
    (folder / "theirs" / "output.jsonl").write_text(text)
    found = list(import_run("openhands", folder / "theirs", folder / "run").run.finished())
    return found, [one for one in (read_trajectory(attempt.folder) for attempt in found) if one]


@pytest.mark.parametrize("make", [sdk_row, called_row, argued_row, first_row])
def test_rows_of_every_age_tell_commands_edits_and_answers(tmp_path: Path, make: Any) -> None:
    (found,), (trajectory,) = taken(tmp_path, make())
    asked, looked, edited = trajectory.steps
    assert (asked.source, asked.text) == (Source.USER, "Fix it.")
    assert looked.text == "I look." and looked.calls[0].arguments == {"command": "ls"}
    assert looked.calls[0].name in {"terminal", "execute_bash"}
    assert edited.calls[0].arguments["path"] == "/a" and edited.calls[0].name in {"file_editor", "str_replace_editor"}
    assert len(looked.observations) == len(edited.observations) == 1
    assert found.attempt.task.startswith(("demo__", "demo__four-4"))


def test_figures_and_results_are_those_of_the_row(tmp_path: Path) -> None:
    found, trajectories = taken(tmp_path, sdk_row(), called_row(), argued_row(), first_row())
    told = [one.own.usage and (one.own.usage.input, one.own.usage.output, one.own.usage.cached) for one in trajectories]
    assert told == [(100, 10, 40), (200, 20, 80), (200, 20, 0), None]
    assert [str(one.own.dollars) for one in trajectories] == ["0.5", "0.5", "None", "0.5"]
    assert [one.own.calls for one in trajectories] == [1, 2, 2, 2]
    outcomes = [one.verdict.outcome for one in found]
    assert outcomes == [Outcome.NOT_GRADABLE, Outcome.PASSED, Outcome.NO_OUTPUT, Outcome.NOT_GRADABLE]
    assert any("ran out of steps" in line for line in found[2].verdict.comments)
    failed = [[seen.failed for step in one.steps for seen in step.observations] for one in trajectories]
    assert failed == [[False, True], [True, False], [False, True], [False, False]]
    assert (found[0].folder / "submission" / "changes.diff").read_text() == DIFF


def test_a_trajectory_that_it_saves_is_an_attempt_without_a_result(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "game.json").write_text(json.dumps(called_row()["history"]))
    (theirs / "other.json").write_text(json.dumps([{"id": 1, "source": "x"}, {"id": 2, "action": "run"}]))
    for source in (theirs, theirs / "game.json"):
        assert find_importer(None, source)[0].name == "openhands"
        (found,) = import_run(None, source, tmp_path / f"run-{source.name}").run.finished()
        trajectory = read_trajectory(found.folder)
        assert trajectory is not None and trajectory.steps[1].calls[0].arguments == {"command": "ls"}
        assert (found.attempt.task, found.verdict.outcome) == ("game", Outcome.NOT_GRADABLE)
        assert trajectory.own.usage is not None and trajectory.own.usage.input == 200


def test_a_summary_beside_it_and_points_are_results(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "report.json").write_text(
        json.dumps({"resolved_ids": [], "unresolved_ids": ["demo__one-1"]})
    )
    points = {**sdk_row(), "instance_id": "half", "test_result": {"final_score": {"result": 1, "total": 2}}}
    text = json.dumps(sdk_row()) + "\n" + json.dumps(points)
    (tmp_path / "theirs" / "output.jsonl").write_text(text)
    first, second = import_run(None, tmp_path / "theirs", tmp_path / "run").run.finished()
    assert first.verdict.outcome is second.verdict.outcome is Outcome.FAILED
    assert any("score of 0.5" in line for line in second.verdict.comments)


def test_broken_rows_are_attempts_with_problems_and_other_files_are_no_output(tmp_path: Path) -> None:
    odd = {
        "instance_id": "odd",
        "history": [3, None, {"action": 7}, {"kind": []}, [{"observation": "run"}]],
        "metrics": 1,
    }
    found, _ = taken(tmp_path, sdk_row(), "{", "[]", odd)
    assert [one.attempt.task for one in found] == ["demo__one-1", "output-2", "output-3", "odd"]
    plugin, _ = find_importer(None, tmp_path / "theirs" / "output.jsonl")
    assert plugin.name == "openhands"
