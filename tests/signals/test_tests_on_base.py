"""Tests asked one by one on the base: stubs for what is not there, and inconclusive where they do not help."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from repoassay.signals import SignalState
from repoassay.signals.change import Change
from repoassay.signals.diffs import read_diff
from repoassay.signals.stubs import taken_back
from repoassay.signals.worktrees import Tree
from signals import projects
from signals.conftest import Signals

OLD = "def old():\n    return 1\n"
NEW = """\
import json as js
from typing import Any

LIMIT: int = 3
NAMES = ["a"]


class WrongKind(ValueError):
    pass


class Box:
    pass


async def later():
    pass


def old():
    return 2
"""


def stubbed(tmp_path: Path, base: dict[str, str], head: dict[str, str]) -> dict[str, str | None]:
    trees = [Tree(projects.write(files, tmp_path / name)) for name, files in (("base", base), ("head", head))]
    side = taken_back(Change(trees[0], trees[1], read_diff(projects.diff(base, head))))
    return {path: edit.content.decode() if edit else None for path, edit in side.edits.items()}


def test_missing_names_are_there_and_raise_what_no_test_catches(tmp_path: Path) -> None:
    text = stubbed(tmp_path, {"a.py": OLD}, {"a.py": NEW})["a.py"]
    assert text is not None and text.startswith(OLD)
    module = ModuleType("a")
    exec(compile(text, "a.py", "exec"), module.__dict__)
    assert module.old() == 1
    assert issubclass(module.WrongKind, Exception)
    module.WrongKind("can be made, for tests that expect it")
    for use in (
        module.Box,
        module.later,
        lambda: module.LIMIT + 1,
        lambda: module.LIMIT == 3,
        lambda: list(module.NAMES),
        lambda: module.js.dumps({}),
        lambda: bool(module.LIMIT),
    ):
        with pytest.raises(BaseException) as caught:
            use()
        assert not isinstance(caught.value, Exception)


def test_program_goes_back_and_tests_stay(tmp_path: Path) -> None:
    base = {"a.py": OLD, "gone.py": OLD, "tests/test_a.py": "x = 1\n", "pyproject.toml": "", "data.txt": "old\n"}
    head = {
        "a.py": OLD,
        "new/__init__.py": "",
        "new/b.py": OLD,
        "tests/test_a.py": "x = 2\n",
        "pyproject.toml": "[a]\n",
    }
    edits = stubbed(tmp_path, base, head | {"data.txt": "new\n", "extra.txt": "x\n"})
    assert edits["gone.py"] == OLD
    assert edits["data.txt"] == "old\n"
    assert edits["extra.txt"] is None
    assert "_NotOnBase" in str(edits["new/b.py"]) and "return 1" not in str(edits["new/b.py"])
    assert edits["new/__init__.py"] == ""
    assert not {"tests/test_a.py", "pyproject.toml", "a.py"} & set(edits)


@pytest.mark.exhaustive
def test_a_new_module_does_not_hide_a_test_that_holds_anyway(found: Signals) -> None:
    head = projects.reference()
    head["parcels/rates.py"] = (
        '"""Rates."""\n\nLOW = 5\n\n\ndef rate(value: int) -> int:\n    """Rate it."""\n    return value * LOW\n'
    )
    head["tests/test_rates.py"] = (
        "from parcels.rates import LOW, rate\n\n\ndef test_rate():\n    assert rate(2) == 10\n\n\n"
        "def test_idle():\n    assert len('abc') == 3\n"
    )
    told = found(head)["tests_on_base"]
    assert [(each.path, each.line) for each in told.evidence] == [("tests/test_rates.py", 8)]
    assert "test_rate: fails on the base, passes on the head." in told.notes


@pytest.mark.exhaustive
def test_what_cannot_be_collected_on_the_base_is_inconclusive(found: Signals) -> None:
    head = projects.reference()
    head["parcels/pricing.py"] = head["parcels/pricing.py"].replace("ZONES =", 'EXTRA = {"air": 400}\nZONES =')
    head["tests/test_extra.py"] = (
        "from parcels.pricing import EXTRA, express\n\nCASES = [*EXTRA]\n\n\n"
        "def test_telling():\n    assert express(1, 'near') == 600 and CASES\n\n\n"
        "def test_idle():\n    assert len(CASES) == 1\n"
    )
    told = found(head)["tests_on_base"]
    notes = [note for note in told.notes if note.startswith(("test_telling", "test_idle"))]
    assert notes == [
        "test_telling: inconclusive on the base, passed on the head.",
        "test_idle: inconclusive on the base, passed on the head.",
    ]
    assert told.state is SignalState.FINDING
    assert [each.quote for each in told.evidence] == ["def test_idle():"]


@pytest.mark.exhaustive
def test_what_runs_in_a_process_of_its_own_is_covered(found: Signals) -> None:
    head = projects.without_tests()
    head["tests/test_process.py"] = (
        "import subprocess\nimport sys\n\n\ndef test_in_a_process():\n"
        "    code = \"from parcels import express; print(express(500, 'near', hours=3))\"\n"
        "    done = subprocess.run([sys.executable, '-c', code], capture_output=True, check=True)\n"
        "    assert done.stdout == b'800\\n'\n"
    )
    told = found(head)
    assert told["diff_coverage"].state is SignalState.SILENT, told["diff_coverage"]
    assert told["tests_on_base"].state is SignalState.SILENT, told["tests_on_base"]


@pytest.mark.exhaustive
def test_a_test_that_passes_when_run_again_is_not_called_broken(found: Signals) -> None:
    head = projects.reference()
    # Fails only where the whole suite is run before it, as tests that depend on order do.
    alone = (
        "def test_price():\n    import sys\n\n    assert not {'test_labels', 'tests.test_labels'} & set(sys.modules)\n"
    )
    head["tests/test_pricing.py"] = head["tests/test_pricing.py"].replace("def test_price():\n", alone)
    told = found(head)["existing_tests"]
    assert told.state is SignalState.SILENT, told
    assert any("passed when run again" in note for note in told.notes)
