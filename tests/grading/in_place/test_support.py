"""What of a repository belongs to its tests, whoever changes it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from repoassay.grading.in_place.support import TestSetup, left_out, setup_of
from repoassay.tasks import TaskFolder
from repoassay.types import FileEdit, Grading, HiddenTests, Repository, Task

NEW = FileEdit(b"new\n")
SETUP = TestSetup(
    edits={"tests/unit/test_shop.py": FileEdit(b"theirs\n"), "test_root.py": NEW, "tests/gone.txt": None},
    roots=frozenset({"tests"}),
    patterns=("tools/run_*",),
    solution=frozenset({"src/shop.py", "tests/data/changed-by-gold.json"}),
    above=frozenset({".", "tests", "tests/unit", "lib"}),
    namesakes=frozenset({"tests", "src/tests"}),
)


@pytest.mark.parametrize("path", [
    "conftest.py", "src/conftest.py", "tests/unit/test_shop.py", "tests/helpers.py", "tests/unit/__init__.py",
    "pytest.ini", "tox.ini", "pyproject.toml", "sitecustomize.py", "src/usercustomize.py", "evil.pth", "src/evil.pth",
    "shop.egg-info/entry_points.txt", "src/shop-1.0.dist-info/entry_points.txt", "tools/run_tests.py",
    "test_root.py", "test_root.py/inner.py", "tests", "pytest.toml", "lib/pytest.ini", "sitecustomize/__init__.py",
    "shop-1.DIST-INFO/entry_points.txt", "src/__pycache__/test_root.cpython-39.pyc",
    "test_root/__init__.py", "test_root.cpython-39-x86_64-linux-gnu.so",
    "conftest/__init__.py", "src/conftest.cpython-39-x86_64-linux-gnu.so", "tests.py", "tests.abi3.so", "tests.pyc",
    "src/tests/__init__.py",
])  # fmt: skip
def test_what_belongs_to_the_set_up_is_left_out(path: str) -> None:
    laid, dropped = SETUP.split({path: NEW, "src/shop.py": NEW})
    assert dropped == [path]
    assert laid["src/shop.py"] is NEW
    assert laid["tests/unit/test_shop.py"] == FileEdit(b"theirs\n")


@pytest.mark.parametrize("path", [
    "src/shop.py", "src/testing.py", "src/testing/tools.py", "tests/data/changed-by-gold.json",
    "docs/pyproject.toml", "lib/inner/setup.cfg", "src/test_root/__init__.py",
    "README", "contests/new.py", "src/helpers/conftest_tools.py", "conftest/policy.yaml", "tests.md", "testing.py",
])  # fmt: skip
def test_all_else_is_the_submissions(path: str) -> None:
    laid, dropped = SETUP.split({path: NEW})
    assert not dropped
    assert laid[path] is NEW


@pytest.fixture
def folder(tmp_path: Path) -> TaskFolder:
    """A task whose patch brings one test, beside one that nothing changes."""
    for name, text in {
        "base/unit_tests/helpers.py": "", "base/test_old.py": "# old\n",
        "base/src/shop.py": "", "base/src/inspect.py": "", "base/src/ShopTest.py": "",
        "base/pkg/__init__.py": "", "base/pkg/test/__init__.py": "",
        "base/pkg/test_tools/run.py": "",
        "task/tests/unit_tests/check_new.py": "", "task/tests/pkg/test/test_a.py": "",
        "task/tests/pkg/test_tools/test_b.py": "",
    }.items():  # fmt: skip
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    tests = HiddenTests(
        fail_to_pass=("test_old.py::a",),
        files=("test_old.py", "src/shop.py", "src/inspect.py", "src/ShopTest.py"),
        runner="repository",
    )
    code = Repository(source="folder:repository", licence="MIT")
    task = Task(id="shop", title="Shop", kind="edit", domain="Software", repository=code, grading=Grading(tests=tests))
    return TaskFolder(tmp_path / "task", task, "", "0" * 64)


@pytest.mark.parametrize(("path", "theirs"), [
    ("test_old.py", True), ("test_old/__init__.py", True), ("src/shop.py", False), ("unit_tests/helpers.py", True),
    ("src/inspect.py", False), ("src/ShopTest.py", True),
    ("unit_tests.py", True), ("src/unit_tests/__init__.py", True), ("pkg/unit_tests.py", False),
    ("pkg/test/tools.py", True), ("pkg/test.py", False), ("pkg/test_tools/run.py", False),
])  # fmt: skip
def test_the_set_up_of_a_task_is_read_off_its_tests(
    folder: TaskFolder, tmp_path: Path, path: str, theirs: bool
) -> None:
    assert setup_of(folder, tmp_path / "base").split({path: NEW})[1] == ([path] if theirs else [])


def test_a_deleted_test_comes_back_and_a_patch_that_deletes_stays() -> None:
    laid, dropped = SETUP.split({"tests/unit/test_shop.py": None, "tests/gone.txt": NEW})
    assert dropped == ["tests/gone.txt", "tests/unit/test_shop.py"]
    assert laid["tests/unit/test_shop.py"] is not None
    assert laid["tests/gone.txt"] is None


def test_what_is_left_out_is_told_in_one_sentence() -> None:
    assert left_out([]) == []
    (said,) = left_out([str(Path("tests", f"{number}.py")) for number in range(30)])
    assert "maintainers'" in said
    assert said.count("tests/") < 12


@pytest.mark.parametrize("path", [
    "package.json", "source/package.json", "pnpm-lock.yaml", "tsconfig.json", "packages/a/tsconfig.build.json",
    "vitest.config.ts", "packages/a/vite.config.mts", "jest.config.js", ".mocharc.cjs", "ava.config.js",
    "babel.config.js", ".npmrc", "node_modules/ava/index.js", "source/node_modules/assert/index.js",
    "source/__snapshots__/a.snap", "__mocks__/fs.js", "tap-snapshots/test/a.js.test.cjs", "postcss.config.mjs",
    "packages/a/.postcssrc.js",
])  # fmt: skip
def test_what_decides_how_node_runs_tests_is_the_set_ups_where_node_runs_them(path: str) -> None:
    ours = replace(SETUP, of_node=True)
    assert ours.split({path: NEW})[1] == [path]
    assert not SETUP.split({path: NEW})[1]
    assert not ours.split({"source/index.ts": NEW, "conftest.py": NEW})[1]
