"""Grading the reference outputs of GitTaskBench: our command against the published one, in turns on this machine.

Needs the suite's data (`repoassay fetch gittaskbench`), a checkout of GitTaskBench with its `config`, `groundtruth` and
`test_scripts`, and an interpreter in which the packages of its scripts are installed. Tasks that either command does
not finish (weights, programs or data that are not here) are named and left out of the times of both.

    python measurements/gittaskbench_published.py CHECKOUT --python VENV/bin/python [--repeat N] [--criteria fair]

With `--undisturbed` what else the machine does takes no time from either: both run with real-time priority, as root.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gittaskbench import reference_outputs


@dataclass(frozen=True)
class Spent:
    """What one command took: seconds that passed, and seconds of computing of it and all it started."""

    wall: float
    cpu: float


def timed(argv: Sequence[str | Path], place: Path, env: Mapping[str, str]) -> Spent:
    """Run a command to its end; its exit code says what the tasks came to, which is not of interest here."""
    # Bytecode is kept, as in any installation: where it may not be, each command would compile all it imports.
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(argv, cwd=place, env={**kept, **env}, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Spent(time.perf_counter() - started, cpu)


def lay_out(checkout: Path, place: Path, outputs: Path, tasks: Sequence[str]) -> Path:
    """A project folder of the published command with these tasks alone, and their outputs."""
    place.mkdir()
    for name in ("gittaskbench", "groundtruth", "queries", "test_scripts"):
        if (checkout / name).exists():
            (place / name).symlink_to((checkout / name).resolve())
    for task in tasks:
        shutil.copytree(checkout / "config" / task, place / "config" / task)
        shutil.copytree(outputs / task, place / "output" / task)
    return place


def finished(results: Path) -> set[str]:
    """Tasks whose last record says that the output was measured."""
    found = set()
    for path in results.glob("*/result*.jsonl"):
        last = json.loads(path.read_text("utf-8").splitlines()[-1])
        if str(last.get("Process")) == "True":
            found.add(path.parent.name)
    return found


def main() -> None:
    """Find the tasks both finish, then time both commands on these, in turns."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--python", type=Path, required=True, help="the interpreter of the published command")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--criteria", choices=["published", "fair"], default="published")
    parser.add_argument("--undisturbed", action="store_true", help="run both with real-time priority; needs root")
    options = parser.parse_args()
    if options.undisturbed:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    python = options.python.absolute()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "references").mkdir()
        jobs = reference_outputs(place / "references")
        count = 0

        def theirs(project: Path) -> tuple[Spent, set[str]]:
            nonlocal count
            results = place / f"results-{(count := count + 1)}"
            results.mkdir()
            # The published command starts `python`, whichever comes first.
            env = {"PATH": f"{python.parent}:{os.environ['PATH']}", "PYTHONPATH": str(project)}
            argv = [python, "-m", "gittaskbench.cli", "grade", "--all", "--result", results]
            return timed(argv, project, env), finished(results)

        def ours(project: Path) -> tuple[Spent, set[str]]:
            nonlocal count
            results = place / f"results-{(count := count + 1)}"
            argv = [Path(sys.executable).with_name("gittaskbench"), "grade", "--all", "--output_dir",
                    project / "output", "--result", results, "--criteria", options.criteria,
                    "--workers", str(options.workers)]  # fmt: skip
            return timed(argv, place, {}), finished(results)

        every = sorted(job.folder.task.id for job in jobs)
        whole = lay_out(options.checkout, place / "whole", place / "references", every)
        both = {"the published command": theirs(whole)[1], "ours": ours(whole)[1]}
        for name, found in both.items():
            print(f"not finished by {name}: {', '.join(sorted(set(every) - found)) or 'none'}")
        common = sorted(set.intersection(*both.values()))
        part = lay_out(options.checkout, place / "part", place / "references", common)
        commands: dict[str, Callable[[Path], tuple[Spent, set[str]]]] = {"published": theirs, "ours": ours}
        rounds: list[dict[str, Spent]] = []
        for _ in range(options.repeat):
            graded = {name: run(part) for name, run in commands.items()}
            if lost := {name for name, (_, found) in graded.items() if found != set(common)}:
                sys.exit(f"This round counts for nothing: not all tasks were graded by {' and '.join(sorted(lost))}.")
            rounds.append({name: spent for name, (spent, _) in graded.items()})
    print(f"{len(common)} tasks that both finish, {options.repeat} rounds in turns, {options.workers} workers:")
    for unit in ("wall", "cpu"):
        rows = [{name: getattr(spent, unit) for name, spent in each.items()} for each in rounds]
        ratios = [row["published"] / row["ours"] for row in rows]
        medians = {name: statistics.median(row[name] for row in rows) for name in commands}
        told = f"{statistics.median(ratios):.1f}x ({min(ratios):.1f} to {max(ratios):.1f})"
        print(f"  {unit:<5} published {medians['published']:7.2f} s   ours {medians['ours']:6.2f} s   {told}")


if __name__ == "__main__":
    main()
