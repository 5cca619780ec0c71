"""Kill a matrix run of scripted models twice with SIGKILL and resume it: every attempt once, every token accounted for?

Run with `python measurements/matrix_kill.py [--attempts 200] [--kills 2]`. Leaves with 0 when everything held.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

ASSETS = Path(__file__).parents[1] / "tests" / "assets"
PROGRAM = str(Path(sys.executable).with_name("repoassay"))
DIALOGUE = """
[[turn]]
calls = [{ tool = "shell", command = "printf 'month,amount\\\\n2025-01,15\\\\n2025-02,37\\\\n2025-03,1\\\\n' > /workspace/output/totals.csv" }]
usage = { input = 120, output = 40, cached = 80 }
[[turn]]
text = "Done."
usage = { input = 311, output = 7, reasoning = 3 }
"""  # noqa: E501 - one line of TOML
ENTRIES = 4


def main() -> int:
    """Run, kill, resume, count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attempts", type=int, default=200, help="in all; a multiple of 4")
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    given = parser.parse_args()
    print(f"seed {given.seed}")
    with tempfile.TemporaryDirectory(prefix="repoassay-matrix-") as folder:
        problems = _try(Path(folder), given.attempts, given.kills, random.Random(given.seed))
    for problem in problems:
        print(f"PROBLEM: {problem}")
    return 1 if problems else 0


def _try(place: Path, attempts: int, kills: int, chance: random.Random) -> list[str]:
    (place / "dialogue.toml").write_text(DIALOGUE)
    arguments = [
        "run", str(ASSETS / "suites" / "mini"), "--task", "sum-ledger", "--agent", "command",
        "--agent-dir", str(ASSETS / "agents"), "--agent-command", "python {agent}/tiny.py",
        "--model", "scripted/a,scripted/b", "--sweep", "max_iterations=2,5", "--attempts", str(attempts // ENTRIES),
        "--dialogue", "dialogue.toml", "--workers", "3",
    ]  # fmt: skip
    started = time.monotonic()
    seen: dict[str, bytes] = {}
    run = Path()
    for turn in range(kills):
        process = _start(place, arguments)
        until = attempts * (turn + 1) // (kills + 1) + chance.randrange(4)
        while _finished(place) < until and process.poll() is None:
            time.sleep(0.01)
        time.sleep(chance.random() * 0.3)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        (run,) = (place / "runs").glob("2*")
        seen |= {str(path): path.read_bytes() for path in run.glob("attempts/*/*.json")}
        print(f"killed at {_finished(place)} of {attempts}")
        arguments = ["resume", str(run)]
    last = _start(place, arguments)
    said = last.communicate()[0]
    if last.returncode != 0:
        return [f"resume left with {last.returncode}: {said[-2000:]}"]
    print(f"{time.monotonic() - started:.1f} s")
    changed = [path for path, content in seen.items() if Path(path).read_bytes() != content]
    return [*_judge(place, run, attempts, kills), *(f"{path} was changed" for path in changed)]


def _judge(place: Path, run: Path, attempts: int, kills: int) -> list[str]:
    answer = subprocess.check_output([PROGRAM, "report", str(run), "--json", "--no-html"], cwd=place)
    report = json.loads(answer)["data"]
    table = subprocess.check_output([PROGRAM, "report", str(run), "--no-html"], cwd=place, text=True)
    made = report["attempts"]
    slots = Counter((each["attempt"]["agent"], each["attempt"]["number"]) for each in made)
    journals = {path.parent.name: _sum(path) for path in run.glob("attempts/*/usage.jsonl")}
    every = _add(journals.values())
    finished = _add(journals[each["attempt"]["id"]] for each in made)
    spent = report["spent"]
    checks = {
        f"{len(made)} attempts instead of {attempts}": len(made) == attempts == report["finished"],
        "a slot was filled twice or an attempt counted twice": set(slots.values()) == {1}
        and len({each["attempt"]["id"] for each in made}) == attempts,
        "something did not pass": all(each["verdict"]["outcome"] == "passed" for each in made),
        f"counted {spent['counted']} is not the journals' {finished}": _same(spent["counted"], finished),
        f"total {spent['total']} is not the journals' {every}": _same(spent["total"], every),
        "an attempt's account is not its journal's": all(
            _same(each["attempt"]["spent"], journals[each["attempt"]["id"]]) for each in made
        ),
        f"more than {3 * kills} attempts were lost": len(list((run / "attempts").iterdir())) <= attempts + 3 * kills,
        "the unknown cost is not explained": "cost unknown (no price for scripted/" in " ".join(table.split()),
    }
    print(f"{len(journals)} journals, {every['calls']} calls, {every['input']} tokens in, {every['output']} out")
    return [what for what, holds in checks.items() if not holds]


def _sum(journal: Path) -> dict[str, int]:
    """Read as anybody would, without our own code."""
    calls = [json.loads(line) for line in journal.read_text().splitlines() if line.endswith("}")]
    answered = [call for call in calls if call.get("answered")]
    return {
        "calls": len(answered),
        **{name: sum(call["usage"].get(name, 0) for call in answered) for name in ("input", "output", "cached")},
    }


def _add(parts: Any) -> dict[str, int]:
    total: Counter[str] = Counter()
    for part in parts:
        total.update(part)
    return dict(total)


def _same(told: dict[str, Any], counted: dict[str, int]) -> bool:
    return {"calls": told["calls"], **{name: told["usage"][name] for name in ("input", "output", "cached")}} == counted


def _start(place: Path, arguments: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [PROGRAM, *arguments], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True,
    )  # fmt: skip


def _finished(place: Path) -> int:
    return sum(path.read_bytes().count(b'"event":"finished"') for path in (place / "runs").glob("*/journal.jsonl"))


if __name__ == "__main__":
    sys.exit(main())
