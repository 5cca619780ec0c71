"""Who does the work: each agent says which command to run in a task's workspace.

Knows the workspace; not how submissions are graded or stored.
"""

from __future__ import annotations

from repoassay.agents.find import agent_kind, agent_titles, find_agent
from repoassay.agents.protocol import Agent

__all__ = ["Agent", "agent_kind", "agent_titles", "find_agent"]
