"""Agents that are Python code, named on the command line as `module:name`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_line import repoassay

AGENT = """
def brief(workspace, instruction):
    workspace.write("output/daily.csv", "station\\n")
"""


@pytest.mark.long
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


@pytest.mark.exhaustive
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


BROKEN = """
import os, socket
import urllib.request

def imports(workspace, instruction):
    'Needs it.'
    import json, not_there
    workspace.write("output/daily.csv", "station")

class Callable:
    def __call__(self, workspace, instruction):
        from not_there import thing

async def waits(workspace, instruction):
    import not_there

class Raises:
    def command(self, layout, limits):
        import not_there

class Nothing:
    def command(self, layout, limits):
        return 5

class Unmade:
    def __init__(self):
        raise KeyError("ANTHROPIC_API_KEY")
    def command(self, layout, limits):
        return "true"

class Absent:
    def command(self, layout, limits):
        return ["my-agent", "--go"]

def late(workspace, instruction):
    if len(instruction) >= 0:
        import not_there

def keyed(workspace, instruction):
    os.environ["NOBODYS_API_KEY"]

def remote(workspace, instruction):
    raise socket.gaierror(-2, "Name or service not known")

def fails(workspace, instruction):
    raise RuntimeError("boom")

def picks(workspace, instruction):
    if "nothing to do" not in instruction:
        import not_there
"""


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("imports", "cannot start: the Python module not_there is missing"),
        ("Callable", "cannot start: the Python module not_there is missing"),
        ("waits", "cannot start: the Python module not_there is missing"),
        ("Raises", "failed to say its command: ModuleNotFoundError"),
        ("Nothing", "gave no command"),
        ("Unmade", "cannot be made (KeyError: 'ANTHROPIC_API_KEY')"),
        ("Absent", "there is no program my-agent"),
    ],
)
def test_code_that_cannot_start_is_refused_before_a_run_folder(tmp_path: Path, name: str, why: str) -> None:
    (tmp_path / "mine.py").write_text(BROKEN)
    done = repoassay("run", "starter", "--agent", f"mine:{name}", "--task", "sensor-log-daily", cwd=tmp_path)
    assert done.returncode == 2 and why in done.stderr.splitlines()[-1], done.stderr
    assert "resume(" not in done.stderr and not (tmp_path / "runs").exists()


@pytest.mark.by_day(2)
@pytest.mark.parametrize(
    ("name", "outcome", "why"),
    [
        ("late", "infra_fault", "the Python module not_there is missing"),
        ("keyed", "infra_fault", "it wants NOBODYS_API_KEY"),
        ("remote", "infra_fault", "it wants the network"),
        ("fails", "no_output", ""),
        ("picks", "no_output", ""),
    ],
)
@pytest.mark.long
def test_code_that_fails_before_it_works_is_blamed_rightly(tmp_path: Path, name: str, outcome: str, why: str) -> None:
    (tmp_path / "mine.py").write_text(BROKEN)
    done = repoassay("run", "starter", "--agent", f"mine:{name}", "--task", "sensor-log-daily", cwd=tmp_path)
    assert done.returncode == 0 and outcome in done.stderr and why in done.stderr, done.stderr
    assert "RepoAssay's own process" in done.stderr or outcome == "no_output"
