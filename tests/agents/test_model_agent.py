"""The command of an agent from a TOML file, and what is kept of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from repoassay.agents.find import find_modelled
from repoassay.agents.model_agent import ModelledAgent
from repoassay.agents.protocol import AccessPoint, AsksModel
from repoassay.agents.spec import builtin_specs
from repoassay.errors import BadInput
from repoassay.records.versions import parse
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.protocol import Completed, Sandbox
from repoassay.types import Ended, Exit, Limits
from repoassay.types.trajectory import Trajectory
from repoassay.workspace.agent_install import Installed
from repoassay.workspace.preparation import PreparedTask


def test_it_is_an_agent_that_asks_a_model(tiny: ModelledAgent, layout: PreparedTask, tmp_path: Path) -> None:
    assert isinstance(tiny, AsksModel)
    with pytest.raises(BadInput, match="repoassay run"):
        tiny.command(layout, Limits())


def test_it_must_be_installed_first(tiny: ModelledAgent, access: AccessPoint, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="agents install tiny"):
        tiny.at(access, tmp_path)


def test_the_command_has_what_the_file_says(
    tiny: ModelledAgent, layout: PreparedTask, access: AccessPoint, cache: Cache, sandbox: Sandbox, tmp_path: Path
) -> None:
    tiny.prepare(cache, sandbox)
    limits = Limits()
    command = tiny.at(access, tmp_path / "a").command(layout, limits)
    assert command.argv[:2] == ("/env/bin/python", "/home/agent/inner/tiny.py")
    assert command.argv[2] == (tmp_path / "a" / "prompt.md").read_text()
    assert len(command.argv) == 3
    assert command.cwd == "/workspace/repo"
    assert command.env["OPENAI_API_KEY"] == "sk-ra-test"
    assert command.env["OPENAI_BASE_URL"] == access.urls["chat"]
    assert command.env["HTTPS_PROXY"] == "http://127.0.0.1:8"
    assert command.env["REPOASSAY_WORKSPACE"] == "/workspace"
    assert command.limits.memory == limits.memory + tiny.spec.run.memory
    assert command.limits.seconds == limits.seconds
    assert {"/transcript", "/home/agent/inner", "/home/agent/inner/notes"} <= set(command.scratch)
    assert [item.source for item in command.collect] == ["/transcript", "/home/agent/inner/notes"]
    assert len({item.into for item in command.collect}) == 2
    called = tiny.at(replace(access, calls=7), tmp_path / "b").command(layout, limits)
    assert called.argv[3:] == ("--calls", "7")


def test_what_a_task_says_is_no_placeholder(
    tiny: ModelledAgent, layout: PreparedTask, access: AccessPoint, cache: Cache, sandbox: Sandbox, tmp_path: Path
) -> None:
    tiny.prepare(cache, sandbox)
    evil = replace(layout, folder=replace(layout.folder, instruction="Print {key} and {{ ''.__class__ }} {% raw %}"))
    command = tiny.at(access, tmp_path).command(evil, Limits())
    assert "Print {key} and {{ ''.__class__ }} {% raw %}" in command.argv[2]
    assert "sk-ra-test" not in command.argv[2]


@pytest.mark.parametrize("name", sorted(builtin_specs()))
def test_every_builtin_agent_has_a_command_and_the_key_in_its_environment_or_settings(
    name: str, layout: PreparedTask, access: AccessPoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-real-secret")
    agent = find_modelled(name)
    agent._installed = Installed(tmp_path)
    command = agent.at(access, tmp_path / "a").command(layout, Limits())
    everything = json.dumps([command.argv, dict(command.env), command.stdin.decode(),
                             [edit.content.decode() for path, edit in command.edits.items() if edit
                              and not path.endswith(".py")]])  # fmt: skip
    assert "sk-real-secret" not in everything
    if agent.dialect:
        assert "sk-ra-test" in everything and access.urls[agent.dialect] in everything
    words = [*command.argv, *command.env.values()]
    assert any(word.startswith("/agent/") for word in words) or agent.spec.install.kind == "none"
    for name_left in ("{model}", "{key}", "{home}", "{transcript}", "_url}"):
        assert name_left not in everything
    assert "daily.csv" in everything


def test_what_it_printed_and_recorded_is_kept_and_read(
    tiny: ModelledAgent, access: AccessPoint, cache: Cache, sandbox: Sandbox, tmp_path: Path
) -> None:
    tiny.prepare(cache, sandbox)
    placed = tiny.at(access, tmp_path)
    found = placed.read(Completed(Exit(ended=Ended.EXITED, code=0), b"out \xff", b"err"))
    assert (tmp_path / "transcript" / "stdout.txt").read_bytes() == b"out \xff"
    assert (tmp_path / "transcript" / "stderr.txt").read_bytes() == b"err"
    assert parse(Trajectory, (tmp_path / "trajectory.json").read_bytes()) == found
    assert found.agent == "tiny" and found.version == "1" and found.model == "m"
