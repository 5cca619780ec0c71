"""What a repository's project is called: told by its files, which are a stranger's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from repoassay.types import Repository
from repoassay.workspace.project_names import project_names


def names(tree: Path, source: str = "folder:checkout", homepage: str = "", path: tuple[str, ...] = (".",)) -> set[str]:
    return set(project_names(tree, Repository(source=source, sha256="0" * 64, licence="MIT", homepage=homepage), path))


def put(tree: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    return tree


@pytest.mark.parametrize(
    ("file", "text", "name"),
    [
        ("pyproject.toml", '[project]\nname = "More_Itertools"\n', "more_itertools"),
        ("pyproject.toml", '[tool.poetry]\nname = "arrow"\n', "arrow"),
        ("pyproject.toml", '[tool.flit.metadata]\ndist-name = "typer-slim"\nmodule = "typer"\n', "typer-slim"),
        ("setup.cfg", "[metadata]\nname = Flask\n", "flask"),
        ("setup.py", 'from setuptools import setup\nsetup(\n    name="requests", version="1")\n', "requests"),
        ("setup.py", "NAME = 'attrs'\nsetup(name=NAME)\n", "attrs"),
        ("package.json", json.dumps({"name": "@babel/core"}), "babel-core"),
        ("libs/one/pyproject.toml", '[project]\nname = "part-one"\n', "part-one"),
        ("packages/two/package.json", json.dumps({"name": "part-two"}), "part-two"),
        ("src/attr/__init__.py", "", "attr"),
        ("python/inner/__init__.py", "", "inner"),
    ],
)
def test_names_of_distributions_and_packages(tmp_path: Path, file: str, text: str, name: str) -> None:
    assert name in names(put(tmp_path, {file: text}), path=(".", "python"))


def test_names_of_where_it_comes_from(tmp_path: Path) -> None:
    assert names(tmp_path, "pypi:Click==8.0") == {"click"}
    assert names(tmp_path, "npm:@scope/queue==1.0.0") == {"scope-queue", "queue"}
    assert "sqlparse" in names(tmp_path, homepage="https://example.org/andi/sqlparse.git")


def test_what_says_nothing_of_the_project_is_left_out(tmp_path: Path) -> None:
    files = {
        "tests/requests/setup.py": 'setup(name="requests")',
        "tests/__init__.py": "",
        "docs/conf/package.json": "{",
    }
    assert names(put(tmp_path, files)) == {"checkout"}


def test_hostile_files_are_read_as_far_as_they_go(tmp_path: Path) -> None:
    outside = put(tmp_path / "outside", {"pyproject.toml": '[project]\nname = "secret"\n', "secret/__init__.py": ""})
    files = {"pyproject.toml": "x = " + "[" * 100_000, "setup.cfg": "[metadata\nname = a"}
    files |= {"package.json": '{"a":' * 100_000, "setup.py": 'name = "good"\nname = "../bad"'}
    tree = put(tmp_path / "tree", files)
    (tree / "linked").symlink_to(outside)
    (tree / "sub").mkdir()
    (tree / "sub/pyproject.toml").symlink_to(outside / "pyproject.toml")
    assert names(tree, path=(".", "linked", "../outside")) == {"checkout", "good"}
