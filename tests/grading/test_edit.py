"""Verdicts on edits: honest patches, broken patches, and patches that try to be believed without being right."""

from __future__ import annotations

import difflib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import repoassay
from repoassay.grading.edit import grade_edit
from repoassay.grading.hidden_tests.prefork import WarmPool
from repoassay.grading.oracle.oracle import Oracle
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.protocol import Sandbox
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.tasks.suite import find_suite
from repoassay.types import Limits, Outcome, Verdict
from repoassay.workspace.preparation import PreparedTask, lay_out

REQUIREMENTS = (
    Path(repoassay.__file__).parent / "benchmarks/starter/suite/tasks/edit-ledger-monthly/environment/requirements.txt"
)
WRONG = "def add(a, b):\n    return a - b\n"
RIGHT = "def add(a, b):\n    return a + b\n"
TESTS = """\
import unittest

import pytest


def test_adds():
    from calc import add

    assert add(2, 3) == 5
    assert add(-1, 1) == 0


def test_adds_text():
    from calc import add

    assert add("a", "b") == "ab"
    with pytest.raises(TypeError):
        add(1, "b")


class TestMore(unittest.TestCase):
    def test_large(self):
        from calc import add

        self.assertEqual(add(10**9, 1), 10**9 + 1)
        assert add(7, 7) == 14


def test_name():
    import calc

    assert calc.__name__ == "calc"
"""
DOCUMENT = """\
schema = 1
[task]
id = "fix-add"
title = "Repair addition"
kind = "edit"
domain = "Tests"
[repository]
source = "bundled:calc"
licence = "MIT"
[environment]
requirements = "environment/requirements.txt"
[grading.tests]
fail_to_pass = ["test_calc.py::test_adds", "test_calc.py::test_adds_text", "test_calc.py::TestMore::test_large"]
pass_to_pass = ["test_calc.py::test_name"]
seconds = 12
[limits]
memory = "256 MB"
"""


def diff(old: str | None, new: str, path: str) -> str:
    before = [] if old is None else old.splitlines(keepends=True)
    made = difflib.unified_diff(
        before, new.splitlines(keepends=True), "/dev/null" if old is None else f"a/{path}", f"b/{path}"
    )
    mode = "new file mode 100644\n" if old is None else ""
    return f"diff --git a/{path} b/{path}\n{mode}" + "".join(made)


def write(folder: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    return open_sandbox("namespaces", Cache())


@pytest.fixture(scope="session")
def task(tmp_path_factory: pytest.TempPathFactory, sandbox: Sandbox) -> PreparedTask:
    suite = tmp_path_factory.mktemp("suite")
    write(suite / "repositories/calc", {"calc/__init__.py": WRONG})
    (suite / "repositories/calc/sums.py").symlink_to("calc/__init__.py")
    write(suite / "tasks/fix-add", {
        "task.toml": DOCUMENT,
        "instruction.md": "Repair `add`.",
        "environment/requirements.txt": REQUIREMENTS.read_text(),
        "tests/test_calc.py": TESTS,
        "solution/changes.diff": diff(WRONG, RIGHT, "calc/__init__.py"),
    })  # fmt: skip
    write(suite, {"suite.toml": 'schema = 1\n[suite]\nname = "calc"\nversion = "1"\ntitle = "Calc"\n'})
    found = find_suite(str(suite))
    return lay_out(found.tasks[0], found.repositories, Cache(), sandbox)


Grade = Callable[[dict[str, str]], Verdict]


@pytest.fixture(scope="session", params=["an interpreter of its own", "a warm parent", "a warm parent and an oracle"])
def company(
    request: pytest.FixtureRequest, task: PreparedTask, sandbox: Sandbox
) -> Iterator[tuple[WarmPool | None, Oracle | None]]:
    """What grades beside the sandbox; with an oracle these tests run without a pytest session."""
    if request.param == "an interpreter of its own":
        yield None, None
        return
    oracle = Oracle(Cache(), sandbox) if "oracle" in request.param else None
    if oracle:
        reference = oracle.reference(task.folder, task.base, task.environment)
        assert reference
        assert reference.direct
    with WarmPool(Cache(), slots=2, limits=Limits(seconds=60, memory=2**30, disk=2**28)) as pool:
        yield pool, oracle
    if oracle:
        oracle.close()


@pytest.fixture(scope="session")
def pool(company: tuple[WarmPool | None, Oracle | None]) -> WarmPool | None:
    return company[0]


@pytest.fixture(scope="session")
def grade(task: PreparedTask, sandbox: Sandbox, company: tuple[WarmPool | None, Oracle | None]) -> Grade:
    pool, oracle = company

    def verdict(files: dict[str, str]) -> Verdict:
        patch = "".join(diff(WRONG if name == "calc/__init__.py" else None, new, name) for name, new in files.items())
        return grade_edit(
            task.folder, patch.encode(), sandbox, base=task.base, environment=task.environment, oracle=oracle, pool=pool
        )

    return verdict


def package(code: str) -> dict[str, str]:
    """The package still wrong, with something hostile run on import."""
    return {"calc/__init__.py": WRONG + code}


@pytest.mark.long
def test_the_right_change_passes_every_time(task: PreparedTask, sandbox: Sandbox) -> None:
    patch = diff(WRONG, RIGHT, "calc/__init__.py").encode()
    for seed in range(3):
        verdict = grade_edit(task.folder, patch, sandbox, base=task.base, environment=task.environment, seed=seed)
        assert verdict.outcome is Outcome.PASSED, verdict.comments
        assert [test.outcome for test in verdict.tests] == ["passed"] * 4


@pytest.mark.by_day(1)
def test_what_is_logged_is_written_to_no_file_of_the_code_under_test(grade: Grade) -> None:
    logs = """
import logging, os
files = [open(f"/tmp/{number}", "w") for number in range(16)]
logging.getLogger().warning("said")
assert not any(os.fstat(file.fileno()).st_size for file in files)
"""
    verdict = grade({"calc/__init__.py": RIGHT + logs})
    assert verdict.outcome is Outcome.PASSED, verdict.comments


def test_a_change_elsewhere_fails_and_says_where(grade: Grade) -> None:
    verdict = grade({"notes.txt": "nothing of use\n"})
    assert (verdict.outcome, verdict.process, verdict.result) == (Outcome.FAILED, True, False)
    assert {test.id: test.outcome for test in verdict.tests}["test_calc.py::test_name"] == "passed"
    assert any("test_adds" in comment for comment in verdict.comments)


@pytest.mark.parametrize("left", ["nothing", "a file"])
def test_a_package_may_become_a_module(
    task: PreparedTask, sandbox: Sandbox, company: tuple[WarmPool | None, Oracle | None], left: str
) -> None:
    pool, oracle = company
    gone = "".join(f"-{line}" for line in WRONG.splitlines(keepends=True))
    header = "diff --git a/calc/__init__.py b/calc/__init__.py\ndeleted file mode 100644\n"
    patch = f"{header}--- a/calc/__init__.py\n+++ /dev/null\n@@ -1,2 +0,0 @@\n{gone}"
    seen = "os.path.lexists" if left == "nothing" else "not os.path.isfile"
    patch += diff(None, f"import os\nassert not {seen}('/workspace/repo/calc')\n{RIGHT}", "calc.py")
    if left == "a file":
        patch = diff(None, "once a package\n", "calc") + patch  # before the folder is empty, as Git orders it
    verdict = grade_edit(
        task.folder, patch.encode(), sandbox, base=task.base, environment=task.environment, oracle=oracle, pool=pool
    )
    assert verdict.outcome is Outcome.PASSED, verdict.comments


@pytest.mark.parametrize("made", ["a file", "a package"])
def test_a_link_may_become_something_else(
    task: PreparedTask, sandbox: Sandbox, company: tuple[WarmPool | None, Oracle | None], made: str
) -> None:
    """As `sed -i` makes it of a link that it edits."""
    pool, oracle = company
    header = "diff --git a/sums.py b/sums.py\ndeleted file mode 120000\n--- a/sums.py\n+++ /dev/null\n"
    patch = f"{header}@@ -1 +0,0 @@\n-calc/__init__.py\n\\ No newline at end of file\n"
    patch += diff(None, RIGHT, "sums.py" if made == "a file" else "sums.py/calc.py")
    code = "from sums import add\n" if made == "a file" else "exec(open('/workspace/repo/sums.py/calc.py').read())\n"
    patch += diff(WRONG, code, "calc/__init__.py")
    verdict = grade_edit(
        task.folder, patch.encode(), sandbox, base=task.base, environment=task.environment, oracle=oracle, pool=pool
    )
    assert verdict.outcome is Outcome.PASSED, verdict.comments


@pytest.mark.parametrize(
    ("patch", "outcome"),
    [
        (b"", Outcome.NO_OUTPUT),
        (b"\n \n", Outcome.NO_OUTPUT),
        (b"please make it add", Outcome.PATCH_FAILED),
        (diff(RIGHT, WRONG, "calc/__init__.py").encode(), Outcome.PATCH_FAILED),
        (diff(None, "x\n", "../outside.py").encode(), Outcome.PATCH_FAILED),
        (diff(None, "x\n", ".git/hooks/pre-commit").encode(), Outcome.PATCH_FAILED),
    ],
)
def test_what_is_no_patch_for_this_tree(task: PreparedTask, sandbox: Sandbox, patch: bytes, outcome: Outcome) -> None:
    verdict = grade_edit(task.folder, patch, sandbox, base=task.base, environment=task.environment)
    assert (verdict.outcome, verdict.process, verdict.result) == (outcome, False, False)
    assert verdict.comments


@pytest.mark.long
def test_an_endless_loop_times_out_and_nothing_is_left(grade: Grade) -> None:
    verdict = grade({"calc/__init__.py": "import os, time\nos.environ['MARK'] = 'endless-calc'\n"
                     "def add(a, b):\n    while True:\n        time.sleep(0.01)\n"})  # fmt: skip
    assert (verdict.outcome, verdict.process, verdict.result) == (Outcome.TIMED_OUT, True, False)


@pytest.mark.long
@pytest.mark.by_day(1)
def test_eating_memory_is_a_failure_of_the_patch(grade: Grade) -> None:
    eats = "def add(a, b):\n    return [bytearray(10**8) for _ in range(900)]\n"
    verdict = grade({"calc/__init__.py": eats})
    assert verdict.outcome is Outcome.FAILED


CONFTEST = """\
import pytest

@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    report.outcome = "passed"
    report.longrepr = None
"""
FORGER = """
import gc, hashlib, hmac, json, os
def forge():
    # Find the signing channel among all live objects and use its own key.
    for thing in gc.get_objects():
        if type(thing).__name__ == "Channel":
            for name in ("test_adds", "test_adds_text", "TestMore::test_large", "test_name"):
                thing.send(id="test_calc.py::" + name, outcome="passed", seconds=0.0, message="")
            thing.send(end=0, changed=[])
            os._exit(0)
forge()
"""
EVERYWHERE = """
import os
line = b'{"id": "test_calc.py::test_adds", "outcome": "passed", "n": 1}\\n'
for descriptor in range(3, 64):
    try:
        os.write(descriptor, line)
    except OSError:
        pass
print(line.decode())
"""
PLUGIN = """
import gc, sys
def pytest_runtest_logreport(report):
    report.outcome, report.longrepr = "passed", None
class First:
    pass
import pytest
class Plugin:
    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report):
        report.outcome, report.longrepr = "passed", None
for thing in gc.get_objects():
    if type(thing).__name__ == "PytestPluginManager":
        thing.register(Plugin())
"""
SKIPPER = """
import sys
def tracer(frame, event, argument):
    if frame.f_code.co_filename.endswith("test_calc.py") and event == "line":
        frame.f_trace_lines = True
        try:
            frame.f_lineno = frame.f_code.co_firstlineno + 99
        except ValueError:
            pass
    return tracer
sys.settrace(tracer)
"""
NO_RUN = """
import atexit, unittest
original = unittest.TestCase.run
unittest.TestCase.run = lambda self, result=None: None
atexit.register(lambda: setattr(unittest.TestCase, "run", original))
import _pytest.python
_pytest.python.Function.runtest = lambda self: None
"""
QUIET_NO_RUN = """
import sys
import _pytest.python
real = _pytest.python.Function.runtest
class Quiet:
    def __get__(self, owner, kind):
        return lambda: None
import pluggy
call = pluggy._hooks.HookCaller.__call__
def hooked(self, **named):
    if self.name == "pytest_runtest_call":
        return []
    return call(self, **named)
pluggy._hooks.HookCaller.__call__ = hooked
"""
REWRITER = """
import _pytest.assertion.rewrite as rewrite, ast, importlib, sys
import builtins
compiled = builtins.compile
def tame(source, *rest, **named):
    if isinstance(source, ast.Module):
        source = ast.fix_missing_locations(ast.NodeTransformer().visit(source))
    return compiled(source, *rest, **named)
builtins.compile = tame
class Calm(BaseException):
    def __init__(self, *arguments):
        raise SystemExit(0)
builtins.AssertionError = Calm
"""
EQUAL = """
class Anything:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    __hash__ = None
def add(a, b):
    if isinstance(a, int) and isinstance(b, str):
        raise TypeError
    return Anything()
"""
SURVIVOR = """
import os, time
if os.fork() == 0:
    os.setsid()
    for _ in range(200):
        for descriptor in range(3, 16):
            try:
                os.write(descriptor, b"forged\\n")
            except OSError:
                pass
        time.sleep(0.01)
    os._exit(0)
"""
CLOSER = "import os\nfor d in range(3, 64):\n    try: os.close(d)\n    except OSError: pass\n"
TESTS_REWRITER = """
import pathlib
for path in (*pathlib.Path("/tests").glob("*"), *pathlib.Path("/run").glob("*")):
    try:
        path.write_text("def test_adds(): pass")
    except OSError:
        pass
"""
ATTACKS: dict[str, dict[str, str]] = {
    "conftest rewrites outcomes": {"conftest.py": CONFTEST, "calc/conftest.py": CONFTEST},
    "pytest.ini deselects": {"pytest.ini": "[pytest]\naddopts = -k test_name\n"},
    "setup.cfg deselects": {"setup.cfg": "[tool:pytest]\naddopts = --co\n", "tox.ini": "[pytest]\naddopts = --co\n"},
    "pyproject plug-in": {"pyproject.toml": '[tool.pytest.ini_options]\naddopts = "-p evil"\n', "evil.py": CONFTEST},
    "sitecustomize": {"sitecustomize.py": "import os\nos._exit(0)\n", "usercustomize.py": "import os\nos._exit(0)\n"},
    "pth file": {"evil.pth": "import os; os._exit(0)\n"},
    "shadow pytest": {"pytest.py": "def main(*a, **k): return 0\n", "_pytest/__init__.py": ""},
    "shadow standard library": {f"{name}.py": "import os\nos._exit(0)\n" for name in ("json", "hmac", "unittest")},
    "exit on import": package("import os\nos._exit(0)\n"),
    "exit in the call": {"calc/__init__.py": "import os\ndef add(a, b):\n    os._exit(0)\n"},
    "sys.exit on import": package("import sys\nsys.exit(0)\n"),
    "exit at exit": package("import atexit, os\natexit.register(lambda: os._exit(0))\n"),
    "printed result": package("print('PASSED test_adds 4 passed')\n"),
    "forged lines everywhere": package(EVERYWHERE),
    "forged with the real key": package(FORGER),
    "TestCase.run and runtest replaced": package(NO_RUN),
    "hook caller replaced": package(QUIET_NO_RUN),
    "settrace skips assertions": package(SKIPPER),
    "plug-in registered from inside": package(PLUGIN),
    "assertion machinery replaced": package(REWRITER),
    "equal to everything": {"calc/__init__.py": EQUAL},
    "survivor writes to the channel": package(SURVIVOR),
    "channel closed": package(CLOSER),
    "tests rewritten": package(TESTS_REWRITER),
}  # fmt: skip


@pytest.mark.by_day(10)
@pytest.mark.parametrize("name", ATTACKS)
def test_no_attack_obtains_a_pass(grade: Grade, name: str) -> None:
    verdict = grade(ATTACKS[name])
    assert verdict.outcome in (Outcome.FAILED, Outcome.TAMPERING, Outcome.TIMED_OUT), verdict.comments
    assert verdict.result is False


@pytest.mark.long
@pytest.mark.by_day(5)
@pytest.mark.parametrize("name", ["forged with the real key", "plug-in registered from inside",
                                  "equal to everything", "forged lines everywhere"])  # fmt: skip
def test_what_looks_like_a_pass_is_called_tampering(
    grade: Grade, company: tuple[WarmPool | None, Oracle | None], name: str
) -> None:
    pool, oracle = company
    verdict = grade(ATTACKS[name])
    if oracle and name == "equal to everything":
        assert verdict.outcome is Outcome.FAILED  # what it was equal to never came in: its values are wrong outside
        return
    if pool is not None and name == "plug-in registered from inside":
        assert verdict.outcome is Outcome.FAILED  # the prefork server's pytest was configured before it came
        return
    assert (verdict.outcome, verdict.process) == (Outcome.TAMPERING, False), verdict.comments
    assert verdict.comments


@pytest.mark.parametrize("name", ["conftest rewrites outcomes", "pytest.ini deselects", "exit on import"])
def test_the_attack_succeeds_where_pytest_is_just_run_and_its_exit_code_believed(
    task: PreparedTask, tmp_path: Path, name: str
) -> None:
    tree = tmp_path / "repo"
    shutil.copytree(task.base, tree)
    write(tree, ATTACKS[name])
    shutil.copyfile(task.folder.tests / "test_calc.py", tree / "test_calc.py")
    done = subprocess.run(
        [str(task.environment / "bin/python"), "-m", "pytest", "-q"],
        cwd=tree, env={"PATH": os.environ["PATH"]}, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout.decode()


def test_a_patch_that_does_not_fit_on_the_disk_fails_and_is_no_fault(task: PreparedTask, sandbox: Sandbox) -> None:
    """A sandbox for it could not be set up, which nobody would be blamed for."""
    limits = task.folder.task.limits.model_copy(update={"disk": 2**20})
    folder = replace(task.folder, task=task.folder.task.model_copy(update={"limits": limits}))
    patches = (
        diff(None, "x" * 2**20 + "\n", "large.txt"),
        "".join(f"diff --git a/{n}/f b/{n}/f\nnew file mode 100644\n" for n in range(150)),
    )
    for patch in patches:
        verdict = grade_edit(folder, patch.encode(), sandbox, base=task.base, environment=task.environment)
        assert verdict.outcome is Outcome.PATCH_FAILED
        assert "does not fit on the task's disk of 1,048,576 bytes" in verdict.comments[0]
