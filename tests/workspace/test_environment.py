"""Environments that need no package: built in a sandbox, by content, read-only afterwards."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from repoassay.errors import InfraFault, Unavailable
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.namespaces import NamespaceSandbox
from repoassay.sandbox.protocol import Command, Mount
from repoassay.tasks import TaskFolder
from repoassay.types import Task
from repoassay.workspace.environment import build_environment


def a_task(path: Path, **environment: object) -> TaskFolder:
    task = Task.model_validate(
        {
            "id": "some-task",
            "title": "A task",
            "kind": "edit",
            "domain": "tests",
            "repository": {"source": "bundled:x", "licence": "MIT"},
            "environment": environment,
            "grading": {"tests": {"fail_to_pass": ["test_x.py::test"]}},
        }
    )
    return TaskFolder(path=path, task=task, instruction="Do it.", digest="0" * 64)


def test_a_bare_environment_is_built_once_and_works(tmp_path: Path, cache: Cache, sandbox: NamespaceSandbox) -> None:
    environment = build_environment(a_task(tmp_path), cache, sandbox)
    assert build_environment(a_task(tmp_path), cache, sandbox) == environment
    code = "import sys; print(sys.prefix, sys.version.split()[0]); open('/env/new', 'w')"
    done = sandbox.run(Command(argv=("/env/bin/python", "-c", code), mounts=(Mount(environment, "/env"),)))
    assert done.stdout.decode().split() == ["/env", platform.python_version()]
    assert b"Read-only file system" in done.stderr


@pytest.mark.parametrize("wanted", [">=3.99", ">=4.0", "==3.11", "whatever"])
def test_another_python_is_asked_for_in_a_sentence(
    tmp_path: Path, cache: Cache, sandbox: NamespaceSandbox, wanted: str
) -> None:
    with pytest.raises(Unavailable, match="needs Python"):
        build_environment(a_task(tmp_path, python=wanted), cache, sandbox)


def test_a_package_without_a_digest_is_refused_and_nothing_is_kept(tmp_path: Path, sandbox: NamespaceSandbox) -> None:
    (tmp_path / "environment").mkdir()
    (tmp_path / "environment/requirements.txt").write_text("some-package==1.0\n")
    own = Cache(tmp_path / "cache")
    with pytest.raises(InfraFault, match="could not be built"):
        build_environment(a_task(tmp_path, requirements="environment/requirements.txt"), own, sandbox)
    assert list((own.path / "environments").iterdir()) == []
