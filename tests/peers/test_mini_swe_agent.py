"""mini-swe-agent's own agent works on a task of ours, in our sandbox, and its trajectory holds our verdict."""

from __future__ import annotations

import json
from pathlib import Path

from peers.python import ROOT, needs_peers, run_peer

TASK = "edit-ledger-monthly"
PLUG_IN = ("mini-swe-agent: `environment_class`", "mini-swe-agent")
FOLDER = ROOT / "src" / "repoassay" / "benchmarks" / "starter" / "suite" / "tasks" / TASK


@needs_peers
def test_an_attempt_of_mini_swe_agent_is_judged(tmp_path: Path) -> None:
    program, target = Path(__file__).with_name("mini_swe_attempt.py"), tmp_path / "trajectory.json"
    variables = {"SECRET_OF_THIS_PROCESS": "1", "MSWEA_SILENT_STARTUP": "1", "MSWEA_CONFIGURED": "true"}
    printed = run_peer(str(program), TASK, str(FOLDER / "solution" / "changes.diff"), str(target), **variables)
    end = json.loads(printed.splitlines()[-1])
    assert end == {"exit_status": "Submitted", "submission": "finished\n", "repoassay_outcome": "passed"}
    trajectory = json.loads(target.read_text())
    assert trajectory["info"]["repoassay_verdict"]["outcome"] == "passed"
    _, asked, _, looked, _, slept, *_ = trajectory["messages"]
    assert asked["content"].strip() == (FOLDER / "instruction.md").read_text().strip()
    assert "<returncode>3</returncode>" in looked["content"] and "wrong" in looked["content"]
    assert "/repo" in looked["content"] and "SECRET_OF_THIS_PROCESS" not in looked["content"]
    assert "took longer than 3 seconds" in slept["content"]
