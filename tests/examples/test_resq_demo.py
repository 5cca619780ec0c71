"""The demonstration data set is whole, applies to what it names, and is built the same way twice."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from repoassay.diffs import apply_patch, read_patch
from repoassay.sandbox.cache import Cache

DEMO = Path(__file__).parents[2] / "examples" / "resq-demo"
FOLDERS = sorted(file.parent for file in DEMO.glob("*/task.toml"))
FIELDS = [
    "id", "repo_url", "instruction", "base_commit", "test_script", "testbed_environment", "requirements_txt",
    "solution_commit", "solution_patch", "modified_files", "language",
]  # fmt: skip


def build(out: Path, cache: Path) -> bytes:
    done = subprocess.run(
        [sys.executable, str(DEMO / "build.py"), "--out", str(out)],
        env={**os.environ, "REPOASSAY_CACHE": str(cache)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return out.read_bytes()


def check_row(row: dict[str, Any]) -> None:
    assert list(row) == FIELDS
    assert re.fullmatch(r"pypi:[a-z-]+==[0-9.]+\?sha256=[0-9a-f]{64}", row["repo_url"])
    assert re.fullmatch(r"[0-9a-f]{40}", row["base_commit"])
    assert re.fullmatch(r"[0-9a-f]{40}", row["solution_commit"])
    assert row["base_commit"] != row["solution_commit"]
    assert (row["testbed_environment"], row["language"]) == ("python3.11", "python")
    assert row["instruction"] and row["test_script"] and row["modified_files"]


def check_patch(row: dict[str, Any], trees: list[Path]) -> None:
    """Our own reader of patches makes of the base what git made of it."""
    heads = {(tree / ".git/refs/heads/main").read_text().strip(): tree for tree in trees}
    tree = heads[row["base_commit"]]
    edits = apply_patch(read_patch(row["solution_patch"].encode()), tree).edits
    left = {path: edit.content for path, edit in edits.items() if edit is not None}
    assert {file["path"]: file["content"].encode() for file in row["modified_files"]} == left, row["id"]


@pytest.mark.exhaustive
def test_builds_whole_and_the_same_twice(tmp_path: Path) -> None:
    kept = Cache()
    first = build(tmp_path / "first.jsonl", kept.path)
    # The second time with checkouts made anew, but without downloading again.
    shutil.copytree(kept.path / "sdists", tmp_path / "cache" / "sdists")
    assert build(tmp_path / "second.jsonl", tmp_path / "cache") == first
    rows = [json.loads(line) for line in first.decode().split("\n")[:-1]]
    assert len(rows) >= 24
    assert len({row["id"] for row in rows}) == len(rows)
    assert len({row["repo_url"] for row in rows}) >= 8
    trees = list((tmp_path / "cache" / "checkouts").iterdir())
    for row in rows:
        check_row(row)
        check_patch(row, trees)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_folder(folder: Path) -> None:
    assert {file.name for file in folder.iterdir()} == {
        "task.toml", "instruction.md", "test_script.py", "solution.patch",
    }  # fmt: skip
    settings = tomllib.loads((folder / "task.toml").read_text())
    assert folder.name.startswith(f"{settings['package']}-")
    assert settings["licence"] in {"MIT", "BSD-3-Clause", "Apache-2.0"}
    assert 20 < len((folder / "instruction.md").read_text()) < 600


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_script_has_a_handful_of_tests_that_each_assert(folder: Path) -> None:
    tree = ast.parse((folder / "test_script.py").read_text())
    tests = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    assert 3 <= len(tests) <= 10
    for test in tests:
        said = ast.unparse(test)
        assert re.search(r"\bassert |self\.assert|pytest\.raises", said), test.name


def test_scripts_come_in_both_styles() -> None:
    plain = ["unittest.main(" not in (folder / "test_script.py").read_text() for folder in FOLDERS]
    assert 0.4 <= sum(plain) / len(plain) <= 0.6


def test_a_patch_that_does_not_apply_is_told_apart(tmp_path: Path) -> None:
    place = tmp_path / "demo"
    shutil.copytree(FOLDERS[0], place / FOLDERS[0].name)
    shutil.copy(DEMO / "build.py", place)
    patch = place / FOLDERS[0].name / "solution.patch"
    patch.write_text(re.sub(r"^ .*$", " something else", patch.read_text(), flags=re.MULTILINE))
    done = subprocess.run(
        [sys.executable, str(place / "build.py"), "--out", str(tmp_path / "out.jsonl")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert f"{FOLDERS[0].name}/solution.patch does not apply" in done.stderr
    assert not (tmp_path / "out.jsonl").exists()
