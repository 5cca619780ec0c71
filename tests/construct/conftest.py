"""What the tests of construct share: a small repository, and where its tests run."""

from __future__ import annotations

from pathlib import Path

import pytest

from construct.making import Repo, make_shop
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.protocol import Sandbox
from repoassay.sandbox.sandbox import open_sandbox


@pytest.fixture
def shop(tmp_path: Path) -> Repo:
    """Two commits: the second adds a function and a test of it."""
    return make_shop(tmp_path / "shop")


@pytest.fixture(scope="session")
def cache() -> Cache:
    """The cache in force, so that environments are built once."""
    return Cache()


@pytest.fixture(scope="session")
def sandbox(cache: Cache) -> Sandbox:
    """The real one."""
    return open_sandbox("namespaces", cache)
