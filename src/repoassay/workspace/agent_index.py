"""The package index of an agent that is to change a repository: without that project, and of the task's day.

What was published after that day may hold the change that the task asks for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import date
from pathlib import Path

from repoassay.errors import InfraFault
from repoassay.package_proxy import Indexes
from repoassay.sandbox import Cache
from repoassay.text import normalize_name
from repoassay.types import Repository, Task
from repoassay.workspace.build_index.relay import Relay
from repoassay.workspace.build_index.rules import IndexRequest, IndexRules, day_of
from repoassay.workspace.build_index.store import Store
from repoassay.workspace.build_index.upstream import IndexUpstream
from repoassay.workspace.git import moment_of, run_git
from repoassay.workspace.preparation import PreparedTask
from repoassay.workspace.project_names import project_names

__all__ = ["base_day", "relay_for_agent"]

_DAY = re.compile(r"(?<![\d-])(?:19|20)\d\d-\d\d-\d\d(?![\d-])")
_SIMPLE = "application/vnd.pypi.simple.v1+json"


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


def base_day(task: Task, cache: Cache, indexes: Indexes, store: Store) -> date | None:
    """The last day of which an agent of a task may see packages; None where nothing tells it.

    In this order: the environment's `exclude_newer`; when the base commit was made, for repositories in git; when the
    release was uploaded, for those of an index; the earliest date that the provenance names.

    Raises:
        InfraFault: The repository, or the index, tells it and cannot be asked.
    """
    if task.environment.exclude_newer is not None:
        return date.fromisoformat(task.environment.exclude_newer)
    kind = task.repository.source.partition(":")[0]
    if kind == "git":
        return _commit_day(task.repository, cache)
    found = _release_day(kind, task.repository, indexes, store) if kind in ("pypi", "npm") else None
    return found or min(_days(task.provenance), default=None)


def _days(text: str) -> list[date]:
    found = []
    for each in _DAY.findall(text):
        try:
            found.append(date.fromisoformat(each))
        except ValueError:
            continue
    return found


def _commit_day(repository: Repository, cache: Cache) -> date:
    """When the commit was made; asked once, since a checkout keeps nothing of it."""
    revision = repository.revision
    assert revision is not None

    def build(part: Path) -> None:
        git = part / "git"
        git.mkdir()
        run_git(git, "init", "--quiet", "--bare", "--template=")
        url = repository.source.removeprefix("git:")
        how = ("--quiet", "--depth=1", "--no-tags", "--filter=tree:0")
        run_git(git, "fetch", *how, "--", url, revision, seconds=1800)  # a stranger's URL may begin with a dash
        made = moment_of(run_git(git, "log", "-1", "--format=%ct", revision))
        (part / "day").write_text(made.date().isoformat())

    return date.fromisoformat((cache.entry("days", revision, build) / "day").read_text())


def _release_day(kind: str, repository: Repository, indexes: Indexes, store: Store) -> date | None:
    """When the release was uploaded; None where the index does not tell."""
    name, _, version = repository.source.partition(":")[2].rpartition("==")
    if kind == "npm":
        page = _page(store, f"{indexes.node.rstrip('/')}/{name.replace('/', '%2f')}", "application/json")
        times = page.get("time")
        return day_of(str(times.get(version) or "")) if isinstance(times, dict) else None
    page = _page(store, f"{indexes.python.rstrip('/')}/{normalize_name(name)}/", _SIMPLE)
    files = page.get("files")
    for item in files if isinstance(files, list) else ():
        if isinstance(item, dict) and (item.get("hashes") or {}).get("sha256") == repository.sha256:
            return day_of(str(item.get("upload-time") or ""))
    return None


def _page(store: Store, url: str, accept: str) -> dict[str, object]:
    kind, body = store.page(url, accept)
    if "json" not in kind:
        return {}
    try:
        document = json.loads(body)
    except ValueError as error:
        raise InfraFault(f"The index answers {url} with what is not JSON.") from error
    return document if isinstance(document, dict) else {}
