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


def test_a_received_runs_code_is_imported_only_when_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(AGENT)
    agent = ("--agent", "mine:brief")
    repoassay("run", "starter", *agent, "--task", "sensor-log-daily", cwd=tmp_path)
    elsewhere = {"REPOASSAY_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
    refused = repoassay("resume", "latest", "--only", "failed", cwd=tmp_path, env=elsewhere)
    assert refused.returncode == 2
    assert "Python code of this machine: mine:brief" in refused.stderr
    assert "--agent mine:brief" in refused.stderr
