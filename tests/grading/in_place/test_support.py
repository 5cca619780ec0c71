"""What of a repository belongs to its tests, whoever changes it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from repoassay.grading.in_place.support import TestSetup, left_out
from repoassay.types import FileEdit

NEW = FileEdit(b"new\n")
SETUP = TestSetup(
    edits={"tests/unit/test_shop.py": FileEdit(b"theirs\n"), "test_root.py": NEW, "tests/gone.txt": None},
    roots=frozenset({"tests"}),
    patterns=("tools/run_*",),
    solution=frozenset({"src/shop.py", "tests/data/changed-by-gold.json"}),
    above=frozenset({".", "tests", "tests/unit", "lib"}),
)


@pytest.mark.parametrize("path", [
    "conftest.py", "src/conftest.py", "tests/unit/test_shop.py", "tests/helpers.py", "tests/unit/__init__.py",
    "pytest.ini", "tox.ini", "pyproject.toml", "sitecustomize.py", "src/usercustomize.py", "evil.pth", "src/evil.pth",
    "shop.egg-info/entry_points.txt", "src/shop-1.0.dist-info/entry_points.txt", "tools/run_tests.py",
    "test_root.py", "test_root.py/inner.py", "tests", "pytest.toml", "lib/pytest.ini", "sitecustomize/__init__.py",
    "shop-1.DIST-INFO/entry_points.txt", "src/__pycache__/test_root.cpython-39.pyc",
    "test_root/__init__.py", "test_root.cpython-39-x86_64-linux-gnu.so",
])  # fmt: skip
def test_what_belongs_to_the_set_up_is_left_out(path: str) -> None:
    laid, dropped = SETUP.split({path: NEW, "src/shop.py": NEW})
    assert dropped == [path]
    assert laid["src/shop.py"] is NEW
    assert laid["tests/unit/test_shop.py"] == FileEdit(b"theirs\n")


@pytest.mark.parametrize("path", [
    "src/shop.py", "src/tests.py", "src/testing/tools.py", "tests/data/changed-by-gold.json",
    "docs/pyproject.toml", "lib/inner/setup.cfg", "src/test_root/__init__.py",
    "README", "contests/new.py", "src/helpers/conftest_tools.py",
])  # fmt: skip
def test_all_else_is_the_submissions(path: str) -> None:
    laid, dropped = SETUP.split({path: NEW})
    assert not dropped
    assert laid[path] is NEW


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
    "source/__snapshots__/a.snap", "__mocks__/fs.js",
])  # fmt: skip
def test_what_decides_how_node_runs_tests_is_the_set_ups_where_node_runs_them(path: str) -> None:
    ours = replace(SETUP, of_node=True)
    assert ours.split({path: NEW})[1] == [path]
    assert not SETUP.split({path: NEW})[1]
    assert not ours.split({"source/index.ts": NEW, "conftest.py": NEW})[1]
