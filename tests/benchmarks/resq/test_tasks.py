"""Rows as task folders and back, and which tests a script has, held against pytest's own list."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from repoassay.benchmarks.resq.parametrized_tests import Unlisted
from repoassay.benchmarks.resq.rows import ModifiedFile, ResqRow
from repoassay.benchmarks.resq.script_tests import script_tests
from repoassay.benchmarks.resq.task_rows import read_task_row
from repoassay.errors import BadInput, BadTask
from repoassay.formats.write_task import safe_id, write_task
from repoassay.tasks import read_task
from repoassay.types import Task

COMMIT = "0123456789" * 4
PYPI = "pypi:toolz==1.0.0?sha256=" + "ab" * 32
PATCH = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n"


def row(**changes: Any) -> ResqRow:
    fields: dict[str, Any] = {
        "id": "0_0",
        "repo_url": PYPI,
        "instruction": "Make `x` two.\n\nNot one.",
        "base_commit": COMMIT,
        "test_script": "def test_x():\n    assert open('x').read() == '2'\n",
        "testbed_environment": "python 3.11",
        "requirements_txt": "",
        "solution_commit": "f" * 40,
        "solution_patch": PATCH,
        "modified_files": (ModifiedFile(path="x", content="1\n"),),
        "language": "python",
    }
    return ResqRow(**{**fields, **changes})


def task_of(row: ResqRow, tmp_path: Path, **options: Any) -> Task:
    return read_task(write_task(row, tmp_path, **options)).task


def refusal(row: ResqRow, tmp_path: Path, **options: Any) -> str:
    with pytest.raises(BadInput) as caught:
        write_task(row, tmp_path / "tasks", **options)
    left = list((tmp_path / "tasks").iterdir()) if (tmp_path / "tasks").exists() else []
    assert left == []
    return str(caught.value)


def test_a_row_becomes_a_sound_task(tmp_path: Path) -> None:
    folder = write_task(row(requirements_txt="pytest\nnumpy>=1\n"), tmp_path / "tasks")
    assert folder == tmp_path / "tasks" / "0_0"
    found = read_task(folder)
    assert found.instruction == row().instruction
    task = found.task
    assert (task.id, task.kind, task.title) == ("0_0", "edit", "Make `x` two.")
    assert (task.repository.source, task.repository.sha256) == ("pypi:toolz==1.0.0", "ab" * 32)
    assert task.environment.resolve == "environment/requirements.in"
    assert task.environment.requirements is None
    assert task.grading.tests is not None
    assert task.grading.tests.fail_to_pass == ("test_script.py::test_x",)
    assert task.grading.tests.cwd == "repository"
    assert (folder / "environment/requirements.in").read_text() == "pytest\nnumpy>=1\n"
    assert (folder / "solution/changes.diff").read_text() == PATCH
    assert [path.name for path in (tmp_path / "tasks").iterdir()] == ["0_0"]
    assert read_task_row(folder) == row(requirements_txt="pytest\nnumpy>=1\n")


@pytest.mark.parametrize("requirements", ["", "\n", "# nothing\n\n  # here"])
def test_without_requirements_the_file_is_there_all_the_same(requirements: str, tmp_path: Path) -> None:
    # Resolving brings pytest, which every hidden test needs.
    given_ = row(requirements_txt=requirements)
    assert task_of(given_, tmp_path).environment.resolve == "environment/requirements.in"
    assert read_task_row(tmp_path / "0_0") == given_


@pytest.mark.parametrize(
    ("stated", "python"),
    [("python 3.9", ">=3.9"), ("python3.11", ">=3.11"), ("3.8.1", ">=3.8"), ("python=3.10", ">=3.10"), ("", ">=3.11"),
     ("conda", ">=3.11"), ("python 13.1", ">=3.11")],
)  # fmt: skip
def test_the_python_version(stated: str, python: str, tmp_path: Path) -> None:
    given_ = row(testbed_environment=stated)
    assert task_of(given_, tmp_path).environment.python == python
    assert read_task_row(tmp_path / "0_0") == given_


@pytest.mark.parametrize(("path", "expected"), [("x.py", (".",)), ("src/x.py", (".", "src")), ("a/src/x.py", (".",))])
def test_packages_below_src_can_be_imported(path: str, expected: tuple[str, ...], tmp_path: Path) -> None:
    patch = f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-1\n+2\n"
    assert task_of(row(solution_patch=patch), tmp_path).environment.path == expected


@pytest.mark.parametrize(
    "url", ["https://github.com/a/b", "https://github.com/a/b.git", "ssh://git@host/a", "git@h:a/b"]
)
def test_a_git_repository(url: str, tmp_path: Path) -> None:
    given_ = row(repo_url=url)
    source = task_of(given_, tmp_path).repository
    assert (source.source, source.revision, source.homepage) == (f"git:{url}", COMMIT, url)
    assert read_task_row(tmp_path / "0_0") == given_


@pytest.mark.parametrize("key", ["https://github.com/a/b", "https://github.com/a/b.git", "https://github.com/a/b/"])
def test_a_mirror_takes_the_place_of_a_url(key: str, tmp_path: Path) -> None:
    (tmp_path / "mirror").mkdir()
    given_ = row(repo_url="https://github.com/a/b")
    task = task_of(given_, tmp_path / "tasks", mirrors={key: str(tmp_path / "mirror"), "https://other": "/absent"})
    assert task.repository.source == f"git:{tmp_path / 'mirror'}"
    assert task.repository.homepage == "https://github.com/a/b"
    assert read_task_row(tmp_path / "tasks" / "0_0") == given_


def test_a_mirror_that_is_not_there(tmp_path: Path) -> None:
    given_ = row(repo_url="https://github.com/a/b")
    said = refusal(given_, tmp_path, mirrors={"https://github.com/a/b": str(tmp_path / "absent")})
    assert "is neither a folder nor a git URL. Correct --mirror URL=PATH." in said


@pytest.mark.parametrize(
    "url",
    ["/etc", "file:///etc", "../x", "ext::sh -c touch% /tmp/x", "--upload-pack=x", "https://-x", "https://a b",
     "-x@h:y", "git@h:-x", "fd::3", "https://x\ny", "http:/x", "a", "git@-h:x"],
)  # fmt: skip
def test_a_row_cannot_name_what_is_on_this_machine(url: str, tmp_path: Path) -> None:
    assert "is no URL of https, ssh or git. Say where it is: --mirror" in refusal(row(repo_url=url), tmp_path)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"repo_url": "pypi:toolz==1.0"}, "is malformed. Write pypi:NAME==VERSION?sha256=DIGEST."),
        ({"repo_url": "pypi:a b==1?sha256=" + "0" * 64}, "is malformed."),
        ({"repo_url": "https://x/y", "base_commit": "abc"}, "is no full commit id."),
        ({"repo_url": "https://x/y", "base_commit": "--output=/tmp/x" + "a" * 25}, "is no full commit id."),
        ({"language": "rust"}, "its language is 'rust'. Only tests in Python and JavaScript can be run."),
        ({"language": "typescript"}, "its language is 'typescript'. Only tests in Python and JavaScript can be run."),
        ({"test_script": "def (:"}, "its test_script is not Python that can be read: line 1"),
        ({"test_script": "(" * 5000}, "its test_script is not Python that can be read"),
        ({"test_script": "x = 1\0"}, "its test_script is not Python that can be read"),
        ({"solution_patch": ""}, "it has no solution patch."),
        ({"solution_patch": " \n"}, "it has no solution patch."),
        ({"instruction": " "}, "instruction.md: is empty"),
        ({"instruction": "a\0b"}, "instruction.md: holds a NUL character"),
        ({"instruction": "a\ud800"}, "character 2 of one of its texts is half of a surrogate pair. Replace it."),
        ({"test_script": "'\ud800'"}, "half of a surrogate pair"),
    ],
)
def test_rows_that_cannot_be_tasks(changes: dict[str, str], words: str, tmp_path: Path) -> None:
    said = refusal(row(**changes), tmp_path)
    assert said.startswith("The row '0_0' cannot be made a task: ")
    assert words in said


JAVASCRIPT: dict[str, Any] = {
    "repo_url": "npm:@scope/x.y==1.0.0-rc.1?sha256=" + "cd" * 32,
    "test_script": "const { test } = require('node:test');\ntest('x \u00e9', () => {});\r\n",
    "testbed_environment": "node20",
    "language": "JavaScript",
}


@pytest.mark.parametrize(
    ("changes", "tests"),
    [
        ({}, ("test_script.cjs::x \u00e9",)),
        ({"test_script": "import { it } from 'node:test';\nit('x', () => {});"}, ("test_script.mjs::x",)),
        ({"test_script": "const x = require('./x');\nif (x !== 2) throw 1;"}, ("test_script.cjs::__script__",)),
        ({"test_script": "(async () => { await import('./x.js'); })();"}, ("test_script.js::__script__",)),
        ({"language": "js", "testbed_environment": ""}, ("test_script.cjs::x \u00e9",)),
        ({"language": " NodeJS ", "testbed_environment": "Node.js v18.19.1"}, ("test_script.cjs::x \u00e9",)),
        ({"requirements_txt": "\n# none\n", "testbed_environment": "20.x"}, ("test_script.cjs::x \u00e9",)),
        ({"requirements_txt": "{}", "testbed_environment": "node 22 (lts)"}, ("test_script.cjs::x \u00e9",)),
    ],
)
def test_a_row_in_javascript_and_back(changes: dict[str, str], tests: tuple[str, ...], tmp_path: Path) -> None:
    given_ = row(**{**JAVASCRIPT, **changes})
    task = task_of(given_, tmp_path)
    assert task.grading.tests is not None
    assert (task.grading.tests.runner, task.grading.tests.fail_to_pass) == ("node", tests)
    assert (task.environment.resolve, task.environment.requirements) == (None, None)
    assert task.repository.source == "npm:@scope/x.y==1.0.0-rc.1"
    assert read_task_row(tmp_path / "0_0") == given_
    write_task(read_task_row(tmp_path / "0_0"), tmp_path / "again")
    assert read_task(tmp_path / "again/0_0").digest == read_task(tmp_path / "0_0").digest


def test_a_folder_in_javascript_without_an_origin_is_a_row_too(tmp_path: Path) -> None:
    folder = write_task(row(**JAVASCRIPT), tmp_path)
    (folder / "solution/row.json").unlink()
    found = read_task_row(folder)
    assert (found.language, found.testbed_environment, found.requirements_txt) == ("javascript", "node", "")
    assert found.repo_url == JAVASCRIPT["repo_url"]
    assert read_task_row(write_task(found, tmp_path / "again")) == found


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"requirements_txt": "# for tests\nlodash@4\n"},
            "its requirements_txt names 'lodash@4', and packages from npm",
        ),
        ({"requirements_txt": '{"chai": "^4"}'}, "packages from npm are not installed."),
        ({"testbed_environment": "node 20, npm install chai"}, "is more than a version of node"),
        ({"testbed_environment": "python3.11"}, "is more than a version of node"),
        ({"test_script": "for (const x of []) require('node:test')(x);"}, "its test_script"),
        ({"test_script": "describe('x', () => {});"}, "without importing it from node:test. Import it."),
        ({"test_script": "'\ud800'"}, "half of a surrogate pair"),
        ({"repo_url": "npm:UP==1?sha256=" + "0" * 64}, "is malformed. Write npm:NAME==VERSION?sha256=DIGEST."),
        ({"repo_url": "npm:../x==1?sha256=" + "0" * 64}, "is malformed."),
    ],
)
def test_rows_in_javascript_that_cannot_be_tasks(changes: dict[str, str], words: str, tmp_path: Path) -> None:
    assert words in refusal(row(**{**JAVASCRIPT, **changes}), tmp_path)


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    write_task(row(), tmp_path)
    with pytest.raises(BadInput, match=r"0_0 exists\. Remove it, or choose another place\."):
        write_task(row(instruction="Other."), tmp_path)
    assert read_task_row(tmp_path / "0_0") == row()
    (tmp_path / "1").symlink_to(tmp_path / "absent")
    with pytest.raises(BadInput, match="exists"):
        write_task(row(id="1"), tmp_path)


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="cannot be written"):
        write_task(row(), tmp_path / "file")


@pytest.mark.parametrize("name", ["a/b", "../../x", "a b", "é", ".", "..", "-x", "x" * 65, "a\\b", "\u202e", "a\nb"])
def test_odd_ids_get_names_of_their_own(name: str) -> None:
    found = safe_id(name)
    assert found == safe_id(name) != name
    assert found not in {safe_id(f"{name}."), safe_id(f"{name} ")}
    assert len(found) <= 64 and safe_id(found) == found
    assert found[0].isalnum() and found.isascii() and "/" not in found


def test_an_odd_id_is_kept(tmp_path: Path) -> None:
    given_ = row(id="../../etc/é 1")
    folder = write_task(given_, tmp_path)
    assert folder.parent == tmp_path
    assert read_task(folder).task.provenance == "RES-Q row ../../etc/é 1"
    assert read_task_row(folder) == given_


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30)
NAMES = st.text(st.characters(categories=["L", "N", "P", "Zs"]), min_size=1, max_size=80).filter(str.strip)
SCRIPTS = st.sampled_from(
    ["", "assert 1\r\n", "def test_a(): pass", "import unittest as u\nclass T(u.TestCase):\n def test(s): 0"]
)


@given(
    given_=st.builds(
        row,
        id=NAMES, instruction=TEXT.filter(str.strip), test_script=SCRIPTS, testbed_environment=TEXT,
        requirements_txt=TEXT, solution_commit=TEXT, solution_patch=TEXT.filter(str.strip) | st.just("\ud800"),
        repo_url=st.sampled_from([PYPI, "https://github.com/a/b"]), language=st.sampled_from(["Python", "python", ""]),
        modified_files=st.lists(st.builds(ModifiedFile, path=TEXT, content=TEXT), max_size=2).map(tuple),
    ),
)  # fmt: skip
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@pytest.mark.long
def test_a_row_survives_the_way_there_and_back(given_: ResqRow, tmp_path: Path) -> None:
    place = tmp_path / "tasks"
    shutil.rmtree(place, ignore_errors=True)
    assert read_task_row(write_task(given_, place)) == given_


def test_what_is_in_the_folder_counts_more_than_what_was_in_the_row(tmp_path: Path) -> None:
    folder = write_task(row(), tmp_path)
    (folder / "instruction.md").write_text("Make it three.")
    (folder / "tests/test_script.py").write_text("def test_x(): ...\n")
    found = read_task_row(folder)
    assert (found.instruction, found.test_script) == ("Make it three.", "def test_x(): ...\n")


def test_a_task_made_elsewhere(tmp_path: Path) -> None:
    folder = write_task(row(), tmp_path)
    (folder / "solution/row.json").unlink()
    (folder / "tests/test_script.py").rename(folder / "tests/test_other.py")
    text = (folder / "task.toml").read_text().replace("test_script.py", "test_other.py")
    (folder / "task.toml").write_text(text)
    assert read_task_row(folder) == row(base_commit="", solution_commit="", modified_files=())


@pytest.mark.parametrize("content", ["{", "[]", '{"id": 3}', '{"id": "a", "repo_url": "b", "more": 1}', "[" * 100_000])
def test_a_damaged_origin(content: str, tmp_path: Path) -> None:
    folder = write_task(row(), tmp_path)
    (folder / "solution/row.json").write_text(content)
    with pytest.raises(BadInput, match=r"solution/row.json cannot be read: .* Remove it\."):
        read_task_row(folder)


def test_tasks_that_are_no_rows(tmp_path: Path) -> None:
    suite = Path(__file__).parents[2] / "assets/suites/mini/tasks"
    with pytest.raises(BadTask):
        read_task_row(tmp_path)
    bundled = tmp_path / "suite"
    shutil.copytree(suite.parent, bundled)
    with pytest.raises(BadInput):
        read_task_row(bundled / "tasks/sum-ledger")
    folder = write_task(row(), tmp_path)
    (folder / "tests/test_more.py").write_text("")
    with pytest.raises(BadInput, match="it has 2 test files"):
        read_task_row(folder)


def test_task_toml_holds_nothing_but_values(tmp_path: Path) -> None:
    hostile = 'x"\n[limits]\nseconds = 1 \x7f\\ \u2028 """ \'\'\''
    given_ = row(instruction=hostile)
    task = task_of(given_, tmp_path)
    assert task.limits.seconds == 600
    assert read_task_row(tmp_path / "0_0") == given_


CORPUS = {
    "functions": "def test_b(): pass\ndef helper(): pass\ndef test_a(tmp_path): pass\ndef check_c(): pass\n",
    "unittest": "import unittest\nclass Some(unittest.TestCase):\n    def test_b(self): pass\n"
    "    def testA(self): pass\n    def help(self): pass\n"
    "class Base(unittest.TestCase):\n    def test_base(self): pass\n"
    "class Child(Base):\n    def test_own(self): pass\nif __name__ == '__main__':\n    unittest.main()\n",
    "from unittest": "from unittest import TestCase, IsolatedAsyncioTestCase\n"
    "class A(TestCase):\n    def test(self): pass\n"
    "class B(IsolatedAsyncioTestCase):\n    async def test_b(self): pass\n",
    "classes": "class TestA:\n    def test_a(self): pass\nclass TestB:\n    def __init__(self): pass\n"
    "    def test_b(self): pass\nclass Other:\n    def test_c(self): pass\nclass TestD(Other): pass\n"
    "class TestE:\n    __test__ = False\n    def test_e(self): pass\n",
    "twice": "def test_a(): pass\ndef test_a(): pass\n",
    "fixtures": "import pytest\n@pytest.fixture\ndef thing(): return 1\n@pytest.fixture()\ndef other(thing): return 1\n"
    "def test_a(thing, other, capsys): pass\n",
    "cases": "import pytest\nfrom pathlib import Path\nimport collections\nCASES = [1, (2, 3)]\nTEXT = 'name'\n"
    "class Thing: pass\ndef make(): pass\n"
    "@pytest.mark.parametrize('a', [1, -2, 1.5, 1e9, 10**6, True, None, 'x', '', 'a b', 'é\\n', b'\\xff', 3j, 2 + 3])\n"
    "def test_plain(a): pass\n"
    "@pytest.mark.parametrize('a, b', [(1, 'x'), ['y', [1]], ({}, {1}), (print, int), (Thing, make), (Thing(), ...)])\n"
    "def test_pairs(a, b): pass\n"
    "@pytest.mark.parametrize(('a', 'b'), [(collections.OrderedDict, Path('x')), (lambda: 1, set())])\n"
    "def test_names(a, b): pass\n"
    "@pytest.mark.parametrize('a', [1, 1, 2, 'x', 'x', '', ''])\ndef test_again(a): pass\n"
    "@pytest.mark.parametrize('a', [1, 2])\n@pytest.mark.parametrize('b', ['x', 'y'])\ndef test_product(a, b): pass\n"
    "@pytest.mark.parametrize('a', [pytest.param(1, id='one'), pytest.param(2), 3])\ndef test_param(a): pass\n"
    "@pytest.mark.parametrize('a', [1, 2, 3], ids=['one', None, 'é'])\ndef test_ids(a): pass\n"
    "@pytest.mark.parametrize(argnames='a', argvalues=CASES)\ndef test_constant(a): pass\n"
    "@pytest.mark.parametrize('a', [CASES[0], CASES[-1], TEXT, CASES])\ndef test_element(a, tmp_path): pass\n"
    "class TestIn:\n    @pytest.mark.parametrize('a', [1, 2])\n    def test_in(self, a): pass\n",
}


def collected(folder: Path) -> dict[str, list[str]]:
    """What pytest itself finds in each file of a folder, without running it."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "--rootdir=.", "-c",
         os.devnull, "--import-mode=importlib", "."],
        cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )  # fmt: skip
    found: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        file, separator, name = line.partition("::")
        if separator:
            found.setdefault(file, []).append(name)
    assert found, done.stdout + done.stderr
    return found


@pytest.mark.long
def test_scripts_have_the_tests_pytest_finds(tmp_path: Path) -> None:
    for number, source in enumerate(CORPUS.values()):
        (tmp_path / f"test_{number}.py").write_text(source)
    found = collected(tmp_path)
    for number, (name, source) in enumerate(CORPUS.items()):
        assert sorted(script_tests(source)) == sorted(found[f"test_{number}.py"]), name


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"), max_size=8) | st.binary(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.tuples(inner) | st.dictionaries(st.integers(), inner, max_size=2),
    max_leaves=3,
)  # fmt: skip


@given(cases=st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=60))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=2)
@pytest.mark.long
def test_cases_have_the_ids_pytest_gives_them(cases: list[tuple[object, object]], tmp_path: Path) -> None:
    source = f"import pytest\n@pytest.mark.parametrize('a, b', {cases!r})\ndef test_it(a, b): pass\n"
    (tmp_path / "test_it.py").write_bytes(source.encode())
    assert list(script_tests(source)) == collected(tmp_path)["test_it.py"]


@pytest.mark.parametrize(
    "source",
    ["", "assert True", "def check(): pass\ncheck()", "def test_it(repository): pass\ntest_it(1)", "class Test: pass",
     "import pytest\n@pytest.mark.skip\ndef test_it(): pass\n"],
)  # fmt: skip
def test_a_plain_script_is_one_test(source: str) -> None:
    assert script_tests(source) == ("__script__",)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("@pytest.mark.parametrize('a', make())\ndef test_a(a): pass", "whose ids only running it tells"),
        ("@pytest.mark.parametrize('a', [make()])\ndef test_a(a): pass", "whose ids only running it tells"),
        ("@pytest.mark.parametrize('a', [value])\ndef test_a(a): pass", "whose ids only running it tells"),
        ("@pytest.mark.parametrize('a', [*b])\ndef test_a(a): pass", "whose ids only running it tells"),
        ("@pytest.mark.parametrize('a', [9**9**9])\ndef test_a(a): pass", "whose ids only running it tells"),
        ("@pytest.mark.parametrize('a', ['x' * 10**9])\ndef test_a(a): pass", "whose ids only running it tells"),
        (f"@pytest.mark.parametrize('a', ['{'x' * 101}'])\ndef test_a(a): pass", "whose ids only running it tells"),
        ("@pytest.mark.parametrize('a, b', [1])\ndef test_a(a): pass", "whose ids only running it tells"),
        ("@pytest.mark.parametrize('a', [1], indirect=True)\ndef test_a(a): pass", "whose ids only running it tells"),
        ("@pytest.mark.parametrize('a', [1], ids=str)\ndef test_a(a): pass", "whose ids only running it tells"),
        ("@pytest.mark.parametrize\ndef test_a(a): pass", "whose ids only running it tells"),
        ("A = A[0]\n@pytest.mark.parametrize('a', A)\ndef test_a(a): pass", "stand for themselves"),
        ("A = B\nB = A\n@pytest.mark.parametrize('a', A)\ndef test_a(a): pass", "whose ids only running it tells"),
        ("@pytest.mark.parametrize('a', [1])\nclass TestA:\n def test_a(self, a): pass", "parametrised class TestA"),
        ("@pytest.fixture(params=[1])\ndef a(): pass\ndef test_a(a): pass", "fixture a with parameters"),
        ("async def test_a(): pass", "test_a, which is asynchronous"),
    ],
)
def test_tests_that_only_running_tells(source: str, words: str) -> None:
    with pytest.raises(Unlisted, match=words):
        script_tests(source)


def test_cases_beyond_number() -> None:
    mark = "@pytest.mark.parametrize('a', [{}])\n".format(",".join("1" * 200))
    with pytest.raises(Unlisted, match="more than 10000 cases"):
        script_tests(f"{mark * 50}def test_a(): pass")


@given(st.text(max_size=100))
def test_no_text_leads_to_a_traceback(source: str) -> None:
    with contextlib.suppress(Unlisted):
        assert script_tests(source)


def test_the_demonstration_rows_can_be_tasks(tmp_path: Path) -> None:
    demo = Path(__file__).parents[3] / "examples/resq-demo"
    scripts = sorted(demo.glob("*/test_script.py"))
    for script in scripts:
        given_ = row(id=script.parent.name, test_script=script.read_text())
        assert read_task_row(write_task(given_, tmp_path)) == given_


def test_origin_is_json(tmp_path: Path) -> None:
    folder = write_task(row(), tmp_path)
    assert json.loads((folder / "solution/row.json").read_text())["repo_url"] == PYPI
