"""Seconds and peak memory of every table, plot and page over 100,000 synthetic attempts, and the page's size.

`python measurements/report.py [ATTEMPTS] [--keep FOLDER]`. The attempts are in the product's own format; writing
them is not timed. Reading is timed with the files in memory, as after a run; with `--keep` the folder is used again.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from repoassay.types import Outcome, Plan, PlannedTask, TaskKind
from repoassay.types.task import Economics

NOW = datetime(2026, 1, 1, tzinfo=UTC)
STATES = {
    Outcome.PASSED: (True, True), Outcome.FAILED: (True, False), Outcome.NO_OUTPUT: (False, False),
    Outcome.TIMED_OUT: (None, False), Outcome.INFRA_FAULT: (None, None),
}  # fmt: skip


def a_plan(attempts: int) -> Plan:
    """250 tasks of 25 repositories, eight agent and model entries (two of them sweeps of a limit)."""
    tasks = tuple(
        PlannedTask(
            id=f"task-{number:03d}", digest=f"{number:064x}", folder=f"/suites/made/task-{number:03d}",
            title=f"Synthetic task {number}", kind=TaskKind.DELIVERABLE, domain=f"domain {number % 7}",
            subdomain=f"kind {number % 24}", repository=f"repository-{number % 25:02d}",
            economics=Economics(value=5 + number % 40, low=2, high=90, source="made up"), outputs=("out.csv",),
        )
        for number in range(250)
    )  # fmt: skip
    agents = {
        f"{agent} @ made/{model}, max_iterations={most}": {
            "kind": agent, "model": f"made/{model}", "max_iterations": str(most)
        }
        for agent in ("alpha", "beta") for model in ("small", "large") for most in (30, 70)
    }  # fmt: skip
    each = max(1, attempts // (len(tasks) * len(agents)))
    return Plan(id="01KBENCHMARK", created=NOW, suite="made", suite_version="1", suite_folder="/suites/made",
                tasks=tasks, agents=agents, attempts=each, isolation="namespaces")  # fmt: skip


def write_run(folder: Path, plan: Plan) -> None:
    """Lay out the run; without fsync, which takes an hour and is not what is measured."""
    draw = random.Random(6)
    (folder / "attempts").mkdir(parents=True)
    (folder / "run.json").write_text(plan.model_dump_json(indent=2))
    with (folder / "journal.jsonl").open("w") as journal:
        count = 0
        for agent, settings in plan.agents.items():
            for task in plan.tasks:
                for number in range(1, plan.attempts + 1):
                    count += 1
                    _one(folder, journal.write, f"01KB{count:022d}", task, agent, settings, number, draw)


def _one(folder, write, name, task, agent, settings, number, draw) -> None:  # type: ignore[no-untyped-def] # plain data
    outcome = draw.choices(list(STATES), [45, 30, 15, 8, 2])[0]
    process, result = STATES[outcome]
    tokens = draw.randint(2_000, 900_000)
    place = folder / "attempts" / name
    place.mkdir()
    common = {"task": task.id, "task_digest": task.digest}
    (place / "attempt.json").write_text(json.dumps({
        "id": name, "run": "01KBENCHMARK", **common, "agent": agent, "number": number, "retry_of": None,
        "started": NOW.isoformat(), "ended": NOW.isoformat(), "settings": dict(settings.settings),
        "submission": {
            "files": [{"path": f"output/{n}.csv", "size": 999, "sha256": "ab" * 32} for n in range(4)], "rejected": [],
            "exit": {"ended": "exited", "code": 0, "wall": draw.random() * 500, "cpu": 1.0},
        },
        "spent": {"calls": 20, "usage": {"input": tokens, "output": tokens // 50}, "dollars": f"{tokens / 4e5:.6f}",
                  "dollars_known": f"{tokens / 4e5:.6f}", "models": [settings.model]},
    }, indent=2))  # fmt: skip
    (place / "verdict.json").write_text(json.dumps({
        **common, "outcome": outcome, "process": process, "result": result, "reading": "fair",
        "criteria": [{"stage": "result", "metric": "f1", "of": "out.csv", "value": 0.5, "threshold": ">= 0.9",
                      "passed": result}] * 4,
        "tests": [{"id": f"test_{n}", "outcome": "passed", "seconds": 0.1} for n in range(10)],
        "comments": ["the table has other cells"] if not result else [], "grader": "repoassay/0", "seconds": 0.5,
        "graded_at": NOW.isoformat(),
    }, indent=2))  # fmt: skip
    write(json.dumps({"event": "finished", "at": NOW.isoformat(), "attempt": name, "task": task.id, "agent": agent,
                      "number": number, "outcome": outcome}) + "\n")  # fmt: skip


def report(folder: Path, out: Path) -> None:
    """Make everything, in this process, and print what it took."""
    from repoassay.report import figure_out, read_rows, write_figured

    started = time.perf_counter()
    phases: dict[str, float] = {}

    def begun(what: str, done: int, total: int) -> None:
        phases.setdefault(what, time.perf_counter() - started)

    rows = read_rows([folder], lambda done, total: begun("reading", done, total))
    begun("working out", 0, 1)
    made = write_figured(figure_out(rows), out, progress=begun)
    taken = time.perf_counter() - started
    busy = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    beside = (
        sum(path.stat().st_size for path in (out / "index_files").glob("*.js")) if (out / "index_files").is_dir() else 0
    )
    print(f"  {taken:6.1f} s ({busy:.1f} s of one core), peak memory {peak:.2f} GiB, {len(made.files)} files")
    print("  begun after: " + ", ".join(f"{what} {after:.1f} s" for what, after in phases.items()))
    print(f"  index.html {(out / 'index.html').stat().st_size / 1e6:.2f} MB, data beside it {beside / 1e6:.1f} MB")


def main() -> None:
    """Write the run in this process and report on it in a new one, so that its memory is the report's alone."""
    parser = argparse.ArgumentParser()
    parser.add_argument("attempts", nargs="?", type=int, default=100_000)
    parser.add_argument("--keep", type=Path, help="where the synthetic run is, or is to be kept")
    parser.add_argument("--report", nargs=2, type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.report:
        report(*given.report)
        return
    with tempfile.TemporaryDirectory(prefix="repoassay-report-") as name:
        folder = (given.keep or Path(name)) / "run"
        plan = a_plan(given.attempts)
        if not (folder / "run.json").is_file():
            write_run(folder, plan)
        print(f"report of {plan.size:,} attempts: every table and plot in every format, and the page", flush=True)
        out = Path(name) / "out"
        subprocess.run([sys.executable, __file__, "--report", str(folder), str(out)], check=True)


if __name__ == "__main__":
    main()
