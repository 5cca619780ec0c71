"""Verdicts of `repoassay swebench run` per minute, beside the same test commands run bare in the same environments.

    python measurements/swebench_run.py SUITE [--only GLOB]... [--cache FOLDER] [--workers 2]

SUITE is what `repoassay tasks import` wrote. Gold patches are judged twice: once so that environments, proofs and
recorded references are there, then timed, every verdict made anew. Bare means what somebody would type who trusts
everybody: the built tree with patch and test patch applied, the repository's test program with the test files, as many
at a time, no sandbox, nothing withheld and nothing doubted. Laying those trees out is not timed, and neither is
starting the measurement. Memory is what the machine had less than before, at most; disk is what no other entry shares.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from in_place import own_bytes
from repoassay.diffs import apply_patch, read_patch
from repoassay.grading.in_place.support import setup_of
from repoassay.sandbox import Cache, open_sandbox
from repoassay.tasks import TaskFolder, find_suite
from repoassay.workspace import environment_variables, lay_out

COMMANDS = {
    "pytest": ["-m", "pytest", "-q", "-p", "no:cacheprovider"],
    "sympy": ["bin/test", "-C", "--verbose"],
    "django": ["tests/runtests.py", "--parallel=1"],
}


@dataclass(frozen=True, slots=True)
class BareRun:
    """A test command and where it runs."""

    argv: list[str]
    place: Path
    env: dict[str, str]

    def __call__(self) -> bool:
        """Run it; whether every test passed."""
        done = subprocess.run(self.argv, cwd=self.place, env=self.env, capture_output=True, check=False)
        return done.returncode == 0


class LeastMemory(threading.Thread):
    """Watches how little memory the machine has left (bytes)."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.before = self.least = self.available()
        self.over = threading.Event()

    @staticmethod
    def available() -> int:
        """What is there now."""
        text = Path("/proc/meminfo").read_text()
        return int(text.split("MemAvailable:")[1].split()[0]) * 1024

    def run(self) -> None:
        """Look five times a second."""
        while not self.over.wait(0.2):
            self.least = min(self.least, self.available())


def laid_out(folder: TaskFolder, cache: Cache, place: Path) -> tuple[BareRun, int]:
    """A tree with the gold patch and the tests, its command, and the bytes of its environment."""
    tests = folder.task.grading.tests
    assert tests is not None
    layout = lay_out(folder, None, cache, open_sandbox("namespaces", cache))
    tree = place / folder.task.id
    shutil.copytree(layout.base, tree, symlinks=True)
    gold = apply_patch(read_patch((folder.solution / "changes.diff").read_bytes()), layout.base).edits
    for name, edit in setup_of(folder, layout.base).split(gold)[0].items():
        target = tree / name
        target.unlink(missing_ok=True)
        if edit is not None:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(edit.content)
            target.chmod(0o644)
    given = environment_variables(folder.task, layout.environment)
    inside, paths = "/workspace/repo", [str(tree)]
    paths += [each.replace(inside, str(tree)) for each in given.get("PYTHONPATH", "").split(":") if each]
    env = {
        **given,
        "PATH": f"{layout.environment}/bin:/usr/bin:/bin",
        "HOME": str(place),
        "PYTHONPATH": ":".join(paths),
    }
    argv = [f"{layout.environment}/bin/python", *COMMANDS[tests.reader], *tests.arguments, *tests.files]
    return BareRun(argv, tree, env), own_bytes(layout.base, layout.environment)


def timed(run: Callable[[], object]) -> tuple[float, int]:
    """Seconds, and bytes of memory that were gone at most."""
    watch = LeastMemory()
    watch.start()
    began = time.monotonic()
    run()
    taken = time.monotonic() - began
    watch.over.set()
    return taken, watch.before - watch.least


def main() -> None:
    """Warm up, time both, print one line each and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite")
    parser.add_argument("--only", action="append", default=[], metavar="ID", help="a task; all when absent")
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    tasks = find_suite(asked.suite, only=asked.only).tasks
    with tempfile.TemporaryDirectory(prefix="swebench-run-") as scratch:
        place = Path(scratch)
        env = {**os.environ, **({"REPOASSAY_CACHE": str(asked.cache)} if asked.cache else {})}
        words = [str(Path(sys.executable).with_name("repoassay")), "swebench", "run", "--predictions", "gold",
                 "--suite", asked.suite, "--workers", str(asked.workers), "--no-cache", "--out", scratch]  # fmt: skip
        words += [word for task in tasks for word in ("--instance", task.task.id)]

        def judged() -> None:
            done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
            print(done.stdout.strip().splitlines()[-6:] if done.returncode else done.stdout.strip().splitlines()[0])

        first, _ = timed(judged)
        seconds, memory = timed(judged)
        cache = Cache(asked.cache) if asked.cache else Cache()
        runs = [laid_out(task, cache, place) for task in tasks]
        passed: list[bool] = []
        with ThreadPoolExecutor(asked.workers) as pool:
            bare, bare_memory = timed(lambda: passed.extend(pool.map(lambda each: each[0](), runs)))
    print(f"first run, with whatever was not built: {first:.0f} s")
    print(f"verdicts: {len(tasks)} in {seconds:.0f} s, {60 * len(tasks) / seconds:.1f} a minute,"
          f" {memory / 2**20:.0f} MiB of memory")  # fmt: skip
    print(f"bare:     {len(tasks)} in {bare:.0f} s, {60 * len(tasks) / bare:.1f} a minute,"
          f" {bare_memory / 2**20:.0f} MiB; {sum(passed)} ended without a failure")  # fmt: skip
    print(f"ratio {seconds / bare:.2f}; disk {sum(size for _, size in runs) / 2**20 / len(runs):.0f} MiB a task")


if __name__ == "__main__":
    main()
