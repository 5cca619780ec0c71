"""Trials of the real Harbor in our sandbox, of a task with one file; what its tests share."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from peers.python import PYTHON, ROOT

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


def trial(place: Path, agent: str, *further: str, **changed: str) -> dict[str, Any]:
    """What Harbor tells of its one trial of the task; `further` are arguments of `harbor run`, `changed` files."""
    for name, content in {**FILES, **{name.replace("__", "/"): text for name, text in changed.items()}}.items():
        path = place / "parcels" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return run_trial(place, place / "parcels", agent, *further)


def run_trial(place: Path, task: Path, agent: str, *further: str) -> dict[str, Any]:
    """What Harbor tells of its one trial of a task folder."""
    program = (ROOT / PYTHON).absolute().with_name("harbor")
    asked = [
        "run",
        "--path",
        str(task),
        "--agent",
        agent,
        "--env",
        ENVIRONMENT,
        "--jobs-dir",
        "jobs",
        "--yes",
        *further,
    ]
    variables = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    done = subprocess.run([program, *asked], cwd=place, env=variables, capture_output=True, text=True, check=False)
    results = list((place / "jobs").glob("*/*__*/result.json"))
    assert len(results) == 1, done.stdout[-3000:] + done.stderr[-3000:]
    told: dict[str, Any] = json.loads(results[0].read_text())
    return told
