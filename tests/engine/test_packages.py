"""What an agent with package access reaches: of tasks that change a repository, an index without that project."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.metering import mini
from repoassay.engine.packages import Packages
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.namespaces import NamespaceSandbox
from repoassay.sandbox.protocol import Command, SandboxNetwork
from repoassay.types import Environment, Limits, NetworkRule
from repoassay.workspace import PreparedTask
from workspace.build_index.index import Index, serving

PYTHON = str(Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}"))
OLD, NEW = "2020-05-17T00:00:00Z", "2021-01-01T00:00:00Z"
ASK = """
import json, os, sys, urllib.request
direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
told = {}
for name, url in json.loads(sys.argv[1]).items():
    opener = direct if url.startswith("$") else urllib.request.build_opener()
    try:
        told[name] = opener.open(os.path.expandvars(url), timeout=20).read().decode()
    except urllib.error.HTTPError as error:
        told[name] = f"{error.code} {error.read().decode()}"
    except Exception as error:
        told[name] = f"failed: {error}"
print(json.dumps(told))
"""
Asked = Callable[..., tuple[dict[str, str], list[dict[str, Any]]]]


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    with serving(Index()) as made:
        monkeypatch.setenv("UV_DEFAULT_INDEX", made.url)
        monkeypatch.setenv("npm_config_registry", f"http://127.0.0.1:{made.port}/")
        made.dated("sums", {"sums-1.0.tar.gz": OLD, "sums-2.0.tar.gz": NEW})
        made.dated("dep", {"dep-1.0.tar.gz": OLD, "dep-2.0.tar.gz": NEW})
        yield made


@pytest.fixture
def asked(tmp_path: Path) -> Asked:
    """What an agent of a task gets at some addresses, and what was journalled of it."""

    def ask(
        task: str, urls: dict[str, str], hosts: tuple[str, ...] = ()
    ) -> tuple[dict[str, str], list[dict[str, Any]]]:
        suite = mini(task)
        (folder,) = suite.tasks
        network = NetworkRule.model_construct(policy=None, hosts=hosts)
        own = folder.task.environment.model_copy(update={"exclude_newer": "2020-06-01"})
        assert isinstance(own, Environment)
        folder = replace(folder, task=folder.task.model_copy(update={"environment": own, "network": network}))
        cache, empty = Cache(tmp_path / "cache"), tmp_path / "empty"
        empty.mkdir()
        layout = PreparedTask(folder, suite.repositories / "sums" if suite.repositories else empty, empty, empty)
        sandbox = NamespaceSandbox(cache)
        with contextlib.ExitStack() as ends:
            found = Packages(ends).open(layout, cache, sandbox, SandboxNetwork.NONE, tmp_path / "network.jsonl", ends)
            argv = (PYTHON, "-c", ASK, json.dumps(urls))
            command = Command(argv=argv, env=dict(found.env), doors=found.doors, limits=Limits(seconds=60))
            done = sandbox.run(command)
        lines = (tmp_path / "network.jsonl").read_text().splitlines()
        return json.loads(done.stdout), [json.loads(line) for line in lines]

    return ask


def test_the_project_itself_and_what_is_newer_are_not_to_be_had(index: Index, asked: Asked) -> None:
    urls = {
        "own": "${PIP_INDEX_URL}sums/", "spelled": "${PIP_INDEX_URL}python_SUMS/", "node": "${npm_config_registry}sums",
        "dep": "${PIP_INDEX_URL}dep/", "directly": f"{index.url}/sums/", "public": "https://pypi.org/simple/sums/",
        "plain": "http://files.pythonhosted.org/x", "source": "https://codeload.github.com/a/sums/tar.gz/main",
    }  # fmt: skip
    told, journal = asked("fix-total", urls)
    for name in ("own", "spelled", "node"):
        assert told[name].startswith("403 ") and "the one this task is about" in told[name]
    assert [item["filename"] for item in json.loads(told["dep"])["files"]] == ["dep-1.0.tar.gz"]
    assert told["directly"].startswith("failed") and "403" in told["public"] and told["plain"].startswith("403 ")
    assert "403" in told["source"]
    assert [line["project"] for line in journal if line.get("rule") == "name"] == ["sums", "python_SUMS", "sums"]
    refused = {line["host"] for line in journal if "host" in line and not line["allowed"]}
    assert refused == {"pypi.org", "files.pythonhosted.org", "codeload.github.com"}
    assert not any("sums" in path for path in index.asked)


def test_declared_hosts_are_open_but_for_those_that_hold_packages_or_sources(index: Index, asked: Asked) -> None:
    hosts = ("pypi.org", "*.github.com", "files.example.invalid")
    urls = {name: f"http://{name}/" for name in ("pypi.org", "codeload.github.com", "files.example.invalid")}
    told = asked("fix-total", urls, hosts)[0]
    assert all("packages come from its own index alone" in told[name] for name in list(urls)[:2])
    assert "cannot be resolved" in told["files.example.invalid"]


def test_a_task_that_uses_a_repository_reaches_the_indexes_as_before(index: Index, asked: Asked) -> None:
    told, journal = asked("sum-ledger", {"own": "${PIP_INDEX_URL}/sums/"})
    assert "sums-2.0.tar.gz" in told["own"] and [line["method"] for line in journal] == ["RELAY"]
