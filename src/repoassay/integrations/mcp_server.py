"""A server of the Model Context Protocol over standard input and output, by its own SDK (the extra `mcp`)."""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Callable
from typing import Any

import repoassay
from repoassay.errors import MissingExtra, RepoAssayError
from repoassay.integrations.mcp_tools import ToolDesk

__all__ = ["serve_mcp"]

_INSTRUCTIONS = (
    "RepoAssay judges changes of repositories by hidden tests. List tasks, read one, write a unified diff against its "
    "repository, submit it, and read the verdict. Runs of agents can be looked at where a folder of them was named."
)


def serve_mcp(desk: ToolDesk) -> None:
    """Answer one client over standard input and output until it leaves.

    Raises:
        MissingExtra: The SDK is not installed.
    """
    try:
        from mcp.server import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
        from mcp.types import ToolAnnotations
    except ModuleNotFoundError as error:
        raise MissingExtra((error.name or "mcp").partition(".")[0], "mcp") from None
    logging.getLogger("mcp").setLevel(logging.WARNING)
    server = MCPServer("repoassay", version=repoassay.__version__, instructions=_INSTRUCTIONS, log_level="WARNING")
    reading = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    judging = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
    tools: list[Callable[..., Any]] = []
    tools += [desk.list_tasks, desk.show_task, desk.submit_patch] if desk.has_tasks else []
    tools += [desk.list_runs, desk.show_run, desk.show_verdict] if desk.has_runs else []
    for tool in tools:
        wrapped = _sentence_errors(tool, ToolError)
        server.add_tool(wrapped, annotations=judging if tool == desk.submit_patch else reading)
    server.run("stdio")


def _sentence_errors(tool: Callable[..., Any], error_class: type[Exception]) -> Callable[..., Any]:
    """The tool, whose errors are sentences to the client; what nobody foresaw the SDK logs, and does not tell."""
    if inspect.iscoroutinefunction(tool):

        @functools.wraps(tool)
        async def waited_for(*args: Any, **named: Any) -> Any:
            try:
                return await tool(*args, **named)
            except RepoAssayError as error:
                raise error_class(str(error)) from None

        return waited_for

    @functools.wraps(tool)
    def called(*args: Any, **named: Any) -> Any:
        try:
            return tool(*args, **named)
        except RepoAssayError as error:
            raise error_class(str(error)) from None

    return called
