"""Verdicts by the trace of a base: the same as by a run, given only where the base fails by its tests every time."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from repoassay.grading.base_trace.recording import BaseTraces
from repoassay.grading.base_trace.trace import BaseTrace
from repoassay.grading.edit import grade_edit
from repoassay.grading.hidden_tests.prefork import WarmPool
from repoassay.grading.oracle.oracle import Oracle
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.protocol import Sandbox
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.types import FileEdit, Limits, Outcome, Verdict
from repoassay.workspace.preparation import PreparedTask
from small_edits import small_edit

NOTE = b"--- /dev/null\n+++ b/unrelated_note.txt\n@@ -0,0 +1 @@\n+nothing of use\n"
REPOSITORY: dict[str, str | bytes | Path] = {
    "calc/__init__.py": "def add(a, b):\n    return a - b\n",
    "calc/apart.py": "x = 1\n",
    "README.md": "one\n",
    "scripts/tool.sh": "#!/bin/sh\n",
}
TESTS = "from calc import add\n\ndef test_add():\n    assert add(2, 3) == 5\n"
SOLUTION = """\
--- a/calc/__init__.py
+++ b/calc/__init__.py
@@ -1,2 +1,2 @@
 def add(a, b):
-    return a - b
+    return a + b
"""
MODULE = (
    b"--- a/calc/__init__.py\n+++ b/calc/__init__.py\n@@ -1,2 +1,3 @@\n def add(a, b):\n     return a - b\n+x = 1\n"
)
UNSEEN = {
    "note": NOTE,
    "readme": b"--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-one\n+two\n",
    "scratch": b"--- /dev/null\n+++ b/scratch/try_it.py\n@@ -0,0 +1 @@\n+import calc\n",
    "comment": b"--- a/calc/apart.py\n+++ b/calc/apart.py\n@@ -1 +1,2 @@\n x = 1\n+# more\n",
    "removed": b"--- a/calc/apart.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x = 1\n",
    "renamed": b"diff --git a/README.md b/README.rst\nsimilarity index 100%\n"
    b"rename from README.md\nrename to README.rst\n",
    "mode": b"diff --git a/scripts/tool.sh b/scripts/tool.sh\nold mode 100755\nnew mode 100644\n",
    "shadowed": b"--- /dev/null\n+++ b/calc.py\n@@ -0,0 +1 @@\n+add = max\n",
    "conftest": b"--- /dev/null\n+++ b/conftest.py\n@@ -0,0 +1 @@\n+raise SystemExit\n",
}
SEEN = {
    "module": MODULE,
    "library": b"--- /dev/null\n+++ b/calc/__init__.so\n@@ -0,0 +1 @@\n+x\n",
    "byte_code": b"--- /dev/null\n+++ b/apart/__pycache__/x.txt\n@@ -0,0 +1 @@\n+x\n",
    "distribution": b"--- /dev/null\n+++ b/calc-1.dist-info/METADATA\n@@ -0,0 +1 @@\n+Name: calc\n",
    "large": b"--- /dev/null\n+++ b/large.txt\n@@ -0,0 +1 @@\n+" + b"x" * 2**20 + b"x\n",
    "both": NOTE + MODULE,
}  # fmt: skip

Grade = Callable[[PreparedTask, bytes, BaseTraces | None], Verdict]


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    return open_sandbox("namespaces", Cache())


@pytest.fixture(scope="module")
def grade(sandbox: Sandbox) -> Iterator[Grade]:
    oracle = Oracle(Cache(), sandbox)
    with WarmPool(Cache(), slots=2, limits=Limits(seconds=60, memory=2**30, disk=2**28)) as pool:
        yield lambda task, diff, traces: grade_edit(
            task.folder, diff, sandbox, base=task.base, environment=task.environment, oracle=oracle, pool=pool,
            traces=traces,
        )  # fmt: skip
    oracle.close()


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory, sandbox: Sandbox) -> PreparedTask:
    return small_edit(tmp_path_factory.mktemp("task"), sandbox, REPOSITORY, TESTS, ["test_add"], solution=SOLUTION)


@pytest.fixture(scope="module")
def traces() -> BaseTraces:
    return BaseTraces(Cache())


@pytest.mark.parametrize("name", [*UNSEEN, *SEEN])
@pytest.mark.long
def test_the_verdict_is_that_of_a_run(task: PreparedTask, grade: Grade, traces: BaseTraces, name: str) -> None:
    patch = {**UNSEEN, **SEEN}[name]
    run, traced = grade(task, patch, None), grade(task, patch, traces)
    assert run.basis == "run"
    assert traced.basis == ("base_trace" if name in UNSEEN else "run"), traced.comments
    assert traced.outcome is run.outcome is Outcome.FAILED
    assert (traced.process, traced.result) == (run.process, run.result) == (True, False)
    assert [(test.id, test.outcome) for test in traced.tests] == [(test.id, test.outcome) for test in run.tests]
    said = [comment for comment in traced.comments if comment.startswith("The tests never look at")]
    assert bool(said) == (name in UNSEEN)
    assert [comment for comment in traced.comments if comment not in said] == list(run.comments)


def test_what_is_changed_is_named(task: PreparedTask, grade: Grade, traces: BaseTraces) -> None:
    said = grade(task, NOTE, traces).comments[0]
    assert said == (
        "The tests never look at what this patch changes: unrelated_note.txt; they fail as they do on the base."
    )


def test_what_does_not_apply_or_passes_is_as_ever(task: PreparedTask, grade: Grade, traces: BaseTraces) -> None:
    broken = NOTE + UNSEEN["readme"].replace(b"-one", b"-three")
    right = SOLUTION.encode()
    for patch, outcome in (
        (b"", Outcome.NO_OUTPUT),
        (broken, Outcome.PATCH_FAILED),
        (right, Outcome.PASSED),
        (NOTE + right, Outcome.PASSED),
    ):
        run, traced = grade(task, patch, None), grade(task, patch, traces)
        assert traced.outcome is run.outcome is outcome
        assert traced.comments == run.comments
        assert traced.basis == "run"


def test_a_time_limit_that_the_base_hardly_keeps_is_tried(task: PreparedTask, grade: Grade, traces: BaseTraces) -> None:
    tests = task.folder.task.grading.tests
    assert tests
    grading = task.folder.task.grading.model_copy(update={"tests": tests.model_copy(update={"seconds": 0.01})})
    hasty = replace(task, folder=replace(task.folder, task=task.folder.task.model_copy(update={"grading": grading})))
    assert grade(task, NOTE, traces).basis == "base_trace"
    assert grade(hasty, NOTE, traces).basis == "run"


ODD = {
    "passes": ("def test_add():\n    assert True\n", "nothing is recorded where nothing fails"),
    "changes": (
        "import os\n\ndef test_add():\n    assert False\n\n"
        + "".join(f"def test_{number}():\n    assert os.urandom(1) < b'\\x80'\n\n" for number in range(30)),
        "came to",
    ),
    "ends": ("import os\n\ndef test_add():\n    os._exit(3)\n", "do not simply fail"),
    "folder_time": (
        "import os\n\ndef test_add():\n    place = '/workspace/repo/scripts'\n"
        "    assert os.stat(place).st_mtime > os.stat(f'{place}/tool.sh').st_mtime + 1\n",
        "without what they did not look at",
    ),
    "folder_listed": (
        "import os\n\ndef test_add():\n    assert 'note' in str(os.listdir('/workspace/repo'))\n", "",
    ),
    "git": (
        "import subprocess\n\ndef test_add():\n    git = ['git', '-c', 'safe.directory=*', 'status', '--porcelain']\n"
        "    assert b'note' in subprocess.check_output(git, cwd='/workspace/repo')\n", "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
@pytest.mark.long
def test_a_base_that_proves_nothing_decides_nothing(
    tmp_path: Path, sandbox: Sandbox, grade: Grade, traces: BaseTraces, name: str
) -> None:
    text, reason = ODD[name]
    ids = re.findall(r"def (\w+)", text)
    repository = {**REPOSITORY, "name.txt": name}
    task = small_edit(tmp_path, sandbox, repository, text, ids, solution=NOTE.decode())
    for place in ("scripts", "scripts/tool.sh"):
        os.utime(task.base / place, (0, 0))  # as in a base that was laid out long ago
    without = BaseTraces(Cache())
    with WarmPool(Cache(), slots=1, limits=Limits(seconds=60, memory=2**30, disk=2**28)) as pool:
        first, verdict = (
            grade_edit(task.folder, patch, sandbox, base=task.base, environment=task.environment, pool=pool,
                       traces=without)
            for patch in (NOTE.replace(b"unrelated_note", b"other"), NOTE)
        )  # fmt: skip
    assert first.basis == verdict.basis == "run"
    if name == "passes":
        assert verdict.outcome is Outcome.PASSED
        assert without.recorded == {}
        return
    (trace,) = without.recorded.values()
    assert reason in trace.unusable
    if not reason:
        assert trace.unusable == ""
        assert "" in trace.listed
        assert (first.outcome, verdict.outcome) == (Outcome.FAILED, Outcome.PASSED)


def test_no_trace_decides_about_nothing_or_too_much() -> None:
    trace = BaseTrace(looked=("a.py",), absent=("b",), listed=("lists",), wall=1.0)
    assert trace.decides({"c.py": FileEdit(b"")}, 6)
    assert not trace.decides({"c.py": FileEdit(b"")}, 4.9)
    assert not trace.decides({}, 6)
    assert not trace.decides({"a.py": None}, 6)
    assert not trace.decides({"b/c": FileEdit(b"")}, 6)
    assert not trace.decides({"lists/deep/c": FileEdit(b"")}, 6)
    assert not trace.decides({"c.py": FileEdit(b""), "a.py": FileEdit(b"")}, 6)
    assert not trace.decides({"Foo.EGG-INFO/x": FileEdit(b"")}, 6)
    assert not trace.decides({f"c{number}": FileEdit(b"") for number in range(1001)}, 6)
    assert not BaseTrace(unusable="it was not recorded").decides({"c.py": FileEdit(b"")}, 6)
    assert not BaseTrace(listed=("",)).decides({"c.py": FileEdit(b"")}, 6)
