"""The benchmarks that come with the package are guests: nothing else names them, and everything else works without."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from house_lists import ROOT, assert_only, house_tree

SOURCE = ROOT / "src" / "repoassay"
GUESTS = sorted(path.name for path in (SOURCE / "benchmarks").iterdir() if (path / "__init__.py").is_file())
NAMED = re.compile(
    r"gittaskbench|(?<![a-z])res-?q(?![a-z])|(?<![a-z])resq|swe-?bench|(?<![a-z])starter(?![a-z])"
    r"|pull[-_]requests(?![a-z_])",
    re.IGNORECASE,
)
ROOTED = {"gittaskbench", "starter"}
"""Guests that most is made with: the quick tests take these away."""
IGNORED = shutil.ignore_patterns("__pycache__")


def of_the_core() -> Iterator[tuple[str, ast.Module]]:
    for module in house_tree().modules.values():
        name = module.path.relative_to(SOURCE).as_posix()
        if not name.startswith("benchmarks/") and name != "resq.py":
            yield name, module.syntax


def breaches(tree: ast.Module) -> Iterator[str]:
    """Imports of guests, names and strings that name one; docstrings and help texts may, as examples."""
    helpful: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            helpful.add(id(node.value))
        elif isinstance(node, ast.keyword) and node.arg == "help":
            helpful |= {id(each) for each in ast.walk(node.value)}
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if id(node) not in helpful and NAMED.search(text):
                yield text[:60]
            case ast.ImportFrom(module=str(module)) if "benchmarks" in module or NAMED.search(module):
                yield f"from {module}"
            case ast.Import(names=names):
                yield from (f"import {each.name}" for each in names if "repoassay.benchmarks" in each.name)
            case ast.Name(id=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
                if NAMED.search(name):
                    yield name


def test_nothing_but_a_guest_names_a_guest() -> None:
    found = {f"{name}: {breach}" for name, tree in of_the_core() for breach in breaches(tree)}
    assert_only("guests_named.txt", found, "Let the guest offer it through an entry point.")


@pytest.mark.parametrize(
    "source",
    ["x = 'gittaskbench'", "from repoassay.benchmarks.resq import ResqRow", "import repoassay.benchmarks.starter",
     "def f(row: ResqRow): ...", "find_suite('starter')", "place / 'pull-requests'", "x = 'a SWE-bench row'"],
)  # fmt: skip
def test_a_name_is_found(source: str) -> None:
    assert list(breaches(ast.parse(source)))


@pytest.mark.parametrize(
    "source",
    ['"""After RES-Q."""', "option(help='such as gittaskbench')", "x = 'postgresql'", "KIND = 'pull_request'"],
)
def test_what_may_stand_is_not_found(source: str) -> None:
    assert not list(breaches(ast.parse(source)))


class Copy:
    """The source tree without one guest and what pyproject.toml says of it."""

    def __init__(self, top: Path, guest: str) -> None:
        shutil.copytree(SOURCE, top / "src" / "repoassay", ignore=IGNORED)
        shutil.rmtree(top / "src" / "repoassay" / "benchmarks" / guest)
        lines = (ROOT / "pyproject.toml").read_text("utf-8").splitlines()
        kept = [line for line in lines if f"repoassay.benchmarks.{guest}" not in line]
        assert len(kept) < len(lines)
        (top / "pyproject.toml").write_text("\n".join(kept), "utf-8")
        self.top = top

    def run(self, *words: str, code: int = 0) -> str:
        """Run the command line and return what it printed; errors too, where it is to fail."""
        done = subprocess.run(
            [sys.executable, "-c", "from repoassay.cli.main import main; main()", *words],
            cwd=self.top, env={**os.environ, "PYTHONPATH": str(self.top / "src")}, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        return done.stdout + (done.stderr if code else "")


@pytest.mark.by_day(1)
@pytest.mark.parametrize(
    "guest", [pytest.param(guest, marks=[] if guest in ROOTED else pytest.mark.exhaustive) for guest in GUESTS]
)
@pytest.mark.long
def test_the_rest_works_without_a_guest(guest: str, tmp_path: Path) -> None:
    copy = Copy(tmp_path, guest)
    assert "Usage: " in copy.run("--help")
    suite, task = ("pull-requests", "*") if guest == "starter" else ("starter", "sensor-log-daily")
    assert copy.run("tasks", "list", suite)
    if guest in ROOTED:
        assert f"There is no suite or folder '{guest}'" in copy.run("tasks", "list", guest, code=2)
    copy.run("metrics")
    if guest == "gittaskbench":
        assert "1 passed" in copy.run("run", suite, "--agent", "reference", "--task", task)
        (folder,) = (tmp_path / "runs").glob("2*")
        copy.run("report", str(folder), "--no-html")
