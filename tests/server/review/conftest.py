"""A run, a desk on it, and an application that answers."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from repoassay.review.database import open_database
from repoassay.server.review.blobs import Blobs
from repoassay.server.review.review_state import ReviewState
from server.review.samples import NOW, Person, answering, make_run

OWNER = "owner-token-owner-token-owner-token"


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now

    def forward(self, seconds: float) -> None:
        """Move on."""
        self.now += timedelta(seconds=seconds)


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of six pull requests by one agent."""
    return make_run(tmp_path_factory.mktemp("runs") / "one")


@pytest.fixture
def clock() -> Clock:
    """The application's clock."""
    return Clock()


@pytest.fixture
def desk(run: Path, clock: Clock, tmp_path: Path) -> Iterator[ReviewState]:
    """An empty database and the run."""
    database = open_database(tmp_path / "reviews.sqlite")
    found = ReviewState(database, Blobs(tmp_path / "files"), owner=OWNER, runs=[run], clock=clock)
    yield found
    found.previews.close()
    database.close()


@pytest.fixture
def url(desk: ReviewState) -> Iterator[str]:
    """Where the application answers."""
    with answering(desk) as found:
        yield found


@pytest.fixture
def owner(url: str) -> Person:
    """Somebody who came by the owner's link."""
    return Person(url, f"/review/join/{OWNER}")
