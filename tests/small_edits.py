"""Small edit tasks made on the spot: a repository, hidden tests, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import repoassay
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.protocol import Sandbox
from repoassay.tasks.suite import find_suite
from repoassay.workspace.preparation import PreparedTask, lay_out

__all__ = ["small_edit"]

_REQUIREMENTS = (
    Path(repoassay.__file__).parent / "benchmarks/starter/suite/tasks/edit-ledger-monthly/environment/requirements.txt"
)
_DOCUMENT = """\
schema = 1
[task]
id = "{name}"
title = "A small edit"
kind = "edit"
domain = "Tests"
[repository]
source = "bundled:base"
licence = "MIT"
[environment]
requirements = "environment/requirements.txt"
[grading.tests]
fail_to_pass = {ids}
seconds = {seconds}
[limits]
memory = "512 MB"
"""
_NOTE = "--- /dev/null\n+++ b/note.txt\n@@ -0,0 +1 @@\n+nothing of use\n"


def small_edit(
    place: Path, sandbox: Sandbox, repository: Mapping[str, str | bytes | Path], tests: str, ids: Sequence[str],
    *, seconds: float = 60, solution: str = _NOTE,
) -> PreparedTask:  # fmt: skip
    """Lay a task out whose tests are `tests/test_small.py`; a path in the repository is where a link leads."""
    for name, content in repository.items():
        path = place / "repositories/base" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Path):
            path.symlink_to(content)
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
            path.chmod(0o755 if name.endswith(".sh") else 0o644)
    listed = str([f"test_small.py::{name}" for name in ids]).replace("'", '"')
    files = {
        "suite.toml": 'schema = 1\n[suite]\nname = "small"\nversion = "1"\ntitle = "Small"\n',
        "tasks/small/task.toml": _DOCUMENT.format(name="small", ids=listed, seconds=seconds),
        "tasks/small/instruction.md": "Make the tests pass.",
        "tasks/small/environment/requirements.txt": _REQUIREMENTS.read_text(),
        "tasks/small/tests/test_small.py": tests,
        "tasks/small/solution/changes.diff": solution,
    }
    for name, text in files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = find_suite(str(place))
    return lay_out(found.tasks[0], found.repositories, Cache(), sandbox)
