"""What other programs load of us, each by an interface of its own: pytest, editors and agents, and harnesses of others.

`pytest_plugin` is imported by every pytest where we are installed, so it imports nothing; `task_items` is what it
loads when a suite is named. `inspect_extension` is a room of its own, for Inspect. Knows the public face and what
lies below it; each module imports the one program it serves, and nobody imports it but that program and the command
line.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.integrations.mcp_server import ToolDesk as ToolDesk, serve_mcp as serve_mcp
else:
    __getattr__, __dir__ = attach(__name__)
