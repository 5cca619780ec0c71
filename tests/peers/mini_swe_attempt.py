"""Run by the Python that has mini-swe-agent: its own agent loop, with answers written before, in our environment."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from minisweagent.agents.default import DefaultAgent
from minisweagent.environments import get_environment
from minisweagent.models.test_models import DeterministicModel, make_output

task, patch, target = sys.argv[1:]
commands = [
    "env | cut -d= -f1; ls /root /home 2>&1; pwd; echo wrong >&2; exit 3",
    "sleep 30",
    f"git apply <<'PATCH'\n{Path(patch).read_text()}PATCH\ngit status --short 2>/dev/null | head -3",
    "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT; echo finished",
]
environment = get_environment({
    "environment_class": "repoassay.integrations.mini_swe_environment.TaskEnvironment",
    "suite": "starter", "task": task, "timeout": 3,
})  # fmt: skip
agent = DefaultAgent(
    DeterministicModel(outputs=[make_output("next", [{"command": command}]) for command in commands]),
    environment,
    system_template="You work on {{system}}.",
    instance_template="{{instruction}}",
    output_path=target,
    cost_limit=0,
)
sys.stdout.write(json.dumps(agent.run()) + "\n")
