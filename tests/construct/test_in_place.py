"""A change's own tests, run as their maintainers run them."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from construct.making import AVERAGE, CODE, Repo, make_repo
from construct.trees import project
from repoassay.construct import Constructed, ProofFinding, Proposal, TaskRequest, construct_commit, trial
from repoassay.construct.in_place import count_test_functions, find_tests, split_in_place
from repoassay.construct.prove import ProofRole
from repoassay.construct.recipe.infer import infer
from repoassay.construct.trial import RecipeTrial
from repoassay.engine import GradingContext, validate_task
from repoassay.errors import BadInput
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.protocol import Sandbox
from repoassay.tasks.suite import find_suite
from repoassay.workspace import lay_out, release_lines  # noqa: F401  # asked by the mark, as a test starts

CONFTEST = "import pytest\n\n\n@pytest.fixture\ndef prices():\n    return [1, 3]\n"
OLD = "import shop\nfrom helpers import SUM\n\n\ndef test_total(prices):\n    assert shop.total(prices) == SUM\n"
NEW = OLD + "\n\ndef test_average(prices, half):\n    assert shop.average(prices) * half == 1\n"
HALF = CONFTEST + "\n\n@pytest.fixture\ndef half():\n    return 0.5\n"
PYPROJECT = """[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
[project]
name = "shop"
dynamic = ["version"]
requires-python = ">=3.8"
license = {text = "MIT"}
classifiers = ["Programming Language :: Python :: 3.11"]
[project.optional-dependencies]
test = ["pytest"]
[tool.setuptools]
py-modules = ["shop"]
[tool.setuptools.dynamic]
version = {attr = "shop.__version__"}
"""
VERSION = '__version__ = "1.0"\n'


def fixed(path: Path) -> Repo:
    """A package whose fix comes with a fixture, which its tests need."""
    repo = make_repo(path)
    permission = "Permission is hereby granted, free of charge, to any person obtaining a copy\n"
    repo.commit(
        {
            "pyproject.toml": PYPROJECT, "shop.py": VERSION + CODE, "LICENSE": permission,
            "tests/conftest.py": CONFTEST, "tests/helpers.py": "SUM = 4\n", "tests/test_shop.py": OLD,
        },
        "Start",
    )  # fmt: skip
    repo.commit({"shop.py": VERSION + AVERAGE, "tests/conftest.py": HALF, "tests/test_shop.py": NEW}, "Add the average")
    return repo


def make(repo: Repo, out: Path, cache: Cache, sandbox: Sandbox, **more: Any) -> Constructed:
    asked = TaskRequest(str(repo.path), "HEAD", bundle=True, runner="repository", **more)
    return construct_commit(asked, out, cache, sandbox, times=2, workers=2)


@pytest.mark.exhaustive
def test_a_fix_with_fixtures_becomes_a_task_with_nothing_typed(tmp_path: Path, cache: Cache, sandbox: Sandbox) -> None:
    made = make(fixed(tmp_path / "shop"), tmp_path / "suite", cache, sandbox)
    assert made.finding is ProofFinding.SOUND, (made.reasons, made.derivation)
    (folder,) = find_suite(tmp_path / "suite").tasks
    tests, environment = folder.task.grading.tests, folder.task.environment
    assert tests is not None
    assert (tests.runner, tests.patch, tests.files) == ("repository", "tests/test.patch", ("tests/test_shop.py",))
    assert tests.fail_to_pass == ("tests/test_shop.py::test_average",)
    assert tests.pass_to_pass == ("tests/test_shop.py::test_total",)
    assert (environment.python, folder.task.licence) == ("3.11", "MIT")
    assert environment.exclude_newer and environment.build
    assert b"half" in (folder.path / "tests/test.patch").read_bytes()
    assert b"test_average" not in (folder.solution / "changes.diff").read_bytes()
    proof = json.loads((folder.solution / "proof.json").read_bytes())
    assert "extra test in pyproject.toml" in " ".join(proof["environment"])
    proofs = validate_task(folder, GradingContext(tmp_path / "suite/repositories", cache, sandbox))
    assert [(each.name, each.comment) for each in proofs if not each.sound] == []


@pytest.mark.long
def test_a_commit_makes_no_task_where_nobody_outside_can_doubt_its_tests(
    tmp_path: Path, cache: Cache, sandbox: Sandbox
) -> None:
    repo = make_repo(tmp_path / "shop")
    before = {"pyproject.toml": PYPROJECT, "shop.py": VERSION + CODE, "tests/test_shop.py": "import shop\n"}
    repo.commit({**before, "LICENSE": "MIT"}, "Start")
    made = "def one():\n    return lambda self: self.assertEqual(shop.average([1, 3]), 2)\n"
    silent = (
        f"import unittest\n\nimport shop\n\n\n{made}\n\nclass TestShop(unittest.TestCase):\n    test_average = one()\n"
    )
    repo.commit({"shop.py": VERSION + AVERAGE, "tests/test_shop.py": silent}, "Add the average")
    made_task = make(repo, tmp_path / "suite", cache, sandbox)
    assert made_task.finding is ProofFinding.DOUBTFUL, made_task
    assert "so no pass can be doubted" in made_task.reasons[0]


@pytest.mark.long
def test_tests_that_a_class_inherits_can_be_doubted(tmp_path: Path, cache: Cache, sandbox: Sandbox) -> None:
    repo = make_repo(tmp_path / "shop")
    before = {"pyproject.toml": PYPROJECT, "shop.py": VERSION + CODE, "tests/test_shop.py": "import shop\n"}
    repo.commit({**before, "LICENSE": "MIT"}, "Start")
    common = "class Common:\n    def test_average(self):\n        self.assertEqual(shop.average([1, 3]), 2)\n"
    classes = [f"class Test{name}(Common, unittest.TestCase):\n    pass\n" for name in ("First", "Second")]
    text = "\n\n".join(["import unittest\n\nimport shop\n", common, *classes])
    repo.commit({"shop.py": VERSION + AVERAGE, "tests/test_shop.py": text}, "Add the average")
    made = make(repo, tmp_path / "suite", cache, sandbox)
    assert made.finding is ProofFinding.SOUND, made
    (folder,) = find_suite(tmp_path / "suite").tasks
    bench = GradingContext(tmp_path / "suite/repositories", cache, sandbox)
    layout = lay_out(folder, bench.repositories, cache, sandbox)
    reference = bench.oracle.reference(folder, layout.base, layout.environment)
    assert reference and list(reference.twins) == ["tests/test_shop.py::TestFirst::test_average"]


@pytest.mark.exhaustive
def test_lost_tests_refuse_a_task_with_their_share(
    tmp_path: Path, cache: Cache, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = fixed(tmp_path / "shop")
    lost = "".join(f"\n\ndef test_{number}():\n    open('/no/such/file')\n" for number in range(2))
    repo.git("reset", "--quiet", "--hard", "HEAD~1")
    repo.commit({"shop.py": VERSION + AVERAGE, "tests/conftest.py": HALF, "tests/test_shop.py": NEW + lost})
    made = make(repo, tmp_path / "suite", cache, sandbox)
    assert (made.finding, made.folder) == (ProofFinding.LOSSY, None)
    assert "2 of 4 tests of the change (50%)" in " ".join(made.reasons)
    assert _given_up(made) > 1
    monkeypatch.setattr(trial, "_MOST_SECONDS", 0.001)
    assert _given_up(make(repo, tmp_path / "suite", cache, sandbox)) == 1


@pytest.mark.exhaustive
@pytest.mark.parametrize("ends", [True, False])
def test_names_that_only_failures_at_the_base_have_are_no_lost_tests(
    ends: bool, tmp_path: Path, cache: Cache, sandbox: Sandbox
) -> None:
    repo = fixed(tmp_path / "shop")
    repo.git("reset", "--quiet", "--hard", "HEAD~1")
    tables = ["import pytest\n", "\n\nNAMES = getattr(shop, 'NAMES', ['old'])\n"]
    new = "\n\n@pytest.mark.parametrize('name', NAMES)\ndef test_name(name):\n    assert shop.NAMES\n"
    new += "" if ends else "\n\ndef test_end():\n    import os\n    os._exit(0)\n"
    code = VERSION + CODE + "\n\nNAMES = ['new']\n"
    repo.commit({"shop.py": code, "tests/test_shop.py": tables[0] + OLD.partition("def")[0] + tables[1] + new}, "Name")
    made = make(repo, tmp_path / "suite", cache, sandbox)
    assert made.finding is (ProofFinding.SOUND if ends else ProofFinding.LOSSY), (made.reasons, made.derivation)
    assert {case.id for case in made.proven.cases} >= {"tests/test_shop.py::test_name[new]"}


@pytest.mark.exhaustive
def test_extras_are_tried_where_tests_fail_and_no_message_names_a_package(
    tmp_path: Path, cache: Cache, sandbox: Sandbox
) -> None:
    repo = fixed(tmp_path / "shop")
    more = "\ntry:\n    import six\nexcept ImportError:\n    six = None\n"
    failing = "\n\ndef test_extra():\n    assert shop.six is not None, 'no extra'\n"
    repo.git("reset", "--quiet", "--hard", "HEAD~1")
    pyproject = PYPROJECT.replace("test =", 'two = ["six"]\ntest =')
    repo.commit({"pyproject.toml": pyproject, "shop.py": VERSION + CODE + more})
    repo.commit(
        {"shop.py": VERSION + AVERAGE + more, "tests/conftest.py": HALF, "tests/test_shop.py": NEW + failing}, "Average"
    )
    made = make(repo, tmp_path / "suite", cache, sandbox)
    assert made.finding is ProofFinding.SOUND, (made.reasons, made.derivation)
    assert "six: tests failed without it, and extra two in pyproject.toml names it." in made.derivation


@pytest.mark.exhaustive
def test_tests_that_do_not_end_refuse_a_commit_before_any_proof(
    tmp_path: Path, cache: Cache, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = fixed(tmp_path / "shop")
    repo.git("reset", "--quiet", "--hard", "HEAD~1")
    slow = "\n\ndef test_slow():\n    import time\n    time.sleep(3000)\n"
    repo.commit({"shop.py": VERSION + AVERAGE, "tests/conftest.py": HALF, "tests/test_shop.py": NEW + slow})
    monkeypatch.setattr(trial, "_MOST_TRIALS", 1)
    made = make(repo, tmp_path / "suite", cache, sandbox, most_seconds=20)
    assert (made.finding, made.folder, made.proven.cases) == (ProofFinding.SLOW, None, ())
    assert "did not end within 20 s" in made.reasons[0] and "--timeout" in made.reasons[0]


def _given_up(made: Constructed) -> int:
    return sum(each.startswith("Given up") for each in made.derivation)


@pytest.mark.exhaustive
@pytest.mark.skipif('"3.6" not in release_lines()', reason="this machine has no Python 3.6")
def test_tests_see_the_repository_where_back_ends_cannot_install_it_for_development(
    tmp_path: Path, cache: Cache, sandbox: Sandbox
) -> None:
    setup = "from setuptools import setup\nsetup(name='My.Shop', version='1.0', packages=['shop'])\n"
    before = {
        "setup.py": setup,
        "LICENSE": "",
        "tests/test_shop.py": "import shop\n\n\ndef test_one():\n    assert shop\n",
    }
    repo = make_repo(tmp_path / "shop")
    repo.commit({**before, "shop/__init__.py": CODE}, "Start")
    tests = before["tests/test_shop.py"] + "\n\ndef test_average():\n    assert shop.average([1, 3]) == 2\n"
    repo.commit({"shop/__init__.py": AVERAGE, "tests/test_shop.py": tests}, "Add the average")
    made = make(repo, tmp_path / "suite", cache, sandbox, python="3.6")
    assert made.finding is ProofFinding.SOUND, (made.reasons, made.derivation)


@pytest.mark.exhaustive
def test_a_project_that_nothing_here_compiles_is_tested_without_what_it_compiles(
    tmp_path: Path, cache: Cache, sandbox: Sandbox
) -> None:
    back_end = 'def build_wheel(*_, **__):\n    raise SystemExit("Rust not found")\n\n\nbuild_editable = build_wheel\n'
    pyproject = '[build-system]\nrequires = []\nbuild-backend = "compiling"\nbackend-path = ["."]\n[project]\n'
    pyproject += 'name = "shop"\nversion = "1.0"\ndependencies = ["six"]\nrequires-python = ">=3.8"\n'
    source = "import six\ntry:\n    from ._fast import total\nexcept ImportError:\n    pass\n"
    start = {
        "pyproject.toml": pyproject,
        "compiling.py": back_end,
        "LICENSE": "",
        "src/shop/__init__.py": source + CODE,
    }
    test = "import shop\n\n\ndef test_one():\n    assert shop.total([1]) == 1\n"
    repo = make_repo(tmp_path / "shop")
    repo.commit({**start, "tests/test_shop.py": test}, "Start")
    test += "\n\ndef test_average():\n    assert shop.average([1, 3]) == 2\n"
    repo.commit({"src/shop/__init__.py": source + AVERAGE, "tests/test_shop.py": test}, "Add the average")
    made = make(repo, tmp_path / "suite", cache, sandbox)
    assert made.finding is ProofFinding.SOUND, (made.reasons, made.derivation)
    assert "Not installed, since nothing here builds it" in " ".join(made.derivation)


@pytest.mark.exhaustive
def test_a_pull_request_takes_the_same_path(tmp_path: Path, cache: Cache, sandbox: Sandbox) -> None:
    made = make(fixed(tmp_path / "shop"), tmp_path / "suite", cache, sandbox,
                instruction="Averages, please.", proposal=Proposal(rules="Test it."))  # fmt: skip
    assert made.finding is ProofFinding.SOUND, (made.reasons, made.derivation)


@pytest.mark.exhaustive
def test_what_cannot_be_built_is_told_step_by_step(tmp_path: Path, cache: Cache, sandbox: Sandbox) -> None:
    repo = fixed(tmp_path / "shop")
    impossible = PYPROJECT.replace('"pytest"]', '"pytest", "nosuchpackageanywhere"]')
    repo.git("reset", "--quiet", "--hard", "HEAD~1")
    repo.commit({"pyproject.toml": impossible, "shop.py": VERSION + AVERAGE, "tests/test_shop.py": NEW})
    made = make(repo, tmp_path / "suite", cache, sandbox, python="3.11")
    assert (made.finding, made.folder) == (ProofFinding.UNBUILDABLE, None)
    assert "nosuchpackageanywhere" in " ".join(made.reasons)
    assert "All it printed is in " in made.reasons[1]


def test_tests_are_told_by_the_settings_of_pytest() -> None:
    tests = find_tests(project({
        "pytest.ini": "[pytest]\npython_files = check_*.py test_*.py\ntestpaths = unit_tests\naddopts = --cov=x -n 2\n",
        "unit_tests/check_a.py": "", "pkg/tests/test_b.py": "", "pkg/check_c.py": "", "docs/test/readme.md": "",
        "unit_tests/data.json": "", "tools/test_runner/run.py": "",
    }))  # fmt: skip
    assert tests.folders == ("pkg/tests", "unit_tests")
    assert tests.is_test("unit_tests/check_a.py") and tests.is_test("pkg/tests/test_b.py")
    assert not tests.is_test("pkg/check_c.py") and not tests.is_test("unit_tests/conftest.py")
    assert tests.inside("unit_tests/data.json") and not tests.inside("docs/test/readme.md")
    assert tests.support == ("unit_tests/*",)
    assert tests.arguments == ("--continue-on-collection-errors", "--no-cov", "-n", "0")


def test_set_up_goes_with_the_tests_and_compiled_sources_are_refused() -> None:
    before = project({"a.py": "1", "tests/test_a.py": "1", "tests/gone.txt": "1", "conftest.py": "1"}).files
    after = project({"a.py": "22", "tests/test_a.py": "22", "conftest.py": "22", "tests/x.txt": "1"}).files
    tests = find_tests(project({"tests/test_a.py": ""}))
    split, patched = split_in_place(before, after, (), tests, lambda entry: b"")
    assert (split.solution, split.tests) == (("a.py",), ("tests/test_a.py",))
    assert patched == ("conftest.py", "tests/gone.txt", "tests/test_a.py", "tests/x.txt")
    more = {**after, **project({"src/x.pyx": "1"}).files}
    with pytest.raises(BadInput, match="compiled"):
        split_in_place(before, more, (), find_tests(project({})), lambda entry: b"")


@pytest.mark.parametrize("changed", ["tests/test_a.py", "tests/basic.py"])
def test_files_that_only_a_collected_one_imports_are_run_by_name(changed: str) -> None:
    files = {
        "pytest.ini": "[pytest]\npython_files = __main__.py\n", "tests/__main__.py": "from .test_a import *",
        "tests/conftest.py": "def test_none(): ...", "tests/helper.py": "", "tests/test_b.py": "", changed: "",
    }  # fmt: skip
    text = "class A:\n    def test_one(self): ...\n"
    before, after = project(files), project({**files, "a.py": "1", "tests/helper.py": "x = 1", changed: text})
    read = {entry.object: text.encode() for path, entry in after.files.items() if path == changed}
    split, _ = split_in_place(
        before.files, after.files, (), find_tests(after), lambda entry: read.get(entry.object, b"")
    )
    assert split.tests == (changed,) and split.support == ("tests/helper.py",)


def test_new_examples_that_tests_run_belong_to_the_tests() -> None:
    files = {
        "a.py": "22", "docs_src/shop/one.py": "1", "docs_src/shop/two.py": "1", "docs_src/shop/three.py": "1",
        "docs_src/old.py": "2", "examples/run.py": "1",
        "tests/test_a.py": (
            "from docs_src.shop import (\n    one,\n)\nimport docs_src.shop.two, docs_src.old\nRUN = 'examples/run.py'"
        ),
    }  # fmt: skip
    after, before = project(files), project({"a.py": "1", "docs_src/old.py": "", "tests/test_a.py": ""})
    split, patched = split_in_place(
        before.files, after.files, (), find_tests(after), lambda entry: files[entry.object].encode()
    )
    assert split.solution == ("a.py", "docs_src/old.py", "docs_src/shop/three.py")
    assert split.tests == ("tests/test_a.py",)
    assert patched == ("docs_src/shop/one.py", "docs_src/shop/two.py", "examples/run.py", "tests/test_a.py")


def test_test_functions_are_counted() -> None:
    source = "def test_a(): ...\nclass TestB:\n    async def test_c(self): ...\n    def helper(self): ...\n"
    broken = "def (\n", "def test_a(:\n    async def test_b("
    assert [count_test_functions(text) for text in (source, "", *broken)] == [2, 0, 0, 2]


@pytest.mark.parametrize(
    ("changed", "run"),
    [
        ("testsuite/E27.py", ("testsuite/test_all.py", "testsuite/test_api.py")),
        ("testsuite/data/E28.py", ("testsuite/test_api.py",)),
        ("testsuite/conftest.py", ()),
        ("testsuite/testshell.py", ("testsuite/testshell.py",)),
    ],
)
def test_tests_that_read_changed_data_are_run(changed: str, run: tuple[str, ...]) -> None:
    files = {
        "a.py": "22", "testsuite/test_all.py": "PATHS = ['testsuite']", "testsuite/test_api.py": "testsuite, 'data'",
        "testsuite/test_shell.py": "", "testsuite/data/other.py": "", "testsuite/testshell.py": "# nose",
        changed: "if x:\ndef test_it(): ..." if "shell" in changed else "if x:\n    #: E275\nnot",
    }  # fmt: skip
    after, before = project(files), project({**files, "a.py": "1", changed: "x" * 99})
    split, patched = split_in_place(
        before.files, after.files, (), find_tests(after), lambda entry: files[entry.object].encode()
    )
    assert (split.solution, split.tests, patched) == (("a.py",), run, (changed,))


def test_what_a_run_misses_is_looked_up_in_the_repository() -> None:
    tree = project({"pkg/a.py": "", "requirements-docs.txt": "rare-thing==1\n"})
    said = (
        "ModuleNotFoundError: No module named 'yaml'\nNo module named 'rare_thing'\nNo module named 'pkg.sub'\n"
        "No module named 'nobody_names_this'\nNo module named 'pytest_benchmark'\n"
        "fixture 'mocker' not found\nerror: unrecognized arguments: --timeout=3\n"
    )
    run: Any = SimpleNamespace(printed=said, report=SimpleNamespace(others=(), broken=()))
    nothing: Any = None
    tried = RecipeTrial(nothing, nothing, run, {})
    made = infer(tree, tree, datetime.date(2022, 1, 1), None, ["3.9"])
    assert set(tried.missing(made)) == {"pyyaml", "rare-thing", "pytest-benchmark", "pytest-mock", "pytest-timeout"}


@pytest.mark.exhaustive
def test_tests_that_skip_for_want_of_an_extra_are_run_with_it(tmp_path: Path, cache: Cache, sandbox: Sandbox) -> None:
    repo = fixed(tmp_path / "shop")
    more = "\ntry:\n    import six\nexcept ImportError:\n    six = None\n"
    skip = "\n\nimport pytest\n@pytest.mark.skipif(not shop.six, reason='Requires six installed')\n"
    skip += "def test_extra():\n    assert shop.average([2, 4]) == shop.six.moves.reduce(max, [3])\n"
    repo.git("reset", "--quiet", "--hard", "HEAD~1")
    pyproject = PYPROJECT.replace("test =", 'two = ["six"]\ntest =')
    repo.commit({"pyproject.toml": pyproject, "shop.py": VERSION + CODE + more})
    repo.commit(
        {"shop.py": VERSION + AVERAGE + more, "tests/conftest.py": HALF, "tests/test_shop.py": NEW + skip}, "Average"
    )
    made = make(repo, tmp_path / "suite", cache, sandbox)
    assert made.finding is ProofFinding.SOUND, (made.reasons, made.derivation)
    roles = {case.id.rpartition("::")[2]: case.role for case in made.proven.cases}
    assert roles["test_extra"] is ProofRole.MUST_PASS


def test_a_skip_names_what_the_project_names_and_nothing_else() -> None:
    extras = "[options.extras_require]\ncrypto = cryptography>=3\nyaml = PyYAML\n"
    tree = project({"setup.cfg": extras, "requirements-dev.txt": "trio\n"})
    made = infer(tree, tree, datetime.date(2022, 1, 1), None, ["3.9"])

    def named(*reasons: str) -> tuple[str, ...]:
        tests = [SimpleNamespace(outcome="skipped", message=f"('/a/cryptography.py', 3, 'Skipped: {each}')")
                 for each in reasons]  # fmt: skip
        run: Any = SimpleNamespace(printed="", report=SimpleNamespace(others=tests, broken=()))
        nothing: Any = None
        return RecipeTrial(nothing, nothing, run, {}).skipped_for(made)

    assert named("Requires cryptography library installed") == ("cryptography",)
    assert named("could not import \\'yaml\\': No module named \\'yaml\\'", "needs Windows") == ("pyyaml",)
    assert named("test_numpy_2d is skipped", "on Windows, without trio or git") == ("numpy", "trio")
