"""The package index of an agent that is to change a repository: without that project, and of the task's day."""

from __future__ import annotations

from collections.abc import Callable

from repoassay.package_proxy import Indexes
from repoassay.sandbox import Cache
from repoassay.workspace.base_day import base_day
from repoassay.workspace.build_index.relay import Relay
from repoassay.workspace.build_index.rules import IndexRequest, IndexRules
from repoassay.workspace.build_index.store import Store
from repoassay.workspace.build_index.upstream import IndexUpstream
from repoassay.workspace.preparation import PreparedTask
from repoassay.workspace.project_names import project_names

__all__ = ["relay_for_agent"]


def relay_for_agent(
    layout: PreparedTask, cache: Cache, indexes: Indexes, journal: Callable[[IndexRequest], None]
) -> Relay:
    """A relay of the configured indexes for one attempt; whoever opens it closes it.

    Args:
        layout: The task, whose base tree says what its project is called.
        cache: Where packages are kept by digest.
        indexes: The configured indexes.
        journal: Told of every request.

    Raises:
        InfraFault: The task's day cannot be found out.
    """
    task = layout.folder.task
    store = Store(cache, IndexUpstream(dict(indexes.logins), indexes.bundle))
    rules = IndexRules(
        newest=base_day(task, cache, indexes, store),
        refused=project_names(layout.base, task.repository, task.environment.path),
    )
    return Relay(indexes, store, rules, journal)
