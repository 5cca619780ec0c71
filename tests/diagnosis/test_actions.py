"""Typed actions, whatever the agent's tools are called and wherever it writes its calls."""

from __future__ import annotations

from typing import Any

import pytest

from repoassay.diagnosis.actions import Action, actions_of
from repoassay.diagnosis.phases import WorkPhase, profile_of
from repoassay.diagnosis.program_calls import program_calls
from repoassay.diagnosis.purpose import CommandKind
from repoassay.types.trajectory import Observation, Source, StepCall, Trajectory, TrajectoryStep


def one(name: str, arguments: dict[str, Any], output: str = "") -> Action:
    step = TrajectoryStep(
        index=1,
        source=Source.AGENT,
        calls=(StepCall(id="a", name=name, arguments=arguments),),
        observations=(Observation(call="a", text=output),),
    )
    return actions_of(Trajectory(agent="any", steps=(step,)))[0]


@pytest.mark.parametrize(
    "name", ["bash", "Bash", "shell", "execute", "run_command", "execute_bash", "terminal", "exec_command", "new_tool"]
)
def test_shells_by_any_name(name: str) -> None:
    assert one(name, {"command": "python run.py"}).kind is CommandKind.EXECUTE


def test_a_command_given_as_words() -> None:
    assert one("shell", {"command": ["bash", "-lc", "pip install a"]}).kind is CommandKind.INSTALL
    assert one("shell", {"command": ["python", "a.py"]}).kind is CommandKind.EXECUTE


@pytest.mark.parametrize(
    ("name", "arguments", "path", "text"),
    [
        ("str_replace_editor", {"command": "create", "path": "a.py", "file_text": "x"}, "a.py", "x"),
        (
            "str_replace_based_edit_tool",
            {"command": "str_replace", "path": "a.py", "old_str": "o", "new_str": "x"},
            "a.py",
            "x",
        ),
        ("Write", {"file_path": "a.py", "content": "x"}, "a.py", "x"),
        ("write_file", {"path": "a.py", "content": "x"}, "a.py", "x"),
        ("MultiEdit", {"file_path": "a.py", "edits": [{"old_string": "o", "new_string": "x"}]}, "a.py", "x"),
        ("apply_patch", {"input": "*** Begin Patch\n*** Update File: a.py\n-o\n+x\n*** End Patch"}, "a.py", "x"),
        ("apply_patch", {"patch": "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-o\n+x"}, "a.py", "x"),
        ("bash", {"command": "cat > a.py <<'E'\nx\nE"}, "a.py", "x"),
        ("bash", {"command": "echo x > a.py"}, "a.py", "x"),
        ("bash", {"command": "str_replace_editor create a.py --file_text 'x'"}, "a.py", "x"),
    ],
)
def test_texts_put_into_files(name: str, arguments: dict[str, Any], path: str, text: str) -> None:
    found = one(name, arguments)
    assert [(written.path, written.text) for written in found.authored] == [(path, text)]
    assert found.kind is CommandKind.EDIT


@pytest.mark.parametrize("name", ["Read", "read_file", "view", "open"])
def test_reading(name: str) -> None:
    found = one(name, {"path": "README.md"}, "ModuleNotFoundError: No module named 'x'")
    assert found.kind is CommandKind.READ and found.paths == ("README.md",)


def test_other_tools() -> None:
    assert one("WebFetch", {"url": "https://a.example"}).kind is CommandKind.NETWORK
    assert one("submit", {}).kind is CommandKind.SUBMIT
    assert one("python", {"code": "import a\na.run()"}).kind is CommandKind.EXECUTE
    assert one("think", {"thought": "git log --all"}).kind is CommandKind.MESSAGE
    assert one("mystery", {"x": 1}).kind is CommandKind.OTHER


def test_calls_written_into_the_text_and_answers_in_the_next_message() -> None:
    steps = (
        TrajectoryStep(index=1, source=Source.USER, text="Do it."),
        TrajectoryStep(index=2, source=Source.AGENT, text="I look.\n```bash\npython run.py\n```"),
        TrajectoryStep(index=3, source=Source.USER, text="<returncode>1</returncode>\nKilled"),
        TrajectoryStep(index=4, source=Source.AGENT, text="<execute_bash>\nls\n</execute_bash>"),
        TrajectoryStep(index=5, source=Source.TOOL, observations=(Observation(text="a.py"),)),
        TrajectoryStep(
            index=6,
            source=Source.AGENT,
            text="a.py\n```python\n<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE\n```",
        ),
    )
    found = [
        action for action in actions_of(Trajectory(agent="any", steps=steps)) if action.kind is not CommandKind.MESSAGE
    ]
    assert [action.kind for action in found] == [CommandKind.EXECUTE, CommandKind.READ, CommandKind.EDIT]
    assert found[0].failed and found[0].output.endswith("Killed") and found[0].answer == 3
    assert found[1].output == "a.py"
    assert found[2].authored[0].path == "a.py" and found[2].authored[0].removed == "old"


def test_a_message_that_explains_commands_runs_none() -> None:
    text = "Do this:\n```python\nprint(1)\n```\nor\n```bash\nls\n```"
    steps = (TrajectoryStep(index=1, source=Source.AGENT, text=text),)
    assert [action.kind for action in actions_of(Trajectory(agent="any", steps=steps))] == [CommandKind.MESSAGE]


def test_phases() -> None:
    calls = ["ls", "ls", "pip install a", "echo a > b.py", "python b.py", "pytest", "submit"]
    steps = tuple(
        TrajectoryStep(
            index=number, source=Source.AGENT, calls=(StepCall(name="bash", arguments={"command": command}),)
        )
        for number, command in enumerate(calls, 1)
    )
    profile = profile_of(actions_of(Trajectory(agent="any", steps=steps)))
    assert profile.stretches == tuple(WorkPhase)
    assert profile.actions[WorkPhase.EXPLORE] == 2 == profile.repeated
    assert profile.ended


PROGRAM = r"""
// tools.exec_command({cmd: "rm -rf /"}) in a comment is none
const patch = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-old\n+new\n*** End Patch";
const plan = await tools.update_plan({plan: [{step: "tools.apply_patch(x)", status: 'done'}]});
const p = await tools.apply_patch(patch);
const r = await tools.exec_command({"cmd": 'git log --all -p -- "src/a.py"', yield_time_ms: n * 1000, tty: true});
const cmd = ["python -m pytest", `tests/`].join(" ");
text(r.output); text(await tools.exec_command({cmd, workdir: r.cwd ?? "/app"}));
"""


def acted(call: StepCall, output: str = "") -> tuple[Action, ...]:
    """What one call came to."""
    answer = (Observation(call=call.id, text=output),) if output else ()
    step = TrajectoryStep(index=1, source=Source.AGENT, calls=(call,), observations=answer)
    return actions_of(Trajectory(agent="any", steps=(step,)))


@pytest.mark.parametrize("key", ["text", "input"])
def test_a_program_that_calls_tools_is_the_calls_it_makes(key: str) -> None:
    plan, patch, log, tests = acted(StepCall(id="a", name="exec", arguments={key: PROGRAM}), "3 passed")
    assert plan.kind is CommandKind.MESSAGE
    assert [(one.path, one.text, one.removed) for one in patch.authored] == [("src/a.py", "new", "old")]
    assert log.commands[0][1].words == ("git", "log", "--all", "-p", "--", "src/a.py")
    assert (tests.kind, tests.commands[0][1].words) == (CommandKind.VERIFY, ("python", "-m", "pytest", "tests/"))
    assert [bool(one.lines) for one in (plan, patch, log, tests)] == [False, False, False, True]
    assert tests.at("yield_time_ms").quote == "yield_time_ms"  # evidence counts in what the call itself says


@pytest.mark.parametrize(
    "program",
    [
        'await tools.exec_command({cmd: "ls',
        "tools.exec_command({cmd: " + "[" * 5000,
        "tools.exec_command({`",
        "tools.a(\\",
    ],
)
def test_programs_that_cannot_be_read_are_commands_without_words(program: str) -> None:
    assert acted(StepCall(id="a", name="exec", arguments={"input": program}))


def test_exec_with_a_command_is_a_shell_and_keys_go_into_one() -> None:
    (found,) = acted(StepCall(id="a", name="exec", arguments={"command": "cat tools.exec_command({cmd:'ls'})"}))
    assert found.commands[0][1].words[0] == "cat"
    (typed,) = acted(StepCall(id="a", name="write_stdin", arguments={"session_id": 3, "chars": "pip install a\n"}))
    assert typed.kind is CommandKind.INSTALL
    (waited,) = acted(StepCall(id="a", name="write_stdin", arguments={"session_id": 3, "chars": ""}))
    assert waited.kind is CommandKind.OTHER and not waited.commands


@pytest.mark.parametrize(
    "program",
    [
        "".join(f"const a{n + 1} = a{n} + a{n};\n" for n in range(60)),
        "".join(f"const a{n + 1} = [a{n}, a{n}].join('');\n" for n in range(60)),
        "".join(f"const a{n + 1} = [a{n}, a{n}];\n" for n in range(2000)),
        "".join(f"const a{n + 1} = {{x: a{n}, y: a{n}}};\n" for n in range(2000)),
    ],
)
def test_a_program_that_multiplies_its_texts_costs_nothing(program: str) -> None:
    last = program.count("\n")
    text = f"const a0 = 'x'.concat();\nconst a0 = 'xxxxxxxx';\n{program}await tools.exec_command({{cmd: a{last}}});\n"
    text += "await tools.exec_command({cmd: 'ls'});\n"
    made = program_calls(StepCall(id="1", name="exec", arguments={"input": text}))
    assert [call.name for call in made] == ["exec_command", "exec_command"]
    assert len(str(made[0].arguments)) < 3_000_000
    assert made[1].arguments == {"cmd": "ls"}
