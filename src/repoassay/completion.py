"""What a shell may complete: suites, tasks, agents and runs. Each only looks at names; nothing is read or run."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click
    from click.shell_completion import CompletionItem

__all__ = ["complete_agents", "complete_runs", "complete_suites", "complete_tasks"]

_MOST = 200
"""Runs offered, the newest first."""


def complete_suites(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Bundled suites and those of plug-ins; else folders."""
    from repoassay.tasks import named_suites

    return _starting(named_suites(), incomplete) or _paths(incomplete, "dir")


def complete_tasks(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Tasks of the suite that stands before on the line."""
    from repoassay.errors import RepoAssayError
    from repoassay.tasks import locate

    suite = context.params.get("suite")
    if not suite:
        return []
    try:
        return _starting((folder.name for folder in locate(str(suite)).folders), incomplete)
    except RepoAssayError:  # a suite still being typed has no tasks to offer, and a shell shows no sentence
        return []


def complete_agents(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Built-in agents and those of plug-ins, after the last comma; else files."""
    from repoassay import plugins
    from repoassay.agents import agent_titles

    before, comma, last = incomplete.rpartition(",")
    names = dict.fromkeys([*agent_titles(), *plugins.installed_plugins("repoassay.agents")])
    return _starting((f"{before}{comma}{name}" for name in names), incomplete) or _paths(last, "file")


def complete_runs(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """`latest`, and run folders below the folder of runs; else folders."""
    place = Path(str(context.params.get("runs") or "runs"))
    below = place if place.is_dir() else Path("runs")
    folders = sorted((path.parent for path in below.glob("*/run.json")), key=lambda path: path.name, reverse=True)
    names = ["latest", *(str(folder) for folder in folders[:_MOST])]
    return _starting(names, incomplete) or _paths(incomplete, "dir")


def _starting(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem  # only a shell that completes needs it

    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def _paths(incomplete: str, kind: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type=kind)]
