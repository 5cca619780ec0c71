"""How long the command takes to start, against a bare interpreter in the same run."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

RUNS = 15


def seconds(argv: list[str]) -> float:
    """Median wall seconds of a command over several runs, after one that is not counted."""
    taken = []
    for run in range(RUNS + 1):
        started = time.perf_counter()
        subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
        if run:
            taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def main() -> None:
    """Print each verb's start-up as milliseconds and as a ratio to `python -c pass`."""
    floor = seconds([sys.executable, "-c", "pass"])
    print(f"start-up, median of {RUNS} runs; baseline: python -c pass, {floor * 1e3:.0f} ms")
    command = str(Path(sys.executable).with_name("repoassay"))
    for arguments in (["--version"], ["--help"], ["run", "--help"], ["tasks", "list", "starter"]):
        taken = seconds([command, *arguments])
        print(f"  repoassay {' '.join(arguments):<22} {taken * 1e3:6.0f} ms   {taken / floor:5.1f} x baseline")


if __name__ == "__main__":
    main()
