"""Verdicts per second of the submission environment against a plain pipeline without isolation, in one run.

The baseline does what harnesses commonly do with a kept mirror and a kept environment: `git clone`, `git reset --hard`,
`git apply`, then the test script in that environment's Python. Ours runs each submission in a sandbox of its own and
doubts every pass by a second run with changed tests. Both see the same tasks: the demonstration set, its solutions
and patches that do nothing of use.

    python measurements/submissions.py [--rounds N] [--workers 1,2,4,8] [--batch 10000]
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from repoassay.engine.grading_context import GradingContext
from repoassay.engine.submit import SubmissionEngine
from repoassay.resq import tasks_of
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.tasks import TaskFolder
from repoassay.types import Outcome
from repoassay.workspace.preparation import PreparedTask, lay_out

DEMO = Path(__file__).parents[1] / "examples" / "resq-demo"
USELESS = """diff --git a/unrelated_note.txt b/unrelated_note.txt
new file mode 100644
--- /dev/null
+++ b/unrelated_note.txt
@@ -0,0 +1 @@
+nothing of use
"""
GIT = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "HOME": "/"}


@dataclass(frozen=True)
class Peer:
    """A task as the plain pipeline keeps it: a mirror of its repository and an environment."""

    layout: PreparedTask
    mirror: Path
    solution: str

    @classmethod
    def prepared(cls, layout: PreparedTask, place: Path) -> Peer:
        """Make the mirror: one commit of the base tree."""
        mirror = place / layout.folder.task.id
        shutil.copytree(layout.base, mirror, symlinks=True)
        shutil.rmtree(mirror / ".git", ignore_errors=True)
        who = ("-c", "user.name=bench", "-c", "user.email=bench@example.invalid")
        for command in (("init", "-q"), ("add", "-A", "-f"), (*who, "commit", "-q", "-m", "base")):
            subprocess.run(["git", *command], cwd=mirror, env=GIT, check=True)
        return cls(layout, mirror, (layout.folder.solution / "changes.diff").read_text(encoding="utf-8"))

    def verdict(self, patch: str) -> bool:
        """Whether the test script ends well on a fresh clone with the patch."""
        with tempfile.TemporaryDirectory() as place:
            tree = Path(place, "repo")
            subprocess.run(["git", "clone", "-q", self.mirror, tree], env=GIT, check=True)
            subprocess.run(["git", "reset", "-q", "--hard", "HEAD"], cwd=tree, env=GIT, check=True)
            if subprocess.run(["git", "apply", "-"], cwd=tree, input=patch.encode(), env=GIT, check=False).returncode:
                return False
            shutil.copy(self.layout.folder.tests / "test_script.py", tree)
            roots = os.pathsep.join(str(tree / part) for part in self.layout.folder.task.environment.path)
            python = str(self.layout.environment / "bin/python")
            done = subprocess.run(
                [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_script.py"],
                cwd=tree, env={"PYTHONPATH": roots, "PATH": os.environ["PATH"]}, capture_output=True, check=False,
            )  # fmt: skip
            return done.returncode == 0


def memory(pid: int) -> int:
    """Proportional memory of a process and its descendants, in bytes: shared pages are counted once."""
    total = 0
    waiting = [pid]
    while waiting:
        each = waiting.pop()
        try:
            rollup = Path(f"/proc/{each}/smaps_rollup").read_text()
            total += int(next(line.split()[1] for line in rollup.splitlines() if line.startswith("Pss:"))) * 1024
            for task in Path(f"/proc/{each}/task").iterdir():
                waiting += map(int, (task / "children").read_text().split())
        except (OSError, StopIteration):
            continue  # it ended while we looked
    return total


def own_memory() -> int:
    """Resident memory of this process, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def work(tasks: dict[str, TaskFolder], kind: str, rounds: int) -> list[tuple[str, str]]:
    """Submissions of one kind, round by round over all tasks."""
    one = [
        (name, (folder.solution / "changes.diff").read_text(encoding="utf-8") if kind == "solution" else USELESS)
        for name, folder in tasks.items()
    ]
    return one * rounds


def ours(engine: SubmissionEngine, submissions: Sequence[tuple[str, str]], expected: Outcome) -> float:
    """Verdicts per second of the engine; every one must be as expected."""
    started = time.perf_counter()
    for answer in engine.grade_many(submissions):
        assert answer.verdict.outcome is expected, (answer.task, answer.verdict)
    return len(submissions) / (time.perf_counter() - started)


def theirs(peers: dict[str, Peer], submissions: Sequence[tuple[str, str]], workers: int, expected: bool) -> float:
    """Verdicts per second of the plain pipeline."""
    started = time.perf_counter()
    with ThreadPoolExecutor(workers) as pool:
        for (name, _), passed in zip(
            submissions, pool.map(lambda each: peers[each[0]].verdict(each[1]), submissions), strict=True
        ):
            assert passed is expected, name
    return len(submissions) / (time.perf_counter() - started)


def compare(
    tasks: dict[str, TaskFolder], bench: GradingContext, peers: dict[str, Peer], rounds: int, counts: list[int]
) -> None:
    """Print one line a number of workers and kind of submission."""
    for workers in counts:
        with SubmissionEngine(tasks, bench, workers) as engine:
            cold = ours(engine, work(tasks, "solution", 1), Outcome.PASSED)
            ours(engine, work(tasks, "solution", 1), Outcome.PASSED)
            spent = {kind: [0.0, 0.0] for kind in ("solution", "useless")}
            for _ in range(rounds):  # in turns, so that whatever else the machine does meets both
                for kind, outcome in (("solution", Outcome.PASSED), ("useless", Outcome.FAILED)):
                    submissions = work(tasks, kind, 1)
                    spent[kind][0] += len(submissions) / theirs(peers, submissions, workers, kind == "solution")
                    spent[kind][1] += len(submissions) / ours(engine, submissions, outcome)
            for kind, (plain, own) in spent.items():
                count = len(tasks) * rounds
                rates = f"plain {count / plain:5.2f}/s   ours {count / own:6.2f}/s   {plain / own:4.1f}x"
                print(f"  {workers} workers, {kind:<8}  {rates}", flush=True)
            both = [sum(each[which] for each in spent.values()) for which in (0, 1)]
            print(f"  {workers} workers, as many of each  {both[0] / both[1]:.1f}x", flush=True)
            held = memory(os.getpid())
            print(f"  {workers} workers: first pass over cold parents {cold:.2f}/s;"
                  f" memory of all, shared pages once, {held / 2**20:.0f} MiB, {held / workers / 2**20:.0f} a worker",
                  flush=True)  # fmt: skip


def batch(tasks: dict[str, TaskFolder], bench: GradingContext, workers: int, count: int) -> None:
    """Grade very many submissions in one batch and print how memory went."""
    kinds = [work(tasks, kind, 1) for kind in ("useless", "solution", "useless")]

    def endless() -> Iterator[tuple[str, str]]:
        for number in range(count):
            one = kinds[number % 3]
            name, patch = one[number // 3 % len(one)]
            yield name, "" if number % 5 == 0 else patch

    taken: list[int] = []
    started = time.perf_counter()
    with SubmissionEngine(tasks, bench, workers) as engine:
        for number, _ in enumerate(engine.grade_many(endless()), 1):
            if number % max(count // 10, 1) == 0:
                taken.append(memory(os.getpid()))
                print(f"  {number:>6} done: {taken[-1] / 2**20:5.0f} MiB in all, {own_memory() / 2**20:.0f} MiB ours,"
                      f" {number / (time.perf_counter() - started):.1f}/s", flush=True)  # fmt: skip
    half = len(taken) // 2
    print(f"  second half against first half: {statistics.mean(taken[half:]) / statistics.mean(taken[:half]):.2f}x")


def main() -> None:
    """Print rates, ratios and memory."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="of each kind on each task; 0 for none")
    parser.add_argument("--workers", type=lambda text: [int(each) for each in text.split(",")], default=[2])
    parser.add_argument("--batch", type=int, default=0, help="also grade so many in one batch and watch memory")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        subprocess.run([sys.executable, DEMO / "build.py", "--out", place / "demo.jsonl"], check=True)
        tasks = tasks_of(place / "demo.jsonl", place / "tasks")
        cache = Cache()
        sandbox = open_sandbox("namespaces", cache)
        bench = GradingContext(None, cache, sandbox)
        started = time.perf_counter()
        layouts = {name: lay_out(folder, None, cache, sandbox) for name, folder in tasks.items()}
        print(f"submissions: {len(tasks)} tasks laid out in {time.perf_counter() - started:.1f} s (environments and"
              " checkouts are made when absent)")  # fmt: skip
        if options.rounds:
            (place / "mirrors").mkdir()
            peers = {name: Peer.prepared(layout, place / "mirrors") for name, layout in layouts.items()}
            compare(tasks, bench, peers, options.rounds, options.workers)
        if options.batch:
            batch(tasks, bench, 2, options.batch)


if __name__ == "__main__":
    main()
