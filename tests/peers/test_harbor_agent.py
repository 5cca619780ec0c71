"""An agent of ours in real trials of Harbor: it works, is metered, and what Harbor tells of it is what was counted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from peers.harbor_trials import trial
from peers.python import needs_peers, run_peer

AGENT = "repoassay.integrations.harbor_agent:SandboxAgent"
PLUG_IN = ("Harbor: the agent of a trial, metered (`--agent`)", "harbor")
PROGRAM = """
import json, os, subprocess, sys, time, urllib.error, urllib.request
shell = {"type": "function", "function": {"name": "bash", "description": "Run a command.",
         "parameters": {"type": "object", "properties": {"command": {"type": "string"}}}}}
messages = [{"role": "user", "content": sys.argv[2]}]
while True:
    body = json.dumps({"model": "any", "messages": messages, "tools": [shell]}).encode()
    headers = {"Authorization": "Bearer " + os.environ["KEY"], "Content-Type": "application/json"}
    request = urllib.request.Request(sys.argv[1] + "/chat/completions", body, headers)
    try:
        message = json.load(urllib.request.urlopen(request))["choices"][0]["message"]
    except urllib.error.HTTPError:
        time.sleep(600)
    messages.append(message)
    if not message.get("tool_calls"):
        break
    for call in message["tool_calls"]:
        command = json.loads(call["function"]["arguments"])["command"]
        done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True)
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": done.stdout + done.stderr})
"""
SPEC = """\
schema = 1
name = "shell-loop"
version = "3.1"
dialect = "chat"
install = { kind = "folder", folder = "./shell_loop.py" }
[run]
command = ["python", "-I", "/agent/shell_loop.py", "{chat_url}", "{prompt}"]
env = { KEY = "{key}" }
"""
PRICES = '[[price]]\nmodel = "scripted/*"\nfrom = 2020-01-01\ninput = "1000"\ncached = "100"\noutput = "2000"\n'
SUM = "awk '{s += $1} END {print s}' parcels.txt > sum.txt"
STILL = """
import time
def test_nothing_goes_on():
    assert open("/app/sum.txt").read().strip() == "8"
    before = open("/app/alive.txt").read()
    time.sleep(2)
    assert open("/app/alive.txt").read() == before
"""
READS = """
import json, sys
from harbor.models.trajectories import Trajectory
found = Trajectory.model_validate_json(open(sys.argv[1]).read())
said = [[step.source, step.message] for step in found.steps]
print(json.dumps({"agent": found.agent.name, "said": said, "final": found.final_metrics.model_dump()}))
"""


def work(
    place: Path,
    *commands: str,
    options: tuple[str, ...] = (),
    further: tuple[str, ...] = (),
    changed: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """A trial in which a scripted model has our agent run these commands."""
    turns: list[dict[str, Any]] = [{"calls": [{"tool": "shell", "command": command}]} for command in commands]
    turns.append({"text": "It is done."})
    usage = {"usage": {"input": 100, "output": 50, "cached": 40}}
    lines = [{"kind": "settings", "end": "error"}, *({"kind": "turn", **turn, **usage} for turn in turns)]
    (place / "dialogue.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    (place / "shell_loop.py").write_text(PROGRAM)
    (place / "agent.toml").write_text(SPEC)
    (place / "prices.toml").write_text(PRICES)
    told = (f"agent={place}/agent.toml", f"dialogue={place}/dialogue.jsonl", f"prices={place}/prices.toml", *options)
    kwargs = [part for each in told for part in ("--agent-kwarg", each)]
    return trial(place, AGENT, "--model", "scripted/any", *kwargs, *further, **changed or {})


def logs(place: Path) -> Path:
    """What Harbor keeps of the trial's agent."""
    return next((place / "jobs").glob("*/parcels__*/agent"))


@needs_peers
def test_an_agent_of_ours_is_metered_and_its_trajectory_read(tmp_path: Path) -> None:
    forged = (
        "mkdir -p /logs/agent/repoassay; echo '{}' | tee /logs/agent/trajectory.json /logs/agent/repoassay/prompt.md"
    )
    (tmp_path / "more.md").write_text("Weigh them in grams.\n")
    more = ("--extra-instruction-path", str(tmp_path / "more.md"))
    told = work(tmp_path, f"{SUM}; cat sum.txt; env; ls /root /home", forged, further=more)
    assert told["exception_info"] is None
    assert told["verifier_result"]["rewards"] == {"reward": 1.0}
    assert (told["agent_info"]["name"], told["agent_info"]["version"]) == ("shell-loop", "3.1")
    result = told["agent_result"]
    assert (result["n_input_tokens"], result["n_cache_tokens"], result["n_output_tokens"]) == (300, 120, 150)
    assert result["cost_usd"] == pytest.approx((180 * 1000 + 120 * 100 + 150 * 2000) / 1e6)
    assert result["metadata"]["spending"]["calls"] == 3
    trajectory = logs(tmp_path) / "trajectory.json"
    read = json.loads(run_peer("-c", READS, str(trajectory)))
    assert read["agent"] == "shell-loop" and read["final"]["total_prompt_tokens"] == 300
    assert read["said"][-1] == ["agent", "It is done."]
    assert "Write the sum of the parcels" in read["said"][0][1]
    prompt = (logs(tmp_path) / "repoassay" / "prompt.md").read_text()
    assert "Write the sum of the parcels" in prompt and "Weigh them in grams." in prompt
    assert "Weigh them in grams." in read["said"][0][1]
    assert "8\\n" in trajectory.read_text() and str(tmp_path) not in trajectory.read_text()


@needs_peers
def test_a_budget_ends_the_agent_and_its_work_is_verified(tmp_path: Path) -> None:
    told = work(tmp_path, SUM, "sleep 600", options=("max_calls=1",))
    assert told["exception_info"] is None
    assert told["verifier_result"]["rewards"] == {"reward": 1.0}
    assert told["agent_result"]["n_input_tokens"] == 100
    assert "1 model calls" in told["agent_result"]["metadata"]["spending"]["exhausted"]


@needs_peers
def test_an_agent_whose_time_is_up_is_ended_and_told_of(tmp_path: Path) -> None:
    short = 'version = "1.0"\n[verifier]\ntimeout_sec = 60.0\n[agent]\ntimeout_sec = 30.0\n'
    goes_on = f"{SUM}; (while :; do date +%N > alive.txt; sleep 0.2; done) & sleep 600"
    told = work(tmp_path, goes_on, changed={"task.toml": short, "tests/test_sum.py": STILL})
    assert told["exception_info"]["exception_type"] == "AgentTimeoutError"
    assert told["verifier_result"]["rewards"] == {"reward": 1.0}
    assert told["agent_result"]["n_input_tokens"] == 100
    assert (logs(tmp_path) / "trajectory.json").exists()


@needs_peers
def test_where_keys_would_have_to_enter_the_agent_does_not_work(tmp_path: Path) -> None:
    program = (
        "import asyncio, sys\nfrom pathlib import Path\n"
        "from repoassay.integrations.harbor_agent import SandboxAgent\n"
        "agent = SandboxAgent(Path(sys.argv[1]), 'openai/gpt-5', agent='mini-swe-agent')\n"
        "try:\n    asyncio.run(agent.setup(object()))\nexcept Exception as error:\n    print(error)\n"
    )
    assert "in RepoAssay's sandbox alone" in run_peer("-c", program, str(tmp_path))
