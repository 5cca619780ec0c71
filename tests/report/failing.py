"""Real runs of an agent that fails in known ways: it does what its model's name says, and records its steps."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from engine.metering import Watching, plan_run, said
from repoassay.engine import execute
from repoassay.engine.scheduler import all_slots
from repoassay.records import RunFolder

HOSTILE = "\x1b[2J\x1b]0;owned\x07\u202egnp.exe\u202c\x9b31m"
_SOLVE = """python - <<'X'
import csv, sums
rows = list(csv.DictReader(open('/workspace/inputs/ledger.csv')))
months = list(dict.fromkeys(row['month'] for row in rows))
with open('/workspace/output/{name}', 'w') as out:
    out.write('month,amount\\n')
    for month in months:
        amounts = [int(row['amount']) for row in rows if row['month'] == month]
        out.write('%s,%s\\n' % (month, sums.total([0, *amounts])))
print('wrote {name}')
X"""
_MOCK = """cat > make.py <<'X'
import sums
# The ledger cannot be read, so mock data stand in for it.
mock_rows = [('2025-01', 1), ('2025-02', 2)]
with open('/workspace/output/totals.csv', 'w') as out:
    out.write('month,amount\\n')
    for month, amount in mock_rows:
        out.write('%s,%s\\n' % (month, sums.total([0, amount])))
X"""
WAYS: dict[str, Sequence[str]] = {
    "good": ("cat /workspace/inputs/ledger.csv", _SOLVE.format(name="totals.csv")),
    "reader": ("ls", "cat README.md", "cat README.md"),
    "pip": ("cat README.md", "pip install fancy-ledger"),
    "mock": (_MOCK, "python make.py"),
    "misnamed": (_SOLVE.format(name="sums_by_month.csv"),),
    "peek": ("cat /workspace/tests/ground_truth.csv", _SOLVE.format(name="totals.csv")),
    "copy": (
        "mkdir -p /tmp/t && printf 'month,amount\\n2025-01,9\\n' > /tmp/t/ground_truth.csv",
        "cp /tmp/t/ground_truth.csv /workspace/output/totals.csv",
    ),
    "misuse": ("python -c \"import sums; print(sums.sum_by_month('/workspace/inputs/ledger.csv'))\"",),
    "hostile": (
        f"cat '/workspace/tests/ground_truth{HOSTILE}.csv'",
        f"cat > a.py <<'X'\nraise ModuleNotFoundError(\"No module named 'ledger{HOSTILE}'\")\nX",
        "python a.py",
    ),
    "silent": (),
}
"""Model's name -> the commands it runs."""
# Braces around a name would be placeholders of the agent's file.
_AGENT = """
import json, subprocess, sys
prompt, model, out, ways = sys.argv[1:5]
messages = [{"role": "user", "content": prompt}]
for number, command in enumerate(json.load(open(ways))[model], 1):
    call = {"id": "c%s" % number, "function": {"name": "bash", "arguments": json.dumps({"command": command})}}
    messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, errors="replace")
    text = "<returncode>%s</returncode>\\n<output>\\n%s</output>" % (done.returncode, done.stdout + done.stderr)
    messages.append(
        {"role": "tool", "tool_call_id": "c%s" % number, "content": text, "extra": {"returncode": done.returncode}}
    )
if len(messages) > 1:
    messages.append({"role": "assistant", "content": "Done."})
    json.dump({"info": {"mini_version": "0", "exit_status": "Submitted"}, "messages": messages}, open(out, "w"))
"""
_PIP = """#!/bin/sh
echo "ERROR: Could not find a version that satisfies the requirement $2 (from versions: none)" >&2
echo "ERROR: No matching distribution found for $2" >&2
exit 1
"""


def agent_file(folder: Path) -> Path:
    """The agent's file."""
    text = json.dumps  # a JSON string is a TOML string as well, where nothing is beyond ASCII
    path = folder / "failing.toml"
    path.write_text(
        f"""schema = 1
name = "failing"
dialect = "chat"
install = {{ kind = "none" }}
[run]
command = ["sh", "-c", {text('PATH="{home}/bin:$PATH" exec python {home}/bin/agent.py "$@"')}, "agent", "{{prompt}}",
    "{{model}}", "{{transcript}}/a.traj.json", "{{home}}/bin/ways.json"]
[[run.file]]
path = "{{home}}/bin/agent.py"
content = {text(_AGENT)}
[[run.file]]
path = "{{home}}/bin/ways.json"
content = {text(json.dumps(WAYS))}
[[run.file]]
path = "{{home}}/bin/pip"
content = {text(_PIP)}
executable = true
[transcript]
parser = "mini-swe-agent"
""",
        "utf-8",
    )
    return path


def failing_run(folder: Path, ways: Sequence[str] = tuple(WAYS), task: str = "sum-ledger") -> RunFolder:
    """A finished run with one entry a way, below `folder/runs`."""
    folder.mkdir(parents=True, exist_ok=True)
    agent = {"kind": str(agent_file(folder))}
    models = [f"scripted/{way}" for way in ways]
    run, suite = plan_run(folder, [said()], agent=agent, models=models, task=task, workers=2)
    execute(run, suite, all_slots(run), Watching())
    return run


def attempt_of(run: RunFolder, way: str) -> str:
    """The id of the attempt that went a way."""
    (found,) = [one.attempt.id for one in run.finished() if one.attempt.settings.get("model") == f"scripted/{way}"]
    return found
