"""Pull-request tasks made of an issue and a merged change, with tests that run in the real sandbox."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from construct.making import AVERAGE, CODE, NEW_TEST, OLD_TEST, Repo, make_repo
from repoassay.construct import Constructed, ProofFinding, Proposal, TaskRequest, construct_commit
from repoassay.errors import BadInput
from repoassay.grading.pull_request import reference_pull_request
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.protocol import Sandbox
from repoassay.tasks.suite import find_suite
from repoassay.types import TaskKind

pytestmark = pytest.mark.exhaustive

DOCS = "# Shop\n\n`total` sums prices, `average` averages them.\n"


@pytest.fixture
def merged(tmp_path: Path) -> Repo:
    """A repository with rules, and a change of code, tests and documentation in two commits."""
    repo = make_repo(tmp_path / "shop")
    repo.commit(
        {"shop.py": CODE, "tests/test_shop.py": OLD_TEST, "README.md": "# Shop\n", "CONTRIBUTING.md": "Be kind.\n"},
        "Start",
    )
    repo.git("tag", "start")
    repo.commit({"shop.py": AVERAGE}, "Add the average")
    repo.commit({"tests/test_shop.py": NEW_TEST, "README.md": DOCS}, "Test and document it\n\nCloses #1.")
    return repo


def make(repo: Repo, out: Path, cache: Cache, sandbox: Sandbox, **more: Any) -> Constructed:
    proposal = Proposal(**{name: more.pop(name) for name in ("rules", "description", "checks") if name in more})
    fields: dict[str, Any] = {"base": "start", "instruction": "# Averages\n\nI need them.", "id": "pr", **more}
    asked = TaskRequest(str(repo.path), "HEAD", bundle=True, proposal=proposal, **fields)
    return construct_commit(asked, out, cache, sandbox, times=1, workers=2)


def test_the_whole_change_is_the_reference(merged: Repo, tmp_path: Path, cache: Cache, sandbox: Sandbox) -> None:
    made = make(merged, tmp_path / "suite", cache, sandbox, checks=("python -m pytest",))
    assert made.finding is ProofFinding.SOUND, made.reasons
    assert made.folder is not None
    shutil.rmtree(merged.path)
    (folder,) = find_suite(str(tmp_path / "suite")).tasks
    assert folder.task.kind is TaskKind.PULL_REQUEST
    assert folder.task.rules == "repository:CONTRIBUTING.md"
    assert folder.task.environment.checks == ("python -m pytest",)
    assert folder.task.title == "Averages"
    assert folder.task.grading.tests is not None
    assert folder.task.grading.tests.fail_to_pass == ("tests/test_shop.py::test_average",)
    assert folder.task.grading.tests.pass_to_pass == ("tests/test_shop.py::test_total",)
    reference = reference_pull_request(folder)
    assert reference.description == "Test and document it\n\nCloses #1.\n"
    base = tmp_path / "suite/repositories" / folder.task.repository.name
    assert set(reference.changes(base).edits) == {"shop.py", "tests/test_shop.py", "README.md"}


def test_rules_and_description_of_ones_own(merged: Repo, tmp_path: Path, cache: Cache, sandbox: Sandbox) -> None:
    made = make(merged, tmp_path / "suite", cache, sandbox, rules="Test it.", description="Averages\n\nDone.")
    assert made.folder is not None
    data = tomllib.loads((made.folder / "task.toml").read_text())
    assert data["task"]["rules"] == "contributing.md"
    assert (made.folder / "contributing.md").read_text() == "Test it.\n"
    assert (made.folder / "solution/description.md").read_text() == "Averages\n\nDone.\n"


def test_tests_that_tell_nothing_apart_are_refused(
    merged: Repo, tmp_path: Path, cache: Cache, sandbox: Sandbox
) -> None:
    vacuous = tmp_path / "test_vacuous.py"
    vacuous.write_text("import shop\n\n\ndef test_total():\n    assert shop.total([1]) == 1\n")
    made = make(merged, tmp_path / "suite", cache, sandbox, tests=(vacuous,))
    assert made.finding is ProofFinding.VACUOUS
    assert made.folder is None
    assert not (tmp_path / "suite").exists()


def test_a_javascript_package(tmp_path: Path, cache: Cache, sandbox: Sandbox) -> None:
    repo = make_repo(tmp_path / "calc")
    old = "const assert = require('node:assert');\nconst { test } = require('node:test');\n"
    test = "test('sums', () => {\n  assert.strictEqual(require('..').sum(1, 2), 3);\n});\n"
    new = "test('twice', () => {\n  assert.strictEqual(require('..').twice(4), 8);\n});\n"
    repo.commit({"index.js": "exports.sum = (a, b) => a + b;\n", "test/calc.js": old + test}, "Start")
    repo.git("tag", "start")
    repo.commit(
        {
            "index.js": "exports.sum = (a, b) => a + b;\nexports.twice = (a) => a + a;\n",
            "test/calc.js": old + test + new,
        },
        "Add twice",
    )
    made = make(repo, tmp_path / "suite", cache, sandbox, runner="node")
    assert made.finding is ProofFinding.SOUND, made.reasons
    (folder,) = find_suite(str(tmp_path / "suite")).tasks
    tests = folder.task.grading.tests
    assert tests is not None
    assert (tests.runner, tests.fail_to_pass, tests.pass_to_pass) == (
        "node", ("test/calc.js::twice",), ("test/calc.js::sums",)
    )  # fmt: skip
    assert folder.task.rules == ""
    assert any("CONTRIBUTING" in warning for warning in made.warnings)
    hidden = tmp_path / "more.test.js"
    hidden.write_text(old + "test('mine', () => {\n  assert.strictEqual(require('..').twice(5), 10);\n});\n")
    given = make(repo, tmp_path / "suite", cache, sandbox, runner="node", id="given", tests=(hidden,))
    assert given.folder is not None, given.reasons
    assert (given.folder / "tests/test/more.test.js").is_file()


def test_what_cannot_be_made_is_one_sentence_each(merged: Repo, tmp_path: Path, cache: Cache, sandbox: Sandbox) -> None:
    for more, said in (
        ({"base": "nowhere"}, "has no commit 'nowhere'"),
        ({"base": "HEAD"}, "same commit"),
        ({"instruction": " "}, "instruction is empty"),
        ({"description": " "}, "has no message"),
        ({"runner": "node"}, "*.test.js"),
        ({"runner": "node", "tests": (tmp_path / "x.py",)}, "no JavaScript file"),
        ({"only": ("README.md",)}, "adds or alters no test"),
    ):
        with pytest.raises(BadInput) as caught:
            make(merged, tmp_path / "suite", cache, sandbox, **more)
        assert said in str(caught.value), more
        assert caught.value.remedy
    assert not (tmp_path / "suite").exists()
