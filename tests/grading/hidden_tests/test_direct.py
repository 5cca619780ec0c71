"""Tests run without a pytest session come to what they come to in one."""

from __future__ import annotations

import pytest

import two_ways
from repoassay.grading.hidden_tests.results import HiddenTestRun
from repoassay.grading.hidden_tests.run import run_hidden
from repoassay.grading.hidden_tests.test_form import is_simple
from repoassay.grading.in_place.run import functions
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.protocol import Sandbox
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.tasks.suite import find_suite
from repoassay.types import FileEdit
from repoassay.workspace.preparation import PreparedTask, lay_out

FUNCTIONS = """\
import warnings

import pytest

from ways import answer, leave


@pytest.mark.parametrize("more", [1, None])
@pytest.mark.parametrize("first, second", [(1, "a::b"), (1, "a::b"), (2.5, object), ("[x]", "é")])
def test_rows(first, second, more):
    assert first != 2.5
    assert more


@pytest.mark.parametrize("value", [(1, 2), [3]])
def test_one_name(value):
    assert len(value) == 2


def test_answer():
    assert answer() == 42


def test_leaves():
    leave()


def test_raises():
    with pytest.raises(ZeroDivisionError):
        answer() / 0


def test_gives_up():
    pytest.fail("no")


def test_deprecation():
    with pytest.warns(DeprecationWarning):
        warnings.warn("old", DeprecationWarning)


def test_prints():
    import sys

    print("é")
    sys.stdout.buffer.write(b"x")
    assert not sys.stdout.isatty()
"""
CASES = """\
import unittest

from ways import answer


class Good(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.opened = ["class"]

    @classmethod
    def tearDownClass(cls):
        assert cls.opened == ["class", "first", "second"], cls.opened

    def test_first(self):
        self.opened.append("first")
        self.assertEqual(answer(), 42)

    def test_second(self):
        self.opened.append("second")
        self.assertEqual(answer(), 41)

    @unittest.expectedFailure
    def test_third(self):
        self.assertEqual(answer(), 41)

    @unittest.expectedFailure
    def test_unexpected(self):
        self.assertEqual(answer(), 42)


class Broken(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise ValueError("no class")

    def test_one(self):
        pass

    def test_two(self):
        pass


class Late(unittest.TestCase):
    @classmethod
    def tearDownClass(cls):
        raise ValueError("too late")

    def test_one(self):
        pass

    def test_two(self):
        pass


class Each(unittest.TestCase):
    def setUp(self):
        if "bad" in self.id():
            raise ValueError("no case")

    def tearDown(self):
        if "worse" in self.id():
            raise ValueError("too late")

    def test_bad(self):
        pass

    def test_good(self):
        pass

    def test_worse(self):
        pass


if __name__ == "__main__":
    unittest.main()
"""
FIXTURES = """\
import os
import sys

import pytest

from ways import answer


@pytest.fixture
def place(tmp_path, many):
    (tmp_path / "in.txt").write_text("in")
    many.append("place")
    return tmp_path


@pytest.fixture
def many():
    return []


@pytest.fixture
def bad(monkeypatch):
    monkeypatch.setenv("BAD", "set")
    raise ValueError("no fixture")


@pytest.mark.parametrize("row", [1, 2])
def test_made_once_a_test(place, many, tmp_path, row):
    assert many == ["place"]
    assert os.listdir(place) == os.listdir(tmp_path) == ["in.txt"]


def test_a_folder(tmp_path):
    assert tmp_path.name == "test_a_folder0"
    assert tmp_path.parent.name == "pytest-0"
    assert os.path.realpath(tmp_path) == str(tmp_path)


@pytest.mark.parametrize("name", ["a long name / with signs that stand in no name of a folder"])
def test_a_folder_of(tmp_path, name):
    assert tmp_path.name == "test_a_folder_of_a_long_name__0"


def test_what_is_printed(capsys):
    print(answer())
    print("wrong", file=sys.stderr)
    assert capsys.readouterr() == ("42\\n", "wrong\\n")
    assert capsys.readouterr().out == ""


def test_what_is_set(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "argv", ["own"])
    monkeypatch.setattr("ways.answer", None)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SET", "here")
    assert sys.argv == ["own"]


def test_what_was_set():
    import ways

    assert ways.answer() == 42
    assert sys.argv != ["own"]
    assert "SET" not in os.environ
    assert os.path.basename(os.getcwd()) != "test_what_is_set0"


def test_fails(capsys, monkeypatch):
    print("said")
    assert capsys.readouterr().out == "other"


def test_bad(bad):
    pass


def test_after_bad():
    assert "BAD" not in os.environ


def test_cannot_be_undone(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "inner").mkdir()
    monkeypatch._cwd = str(tmp_path / "gone")
"""
WAYS = "import sys\ndef answer():\n    return 42\ndef leave():\n    sys.exit(0)\n"
SOLUTION = "--- a/ways.py\n+++ b/ways.py\n@@ -3 +3 @@\n-    return 41\n+    return 42\n"
DOCUMENT = two_ways.DOCUMENT.replace("test_it.py::test_it", "test_functions.py::test_answer")


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    return open_sandbox("namespaces", Cache())


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory, sandbox: Sandbox) -> PreparedTask:
    suite = tmp_path_factory.mktemp("suite")
    files = {
        "repositories/ways/ways.py": WAYS.replace("42", "41"),
        "tasks/two-ways/task.toml": DOCUMENT,
        "tasks/two-ways/instruction.md": "Answer.",
        "tasks/two-ways/environment/requirements.txt": two_ways.REQUIREMENTS.read_text(),
        "tasks/two-ways/tests/test_functions.py": FUNCTIONS,
        "tasks/two-ways/tests/test_cases.py": CASES,
        "tasks/two-ways/tests/test_fixtures.py": FIXTURES,
        "tasks/two-ways/solution/changes.diff": SOLUTION,
        "suite.toml": 'schema = 1\n[suite]\nname = "ways"\nversion = "1"\ntitle = "Ways"\n',
    }
    for name, content in files.items():
        (suite / name).parent.mkdir(parents=True, exist_ok=True)
        (suite / name).write_text(content)
    found = find_suite(str(suite))
    return lay_out(found.tasks[0], found.repositories, Cache(), sandbox)


def told(
    task: PreparedTask, sandbox: Sandbox, ids: tuple[str, ...], ways: str = WAYS, *, direct: bool
) -> HiddenTestRun:
    return run_hidden(
        task.folder, task.base, {"ways.py": FileEdit(ways.encode())}, sandbox, task.environment, ids=ids, direct=direct
    )


def words(run: HiddenTestRun) -> dict[str, str]:
    return {test.id: test.outcome for test in run.report.tests}


@pytest.mark.long
def test_every_outcome_is_the_one_of_a_session(task: PreparedTask, sandbox: Sandbox) -> None:
    whole = told(task, sandbox, ("test_functions.py", "test_fixtures.py", "test_cases.py"), direct=False)
    ids = tuple(test.id for test in whole.report.others)
    assert len(ids) == 8 + 2 + 6 + 11 + 11
    assert is_simple(FIXTURES.replace("sys.argv", "sys"))
    session, direct = (told(task, sandbox, ids, direct=way) for way in (False, True))
    assert words(session) == words(direct)
    assert {"passed", "failed", "error", "skipped"} == set(words(direct).values())
    assert direct.report.complete
    assert not direct.report.signs
    messages = {test.id: test.message for test in direct.report.tests}
    assert "SystemExit: 0" in messages["test_functions.py::test_leaves"]
    assert "no class" in messages["test_cases.py::Broken::test_two"]
    assert "no fixture" in messages["test_fixtures.py::test_bad"]
    by_function = told(task, sandbox, functions(ids), direct=True)  # as copies of tests are asked for
    assert [test.id for test in by_function.report.others] == [test for test in ids if "[" in test]
    rows = {test.id: test.outcome for test in by_function.report.others}
    assert words(direct).items() <= (words(by_function) | rows).items()
    assert "direct.py" not in "".join(messages.values())
    assert "plain_fixtures" not in "".join(messages.values())


@pytest.mark.parametrize("ways", ["raise ValueError('no module')", "import sys\nsys.exit(0)", "def answer(): ..."])
def test_what_cannot_be_imported_reports_nothing_and_says_why(task: PreparedTask, sandbox: Sandbox, ways: str) -> None:
    ids = ("test_functions.py::test_raises", "test_cases.py::Each::test_good")
    session, direct = (told(task, sandbox, ids, ways, direct=way) for way in (False, True))
    assert words(session) == words(direct) == dict.fromkeys(ids, "missing")
    assert direct.report.broken


def test_one_unknown_id_runs_nothing(task: PreparedTask, sandbox: Sandbox) -> None:
    for unknown in ("test_functions.py::test_rows[3]", "test_functions.py::test_other", "test_cases.py::Good::test_x"):
        ids = ("test_functions.py::test_answer", unknown)
        assert words(told(task, sandbox, ids, direct=True)) == dict.fromkeys(ids, "missing"), unknown


def test_who_interrupts_ends_the_run(task: PreparedTask, sandbox: Sandbox) -> None:
    ways = WAYS.replace("return 42", "raise KeyboardInterrupt")
    ids = ("test_functions.py::test_prints", "test_functions.py::test_answer", "test_functions.py::test_deprecation")
    session, direct = (words(told(task, sandbox, ids, ways, direct=way)) for way in (False, True))
    assert direct == session
    assert direct["test_functions.py::test_deprecation"] == "missing"
