"""What the tests of the service share: a PostgreSQL server of their own, queues in both databases, an application."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from postgres import cluster, postgres
from repoassay.db import Database
from repoassay.engine.grading_context import GradingContext
from repoassay.engine.submit import SubmissionEngine
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.server.queue import Queue, open_queue_database
from repoassay.server.service import Guards, Service
from repoassay.tasks import TaskFolder
from repoassay.tasks.suite import find_suite
from repoassay.tasks.suite_location import locate

__all__ = ["bench", "cluster", "database", "engine", "postgres", "queue", "service", "tasks"]


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """A fresh database of each kind."""
    given = str(tmp_path / "queue.sqlite") if request.param == "sqlite" else request.getfixturevalue("postgres")
    found = open_queue_database(given, tmp_path, "queue")
    yield found
    found.close()


@pytest.fixture
def queue(database: Database) -> Queue:
    """A fresh queue in each kind of database."""
    return Queue(database)


@pytest.fixture(scope="session")
def tasks() -> dict[str, TaskFolder]:
    """The starter suite's ledger tasks, which are quick."""
    suite = find_suite("starter", only=("edit-ledger-*",))
    return {folder.task.id: folder for folder in suite.tasks}


@pytest.fixture(scope="session")
def bench() -> GradingContext:
    """Where they are judged."""
    cache = Cache()
    return GradingContext(locate("starter").repositories, cache, open_sandbox("namespaces", cache))


@pytest.fixture(scope="session")
def engine(tasks: dict[str, TaskFolder], bench: GradingContext) -> Iterator[SubmissionEngine]:
    """An engine on these tasks; not for whoever stops its workers."""
    with SubmissionEngine(tasks, bench) as found:
        yield found


@pytest.fixture
def service(engine: SubmissionEngine, tmp_path: Path) -> Iterator[Service]:
    """A service whose workers were never started, so that what is accepted waits."""
    database = open_queue_database(None, tmp_path, "queue")
    yield Service(Queue(database), engine, Guards())
    database.close()
