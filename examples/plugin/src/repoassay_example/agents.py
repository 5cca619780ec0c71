"""An agent: one method is enough."""

from __future__ import annotations

from repoassay.types import Limits
from repoassay.workspace.preparation import PreparedTask


class Wrapper:
    """Wraps the lines of every input with the program `fold`."""

    def command(self, layout: PreparedTask, limits: Limits) -> str:
        """Return a line for the shell, run in the workspace: inputs/, output/, instruction.md."""
        names = {"notes.txt": "wrapped.txt"}
        return "; ".join(f"fold -s -w 72 inputs/{name} > output/{out}" for name, out in names.items())
