"""Do withheld oracles give the verdicts of plain tests? Mutants of solutions, test by test, in the same sandboxes.

    python measurements/mutants.py [--count 1000] [--seed S] [--task GLOB]

Every bundled edit and pull-request task in Python, and the demonstration set: the files that its solution changes are
changed once more at one place (an operator, a constant, a returned value, a removed statement), and its hidden tests
run plainly and with their expectations withheld. Printed are the tests on which the two differ.
"""

from __future__ import annotations

import argparse
import fnmatch
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from oracle_agreement import mutated
from repoassay.diffs import apply_patch, read_patch
from repoassay.grading.hidden_tests.prefork import WarmPool
from repoassay.grading.oracle.oracle import Oracle
from repoassay.grading.registry import names
from repoassay.grading.test_run import HiddenTestSubject, examine
from repoassay.resq import tasks_of
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.protocol import Sandbox
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.tasks import TaskFolder
from repoassay.tasks.suite import find_suite
from repoassay.types import Limits
from repoassay.types.files import FileEdit
from repoassay.workspace.preparation import lay_out

DEMO = Path(__file__).parents[1] / "examples" / "resq-demo"


@dataclass(frozen=True)
class Case:
    """A mutant: a task with its solution, changed at one place."""

    subject: HiddenTestSubject
    what: str


def tasks(place: Path) -> Iterator[tuple[TaskFolder, Path | None]]:
    """Every task in Python that is graded by a patch."""
    for name in ("starter", "pull-requests"):
        suite = find_suite(name, metrics=names())
        for folder in suite.tasks:
            if folder.task.grading.tests is not None and folder.task.grading.tests.runner == "pytest":
                yield folder, suite.repositories
    subprocess.run([sys.executable, DEMO / "build.py", "--out", place / "demo.jsonl"], check=True, capture_output=True)
    for folder in tasks_of(place / "demo.jsonl", place / "tasks").values():
        yield folder, None


def cases(subject: HiddenTestSubject, count: int, chance: random.Random) -> Iterator[Case]:
    """Mutants of a task's solution."""
    sources = {
        name: edit.content.decode()
        for name, edit in subject.edits.items()
        if edit is not None and name.endswith(".py") and "test" not in name
    }
    for name, text, what in mutated(sources, count, chance):
        edits: dict[str, FileEdit | None] = {**subject.edits, name: FileEdit(text.encode())}
        yield Case(replace(subject, edits=edits), what)


def differences(case: Case, oracle: Oracle) -> tuple[int, int, list[str]]:
    """Tests compared, failures among them, and those on which the two ways differ."""
    plain = {test.id: test.outcome for test in case.subject.run().report.tests}
    reference = oracle.reference(case.subject.folder, case.subject.base, case.subject.environment)
    outside = {test.id: test.outcome for test in examine(case.subject, reference, oracle).tests}
    wrong = [
        f"{case.subject.folder.task.id}, {case.what}: {test}: plain {plain[test]}, outside {outside[test]}"
        for test in plain
        if (plain[test] == "passed") is not (outside[test] == "passed")
    ]
    return len(plain), sum(word != "passed" for word in plain.values()), wrong


def subjects(
    given: argparse.Namespace, place: Path, cache: Cache, sandbox: Sandbox, pool: WarmPool
) -> list[HiddenTestSubject]:
    """Every chosen task with its solution applied."""
    found = []
    for folder, repositories in tasks(place):
        if not fnmatch.fnmatch(folder.task.id, given.task):
            continue
        layout = lay_out(folder, repositories, cache, sandbox)
        edits: Mapping[str, FileEdit | None] = apply_patch(
            read_patch((folder.solution / "changes.diff").read_bytes()), layout.base
        ).edits
        tests = folder.task.grading.tests
        assert tests is not None
        grading = folder.task.grading.model_copy(update={"tests": tests.model_copy(update={"seconds": 10.0})})
        quick = replace(folder, task=folder.task.model_copy(update={"grading": grading}))
        found.append(HiddenTestSubject(quick, layout.base, layout.environment, edits, sandbox, pool=pool))
    return found


def main() -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--task", default="*")
    given = parser.parse_args()
    cache = Cache()
    sandbox = open_sandbox("namespaces", cache)
    chance = random.Random(given.seed)
    totals: Counter[str] = Counter()
    started = time.monotonic()
    oracle = Oracle(cache, sandbox)
    with tempfile.TemporaryDirectory() as place, WarmPool(cache, slots=2, limits=Limits()) as pool:
        chosen = subjects(given, Path(place), cache, sandbox, pool)
        each = -(-given.count // max(1, len(chosen)))
        waiting = [case for subject in chosen for case in cases(subject, each, chance)]
        with ThreadPoolExecutor(2) as workers:
            for compared, failed, wrong in workers.map(lambda case: differences(case, oracle), waiting):
                totals.update(mutants=1, tests=compared, failures=failed, differ=len(wrong))
                for line in wrong:
                    print(line, flush=True)
    oracle.close()
    print(f"{totals['mutants']} mutants of {len(chosen)} tasks: {totals['tests']} verdicts on tests, "
          f"{totals['failures']} failures, {totals['differ']} differ; {time.monotonic() - started:.0f} s")  # fmt: skip


if __name__ == "__main__":
    main()
