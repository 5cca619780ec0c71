"""One bench for all tests of signals, so that what runs on the base runs once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from repoassay.sandbox.cache import Cache
from repoassay.sandbox.namespaces import NamespaceSandbox
from repoassay.signals import Signal, ToolRunner, signals
from repoassay.types import Limits
from signals import projects

Signals = Callable[[Mapping[str, str]], dict[str, Signal]]


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> ToolRunner:
    limits = Limits(seconds=60, memory=2 * 2**30, output=16 * 2**20)
    sandbox = NamespaceSandbox(Cache(tmp_path_factory.mktemp("signals-cache")))
    return ToolRunner(sandbox=sandbox, limits=limits, suite_limits=limits)


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return projects.write(projects.base_files(), tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="session")
def found(bench: ToolRunner, base: Path, tmp_path_factory: pytest.TempPathFactory) -> Signals:
    """All signals on a head, by id; each head is looked at once."""
    files = projects.base_files()
    known: dict[str, dict[str, Signal]] = {}

    def run(head: Mapping[str, str]) -> dict[str, Signal]:
        key = repr(sorted(head.items()))
        if key not in known:
            tree = projects.write(head, tmp_path_factory.mktemp("head"))
            reference = projects.diff(files, projects.reference())
            every = signals(base, tree, projects.diff(files, head), reference, bench)
            known[key] = {each.id: each for each in every}
        return known[key]

    return run
