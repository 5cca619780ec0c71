"""The agent `reference`: does the task as its author did. The only one that is ever shown `solution/`."""

from __future__ import annotations

from repoassay.agents.protocol import in_workspace
from repoassay.model import Kind, Limits
from repoassay.workspace import Command, FileEdit, Layout

__all__ = ["ReferenceAgent"]


class ReferenceAgent:
    """Applies `solution/changes.diff` (edit) or runs `solution/solve.py` (deliverable)."""

    name = "reference"

    def command(self, layout: Layout, limits: Limits) -> Command:
        """The command for one task."""
        solution = layout.folder.solution
        files = {
            f"/run/solution/{path.relative_to(solution).as_posix()}": FileEdit(path.read_bytes())
            for path in sorted(solution.rglob("*"))
            if path.is_file() and "__pycache__" not in path.parts
        }
        if layout.folder.task.kind is Kind.EDIT:
            apply = ("git", "-C", "/workspace/repo", "apply", "--whitespace=nowarn", "/run/solution/changes.diff")
            return in_workspace(layout, limits, apply, edits=files)
        return in_workspace(layout, limits, ("/env/bin/python", "-B", "/run/solution/solve.py"), edits=files)
