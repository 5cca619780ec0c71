"""The mutant battery of every deliverable task of some suites, and a table of what survived.

    python measurements/battery.py run [--mutants N] OUT.jsonl SUITE [TASK...]
    python measurements/battery.py table [BEFORE.jsonl] AFTER.jsonl   # for docs/gittaskbench/mutants.md
    python measurements/battery.py keep AFTER.jsonl SUITE             # into the suite's strength.json

`run` writes a line a task and passes over tasks that OUT holds; GitTaskBench's need its data
(`repoassay fetch gittaskbench`). `table` counts in BEFORE what is expected in AFTER, so that both have one yardstick.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import repoassay
from repoassay.engine import GradingContext, prove_mutants
from repoassay.mutants import Battery, Expected, GradedMutant, battery_record, battery_strength
from repoassay.records import read_strengths, write_strengths
from repoassay.sandbox import Cache, open_sandbox
from repoassay.tasks import find_suite
from repoassay.types import Outcome, SuiteStrength

_HEAD = """\
# Mutants

What the [battery](../tasks.md#mutants) makes of every deliverable task: wrong outputs made from the right one, how many
the fair criteria refuse (killed of made), which survive, and right variants that were refused. The solution's output is
the right one; SpeechBrain_01 and SpeechBrain_04 have none, since their references are not in the data. `open` mutants
(what the task does not decide, or its threshold openly allows) are made and not counted. Both columns count what is
expected now; of AnimeGANv3_03 a sample was drawn. What survives is the list of what to repair. Outputs
written apart from it stand under [held-out sets](held-out.md). Written by `measurements/battery.py`.
"""


def main() -> None:
    """Run, or write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    run = verbs.add_parser("run")
    run.add_argument("--mutants", type=int, default=1000, help="at most so many wrong ones a task")
    run.add_argument("out", type=Path)
    run.add_argument("suite")
    run.add_argument("tasks", nargs="*")
    table = verbs.add_parser("table")
    table.add_argument("runs", type=Path, nargs="+")
    keep = verbs.add_parser("keep")
    keep.add_argument("out", type=Path)
    keep.add_argument("suite")
    asked = parser.parse_args()
    if asked.verb == "run":
        _run(asked.out, asked.suite, asked.tasks, asked.mutants)
    elif asked.verb == "keep":
        _keep(_read(asked.out), asked.suite)
    else:
        runs = [_read(path) for path in asked.runs]
        print(_table([_by_one_yardstick(run, runs[-1]) for run in runs]))


def _run(out: Path, name: str, only: Sequence[str], most: int) -> None:
    suite = find_suite(name, only=only)
    cache = Cache()
    bench = GradingContext(suite.repositories, cache, open_sandbox("namespaces", cache))
    done = _read(out) if out.is_file() else {}
    for folder in suite.tasks:
        task = folder.task.id
        if folder.task.kind.changes_repository or not folder.solution.is_dir() or task in done:
            continue
        began = time.monotonic()
        proof = prove_mutants(folder, bench, most)
        found = battery_record(proof.battery) if proof.battery else {"why": proof.comment}
        line = {"suite": name, "task": task, "seconds": round(time.monotonic() - began, 1), **found}
        with out.open("a") as stream:
            stream.write(json.dumps(line) + "\n")


def _keep(found: dict[str, dict[str, Any]], name: str) -> None:
    """Write what was found into the suite's figures; those of tasks that change a repository stay."""
    suite = find_suite(name)
    known = {task.task: task for task in (read_strengths(suite.path) or SuiteStrength()).tasks}
    for folder in suite.tasks:
        line = found.get(folder.task.id, {})
        if line.get("mutants"):
            mutants = tuple(
                GradedMutant(each["file"], each["name"], Expected(each["expected"]), each["why"],
                             Outcome(each["outcome"]), each["comment"])
                for each in line["mutants"]
            )  # fmt: skip
            grader = f"repoassay/{repoassay.__version__} outputs"
            battery = Battery(folder.task.id, mutants)
            known[folder.task.id] = battery_strength(battery, folder.digest, grader)
    tasks = tuple(known[folder.task.id] for folder in suite.tasks if folder.task.id in known)
    write_strengths(suite.path, SuiteStrength(tolerance=suite.suite.strength.tolerance, tasks=tasks), replace=True)


def _read(path: Path) -> dict[str, dict[str, Any]]:
    return {found["task"]: found for found in map(json.loads, path.read_text().splitlines())}


def _by_one_yardstick(run: dict[str, dict[str, Any]], last: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The same outcomes, counted by what the last run expects of each mutant."""
    counted = {}
    for task, found in run.items():
        expected = {(each["file"], each["name"]): each["expected"] for each in last.get(task, {}).get("mutants", ())}
        mutants = [
            {**each, "expected": expected.get((each["file"], each["name"]), "open" if expected else each["expected"])}
            for each in found.get("mutants", ())
        ]
        wrong = [each for each in mutants if each["expected"] == "wrong"]
        kept = [f"{each['file']}:{each['name']}" for each in wrong if each["outcome"] == "passed"]
        lost = [f"{each['file']}:{each['name']}" for each in mutants
                if each["expected"] == "right" and each["outcome"] in ("failed", "no_output")]  # fmt: skip
        counted[task] = {**found, "made": len(wrong), "killed": len(wrong) - len(kept), "survivors": kept,
                         "refused": lost}  # fmt: skip
    return counted


def _table(runs: Sequence[dict[str, dict[str, Any]]]) -> str:
    heads = ["before", "now"] if len(runs) > 1 else ["now"]
    lines = [_HEAD]
    lines += ["| reading | tasks | wrong outputs | survivors | right variants refused |", "|---|---|---|---|---|"]
    for name, run in zip(heads, runs, strict=True):
        made = sum(found.get("made", 0) for found in run.values())
        kept, lost = (sum(len(found.get(key, ())) for found in run.values()) for key in ("survivors", "refused"))
        lines.append(f"| {name} | {len(run)} | {made} | {kept} | {lost} |")
    lines.append("")
    columns = " | ".join(f"{name}: killed | {name}: survivors, refused" for name in heads)
    lines += [f"| task | {columns} |", "|---" * (1 + 2 * len(heads)) + "|"]
    tasks = sorted({task for run in runs for task in run})
    lines += [f"| {task} | {' | '.join(_cells(run.get(task)) for run in runs)} |" for task in tasks]
    return "\n".join(lines)


def _cells(found: dict[str, Any] | None) -> str:
    if found is None:
        return " | "
    if found["why"]:
        return f"- | {found['why']}"
    kept = ", ".join(_plain(name) for name in found["survivors"])
    lost = ", ".join(_plain(name) for name in found["refused"])
    return f"{found['killed']}/{found['made']} | {kept}{'; refused: ' + lost if lost else ''}"


def _plain(title: str) -> str:
    """The mutant's name, with its file where that is not `output`."""
    file, _, name = title.partition(":")
    return name if file.startswith("output.") or file == "files" else title


if __name__ == "__main__":
    main()
