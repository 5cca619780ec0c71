"""Grading the reference outputs of all gradable GitTaskBench tasks: one warm sandbox against a fresh process a task.

The baseline does the same on the same files without isolation, one new Python process a task, as the benchmark's own
command does. Needs the suite's data (`repoassay fetch gittaskbench`).

    python measurements/gittaskbench.py [--repeat N]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from repoassay.agents.protocol import plain_name
from repoassay.grading.deliverable import Job, grade_deliverables
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.protocol import Command, Completed, Sandbox, SandboxSession, SandboxSetup
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.tasks.suite import find_suite
from repoassay.types import Outcome

_ONE = """
import sys
from pathlib import Path
from repoassay.grading.registry import get
from repoassay.grading.select import select
from repoassay.tasks.suite import find_suite

(folder,), outputs = find_suite("gittaskbench", only=[sys.argv[1]]).tasks, Path(sys.argv[2])
task = folder.task
files = {pattern: select(pattern, outputs).name for pattern in task.outputs.files}
for criterion in (*task.grading.process, *task.grading.result):
    arguments = [outputs / files.get(criterion.of, criterion.of)]
    if criterion.against:
        where, _, name = criterion.against.partition(":")
        arguments.append((folder.inputs if where == "input" else folder.tests) / name)
    get(criterion.metric).measure(*arguments, **criterion.options)
"""
"""What a process that grades one task must do: read the task, choose its outputs, measure every criterion."""


class _Watched:
    """A sandbox that remembers the most memory a run took."""

    name = "namespaces"
    network_is_private = True

    def __init__(self, inner: Sandbox) -> None:
        self._inner = inner
        self.peak = 0

    def run(self, command: Command, cancel: threading.Event | None = None) -> Completed:
        done = self._inner.run(command, cancel)
        self.peak = max(self.peak, done.exit.peak_memory or 0)
        return done

    def open(self, setup: SandboxSetup, cancel: threading.Event | None = None) -> SandboxSession:
        return self._inner.open(setup, cancel)


def reference_outputs(place: Path) -> list[Job]:
    """Make the reference outputs of every task that has a `make.py`."""
    jobs = []
    for folder in find_suite("gittaskbench").tasks:
        make = folder.solution / "make.py"
        if not make.is_file():
            continue
        output = place / folder.task.id
        output.mkdir()
        names = [plain_name(pattern) for pattern in folder.task.outputs.files]
        facts = {"inputs": str(folder.inputs), "truth": str(folder.tests), "output": str(output), "names": names}
        subprocess.run([sys.executable, make], input=json.dumps(facts), text=True, check=True, capture_output=True)
        jobs.append(Job(folder, output))
    return jobs


def main() -> None:
    """Time both ways in turn and print the ratio of their medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    suite = find_suite("gittaskbench")
    if suite.manifest is None or not suite.manifest.here:
        print("gittaskbench: its data is not here; run `repoassay fetch gittaskbench` first")
        return
    with tempfile.TemporaryDirectory() as place:
        jobs = reference_outputs(Path(place))
        sandbox = _Watched(open_sandbox("namespaces", Cache()))
        fresh, warm = [], []
        for _ in range(options.repeat):
            started = time.perf_counter()
            for job in jobs:
                subprocess.run([sys.executable, "-c", _ONE, job.folder.task.id, job.outputs], check=True)
            fresh.append(time.perf_counter() - started)
            started = time.perf_counter()
            outcomes = [each.verdict().outcome for each in grade_deliverables(jobs, sandbox, workers=options.workers)]
            warm.append(time.perf_counter() - started)
    passed = sum(outcome is Outcome.PASSED for outcome in outcomes)
    print(f"gittaskbench: {len(jobs)} reference outputs, {passed} passed")
    print(f"  a fresh process a task, one after the other   {statistics.median(fresh):6.2f} s   1.0x")
    ratio = statistics.median(fresh) / statistics.median(warm)
    way = f"one sandbox, {options.workers} at a time"
    print(f"  {way:<45} {statistics.median(warm):6.2f} s   {ratio:.1f}x")
    print(f"  peak memory of the sandbox                    {sandbox.peak / 2**20:6.0f} MiB")


if __name__ == "__main__":
    main()
