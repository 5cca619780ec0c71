"""Exercises as edit tasks: constructed with proof, or refused with a reason."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from repoassay.engine import GradingContext
from repoassay.interchange import find_importer, import_suite
from repoassay.sandbox import Cache, open_sandbox
from repoassay.tasks import read_task

STUB = "def double(number):\n    pass\n"
EXAMPLE = "def double(number):\n    return 2 * number\n"
TEST = """\
import unittest

from double import double


class DoubleTest(unittest.TestCase):
    def test_of_three(self):
        self.assertEqual(double(3), 6)

    def test_of_nothing(self):
        self.assertEqual(double(0), 0)


def test_exists():
    assert callable(double)
"""


def exercise(
    folder: Path, suffix: str = ".py", solved: str = EXAMPLE, files: Mapping[str, object] | None = None
) -> Path:
    """A practice exercise of our own."""
    config = {"solution": [f"double{suffix}"], "test": [f"double_test{suffix}"], "example": [f".meta/example{suffix}"]}
    for name, text in {
        ".meta/config.json": json.dumps({"files": {**config, **(files or {})}}),
        f".meta/example{suffix}": solved,
        f"double{suffix}": STUB,
        f"double_test{suffix}": TEST,
        ".docs/instructions.md": "# Instructions\n\nDouble a number.\n",
    }.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def bench(tmp_path: Path) -> GradingContext:
    cache = Cache()
    return GradingContext(None, cache, open_sandbox("namespaces", cache))


@pytest.mark.long
def test_an_exercise_becomes_a_proven_task_and_others_are_refused(tmp_path: Path, bench: GradingContext) -> None:
    track = tmp_path / "polyglot"
    exercise(track / "python/exercises/practice/double")
    exercise(track / "python/exercises/practice/wrong", solved=STUB.replace("pass", "return 1"))
    exercise(track / "cpp/exercises/practice/double", suffix=".cpp")
    done = import_suite(None, track, tmp_path / "suite", lambda: bench)
    assert (done.found, list(done.tasks)) == (3, ["python-double"])
    assert {refusal.task.rpartition("/")[2] for refusal in done.refused} == {"wrong", "double"}
    assert any("cpp" in why for why in done.reasons)
    folder = read_task(tmp_path / "suite/tasks/python-double", repositories=tmp_path / "suite/repositories")
    tests = folder.task.grading.tests
    assert tests is not None
    assert [name.rpartition("::")[2] for name in tests.fail_to_pass] == ["test_of_nothing", "test_of_three"]
    assert [name.rpartition("::")[2] for name in tests.pass_to_pass] == ["test_exists"]
    assert "Double a number" in folder.instruction
    assert "`double.py`" in folder.instruction
    shown = [path.name for path in (tmp_path / "suite/repositories").rglob("*") if path.is_file()]
    assert shown == ["double.py"]


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"example": ["../../../secret.py"]}, "not its own"),
        ({"example": ["/etc/passwd"]}, "not its own"),
        ({"example": []}, "no example"),
        ({"test": ["link.py"]}, "not its own"),
        ({"test": ["nowhere_test.py"]}, "cannot be read"),
        ({"solution": [3]}, "unknown language"),
    ],
)
def test_a_hostile_configuration_is_refused(tmp_path: Path, files: dict[str, object], reason: str) -> None:
    (tmp_path / "secret.py").write_text("SECRET = 1\n")
    folder = exercise(tmp_path / "practice/double", files=files)
    (folder / "link.py").symlink_to(tmp_path / "secret.py")
    importer = find_importer("exercism", folder)[1]
    with pytest.raises(Exception, match=reason):
        importer.convert(folder)
