"""Harbor runs a trial in our sandbox, without Docker, and its verifier's reward is what the work deserves."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from peers.python import PYTHON, ROOT, needs_peers

ENVIRONMENT = "repoassay.integrations.harbor_environment:SandboxEnvironment"
FILES = {
    "task.toml": 'version = "1.0"\n[verifier]\ntimeout_sec = 60.0\n[agent]\ntimeout_sec = 60.0\n',
    "instruction.md": "Write the sum of the parcels to sum.txt.\n",
    "environment/Dockerfile": "FROM python:3.12-slim\nWORKDIR /app\nCOPY parcels.txt .\n",
    "environment/parcels.txt": "3\n5\n",
    "tests/test.sh": (
        "#!/bin/bash\ncurl -LsSf https://astral.sh/uv/install.sh | sh\nsource $HOME/.local/bin/env\n"
        "uvx -p 3.13 -w pytest==8.4.1 -w pytest-json-ctrf pytest --ctrf /logs/verifier/ctrf.json /tests/test_sum.py\n"
        "if [ $? -eq 0 ]; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi\n"
    ),
    "tests/test_sum.py": "def test_sum():\n    assert open('/app/sum.txt').read().strip() == '8'\n",
    "solution/solve.sh": "awk '{s += $1} END {print s}' parcels.txt > sum.txt\n",
}


def trial(place: Path, agent: str, **changed: str) -> dict[str, Any]:
    """What Harbor tells of its one trial of the task."""
    for name, content in {**FILES, **{name.replace("__", "/"): text for name, text in changed.items()}}.items():
        path = place / "parcels" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    program = (ROOT / PYTHON).absolute().with_name("harbor")
    asked = ["run", "--path", "parcels", "--agent", agent, "--env", ENVIRONMENT, "--jobs-dir", "jobs", "--yes"]
    variables = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    done = subprocess.run([program, *asked], cwd=place, env=variables, capture_output=True, text=True, check=False)
    results = list((place / "jobs").glob("*/parcels__*/result.json"))
    assert len(results) == 1, done.stdout[-3000:] + done.stderr[-3000:]
    told: dict[str, Any] = json.loads(results[0].read_text())
    return told


@needs_peers
@pytest.mark.parametrize(("agent", "reward"), [("oracle", 1.0), ("nop", 0.0)])
def test_a_trial_of_harbor_runs_in_our_sandbox(tmp_path: Path, agent: str, reward: float) -> None:
    told = trial(tmp_path, agent)
    assert told["exception_info"] is None
    assert told["verifier_result"]["rewards"] == {"reward": reward}


@needs_peers
def test_a_task_that_is_not_understood_ends_its_trial_with_the_line(tmp_path: Path) -> None:
    told = trial(tmp_path, "nop", environment__Dockerfile="FROM debian\nRUN useradd -m ann\n")
    said = told["exception_info"]["exception_message"]
    assert "makes users" in said and "environment/Dockerfile:2" in said
