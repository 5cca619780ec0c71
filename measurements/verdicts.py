"""Verdicts per second on edit tasks, isolated and checked by canary, against the same tests in a bare subprocess."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from repoassay.grading.edit import grade_edit
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.tasks.suite import find_suite
from repoassay.types import Outcome, TaskKind
from repoassay.workspace.preparation import PreparedTask, lay_out

ROUNDS = 3


def bare(layout: PreparedTask) -> None:
    """The floor: copy, apply, run pytest as ourselves, believe its exit code. No isolation, no second look."""
    with tempfile.TemporaryDirectory() as place:
        tree = Path(place, "repo")
        shutil.copytree(layout.base, tree)
        subprocess.run(["git", "apply", str(layout.folder.solution / "changes.diff")], cwd=tree, check=True)
        roots = ":".join(str(tree / part) for part in layout.folder.task.environment.path)
        tests = shutil.copytree(layout.folder.tests, Path(place, "tests"))
        python = str(layout.environment / "bin/python")
        done = subprocess.run(
            [python, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tests)],
            cwd=place,
            env={"PYTHONPATH": roots},
            stdout=subprocess.DEVNULL,
            check=False,
        )
        assert done.returncode == 0, layout.folder.task.id


def rate(action: Callable[[PreparedTask], None], layouts: list[PreparedTask], workers: int) -> float:
    """Verdicts per second."""
    work = layouts * ROUNDS
    started = time.perf_counter()
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(action, work))
    return len(work) / (time.perf_counter() - started)


def main() -> None:
    """Print rates for one and two workers."""
    cache = Cache()
    sandbox = open_sandbox("namespaces", cache)
    suite = find_suite("starter")
    layouts = [lay_out(t, suite.repositories, cache, sandbox) for t in suite.tasks if t.task.kind is TaskKind.EDIT]

    def isolated(layout: PreparedTask, name: str = "solution") -> None:
        diff = (layout.folder.solution / "changes.diff").read_bytes() if name == "solution" else WRONG
        verdict = grade_edit(layout.folder, diff, sandbox, base=layout.base, environment=layout.environment)
        assert (verdict.outcome is Outcome.PASSED) == (name == "solution"), (layout.folder.task.id, verdict.comments)

    print(f"verdicts per second, {len(layouts)} edit tasks x {ROUNDS}; baseline: copy, apply, pytest, unprotected")
    for workers in (1, 2):
        floor = rate(bare, layouts, workers)
        passing = rate(isolated, layouts, workers)
        failing = rate(lambda layout: isolated(layout, "wrong"), layouts, workers)
        print(f"  {workers} workers: baseline {floor:5.2f}/s;"
              f" solutions (graded twice, the second a canary) {passing:5.2f}/s = {passing / floor:4.2f} x;"
              f" wrong patches {failing:5.2f}/s = {failing / floor:4.2f} x")  # fmt: skip


WRONG = b"""diff --git a/unrelated_note.txt b/unrelated_note.txt
new file mode 100644
--- /dev/null
+++ b/unrelated_note.txt
@@ -0,0 +1 @@
+nothing of use
"""

if __name__ == "__main__":
    main()
