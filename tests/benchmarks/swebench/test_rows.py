"""SWE-bench's rows as task folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from repoassay.benchmarks.swebench.rows import SweRow
from repoassay.errors import BadInput
from repoassay.formats.write_task import write_task
from repoassay.tasks import read_task

COMMIT = "0123456789" * 4
PATCH = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n"
SWE: dict[str, Any] = {
    "instance_id": "a__b-1",
    "repo": "a/b",
    "base_commit": COMMIT,
    "patch": PATCH,
    "test_patch": "diff --git a/tests/test_new.py b/tests/test_new.py\nnew file mode 100644\n--- /dev/null\n"
    "+++ b/tests/test_new.py\n@@ -0,0 +1,2 @@\n+def test_it():\n+    assert True\n",
    "problem_statement": "# It is not so\n\nMake it so.",
    "fail_to_pass": ("tests/test_new.py::test_it",),
}


def test_a_swe_row_whose_tests_are_new_files(tmp_path: Path) -> None:
    task = read_task(write_task(SweRow(**SWE), tmp_path)).task
    assert (task.id, task.title) == ("a__b-1", "It is not so")
    assert task.repository.source == "git:https://github.com/a/b"
    assert task.grading.tests is not None
    assert task.grading.tests.fail_to_pass == ("tests/test_new.py::test_it",)
    assert (tmp_path / "a__b-1/tests/tests/test_new.py").read_text() == "def test_it():\n    assert True\n"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"test_patch": PATCH.replace("x", "tests/test_new.py")}, "does not make 'tests/test_new.py' anew as text."),
        ({"test_patch": "nonsense"}, "its test_patch cannot be read: There is no unified diff in the patch."),
        ({"test_patch": SWE["test_patch"].replace("tests/test_new.py", "../x.py")}, "its test_patch cannot be read"),
        ({"fail_to_pass": ("tests/test_old.py::test",)}, "are not in the files that its test_patch makes."),
        ({"fail_to_pass": ("test_it (tests.test_new)",)}, "are not in the files that its test_patch makes."),
        ({"pass_to_pass": ("tests/test_old.py::test",)}, "its tests tests/test_old.py::test are not"),
        ({"fail_to_pass": ()}, "fail_to_pass: Tuple should have at least 1 item"),
        ({"repo": "/etc"}, "is no URL of https, ssh or git."),
    ],
)
def test_swe_rows_that_cannot_be_tasks(changes: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        write_task(SweRow(**{**SWE, **changes}), tmp_path / "tasks")
    assert words in str(caught.value)
    assert not (tmp_path / "tasks").exists()
