"""How well passes of the bundled tasks are assured, as the tables of docs/assurance.md.

    python measurements/assurance.py [--dataset NAME=ROWS ...]

Records the reference of every task that changes a repository: the bundled suites, the demonstration set (built anew),
and whatever data set is named. A test counts when it is compared outside the process of the code under test; a task
when all its tests that fail on the base commit do, and a forger has to guess at least so many bits.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from repoassay.engine.assess import TaskAssurance, assess_task
from repoassay.engine.grading_context import GradingContext
from repoassay.grading.registry import names
from repoassay.resq import tasks_of
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.tasks import TaskFolder
from repoassay.tasks.suite import find_suite

DEMO = Path(__file__).parents[1] / "examples" / "resq-demo"
_BOUNDS = (20, 40)


def suites(given: list[str], place: Path) -> Iterator[tuple[str, list[TaskFolder], Path | None]]:
    """Name, tasks and repositories of each."""
    for name in ("starter", "pull-requests"):
        found = find_suite(name, metrics=names())
        yield name, [each for each in found.tasks if each.task.kind.changes_repository], found.repositories
    rows = place / "demo.jsonl"
    subprocess.run([sys.executable, DEMO / "build.py", "--out", rows], check=True, stdout=subprocess.DEVNULL)
    for pair in (f"resq-demo={rows}", *given):
        name, _, file = pair.partition("=")
        yield name, list(tasks_of(Path(file), place / name).values()), None


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", action="append", default=[], metavar="NAME=ROWS", help="A data set of one's own.")
    given = parser.parse_args().dataset
    cache = Cache()
    sandbox = open_sandbox("namespaces", cache)
    found: dict[str, list[TaskAssurance]] = {}
    with tempfile.TemporaryDirectory(prefix="repoassay-assurance-") as place:
        for name, tasks, repositories in suites(given, Path(place)):
            bench = GradingContext(repositories, cache, sandbox)
            found[name] = [assess_task(folder, bench) for folder in tasks]
    print("| suite | tasks | with 20 bits | with 40 bits | tests | with 20 bits | with 40 bits | assertions withheld |")
    print("|---|---|---|---|---|---|---|---|")
    for name, each in found.items():
        print(_summary(name, each))
    print("\n| suite | task | bits | tests attested | withheld | observed | left |\n|---|---|---|---|---|---|---|")
    for name, tasks_found in found.items():
        for one in sorted(tasks_found, key=lambda one: one.bits):
            sites = " | ".join(str(one.sites.get(mode, 0)) for mode in ("withheld", "observed", "left"))
            print(f"| {name} | {one.task} | {one.bits:.0f} | {one.attested} of {one.tests} | {sites} |")


def _summary(name: str, found: list[TaskAssurance]) -> str:
    tests = sum(one.tests for one in found)
    enough = [[one for one in found if one.reaches(bits)] for bits in _BOUNDS]
    tasks = [str(len(found)), *(_share(len(each), len(found)) for each in enough)]
    shares = [str(tests), *(_share(sum(one.attested for one in each), tests) for each in enough)]
    sites = [sum(one.sites.get(mode, 0) for one in found) for mode in ("withheld", "observed", "left")]
    return f"| {' | '.join([name, *tasks, *shares, _share(sites[0], sum(sites))])} |"


def _share(count: int, of: int) -> str:
    return f"{count} ({count / of:.0%})" if of else "0"


if __name__ == "__main__":
    main()
