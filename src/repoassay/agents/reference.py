"""The agent `reference`: does the task as its author did. The only one that is ever shown `solution/`."""

from __future__ import annotations

import json
import os
import sys
import sysconfig
from pathlib import Path

from repoassay.agents.protocol import AgentKind, in_workspace, plain_name
from repoassay.sandbox import Command, Mount
from repoassay.tasks import TaskFolder
from repoassay.types import FileEdit, Limits, TaskKind
from repoassay.workspace import PreparedTask

__all__ = ["ReferenceAgent"]

_START = "import sys, runpy; sys.path[:0] = sys.argv[2:]; runpy.run_path(sys.argv[1], run_name='__main__')"
_PROPOSE = """\
cd /workspace/repo
git switch --quiet --create proposal
git update-index -q --refresh
git apply --index --whitespace=nowarn /run/solution/changes.diff
sed -e '1s/^#* *//' /run/solution/description.md | git commit --quiet --no-verify --file=-
cp /run/solution/description.md /workspace/output/PULL_REQUEST.md
"""
"""What a person does who proposes a change: a branch, a commit, a description."""
_APPLY_STATE = ("git", "-C", "/", "apply", "--unsafe-paths", "--whitespace=nowarn", "/run/solution/changes.diff")


class ReferenceAgent:
    """Applies `solution/changes.diff` (edit; a pull request is committed and described too).

    For deliverables it runs `solution/solve.py` or `solution/make.py`.

    `solve.py` works in the workspace as an agent does. `make.py`, which tasks of published benchmarks have, makes
    reference outputs out of inputs and ground truth with the libraries graders use, and needs no repository.
    """

    name = "reference"
    kind = AgentKind(takes_model=False)
    title = "runs the task's own solution; must pass every task"

    def needs_workspace(self, folder: TaskFolder) -> bool:
        """All but `make.py` does."""
        return not (folder.solution / "make.py").is_file()

    def command(self, layout: PreparedTask, limits: Limits) -> Command:
        """The command for one task."""
        solution = layout.folder.solution
        files: dict[str, FileEdit | None] = {
            f"/run/solution/{path.relative_to(solution).as_posix()}": FileEdit(path.read_bytes(), path.suffix == ".sh")
            for path in sorted(solution.rglob("*"))
            if path.is_file() and "__pycache__" not in path.parts
        }
        if "/run/solution/solve.sh" in files:
            return _solve(layout, limits, files)
        if layout.folder.task.state:
            return in_workspace(layout, limits, _APPLY_STATE, edits=files)
        if layout.folder.task.kind is TaskKind.EDIT:
            apply = ("git", "-C", layout.repository, "apply", "--whitespace=nowarn", "/run/solution/changes.diff")
            return in_workspace(layout, limits, apply, edits=files)
        if layout.folder.task.kind is TaskKind.PULL_REQUEST:
            return in_workspace(layout, limits, ("/bin/sh", "-e", "-c", _PROPOSE), edits=files)
        if "/run/solution/make.py" in files:
            return _make(layout, limits, files)
        return in_workspace(layout, limits, ("/env/bin/python", "-B", "/run/solution/solve.py"), edits=files)


def _solve(layout: PreparedTask, limits: Limits, files: dict[str, FileEdit | None]) -> Command:
    """Run `solve.sh` by what its first line names, else bash; it finds its own folder at /solution too."""
    edits = {**files, **{f"/{place.removeprefix('/run/')}": edit for place, edit in files.items()}}
    return in_workspace(layout, limits, ("/bin/bash", "-c", '"$0"', "/solution/solve.sh"), edits=edits)


def _make(layout: PreparedTask, limits: Limits, files: dict[str, FileEdit | None]) -> Command:
    """Run `make.py`, told its folders by standard input: inputs, truth, output, and the names expected."""
    folder = layout.folder
    libraries = list(dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib")))
    mounts = [Mount(Path(path), path) for path in libraries]
    truth = folder.tests
    if truth.is_dir():
        mounts.append(Mount(truth, "/run/truth"))
    facts = {
        "inputs": "/workspace/inputs",
        "truth": "/run/truth",
        "output": "/workspace/output",
        "names": [plain_name(pattern) for pattern in folder.task.outputs.files],
    }
    argv = (os.path.realpath(sys.executable), "-I", "-S", "-B", "-c", _START, "/run/solution/make.py", *libraries)
    return in_workspace(
        layout, limits, argv, stdin=json.dumps(facts).encode(), mounts=tuple(mounts), edits=files,
        env={"PYTHONPATH": "", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
