"""Rooms are imported through their faces; how far that holds is a figure that only becomes smaller."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from house_lists import ROOT, house_tree
from house_tree import Tree

SCRIPT = ROOT / "scripts" / "house_stats.py"
LIMITS = tomllib.loads(SCRIPT.with_suffix(".toml").read_text("utf-8"))["figures"]


@pytest.fixture
def small(tmp_path: Path) -> Tree:
    """A package of three rooms, a guest and a top-level module."""
    files = {
        "__init__.py": "",
        "errors.py": "class Bad(Exception): ...\n",
        "low/__init__.py": "from pack.low.part import Thing\n",
        "low/part.py": "from pack.errors import Bad\nclass Thing: ...\nclass _Own: ...\n",
        "high/__init__.py": "",
        "high/one.py": "from pack.low import Thing\nfrom pack.low.part import Thing as T\nimport pack.high.two\n",
        "high/two.py": (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from pack.low.part import Thing\n"
            "def f():\n    import pack.low.part\n    from pack.high import one\nclass Thing: ...\n"
        ),
        "guests/__init__.py": "",
        "guests/a/__init__.py": "from pack.guests.b import x\nfrom pack.guests.b.inner import y\n",
        "guests/b/__init__.py": "x = 1\n",
        "guests/b/inner.py": "y = 1\n",
        "tasks/t/bad.py": "(",
    }
    for name, text in files.items():
        (tmp_path / "pack" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "pack" / name).write_text(text)
    return Tree(tmp_path / "pack", ["tasks"], "guests")


def test_imports_past_a_face_are_counted_wherever_they_stand(small: Tree) -> None:
    past, total = small.past_faces()
    assert past == {("high", "low"): 3, ("guests.a", "guests.b"): 1}
    assert total == 7  # with two through a face, and the one of a top-level module


def test_circles_are_found_and_told_from_those_at_import_time(small: Tree) -> None:
    assert small.circles() == [["high.one", "high.two"]]
    assert small.circles(deferred=False) == []


def test_repeated_names_small_modules_and_guests(small: Tree) -> None:
    import ast

    assert small.repeated(ast.ClassDef) == {"Thing": ["high.two", "low.part"]}
    assert small.small(75, ["low"]) == ["errors", "guests.b.inner", "high.one", "high.two"]
    assert small.lines() == small.lines(core=False) - 4


@pytest.mark.long
def test_no_more_imports_go_past_a_face_than_did() -> None:
    past, total = house_tree().past_faces()
    assert 0 < sum(past.values()) <= LIMITS["past_faces"]["limit"] < total


def test_the_script_names_a_figure_that_got_worse(tmp_path: Path) -> None:
    settings = SCRIPT.with_suffix(".toml").read_text("utf-8")
    for each in (SCRIPT, SCRIPT.with_name("house_tree.py"), SCRIPT.with_name("house_probe.py")):
        (tmp_path / "scripts" / each.name).parent.mkdir(exist_ok=True)
        (tmp_path / "scripts" / each.name).write_text(each.read_text("utf-8"))
    (tmp_path / "docs" / "contributing").mkdir(parents=True)
    (tmp_path / "docs/contributing/where.md").write_text("1. `src/repoassay/__init__.py`\n")
    package = tmp_path / "src" / "repoassay"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("def evaluate(): ...\n")
    (tmp_path / "scripts/house_stats.toml").write_text(settings)
    copy = [sys.executable, str(tmp_path / "scripts/house_stats.py")]
    assert subprocess.run([*copy, "--check"], check=False).returncode == 1  # none of the records is there
    subprocess.run([*copy, "--update"], check=True, capture_output=True)
    updated = tomllib.loads((tmp_path / "scripts/house_stats.toml").read_text())["figures"]
    assert updated["lines_of_core"]["limit"] == 1 and updated["circles"]["limit"] == 0
    assert updated["unversioned_records"]["limit"] == LIMITS["unversioned_records"]["limit"]  # worse is never written
    (package / "longer.py").write_text("x = 1\n" * 9)
    done = subprocess.run([*copy, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "lines of core (without benchmarks/): 10, and no more than 1 are allowed" in done.stderr
    assert "lines of core" in subprocess.run(copy, capture_output=True, text=True, check=True).stdout


def test_a_face_offers_what_its_source_imports_for_type_checkers() -> None:
    import ast
    import importlib

    import repoassay.lazy

    package = Path(repoassay.lazy.__file__).parent
    faces = [each for each in package.rglob("__init__.py") if "attach(__name__" in each.read_text("utf-8")]
    assert len(faces) > 30
    for face in faces:
        guarded = [node for node in ast.parse(face.read_text("utf-8")).body if isinstance(node, ast.If)]
        imports = [node for each in guarded for node in each.body if isinstance(node, ast.ImportFrom)]
        expected = {alias.asname or alias.name: (node.module, alias.name) for node in imports for alias in node.names}
        name = ".".join(("repoassay", *face.parent.relative_to(package).parts))
        assert repoassay.lazy.guarded_imports(importlib.import_module(name)) == expected
