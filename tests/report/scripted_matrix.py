"""A matrix run made for real by the product: two frameworks, five models, a swept limit, two tasks, all scripted.

Models differ in what they do, so that every figure can be worked out by hand: see `WAYS`. An agent asks its model once
before each command and once at the end, so it makes one call more than it has commands.
"""

from __future__ import annotations

import json
from pathlib import Path

from engine.metering import ASSETS, SOLVE, Watching, said, write_dialogue
from repoassay.engine import Settings, execute, make_plan, open_run
from repoassay.engine.matrix import spread
from repoassay.engine.models import named_file
from repoassay.engine.scheduler import all_slots
from repoassay.records import RunFolder
from repoassay.tasks.suite import find_suite
from repoassay.types import Metering

PRICES = '[[price]]\nmodel = "scripted/*"\nfrom = 2020-01-01\ninput = "1000"\noutput = "2000"\n'
"""Dollars a million tokens: a call of 100 tokens in and 50 out costs 0.20."""
WAYS = {
    "solver": ["cat /workspace/inputs/ledger.csv", SOLVE],
    "dawdler": ["ls", "ls", "cat /workspace/inputs/ledger.csv", SOLVE],
    "misnamer": [SOLVE.replace("totals.csv", "sums_by_month.csv")],
    "reader": ["ls", "cat README.md"],
    "importer": ["python -c 'import fancy_ledger'"],
}
"""Model's name -> the commands it runs. Only the first two solve `sum-ledger`; nobody solves `fix-total`."""
_AGENT = """
import json, os, subprocess, sys, urllib.request
prompt, model, base, key, out, ways = sys.argv[1:7]
messages = [{"role": "user", "content": prompt}]
commands = json.load(open(ways))[model]
def keep(status):
    json.dump({"info": {"mini_version": "0", "exit_status": status}, "messages": messages}, open(out, "w"))
def ask():
    body = json.dumps({"model": model, "messages": [{"role": "user", "content": "next"}]}).encode()
    head = {"Authorization": "Bearer " + key, "Content-Type": "application/json"}
    try:
        urllib.request.urlopen(urllib.request.Request(base + "/chat/completions", body, head), timeout=60).read()
    except OSError as error:
        keep("LimitsExceeded")
        sys.exit(str(error))
for number, command in enumerate(commands, 1):
    ask()
    call = {"id": "c%s" % number, "function": {"name": "bash", "arguments": json.dumps({"command": command})}}
    messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, errors="replace")
    text = "<returncode>%s</returncode>\\n<output>\\n%s</output>" % (done.returncode, done.stdout + done.stderr)
    messages.append(
        {"role": "tool", "tool_call_id": "c%s" % number, "content": text, "extra": {"returncode": done.returncode}}
    )
ask()
messages.append({"role": "assistant", "content": "Done."})
keep("Submitted")
"""


def agent_file(folder: Path, name: str) -> Path:
    """The file of an agent."""
    text = json.dumps  # a JSON string is a TOML string as well, where nothing is beyond ASCII
    path = folder / f"{name}.toml"
    path.write_text(
        f"""schema = 1
name = "{name}"
dialect = "chat"
install = {{ kind = "none" }}
[run]
command = ["python", "{{home}}/bin/agent.py", "{{prompt}}", "{{model}}", "{{chat_url}}", "{{key}}",
    "{{transcript}}/a.traj.json", "{{home}}/bin/ways.json"]
[[run.file]]
path = "{{home}}/bin/agent.py"
content = {text(_AGENT)}
[[run.file]]
path = "{{home}}/bin/ways.json"
content = {text(json.dumps(WAYS))}
[transcript]
parser = "mini-swe-agent"
""",
        "utf-8",
    )
    return path


def matrix_run(folder: Path, attempts: int, models: tuple[str, ...] = tuple(WAYS)) -> RunFolder:
    """A finished run of 2 frameworks x models x 2 limits x 2 tasks x attempts, below `folder/runs`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "prices.toml").write_text(PRICES)
    suite = find_suite(ASSETS / "suites" / "mini")
    agents = {name: {"kind": str(agent_file(folder, name))} for name in ("tortoise", "hare")}
    named = [f"scripted/{model}" for model in models]
    plan = make_plan(
        suite,
        Settings(
            agents=spread(agents, named, {}, {"max_iterations": ("3", "9")}), attempts=attempts, workers=2,
            metering=Metering(
                dialogue=named_file(write_dialogue(folder, [said()] * 9)),
                prices=(named_file(folder / "prices.toml"),), retries=0,
            ),
        ),
    )  # fmt: skip
    run = open_run(plan, folder / "runs")
    execute(run, suite, all_slots(run), Watching())
    return run
