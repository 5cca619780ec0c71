"""Runs below an agent's folder are covered: an agent reads neither verdicts nor logs of other attempts."""

from __future__ import annotations

from pathlib import Path

import repoassay as ra
from command_line import repoassay

SPY = "find /agent -type f | sort; cat /agent/runs/*/attempts/*/verdict.json /agent/deep/er/*/plan.json; true"


def test_an_agent_in_the_folder_of_its_runs_sees_none_of_them(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)  # the account of sandboxes is another one where we are root
    (tmp_path / "mine.sh").write_text("# an agent\n")
    made = tmp_path / "deep" / "er" / "kept"
    (made / "attempts").mkdir(parents=True)
    for name in ("run.json", "plan.json"):
        (made / name).write_text('"outcome of another attempt"')
    run = (
        "run", "starter", "--task", "sensor-log-daily", "--agent", "command", "--agent-dir", ".", "--agent-command",
        SPY,
    )  # fmt: skip
    for _ in range(2):
        assert repoassay(*run, cwd=tmp_path).returncode == 0
    for found in (tmp_path / "runs").iterdir():
        (attempt,) = ra.load_run(found).attempts
        said = (found / "attempts" / attempt.id / "log.txt").read_text()
        assert "/agent/mine.sh" in said
        assert "outcome" not in said and "run.json" not in said and "/agent/runs/2" not in said, said
