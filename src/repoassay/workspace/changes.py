"""What an agent changed in its repository, as a unified diff against the base commit."""

from __future__ import annotations

import tempfile
from pathlib import Path

from repoassay.workspace.git import run_git

__all__ = ["changes_between"]

_LITTER = """\
__pycache__/
*.pyc
.pytest_cache/
.mypy_cache/
.ruff_cache/
.hypothesis/
*.egg-info/
.aider*
"""
"""Left by tools and never a change anybody would submit, whatever the repository's own ignore file says."""


def changes_between(base: Path, tree: Path) -> bytes:
    """Return the diff from the commit in `base` (a checkout) to the files in `tree` (a copy without `.git`).

    The copy is hostile: its attributes, ignore files and links are data. Files the repository ignores are left out.

    Raises:
        InfraFault: When git fails.
    """
    with tempfile.TemporaryDirectory(prefix="repoassay-diff-") as scratch:
        litter = Path(scratch, "litter")
        litter.write_text(_LITTER)
        objects = Path(scratch, "objects")
        objects.mkdir()
        env = {
            "GIT_DIR": str(base / ".git"),
            "GIT_WORK_TREE": str(tree),
            "GIT_INDEX_FILE": str(Path(scratch, "index")),
            "GIT_OBJECT_DIRECTORY": str(objects),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(base / ".git/objects"),
        }
        run_git(tree, "read-tree", "HEAD", env=env)
        run_git(tree, "-c", f"core.excludesFile={litter}", "add", "--all", ".", env=env)
        return run_git(
            tree, "diff", "--cached", "--binary", "--full-index", "--no-renames", "--no-color", "--no-ext-diff",
            "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/", "HEAD", env=env,
        )  # fmt: skip
