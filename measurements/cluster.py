"""The demonstration set on 1, 2 and 4 Ray machines against one process, and 5,000 submissions while machines die.

Machines are network, process and mount namespaces of this one, a core each as far as there are cores (`ray_machines.py`
of the tests). Verdicts must be the same everywhere; speed is printed against one process here that has as many cores,
by wall and by CPU seconds: there of every process of the head, of the machines and of the caller, Ray's own included,
whatever they do, and here of the one process and all below it. What is counted in a second of rest is printed too: on
a busy machine fewer verdicts share it, and processes that ended before may be counted in it. Then a machine is killed
with SIGKILL again and again, and joined anew, while `submit` is at work: every submission must have one verdict, and
the right one.

    python measurements/cluster.py [--nodes 1,2,4] [--rounds 4] [--kinds solution,useless,garbage] [--submissions 5000]
                                   [--kills 5]

Environments are built anew unless REPOASSAY_CACHE names a cache. Needs root. Leaves with 0 when everything held;
`--floor 0.9` also wants that efficiency.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))

from ray_machines import RayMachines, lacking, ray_machines  # noqa: E402 - of the tests
from repoassay.engine.grading_context import GradingContext  # noqa: E402
from repoassay.engine.submit import SubmissionEngine  # noqa: E402
from repoassay.resq import tasks_of  # noqa: E402
from repoassay.sandbox import Cache, open_sandbox  # noqa: E402

DEMO = HERE.parent / "examples" / "resq-demo"
PROGRAM = str(Path(sys.executable).with_name("repoassay"))
USELESS = """diff --git a/note_{0}.txt b/note_{0}.txt
new file mode 100644
--- /dev/null
+++ b/note_{0}.txt
@@ -0,0 +1 @@
+{0}
"""
COPIED = ("bytecode", "builds", "checkouts", "environments", "indexes", "inputs", "interpreters", "planned", "proofs",
          "references", "sdists", "tarballs")  # fmt: skip
"""Kinds of the cache that every machine begins with a copy of, as an image that was made for the task would."""

WARM = 12
"""Passes at most before the one that is measured: until two take what the fastest took, since tasks go where they were,
and every machine has to meet each of them."""

REST = 5.0
"""Seconds of rest before the pass that is measured."""

KINDS = ("solution", "useless", "garbage")
"""Patches of a task: only its solution needs a run of the tests."""

ALONE = ("unshare", "--pid", "--mount-proc", "--fork", "--kill-child", "taskset", "-c")
"""How one process on one core is called: its orphans stay below it, so that their CPU time is counted."""


def main() -> int:
    """Measure, kill, count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", default="1,2,4", help="how many machines, in rising order")
    parser.add_argument("--rounds", type=int, default=4, help="how often every task's patches are graded")
    parser.add_argument("--kinds", default=",".join(KINDS), help="which patches of every task, for the comparison")
    parser.add_argument("--submissions", type=int, default=5000, help="while machines die; 0 to leave that out")
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--tasks", type=int, default=28, help="how many of the demonstration set")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--floor", type=float, default=0.0, help="the least efficiency, a core here for a core there")
    parser.add_argument("--pass", dest="one_pass", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one_pass:
        return grade_pass(json.loads(given.one_pass))
    if why := lacking():
        print(f"There can be no machines here: {why}.")
        return 2
    print(f"seed {given.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="repoassay-cluster-") as folder:
        os.environ.setdefault("REPOASSAY_CACHE", f"{folder}/cache")  # machines get copies: the user's may be large
        lab = Lab(Path(folder), given.tasks, given.kinds.split(","))
        nodes = [int(number) for number in given.nodes.split(",")]
        with ray_machines(0, lab.cores, lab.seed) as machines:
            problems = compare(lab, machines, nodes, given.rounds, given.floor)
            if given.submissions:
                problems += count_verdicts(lab, machines, max(nodes), given)
    for problem in problems:
        print(f"PROBLEM: {problem}")
    return 1 if problems else 0


class Lab:
    """Rows, their patches, and a warm cache that machines begin with."""

    def __init__(self, place: Path, tasks: int, kinds: Sequence[str]) -> None:
        self.place, self.rows, self.kinds = place, place / "demo.jsonl", kinds
        self.cores = sorted(os.sched_getaffinity(0))
        subprocess.run([sys.executable, DEMO / "build.py", "--out", self.rows], check=True, stdout=subprocess.DEVNULL)
        lines = self.rows.read_text().splitlines()[:tasks]
        self.rows.write_text("".join(f"{line}\n" for line in lines))
        tasks_by_id = tasks_of(self.rows, place / "tasks")
        self.solutions = {
            name: (folder.solution / "changes.diff").read_text() for name, folder in sorted(tasks_by_id.items())
        }
        self.expected = self.grade(None, rounds=1).verdicts
        self.seed = place / "seed"
        self.seed.mkdir()
        for kind in COPIED:
            entries = [path for path in sorted((Cache().path / kind).glob("*")) if path.suffix != ".part"]
            (self.seed / kind).mkdir()
            if entries:  # of which another process may take one away meanwhile
                line: list[str | Path] = ["cp", "-al", *entries, self.seed / kind]
                subprocess.run(line, check=False, stderr=subprocess.DEVNULL)

    def grade(self, machines: RayMachines | None, rounds: int, cores: int = 1) -> Pass:
        """Grade every task's patches, on machines or in one process on some cores, and see what that took."""
        work: dict[str, Any] = {
            "rows": str(self.rows),
            "rounds": rounds,
            "kinds": list(self.kinds),
            "executor": machines.executor if machines else "local",
        }
        work["capacity"] = machines.alive() if machines else cores
        line = [sys.executable, __file__, "--pass", json.dumps(work)]
        held = ",".join(map(str, self.cores[:cores]))
        line = machines.command(line) if machines else [*ALONE, held, *line]
        env = machines.env if machines else dict(os.environ)
        with subprocess.Popen(line, env=env, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            spent: dict[str, float] = {}
            counted = os.getpid() if machines else process.pid
            for said in process.stdout:
                if said.startswith("{"):
                    told = json.loads(said)
                    idle = (spent["begin"] - spent["rest"]) / REST
                    cpu = spent["end"] - spent["begin"]
                    return Pass(told["seconds"], cpu, idle, told["graded"], told["verdicts"])
                spent[said.strip()] = cpu_seconds(counted)
        raise RuntimeError("A pass ended before it was through; what it said stands above.")

    def submissions(self, number: int) -> dict[tuple[str, str], str]:
        """Write so many patches, no two alike; returns the outcome of each by its task and SHA-256."""
        expected: dict[tuple[str, str], str] = {}
        names = list(self.solutions)
        with (self.place / "patches.jsonl").open("w") as stream:
            for each in range(number):
                name = names[each % len(names)]
                note = USELESS.format(each)
                patch, outcome = {
                    0: (self.solutions[name] + note, "passed"), 1: (note, "failed"), 2: (note, "failed"),
                }.get(each // len(names) % 5, (f"no diff {each}", "patch_failed"))  # fmt: skip
                stream.write(json.dumps({"id": name, "patch": patch}) + "\n")
                expected[name, hashlib.sha256(patch.encode()).hexdigest()] = outcome
        return expected


@dataclass(frozen=True)
class Pass:
    """What one pass took: seconds of wall and of CPU, CPU in a second of rest before it, how many were graded, and each
    patch's verdicts, as texts."""

    seconds: float
    cpu: float
    idle: float
    graded: int
    verdicts: dict[str, list[str]]

    def __str__(self) -> str:
        each = f"{1000 * self.cpu / self.graded:5.1f} ms of CPU a verdict"
        return f"{self.graded / self.seconds:6.2f} verdicts/s  {each}, {1000 * self.idle:3.0f} ms in a second of rest"


def cpu_seconds(pid: int) -> float:
    """CPU time of a process, of its descendants, and of those of them that ended."""
    total, waiting = 0, [pid]
    while waiting:
        each = waiting.pop()
        try:
            fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
            for task in Path(f"/proc/{each}/task").iterdir():
                waiting += map(int, (task / "children").read_text().split())
        except OSError:
            continue  # it ended meanwhile, and counts with its parent
        total += sum(map(int, fields[11:15]))
    return total / os.sysconf("SC_CLK_TCK")


def grade_pass(work: dict[str, Any]) -> int:
    """Inside of a process of its own: make everything warm, then grade as fast as it goes."""
    with tempfile.TemporaryDirectory() as folder:
        tasks = tasks_of(Path(work["rows"]), Path(folder))
        patches = {
            f"{name} {kind}": (name, patch)
            for kind in work["kinds"]
            for name, task in sorted(tasks.items())
            for patch in ({
                "solution": (task.solution / "changes.diff").read_text(), "useless": USELESS.format("x"),
                "garbage": "no diff",
            }[kind],)
        }  # fmt: skip
        cache = Cache()
        bench = GradingContext(None, cache, open_sandbox("namespaces", cache))
        workers = work["capacity"] if work["executor"] == "local" else None
        verdicts: dict[str, set[str]] = {}
        with SubmissionEngine(tasks, bench, workers, executor=work["executor"]) as engine:
            while engine.capacity < work["capacity"]:  # the first machine that is ready opens the engine
                time.sleep(0.1)
            took: list[float] = []
            while len(took) < WARM and (len(took) < 3 or max(took[-2:]) > 1.15 * min(took)):
                began = time.perf_counter()
                for _ in engine.grade_many(list(patches.values()) * engine.capacity):
                    pass
                took.append(time.perf_counter() - began)
            wanted = list(patches) * work["rounds"]
            print("rest", flush=True)
            time.sleep(REST)
            print("begin", flush=True)
            began = time.perf_counter()
            answers = engine.grade_many(patches[name] for name in wanted)
            for name, answer in zip(wanted, answers, strict=True):
                tests = sorted((test.id, test.outcome) for test in answer.verdict.tests)
                verdicts.setdefault(name, set()).add(json.dumps([answer.task, answer.verdict.outcome, tests]))
            seconds = time.perf_counter() - began
            print("end", flush=True)
    told = {name: sorted(found) for name, found in verdicts.items()}
    print(json.dumps({"seconds": seconds, "graded": len(wanted), "verdicts": told}), flush=True)
    return 0


def compare(lab: Lab, machines: RayMachines, nodes: Sequence[int], rounds: int, floor: float) -> list[str]:
    """Grade on each number of machines, and before and after that here, on as many cores as they have."""
    problems = [f"{name} here: {found}" for name, found in lab.expected.items() if len(found) != 1]
    alone: dict[int, list[Pass]] = {min(wanted, len(lab.cores)): [] for wanted in nodes}
    passes: dict[int, Pass] = {}

    def here() -> None:
        for cores, told in alone.items():
            told.append(found := lab.grade(None, rounds * cores, cores))
            print(f"local, {cores} cores          {found}", flush=True)

    here()
    running = 0
    for wanted in nodes:
        while running < wanted:
            running += 1
            machines.start(running)
            machines.wait_for(running)
        cores = min(wanted, len(lab.cores))
        passes[wanted] = found = lab.grade(machines, rounds * cores)
        print(f"{wanted} machines, {cores} cores    {found}", flush=True)
        problems += [
            f"{name} on {wanted} machines: {found.verdicts.get(name)}, and here {verdict}"
            for name, verdict in lab.expected.items() if found.verdicts.get(name) != verdict
        ]  # fmt: skip
    here()
    for wanted, found in passes.items():
        told = alone[min(wanted, len(lab.cores))]
        share = found.graded / found.seconds / (sum(each.graded for each in told) / sum(each.seconds for each in told))
        cpu = sum(each.cpu for each in told) / sum(each.graded for each in told) / (found.cpu / found.graded)
        print(f"{wanted} machines: efficiency {share:.2f} by wall, {cpu:.2f} by CPU (head, Ray and all)")
        if share < floor:
            problems.append(f"The efficiency on {wanted} machines is {share:.2f}, less than {floor}.")
    return problems


def count_verdicts(lab: Lab, machines: RayMachines, nodes: int, given: argparse.Namespace) -> list[str]:
    """Have many submissions judged by `submit`, with machines killed and joined again meanwhile; count."""
    expected = lab.submissions(given.submissions)
    results = lab.place / "results.jsonl"
    line: list[str | Path] = [
        PROGRAM, "submit", "--dataset", lab.rows, "--submissions", lab.place / "patches.jsonl", "--results", results,
        "--no-cache", "--executor", machines.executor, "--json",
    ]  # fmt: skip
    chance, began, victim = random.Random(given.seed), time.monotonic(), 0
    with (lab.place / "submit.log").open("wb") as log:
        process = subprocess.Popen(machines.command(line), env=machines.env, stdout=log, stderr=log)
        for turn in range(given.kills):
            while count_lines(results) < given.submissions * (turn + 1) // (given.kills + 2):
                if process.poll() is not None:
                    return [f"submit left with {process.returncode}: {(lab.place / 'submit.log').read_text()[-2000:]}"]
                time.sleep(0.2)
            victim = chance.choice([each for each in range(1, nodes + 1) if each != victim or nodes == 1])
            so_far = count_lines(results)
            machines.kill(victim)
            print(f"machine {victim} killed after {so_far} verdicts, {time.monotonic() - began:.0f} s", flush=True)
            time.sleep(2)
            machines.start(victim)
        process.wait()
    took = time.monotonic() - began
    if process.returncode:
        return [f"submit left with {process.returncode}: {(lab.place / 'submit.log').read_text()[-2000:]}"]
    lost = (lab.place / "submit.log").read_text().count("A node is lost")
    found = [json.loads(each) for each in results.read_text().splitlines()]
    times = Counter((each["id"], each["patch_sha256"]) for each in found)
    print(
        f"{len(found)} verdicts on {given.submissions} submissions, {len(times)} of them different, in {took:.0f} s;"
        f" {lost} times was a node lost"
    )
    return [
        *([f"{len(found)} verdicts"] if len(found) != given.submissions else []),
        *(f"judged {number} times: {key}" for key, number in times.items() if number > 1),
        *(f"not judged: {key}" for key in expected.keys() - times.keys()),
        *(
            f"judged otherwise than expected: {each}"
            for each in found if expected.get((each["id"], each["patch_sha256"])) != each["outcome"]
        ),
    ][:20]  # fmt: skip


def count_lines(path: Path) -> int:
    """Lines of a file; 0 where there is none yet."""
    return path.read_bytes().count(b"\n") if path.exists() else 0


if __name__ == "__main__":
    sys.exit(main())
