"""Where work happens: the cache of checkouts and environments, and the sandbox. The only room that starts processes.

Knows tasks and the model; not who works in a workspace, nor how what they leave is graded. Names are imported on
demand, since the launcher, which starts with every sandbox, passes through here.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as typing has it, without the price of importing typing
if TYPE_CHECKING:
    from repoassay.workspace.cache import Cache
    from repoassay.workspace.changes import changes_between
    from repoassay.workspace.commits import collect_git, read_left
    from repoassay.workspace.doors import open_door
    from repoassay.workspace.environment import build_environment
    from repoassay.workspace.layout import Layout, lay_out
    from repoassay.workspace.network import network_of, permitted
    from repoassay.workspace.probe import Finding, examine
    from repoassay.workspace.protocol import (
        Access,
        Collect,
        Command,
        Completed,
        Door,
        Mount,
        Network,
        Sandbox,
    )
    from repoassay.workspace.sandbox import ISOLATIONS, open_sandbox

_HOMES = {
    "Access": "protocol",
    "Cache": "cache",
    "Collect": "protocol",
    "Command": "protocol",
    "Completed": "protocol",
    "Door": "protocol",
    "Finding": "probe",
    "ISOLATIONS": "sandbox",
    "Layout": "layout",
    "Mount": "protocol",
    "Network": "protocol",
    "Sandbox": "protocol",
    "build_environment": "environment",
    "changes_between": "changes",
    "collect_git": "commits",
    "examine": "probe",
    "lay_out": "layout",
    "network_of": "network",
    "open_door": "doors",
    "open_sandbox": "sandbox",
    "permitted": "network",
    "read_left": "commits",
}

__all__ = [
    "ISOLATIONS",
    "Access",
    "Cache",
    "Collect",
    "Command",
    "Completed",
    "Door",
    "Finding",
    "Layout",
    "Mount",
    "Network",
    "Sandbox",
    "build_environment",
    "changes_between",
    "collect_git",
    "examine",
    "lay_out",
    "network_of",
    "open_door",
    "open_sandbox",
    "permitted",
    "read_left",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
