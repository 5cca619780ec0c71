"""Build commands of a recipe: what they leave belongs to the repository, and strangers wrote them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from repoassay.errors import InfraFault, Unavailable
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.namespaces import NamespaceSandbox
from repoassay.sandbox.none import NoSandbox
from repoassay.sandbox.protocol import Command
from repoassay.tasks import TaskFolder
from repoassay.types import Task
from repoassay.workspace.builds import build_repository
from repoassay.workspace.checkouts import checkout
from repoassay.workspace.environment import build_environment
from repoassay.workspace.interpreters import find_interpreter
from repoassay.workspace.preparation import PreparedTask, lay_out

SETUP = """\
from setuptools import Extension, setup
setup(name="counted", version="1.0", packages=["counted"], ext_modules=[Extension("counted._c", ["counted/_c.c"])])
"""
SOURCE = """\
#include <Python.h>
static PyModuleDef it = {PyModuleDef_HEAD_INIT, "_c"};
PyMODINIT_FUNC PyInit__c(void) { return PyModule_Create(&it); }
"""
COMMITS = "git cat-file --batch-all-objects --batch-check | grep -Ec 'commit|tag'"


def a_line() -> str:
    for line in ("3.11", "3.10", "3.9", "3.8"):
        try:
            return find_interpreter(line).line
        except Unavailable:
            continue
    pytest.skip("this machine has no Python before 3.12 but the system's own")


def a_task(path: Path, *build: str, **variables: str) -> TaskFolder:
    repo = path / "repo"
    (repo / "counted").mkdir(parents=True, exist_ok=True)
    files = {"setup.py": SETUP, "counted/_c.c": SOURCE, "counted/__init__.py": "", "VERSION": "0\n"}
    for name, text in files.items():
        (repo / name).write_text(text)
    task = Task.model_validate(
        {
            "id": "some-task",
            "title": "A task",
            "kind": "edit",
            "domain": "tests",
            "repository": {"source": "folder:repo", "licence": "MIT"},
            "environment": {"python": a_line(), "build": build, "variables": variables},
            "grading": {"tests": {"fail_to_pass": ["test_x.py::test"]}},
        }
    )
    return TaskFolder(path=path, task=task, instruction="Do it.", digest="0" * 64)


def say(prepared: PreparedTask, sandbox: NamespaceSandbox, script: str) -> str:
    done = sandbox.run(
        Command(
            argv=("/bin/sh", "-c", script),
            env=prepared.env,
            cwd="/workspace/repo",
            mounts=prepared.mounts,
            scratch=prepared.scratch,
        )
    )
    return (done.stdout + done.stderr).decode().strip()


@pytest.mark.exhaustive
def test_a_compiled_package_is_installed_in_place_and_leaves_the_checkout_clean(
    tmp_path: Path, cache: Cache, sandbox: NamespaceSandbox
) -> None:
    if shutil.which("gcc", path="/usr/bin:/bin") is None:
        pytest.skip("this machine has no compiler")
    folder = a_task(
        tmp_path, "uv --version && python setup.py -q develop --no-deps", 'echo "$RELEASE" > VERSION', RELEASE="7"
    )
    prepared = lay_out(folder, None, cache, sandbox)
    assert say(prepared, sandbox, "cd / && python -c 'import counted._c as c; print(c.__file__)'").startswith(
        "/workspace/repo/counted/_c."
    )
    assert say(prepared, sandbox, "cat VERSION; echo $RELEASE; git status --porcelain; " + COMMITS) == ("7\n7\n1")
    excluded = (prepared.base / ".git/info/exclude").read_text()
    assert "/counted/_c." in excluded
    plain = build_environment(folder, cache, sandbox)
    source = checkout(folder, None, cache)
    assert prepared.environment.name != plain.name
    assert next(prepared.environment.glob("lib/python3*/os.py")).samefile(next(plain.glob("lib/python3*/os.py")))
    assert (prepared.base / "setup.py").samefile(source / "setup.py")
    assert (source / "VERSION").read_text() == "0\n"
    assert lay_out(folder, None, cache, sandbox).base == prepared.base


@pytest.mark.exhaustive
def test_what_fails_is_told_with_its_last_words_and_never_kept(tmp_path: Path, sandbox: NamespaceSandbox) -> None:
    own = Cache(tmp_path / "cache")
    folder = a_task(tmp_path, "true", "echo no such thing; exit 3", "touch never")
    with pytest.raises(InfraFault, match=r"some-task could not be built.*code 3.*: no such thing\."):
        lay_out(folder, None, own, sandbox)
    (log,) = (own.path / "errors").iterdir()
    assert "+ echo no such thing" in log.read_text()
    assert list((own.path / "builds").iterdir()) == []


@pytest.mark.long
def test_a_build_decides_neither_about_git_nor_about_what_others_see(
    tmp_path: Path, cache: Cache, sandbox: NamespaceSandbox
) -> None:
    spoil = "python - <<'X'\nimport os\nopen(os.__file__, 'a').write('# spoiled')\nX"
    folder = a_task(
        tmp_path,
        "git config core.fsmonitor 'touch /tmp/run' && git config core.worktree / && echo x > .git/hooks-run",
        "git -c user.name=x -c user.email=x@x commit -q --allow-empty -m more; git tag later",
        spoil,
        "printf '#!/bin/sh\\n' > '#odd [name]' && mkdir -p left/over && touch left/over/file",
    )
    plain = build_environment(folder, cache, sandbox)
    prepared = lay_out(folder, None, cache, sandbox)
    assert say(prepared, sandbox, COMMITS) == "1"
    said = subprocess.run(
        ["git", "config", "--file", prepared.base / ".git/config", "--list"], capture_output=True, text=True, check=True
    ).stdout
    assert "fsmonitor" not in said
    assert "worktree" not in said
    assert say(prepared, sandbox, "git status --porcelain; ls left/over; ls .git/hooks-run") == (
        "file\nls: cannot access '.git/hooks-run': No such file or directory"
    )
    assert "spoiled" in next(prepared.environment.glob("lib/python3*/os.py")).read_text()
    assert "spoiled" not in next(plain.glob("lib/python3*/os.py")).read_text()
    assert "spoiled" not in next((cache.path / "interpreters").glob("*/lib/python3*/os.py")).read_text()


@pytest.mark.exhaustive
@pytest.mark.parametrize("left", ["mkfifo counted/pipe", "ln -s /etc/passwd /env/leads-out"])
def test_what_is_no_file_of_its_own_is_refused(
    tmp_path: Path, cache: Cache, sandbox: NamespaceSandbox, left: str
) -> None:
    folder = a_task(tmp_path, left)
    base, environment = checkout(folder, None, cache), build_environment(folder, cache, sandbox)
    with pytest.raises(InfraFault, match="The build left"):
        build_repository(folder, base, environment, cache, sandbox)


def test_without_isolation_there_is_no_place_for_it(tmp_path: Path, cache: Cache) -> None:
    with pytest.raises(Unavailable, match="a Python of its own"):
        build_environment(a_task(tmp_path), cache, NoSandbox())
