"""A task of one module and one file of tests, laid out, and its tests run in one of the ways in which they are run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import repoassay
from repoassay.grading.hidden_tests.prefork import WarmPool
from repoassay.grading.hidden_tests.run import run_hidden
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.tasks.suite import find_suite
from repoassay.types import FileEdit
from repoassay.workspace.preparation import PreparedTask, lay_out

REQUIREMENTS = (
    Path(repoassay.__file__).parent / "benchmarks/starter/suite/tasks/edit-ledger-monthly/environment/requirements.txt"
)
DOCUMENT = """\
schema = 1
[task]
id = "two-ways"
title = "Two ways"
kind = "edit"
domain = "Tests"
[repository]
source = "bundled:ways"
licence = "MIT"
[environment]
requirements = "environment/requirements.txt"
[grading.tests]
fail_to_pass = ["test_it.py::test_it"]
pass_to_pass = []
seconds = 20
"""


def laid_out(suite: Path, repository: Mapping[str, str], tests: str) -> PreparedTask:
    """The task, written below a folder."""
    files = {f"repositories/ways/{name}": text for name, text in repository.items()} | {
        "tasks/two-ways/task.toml": DOCUMENT,
        "tasks/two-ways/instruction.md": "Answer.",
        "tasks/two-ways/environment/requirements.txt": REQUIREMENTS.read_text(),
        "tasks/two-ways/tests/test_it.py": tests,
        "tasks/two-ways/solution/changes.diff": "--- a/ways.py\n+++ b/ways.py\n@@ -1 +1 @@\n-x\n+y\n",
        "suite.toml": 'schema = 1\n[suite]\nname = "ways"\nversion = "1"\ntitle = "Ways"\n',
    }
    for name, content in files.items():
        (suite / name).parent.mkdir(parents=True, exist_ok=True)
        (suite / name).write_text(content)
    found = find_suite(str(suite))
    return lay_out(found.tasks[0], found.repositories, Cache(), open_sandbox("namespaces", Cache()))


def words(
    task: PreparedTask, edits: Mapping[str, str], *tests: str, direct: bool, pool: WarmPool | None = None
) -> dict[str, str]:
    """What each test came to."""
    run = run_hidden(
        task.folder, task.base, {name: FileEdit(text.encode()) for name, text in edits.items()},
        open_sandbox("namespaces", Cache()), task.environment,
        ids=tuple(f"test_it.py::{test}" for test in tests), direct=direct, pool=pool,
    )  # fmt: skip
    return {test.id.partition("::")[2]: test.outcome for test in run.report.tests}
