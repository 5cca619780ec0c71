"""Agents that are Python code, named on the command line as `module:name`."""

from __future__ import annotations

import json
from pathlib import Path

from command_line import repoassay

AGENT = """
def brief(workspace, instruction):
    workspace.write("output/daily.csv", "station\\n")
"""


def test_a_function_of_the_current_folder_is_run_and_resumed_by_name(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(AGENT)
    agent = ("--agent", "mine:brief")
    done = repoassay("run", "starter", *agent, "--task", "sensor-log-daily", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "failed       sensor-log-daily by brief" in done.stderr
    (folder,) = (tmp_path / "runs").iterdir()
    plan = json.loads((folder / "run.json").read_text())
    assert plan["agents"]["brief"]["kind"] == "mine:brief"

    alone = repoassay("resume", "latest", "--only", "failed", cwd=tmp_path)  # nobody imports what lies in the way
    assert alone.returncode == 2
    assert "The agent mine:brief cannot be imported" in alone.stderr
    assert "Traceback" not in alone.stderr
    named = repoassay("resume", "latest", "--only", "failed", *agent, cwd=tmp_path)
    assert named.returncode == 0, named.stderr
    assert len(list(folder.glob("attempts/*/verdict.json"))) == 2

    (tmp_path / "mine.py").write_text(AGENT.replace("station", "stations"))
    changed = repoassay("resume", "latest", "--only", "failed", *agent, cwd=tmp_path)
    assert changed.returncode == 2
    assert "has changed since this run was planned" in changed.stderr


RECIPE = """\
schema = 1
name = "{name}"
install = {{ kind = "folder", folder = "./brought" }}
[run]
command = ["/bin/sh", "/agent/work.sh", "{{prompt}}"]
"""


def test_a_changed_folder_of_an_agent_is_told_when_a_run_goes_on(tmp_path: Path) -> None:
    """Both ways of showing an agent a folder; what git and Python write there by themselves is no change."""
    brought = tmp_path / "brought"
    (brought / ".git").mkdir(parents=True)
    (brought / "work.sh").write_text("true\n")
    (tmp_path / "recipe.toml").write_text(RECIPE.format(name="mine"))
    by_line = ("--agent-command", "sh {agent}/work.sh", "--agent-dir", "brought", "--name", "line")
    for words in (by_line, ("--agent", "./recipe.toml")):
        done = repoassay("run", "starter", *words, "--task", "sensor-log-daily", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    (brought / ".git" / "index").write_text("x")
    runs = sorted((tmp_path / "runs").iterdir())
    assert len(runs) == 2
    for run in runs:
        again = repoassay("resume", str(run), "--only", "failed,no_output", cwd=tmp_path)
        assert again.returncode == 0, again.stderr
    (brought / "work.sh").write_text("false\n")
    for run in runs:
        changed = repoassay("resume", str(run), "--only", "failed,no_output", cwd=tmp_path)
        assert changed.returncode == 2 and "Traceback" not in changed.stderr
        assert "brought, of which the agent" in changed.stderr
        assert "has changed since this run was planned" in changed.stderr
    (brought / "work.sh").write_text("true\n")
    (tmp_path / "recipe.toml").write_text(RECIPE.format(name="mine").replace("/bin/sh", "/bin/bash"))
    changed = repoassay("resume", str(runs[1]), "--only", "failed,no_output", cwd=tmp_path)
    assert "recipe.toml, of which the agent mine is made, has changed" in changed.stderr


def test_a_received_runs_code_is_imported_only_when_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(AGENT)
    agent = ("--agent", "mine:brief")
    repoassay("run", "starter", *agent, "--task", "sensor-log-daily", cwd=tmp_path)
    elsewhere = {"REPOASSAY_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
    refused = repoassay("resume", "latest", "--only", "failed", cwd=tmp_path, env=elsewhere)
    assert refused.returncode == 2
    assert "Python code of this machine: mine:brief" in refused.stderr
    assert "--agent mine:brief" in refused.stderr
