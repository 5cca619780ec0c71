"""What a warm workspace costs (checkout + environment + sandbox), against a bare subprocess in the same run."""

from __future__ import annotations

import statistics
import subprocess
import time
from collections.abc import Callable

from repoassay.sandbox.cache import Cache
from repoassay.sandbox.protocol import Command
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.tasks.suite import find_suite
from repoassay.types import Limits
from repoassay.workspace.preparation import lay_out

RUNS = 30


def milliseconds(action: Callable[[], object]) -> float:
    """Median over several runs, after one that is not counted."""
    taken = []
    for run in range(RUNS + 1):
        started = time.perf_counter()
        action()
        if run:
            taken.append((time.perf_counter() - started) * 1e3)
    return statistics.median(taken)


def main() -> None:
    """Print the floor and each layer above it."""
    cache = Cache()
    sandbox = open_sandbox("namespaces", cache)
    suite = find_suite("starter", only=["sensor-log-daily"])
    folder = suite.tasks[0]
    layout = lay_out(folder, suite.repositories, cache, sandbox)

    def workspace() -> None:
        ready = lay_out(folder, suite.repositories, cache, sandbox)
        sandbox.run(Command(argv=("true",), mounts=ready.mounts, scratch=ready.scratch, edits=ready.edits,
                            env=ready.env, limits=Limits()))  # fmt: skip

    floor = milliseconds(lambda: subprocess.run(["true"], check=True))
    rows = {
        "bare subprocess (baseline)": floor,
        "lay out a task, warm": milliseconds(lambda: lay_out(folder, suite.repositories, cache, sandbox)),
        "empty sandbox": milliseconds(lambda: sandbox.run(Command(argv=("true",)))),
        "whole workspace": milliseconds(workspace),
        "python in a subprocess": milliseconds(
            lambda: subprocess.run([str(layout.environment / "bin/python"), "-c", "pass"], check=True)
        ),
    }
    print(f"workspace, median of {RUNS} runs of `true`")
    for name, taken in rows.items():
        print(f"  {name:<28} {taken:7.2f} ms   {taken / floor:6.1f} x baseline")


if __name__ == "__main__":
    main()
