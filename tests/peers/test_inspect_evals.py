"""Inspect's own SWE-bench task runs in our sandbox, without Docker, and its own scorer counts what it should."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from peers.python import ROOT
from repoassay.workspace import release_lines  # noqa: F401  # asked by the mark, as a test starts
from swe_rows import patch_of

EVALS = os.environ.get("EVALS_PYTHON", "")
PLUG_IN = ("Inspect: sandbox of `inspect_evals/swe_bench`", "inspect-evals")
pytestmark = [
    pytest.mark.skipif(not EVALS, reason="run by `make test-peers`, which installs inspect_evals for it"),
    pytest.mark.skipif("'3.11' not in release_lines()", reason="no Python 3.11 to make environments of is here"),
    pytest.mark.timeout(900),
]
TEST_PATCH = """\
diff --git a/testing/test_it.py b/testing/test_it.py
--- a/testing/test_it.py
+++ b/testing/test_it.py
@@ -1,2 +1,5 @@
+from it import x
 def test_it():
-    assert True
+    assert x == 2
+def test_same():
+    assert x in (1, 2)
"""


def git(folder: Path, *words: str) -> str:
    line = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@localhost", *words]
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def supplies(tmp_path: Path) -> Path:
    """A data set of one row, its repository and its frozen environment."""
    repository = tmp_path / "mirrors" / "pytest-dev" / "pytest"
    (repository / "testing").mkdir(parents=True)
    (repository / "it.py").write_text("x = 1\n")
    setup = "from setuptools import setup\nsetup(name='it', version='1', py_modules=['it'])\n"
    (repository / "setup.py").write_text(setup)
    (repository / "testing" / "test_it.py").write_text("def test_it():\n    assert True\n")
    git(repository, "init", "-q")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "one")
    row = {
        "instance_id": "pytest-dev__pytest-1", "repo": "pytest-dev/pytest", "version": "7.2", "hints_text": "",
        "base_commit": git(repository, "rev-parse", "HEAD"), "patch": patch_of("it.py", "x = 1", "x = 2"),
        "test_patch": TEST_PATCH, "problem_statement": "x is wrong.", "environment_setup_commit": "",
        "FAIL_TO_PASS": '["testing/test_it.py::test_it"]', "PASS_TO_PASS": '["testing/test_it.py::test_same"]',
        "created_at": "2023-04-14T16:36:54Z",
    }  # fmt: skip
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "test.jsonl").write_text(json.dumps(row) + "\n")
    (tmp_path / "frozen").mkdir()
    frozen = "name: testbed\ndependencies:\n  - python=3.11.9=x_0\n  - pip:\n"
    for package in ("pytest==7.4.0", "pluggy==1.2.0", "iniconfig==2.0.0", "packaging==23.1"):
        frozen += f"      - {package}\n"
    (tmp_path / "frozen" / "pytest-dev__pytest-1.yml").write_text(frozen)
    return tmp_path


NOTHING = (
    "from inspect_ai.solver import solver\n@solver\ndef nothing():\n    async def solve(state, generate):\n        "
)
NOTHING += "return state\n    return solve\n"


@pytest.mark.parametrize(("right", "value"), [(True, 1.0), (False, 0.0)])
def test_its_scorer_counts_the_solution_and_not_nothing(supplies: Path, right: bool, value: float) -> None:
    (supplies / "nothing.py").write_text(NOTHING)
    solver = "inspect_evals/swe_bench_oracle_solver" if right else "nothing.py@nothing"
    program = (ROOT / EVALS).absolute().with_name("inspect")
    places = {"REPOASSAY_MIRRORS": "mirrors", "REPOASSAY_ENVIRONMENTS": "frozen", "HF_HUB_OFFLINE": "1"}
    words = ["inspect_evals/swe_bench", "-T", "dataset=rows", "-T", "sandbox_type=repoassay", "--solver", solver]
    options = ["--model", "none", "--display", "none", "--log-dir", "logs", "--log-format", "json"]
    done = subprocess.run(
        [program, "eval", *words, *options], cwd=supplies, capture_output=True, text=True, check=False,
        env={**os.environ, **places, "XDG_DATA_HOME": str(supplies), "XDG_CACHE_HOME": str(supplies / "cache")},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    (path,) = (supplies / "logs").glob("*.json")
    (sample,) = json.loads(path.read_text())["samples"]
    assert sample["scores"]["swe_bench_scorer"]["value"] == value, sample["scores"]
