"""The day a task is of, by what tells it best."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from repoassay.errors import InfraFault
from repoassay.package_proxy.indexes import Indexes
from repoassay.sandbox.cache import Cache
from repoassay.types import Task
from repoassay.workspace.agent_index import base_day
from repoassay.workspace.build_index.store import Store
from repoassay.workspace.build_index.upstream import IndexUpstream
from workspace.build_index.index import Index, serving


@pytest.fixture
def index() -> Iterator[Index]:
    with serving(Index()) as made:
        yield made


def day(index: Index, tmp_path: Path, repository: dict[str, Any], **more: Any) -> date | None:
    told = {
        "id": "a", "title": "A task", "kind": "edit", "domain": "Software",
        "repository": {"licence": "MIT", **repository},
        "grading": {"tests": {"fail_to_pass": ["test_a.py::test_a"]}}, **more,
    }  # fmt: skip
    cache = Cache(tmp_path / "cache")
    indexes = Indexes(python=index.url, node=f"http://127.0.0.1:{index.port}")
    return base_day(Task.model_validate(told), cache, indexes, Store(cache, IndexUpstream({})))


def commit(folder: Path) -> str:
    """A repository of one commit, made late on 2019-03-04 west of Greenwich; its id."""
    folder.mkdir()
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@localhost"]
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "GIT_COMMITTER_DATE": "2019-03-04T23:30:00-0500"}
    subprocess.run([*git, "init", "-q"], check=True, env=env)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "base", "--date=2018-01-01"], check=True, env=env)
    return subprocess.run(
        [*git, "rev-parse", "HEAD"], check=True, env=env, capture_output=True, text=True
    ).stdout.strip()


def test_what_the_environment_says_comes_first(index: Index, tmp_path: Path) -> None:
    found = day(index, tmp_path, {"source": "folder:x"}, environment={"exclude_newer": "2020-02-03"},
                provenance="of 2019-01-01")  # fmt: skip
    assert found == date(2020, 2, 3)


def test_a_commit_is_of_the_day_it_was_made_in_utc_and_asked_once(index: Index, tmp_path: Path) -> None:
    source = {"source": f"git:{tmp_path / 'origin'}", "revision": commit(tmp_path / "origin")}
    assert day(index, tmp_path, source) == date(2019, 3, 5)
    (tmp_path / "origin").rename(tmp_path / "gone")
    assert day(index, tmp_path, source) == date(2019, 3, 5)
    with pytest.raises(InfraFault):
        day(index, tmp_path / "elsewhere", source)


def test_a_url_that_is_an_option_of_git_runs_nothing(index: Index, tmp_path: Path) -> None:
    source = {"source": f"git:--upload-pack=touch '{tmp_path / 'ran'}';", "revision": "a" * 40}
    with pytest.raises(InfraFault):
        day(index, tmp_path, source)
    assert not (tmp_path / "ran").exists()


def test_a_release_is_of_the_day_it_was_uploaded(index: Index, tmp_path: Path) -> None:
    index.dated("click", {"click-8.0.tar.gz": "2021-05-11T20:00:00Z", "click-8.1.tar.gz": "2022-03-28T00:00:00Z"})
    (digest,) = [item["hashes"]["sha256"] for item in json.loads(index.pages["/simple/click/"])["files"]
                 if item["filename"] == "click-8.0.tar.gz"]  # fmt: skip
    assert day(index, tmp_path, {"source": "pypi:Click==8.0", "sha256": digest}) == date(2021, 5, 11)
    index.pages["/p-queue"] = json.dumps({"time": {"6.0.0": "2019-08-01T00:00:00Z"}}).encode()
    index.kinds["/p-queue"] = "application/json"
    assert day(index, tmp_path, {"source": "npm:p-queue==6.0.0", "sha256": "0" * 64}) == date(2019, 8, 1)


def test_else_the_earliest_date_of_the_provenance_and_without_one_none(index: Index, tmp_path: Path) -> None:
    said = "change abc of 2021-04-05, taken 2026-01-01 (not 2021-99-99, 1234-2021-01-01)"
    assert day(index, tmp_path, {"source": "folder:x"}, provenance=said) == date(2021, 4, 5)
    assert day(index, tmp_path, {"source": "folder:x"}, provenance="written for the tests") is None
