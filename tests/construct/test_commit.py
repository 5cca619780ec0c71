"""Tasks made of commits, with tests that run in the real sandbox."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from construct.making import AVERAGE, CODE, NEW_TEST, OLD_TEST, Repo, make_repo
from repoassay.construct import Constructed, ProofFinding, ProofRole, TaskRequest, construct_commit
from repoassay.engine import validate_task
from repoassay.engine.grading_context import GradingContext
from repoassay.errors import BadInput
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.protocol import Sandbox
from repoassay.tasks.suite import find_suite

pytestmark = pytest.mark.exhaustive

AVERAGE_TEST = "import shop\n\n\ndef test_average():\n    assert shop.average([1, 3]) == 2\n"


class Maker:
    """Makes tasks into one folder."""

    def __init__(self, out: Path, cache: Cache, sandbox: Sandbox) -> None:
        self.out, self.cache, self.sandbox = out, cache, sandbox

    def __call__(self, repo: Repo, *, times: int = 1, solution: str = "HEAD", **more: Any) -> Constructed:
        asked = TaskRequest(str(repo.path), solution, **{"instruction": "Add average(prices).", **more})
        return construct_commit(asked, self.out, self.cache, self.sandbox, times=times, workers=2)

    def refused(self, repo: Repo, **more: Any) -> str:
        """What it says when it makes nothing, and that nothing is left."""
        before = sorted(self.out.rglob("*")) if self.out.exists() else None
        with pytest.raises(BadInput) as caught:
            self(repo, **more)
        assert (sorted(self.out.rglob("*")) if self.out.exists() else None) == before
        assert caught.value.remedy
        return str(caught.value)


@pytest.fixture
def make(tmp_path: Path, cache: Cache, sandbox: Sandbox) -> Maker:
    return Maker(tmp_path / "suite", cache, sandbox)


def roles(made: Constructed) -> Mapping[str, ProofRole]:
    return {case.id: case.role for case in made.proven.cases}


def test_a_good_commit_becomes_a_task_that_validates_anywhere(shop: Repo, make: Maker) -> None:
    made = make(shop, bundle=True, id="shop-average", licence="MIT")
    assert made.finding is ProofFinding.SOUND
    assert roles(made) == {
        "tests/test_shop.py::test_average": ProofRole.MUST_PASS, "tests/test_shop.py::test_total": ProofRole.GUARD
    }  # fmt: skip
    assert made.folder == make.out / "shop-average"
    shop.path.rename(shop.path.with_name("moved"))
    suite = find_suite(make.out)
    (folder,) = suite.tasks
    tests = folder.task.grading.tests
    assert tests is not None
    assert tests.fail_to_pass == ("tests/test_shop.py::test_average",)
    assert tests.pass_to_pass == ("tests/test_shop.py::test_total",)
    assert folder.instruction == "Add average(prices).\n"
    assert b"test_average" not in (folder.solution / "changes.diff").read_bytes()
    proof = json.loads((folder.solution / "proof.json").read_bytes())
    assert {test["base"]["flip_rate"] for test in proof["tests"]} == {0}
    pins = (folder.path / "environment/requirements.in").read_text()
    assert "\npytest==" in pins
    proofs = validate_task(folder, GradingContext(suite.repositories, make.cache, make.sandbox))
    assert [each.name for each in proofs if not each.sound] == []
    base = suite.repositories
    assert base is not None
    assert [path.read_text() for path in base.rglob("shop.py")] == [CODE]
    assert not list(base.rglob(".git"))
    assert sorted(path.name for path in make.out.iterdir()) == ["repositories", "shop-average"]


def test_without_a_bundle_it_says_that_it_works_here_alone(shop: Repo, make: Maker) -> None:
    made = make(shop, instruction=None)
    assert made.folder is not None
    assert any("this machine alone" in warning for warning in made.warnings)
    assert any("commit's message" in warning for warning in made.warnings)
    task = tomllib.loads((made.folder / "task.toml").read_text())
    assert task["repository"]["source"] == f"git:{shop.path}"
    assert task["repository"]["revision"] == shop.git("rev-parse", "HEAD~1")
    assert (made.folder / "instruction.md").read_text() == "Add the average of prices\n"
    assert "exists" in make.refused(shop)


def test_two_tasks_of_one_base_share_its_files(shop: Repo, make: Maker) -> None:
    (shop.path / "outside").symlink_to("/etc")
    shop.commit({"shop.py": CODE, "tests/test_shop.py": OLD_TEST})
    shop.commit({"shop.py": AVERAGE, "tests/test_shop.py": NEW_TEST})
    assert make(shop, bundle=True, id="one").folder
    assert make(shop, bundle=True, id="two").folder
    assert len(list((make.out / "repositories").iterdir())) == 1
    assert len(find_suite(make.out).tasks) == 2
    (repository,) = (make.out / "repositories").iterdir()
    assert (repository / "outside").is_symlink()
    (repository / "shop.py").write_text("changed = 1\n")
    assert "holds other files" in make.refused(shop, bundle=True, id="three")


def test_in_a_suite_tasks_go_below_tasks(shop: Repo, make: Maker) -> None:
    make.out.mkdir()
    (make.out / "suite.toml").write_text('schema = 1\n[suite]\nname = "own"\nversion = "1"\ntitle = "Our own"\n')
    made = make(shop, bundle=True, id="one")
    assert made.folder == make.out / "tasks/one"
    assert find_suite(make.out).suite.name == "own"


def test_vacuous_tests_are_refused_with_counts(shop: Repo, make: Maker, tmp_path: Path) -> None:
    tests = tmp_path / "test_hidden.py"
    tests.write_text(OLD_TEST)
    made = make(shop, tests=(tests,), times=3)
    assert (made.finding, made.folder) == (ProofFinding.VACUOUS, None)
    assert [case.base for case in made.proven.cases] == [("passed",) * 3]
    assert "passes at the base" in made.reasons[0]
    assert not make.out.exists()


def test_flaky_tests_are_refused_with_flip_rates(shop: Repo, make: Maker, tmp_path: Path) -> None:
    """By chance alone it passes or fails all of 16 runs once in 32768 times."""
    tests = tmp_path / "test_hidden.py"
    tests.write_text(
        "import os, shop\n\n\ndef test_it():\n    assert shop.average([1]) == 1\n    assert os.urandom(1)[0] < 128\n"
    )
    made = make(shop, tests=(tests,), times=16)
    assert (made.finding, made.folder) == (ProofFinding.UNSTABLE, None)
    (case,) = made.proven.cases
    assert set(case.base) == {"failed"}
    assert set(case.solution) == {"passed", "failed"}
    assert "urandom" in case.solution_message


def test_a_flaky_test_beside_a_stable_one_is_dropped(shop: Repo, make: Maker, tmp_path: Path) -> None:
    """The hash seed differs from interpreter to interpreter."""
    tests = tmp_path / "test_hidden.py"
    flaky = "\n\ndef test_order():\n    assert shop.average([1]) == 1\n    assert hash('x') % 2\n"
    tests.write_text(AVERAGE_TEST + flaky)
    made = make(shop, tests=(tests,), times=16, bundle=True)
    assert made.finding is ProofFinding.SOUND
    assert roles(made)["test_hidden.py::test_order"] is ProofRole.FLAKY
    (folder,) = find_suite(make.out).tasks
    assert folder.task.grading.tests is not None
    assert folder.task.grading.tests.all_ids == ("test_hidden.py::test_average",)


def test_a_solution_that_fails_is_refused_with_the_failure(shop: Repo, make: Maker, tmp_path: Path) -> None:
    tests = tmp_path / "test_hidden.py"
    tests.write_text(AVERAGE_TEST.replace("== 2", "== 3"))
    made = make(shop, tests=(tests,))
    assert made.finding is ProofFinding.BROKEN
    assert "AssertionError" in made.proven.cases[0].solution_message
    assert "test_average" in made.reasons[0]


def test_a_solution_that_breaks_what_passed_is_refused(shop: Repo, make: Maker) -> None:
    shop.commit({"shop.py": AVERAGE.replace("sum(prices)", "sum(prices, 1)"), "tests/test_shop.py": NEW_TEST})
    made = make(shop, base="HEAD~2")
    assert made.finding is ProofFinding.BROKEN
    assert "breaks what passed before" in made.reasons[0]


def test_tests_without_an_assertion_to_doubt_are_refused(shop: Repo, make: Maker, tmp_path: Path) -> None:
    tests = tmp_path / "test_hidden.py"
    tests.write_text("import shop\n\n\ndef test_it():\n    shop.average([1])\n")
    made = make(shop, tests=(tests,))
    assert (made.finding, made.folder) == (ProofFinding.DOUBTFUL, None)
    assert "canary" in made.reasons[0]
    assert not make.out.exists()


def test_a_missing_package_is_named(shop: Repo, make: Maker, tmp_path: Path) -> None:
    tests = tmp_path / "test_hidden.py"
    tests.write_text("import not_a_package_at_all\n" + AVERAGE_TEST)
    made = make(shop, tests=(tests,))
    assert made.finding is ProofFinding.BROKEN
    assert "not_a_package_at_all" in " ".join(made.reasons)


def test_a_script_without_tests_is_one_test(shop: Repo, make: Maker, tmp_path: Path) -> None:
    script = tmp_path / "check.py"
    script.write_text("import shop\n\nassert shop.average([1, 3]) == 2\n")
    made = make(shop, tests=(script,), bundle=True)
    assert (made.finding, roles(made)) == (ProofFinding.SOUND, {"check.py::__script__": ProofRole.MUST_PASS})


def test_a_file_that_the_base_cannot_import_does_not_hide_the_others(shop: Repo, make: Maker) -> None:
    shop.commit({
        "basket.py": "def empty():\n    return []\n",
        "tests/test_basket.py": "from basket import empty\n\n\ndef test_empty():\n    assert empty() == []\n",
        "tests/test_shop.py": NEW_TEST + "\n\ndef test_more():\n    assert shop.total([]) == 0\n",
        "tests/test_nothing.py": "x = 1\n",
    })  # fmt: skip
    made = make(shop, bundle=True)
    assert made.finding is ProofFinding.SOUND
    assert {case.id: case.role for case in made.proven.cases} == {
        "tests/test_basket.py::test_empty": ProofRole.MUST_PASS,
        "tests/test_shop.py::test_average": ProofRole.GUARD,
        "tests/test_shop.py::test_more": ProofRole.GUARD,
        "tests/test_shop.py::test_total": ProofRole.GUARD,
    }
    assert set(made.proven.unread) == {"tests/test_nothing.py"}


def test_packages_of_tests_and_their_data_come_along(tmp_path: Path, make: Maker) -> None:
    repo = make_repo(tmp_path / "lib")
    reading = "from pathlib import Path\n\nTWO = float(Path(__file__).with_name('two.txt').read_text())\n"
    support = {
        "tests/__init__.py": "",
        "tests/unit/__init__.py": "",
        "tests/two.txt": "2\n",
        "tests/reading.py": reading,
    }
    repo.commit({"src/shop.py": CODE, **support})
    test = "import shop\nfrom ..reading import TWO\n\n\ndef test_it():\n    assert shop.average([1, 3]) == TWO\n"
    repo.commit({"src/shop.py": AVERAGE, "tests/unit/test_it.py": test})
    made = make(repo, bundle=True)
    assert made.finding is ProofFinding.SOUND, made.reasons
    assert made.folder is not None
    assert (made.folder / "tests/tests/two.txt").is_file()


def test_a_renamed_test_file_and_unicode_paths(tmp_path: Path, make: Maker) -> None:
    repo = make_repo(tmp_path / "lädt 日本")
    repo.commit(
        {
            "größe.py": CODE,
            "tests/test_alt.py": "import größe\n\n\ndef test_total():\n    assert größe.total([]) == 0\n",
        }
    )
    repo.git("mv", "tests/test_alt.py", "tests/test_größe 日本.py")
    new = NEW_TEST.replace("shop", "größe")
    repo.commit({"größe.py": AVERAGE, "tests/test_größe 日本.py": new, "docs/ü.md": "# Ü\n"})
    made = make(repo, bundle=True)
    assert made.finding is ProofFinding.SOUND, made.reasons
    assert roles(made) == {
        "tests/test_größe 日本.py::test_average": ProofRole.MUST_PASS,
        "tests/test_größe 日本.py::test_total": ProofRole.GUARD,
    }
    assert find_suite(make.out).tasks[0].task.repository.source.startswith("bundled:l-dt-")


def test_a_merge_is_held_against_its_first_parent(shop: Repo, make: Maker) -> None:
    shop.git("checkout", "--quiet", "-b", "feature")
    more = "\n\ndef largest(prices):\n    return max(prices)\n"
    test = "import shop\n\n\ndef test_largest():\n    assert shop.largest([1, 3]) == 3\n"
    shop.commit({"shop.py": AVERAGE + more, "tests/test_largest.py": test})
    shop.git("checkout", "--quiet", "main")
    shop.commit({"README.md": "# Shop\n"})
    shop.git("merge", "--quiet", "--no-ff", "--no-edit", "feature")
    made = make(shop, instruction=None, bundle=True)
    assert made.finding is ProofFinding.SOUND
    assert made.base == shop.git("rev-parse", "HEAD^1")
    assert any("is a merge" in warning for warning in made.warnings)


def test_a_hostile_repository_runs_nothing_and_leads_nowhere(shop: Repo, make: Maker, tmp_path: Path) -> None:
    mark, evil = tmp_path / "mark", tmp_path / "evil.sh"
    evil.write_text(f"#!/bin/sh\ntouch {mark}\ncat\n")
    evil.chmod(0o755)
    shop.git("reset", "--quiet", "--hard", "HEAD~1")
    shop.commit({".gitattributes": "*.py filter=evil diff=evil export-subst ident\n"})
    shop.commit({"shop.py": AVERAGE, "tests/test_shop.py": NEW_TEST})
    for name in ("filter.evil.clean", "filter.evil.smudge", "diff.evil.textconv", "core.fsmonitor", "diff.external"):
        shop.git("config", name, str(evil))
    shop.git("config", "core.hooksPath", str(tmp_path))
    assert make(shop).finding is ProofFinding.SOUND
    assert not mark.exists()


def test_what_cannot_be_made_is_one_sentence_each(shop: Repo, make: Maker, tmp_path: Path) -> None:
    assert "has no commit 'nowhere'" in make.refused(shop, solution="nowhere")
    assert "has no commit 'nowhere'" in make.refused(shop, base="nowhere")
    assert "are the same commit" in make.refused(shop, base="main")
    assert "has no parent" in make.refused(shop, solution="HEAD~1")
    assert "no Python version" in make.refused(shop, python="three")
    assert "instruction is empty" in make.refused(shop, instruction=" \n")
    assert "no task id" in make.refused(shop, id="../x")
    assert "cannot be read" in make.refused(shop, tests=(tmp_path / "test_none.py",))
    assert "no Python file" in make.refused(shop, tests=(tmp_path,))
    assert "with options" in make.refused(shop, requirements=("-r other.txt",))
    assert "no file but tests" in make.refused(shop, only=("tests/*",))
    assert "adds or alters no test" in make.refused(shop, only=("shop.py",))


def test_a_given_file_takes_the_place_of_the_commits_tests(shop: Repo, make: Maker, tmp_path: Path) -> None:
    tests = tmp_path / "test_hidden.py"
    tests.write_text(AVERAGE_TEST)
    made = make(shop, tests=(tests,), bundle=True)
    assert made.folder is not None
    assert [path.name for path in (made.folder / "tests").rglob("*")] == ["test_hidden.py"]
    link = tmp_path / "test_link.py"
    link.symlink_to(tests)
    assert "cannot be read" in make.refused(shop, tests=(link,), id="other")
