"""Agents that speak the Agent Client Protocol: our client beside a program that uses all of it, and its transcript."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from repoassay import agents
from repoassay.agents.model_agent import ModelledAgent
from repoassay.agents.protocol import AccessPoint
from repoassay.agents.spec import read_spec
from repoassay.agents.transcripts import read_transcript
from repoassay.sandbox import Cache, Sandbox
from repoassay.types.trajectory import Source
from repoassay.workspace import PreparedTask

CLIENT = Path(agents.__file__).with_name("scripts") / "acp_client.py"
PROGRAM = Path(__file__).parents[1] / "assets" / "agents" / "acp_program.py"


def run(folder: Path, *words: str, command: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    (folder / "files").mkdir()
    argv = command or (sys.executable, str(PROGRAM), str(folder), *words)
    return subprocess.run(
        [sys.executable, "-I", "-B", str(CLIENT), str(folder / "files" / "acp.jsonl"), *argv], input="Do it.",
        capture_output=True, text=True, check=False, cwd=folder, timeout=60,
    )  # fmt: skip


@pytest.mark.long
def test_a_turn_uses_terminals_files_and_permissions_and_is_told_whole(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "a line that is no message"
    assert "Done: Do it." in done.stdout and done.stdout.endswith("end_turn\n")
    assert (tmp_path / "new" / "file.txt").read_text() == "one\ntwo\nthree\n"

    told = read_transcript("acp", tmp_path, agent="program")
    assert (told.version, told.session, told.ending, told.problems) == ("7.1", "s1", "end_turn", ())
    user, first, second, last = told.steps
    assert (user.source, user.text) == (Source.USER, "Do it.")
    assert (first.reasoning, first.text) == ("I think.", "I run a command.")
    (call,), (answer,) = first.calls, first.observations
    assert (call.name, call.arguments["command"]) == ("bash", "echo out")
    assert answer.failed and sorted(answer.text.split()) == ["err", "out"]
    (call,), (answer,) = second.calls, second.observations
    (edit,) = call.arguments["edits"]
    assert (call.name, edit["new_text"]) == ("edit", "one\ntwo\nthree\n")
    assert edit["path"].endswith("/new/file.txt") and not answer.failed and answer.text == "written"
    assert last.text == "Done: Do it."


def test_a_real_run_is_whole() -> None:
    told = read_transcript("acp", Path(__file__).parent / "recorded" / "acp", agent="opencode")
    assert not told.problems and told.ending == "end_turn" and told.version == "1.18.33"
    assert [step.source for step in told.steps] == [Source.USER, *[Source.AGENT] * 4]
    first = told.steps[1]
    assert first.text == "I look at where accounts are selected."
    assert first.calls[0].name == "bash" and "grep -n startswith" in first.calls[0].arguments["command"]
    assert "posting.account.startswith(account)" in first.observations[0].text


def test_kimi_is_read_from_what_it_printed() -> None:
    told = read_transcript("kimi", Path(__file__).parent / "recorded" / "kimi", agent="kimi")
    assert [len(step.calls) for step in told.steps] == [1, 1, 1, 0] and told.ending == "answered"
    assert "posting.account.startswith(account)" in told.steps[0].observations[0].text


def test_endings_that_are_none_are_told(tmp_path: Path) -> None:
    for name, words, code, said in (
        ("refuses", ("refuse",), 1, "no model"),
        ("vanishes", ("vanish",), 9, ""),
    ):
        (tmp_path / name).mkdir()
        done = run(tmp_path / name, *words)
        assert (done.returncode, said in done.stderr) == (code, True), done
        assert "Traceback" not in done.stderr
    assert read_transcript("acp", tmp_path / "refuses", agent="x").ending == "no model"


def test_a_command_that_is_not_there_ends_as_a_shell_says_it(tmp_path: Path) -> None:
    done = run(tmp_path, command=("no-such-agent",))
    assert done.returncode == 127
    assert "no-such-agent: No such file or directory" in done.stderr


@pytest.mark.long
def test_it_works_in_the_sandbox(layout: PreparedTask, sandbox: Sandbox, cache: Cache, tmp_path: Path) -> None:
    recipe = tmp_path / "acp.toml"
    recipe.write_text(f"""\
schema = 1
name = "program"
[install]
kind = "folder"
folder = "{PROGRAM}"
[run]
protocol = "acp"
command = ["/env/bin/python", "/agent/acp_program.py", "/workspace/output"]
[transcript]
parser = "acp"
""")
    agent = ModelledAgent(read_spec(recipe))
    agent.prepare(cache, sandbox)
    placed = agent.at(AccessPoint(model="", key="", urls={}), tmp_path / "attempt")
    done = sandbox.run(placed.command(layout, layout.folder.task.limits))
    assert done.exit.code == 0, done.stderr
    told = placed.read(done)
    assert told.ending == "end_turn" and len(told.steps) == 4
