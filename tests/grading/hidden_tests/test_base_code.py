"""What a prefork server holds of a base commit is what its jobs would have read."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from repoassay.grading.hidden_tests import held_code
from repoassay.grading.hidden_tests.base_code import base_code, brings_bytecode
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.tasks import TaskFolder
from repoassay.tasks.suite import find_suite
from repoassay.types import FileEdit
from repoassay.workspace import bytecode_of

FILES = {
    "pkg/__init__.py": "from .inner import (\n    first,  # one\n    second as other,\n)\nimport pkg.deep.er as er\n",
    "pkg/inner/__init__.py": "from . import first, second\n",
    "pkg/inner/first.py": "",
    "pkg/inner/second.py": "from ..late import thing\n",
    "pkg/late.py": "thing = 1\n" * 500,
    "pkg/deep/__init__.py": "",
    "pkg/deep/er.py": "import re, json\n",
    "pkg/never.py": "",
    "broken.py": "def (:\n",
}


@pytest.fixture
def task(tmp_path: Path) -> TaskFolder:
    """A task whose tests import one package of the repository."""
    folder = next(task for task in find_suite("starter").tasks if task.task.id == "edit-ledger-monthly")
    place = tmp_path / "task"
    (place / "tests").mkdir(parents=True)
    (place / "tests/test_it.py").write_text("import pkg, broken\nfrom pkg import late\n")
    environment = folder.task.environment.model_copy(update={"path": (".",)})
    return replace(folder, path=place, task=folder.task.model_copy(update={"environment": environment}))


@pytest.fixture
def base() -> Path:
    """A checkout."""

    def stage(part: Path) -> None:
        for name, text in FILES.items():
            (part / name).parent.mkdir(parents=True, exist_ok=True)
            (part / name).write_text(text)
        (part / "pkg/linked.py").symlink_to("/etc/passwd")
        (part / ".git").mkdir()

    return Cache().entry("checkouts", "with-imports-and-a-long-module", stage)


def test_what_tests_import_is_held(task: TaskFolder, base: Path) -> None:
    """And what that imports in turn; not the rest, and nothing that lies elsewhere."""
    layer = bytecode_of(base, Cache(), open_sandbox("namespaces", Cache()))
    told = base_code(
        task, base, layer, {"patterns": [["a+", False, 0], ["b", True, 2], ["c"]], "modules": ["queue", "pkg", "x"]}
    )
    top = "/workspace/repo/"
    names = {path.removeprefix(top) for path, _ in told["modules"]}
    assert names == {name for name in FILES if name not in ("pkg/never.py", "broken.py")}
    assert {path.removeprefix(top) for path, *_ in told["folders"]} >= {"pkg", "pkg/inner", "pkg/deep"}
    listed = {path: names for path, _, names in told["folders"]}
    assert listed[f"{top}pkg"] == ["__init__.py", "__pycache__", "deep", "inner", "late.py", "linked.py", "never.py"]
    assert told["patterns"] == [("a+", 0), (b"b", 2)]
    assert told["imports"] == ["queue"]
    assert base_code(task, base, layer, None)["patterns"] == []
    assert [path.removeprefix(top) for path, _ in told["texts"]] == ["pkg/late.py"]


def test_byte_code_of_a_patch_is_told() -> None:
    """What Python would read from it is not held against it."""
    assert brings_bytecode({"pkg/__pycache__/late.cpython-311.pyc": FileEdit(b"")})
    assert brings_bytecode({"late.pyc": None})
    assert not brings_bytecode({"pkg/late.py": FileEdit(b"")})


HELD = """
import importlib.util, json, os, sys
held = importlib.util.spec_from_file_location("held_code", sys.argv[1])
module = importlib.util.module_from_spec(held); held.loader.exec_module(module)
place, source = sys.argv[2], sys.argv[2] + "/late.py"
code = compile("thing = 'held'", source, "exec")
status = os.stat(source)
data = importlib._bootstrap_external._code_to_timestamp_pyc(code, int(status.st_mtime), status.st_size)
folder = [place, os.stat(place).st_mtime, ["late.py"]]
patterns, modules = [("x+", 0), ("[[a]", 0)], [[source, bytes(data)]]
shared = {"imports": [], "patterns": patterns, "folders": [folder], "modules": modules, "texts": []}
module.hold_shared(shared, lambda texts, stamp: None)
sys.path.insert(0, place)
loader = importlib.machinery.SourceFileLoader
exec(sys.argv[3])
import late
print(late.thing)
"""
HOOKED = """
class Hooking(loader):
    def source_to_code(self, data, path, *, _optimization=-1):
        return compile("thing = 'hooked'", path, "exec")

def hooking(name, path, target=None):
    if name == "late":
        return importlib.util.spec_from_file_location(name, source, loader=Hooking(name, source))

sys.meta_path.insert(0, type("Finder", (), {"find_spec": staticmethod(hooking)}))
"""
WARNED = """
import re, warnings
warnings.simplefilter("error")
try:
    re.compile("[[a]")
except FutureWarning:
    print("warned", end=" ")
"""


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("", "held"),
        ("os.utime(source, (1, 1))", "read"),
        ("open(source, 'w').write('thing = 1234567')", "1234567"),
        ("os.remove(source); os.mkdir(place + '/late'); open(place + '/late/__init__.py', 'w').write('thing=7')", "7"),
        ("open(place + '/new.py', 'w').write('thing = 8'); import new as late; sys.modules['late'] = late", "8"),
        ("import re; assert re.compile('x+').match('xx') and re.compile('x+') is re.compile('x+')", "held"),
        (WARNED, "warned held"),
        (HOOKED, "hooked"),
        ("loader.get_data = lambda self, path: b'thing = 9'", "9"),
        ("loader.source_to_code = lambda *_, **__: compile('thing = 10', 'x', 'exec')", "10"),
    ],
)  # fmt: skip
def test_what_is_held_is_used_only_where_it_is_what_lies_there(tmp_path: Path, before: str, said: str) -> None:
    """A source or folder that changed is read; a pattern that warns warns again."""
    (tmp_path / "late.py").write_text("thing = 'read'")
    os.utime(tmp_path, (1_000_000, 1_000_000))
    argv = [sys.executable, "-I", "-B", "-c", HELD, held_code.__file__, str(tmp_path), before]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == f"{said}\n", done.stderr


def test_a_trial_tells_what_it_compiled_and_imported() -> None:
    """In the order in which it was done, and leaves the compiler as it was."""
    program = """
import re, runpy, sys
compiler = getattr(re, "_compiler", None) or re.sre_compile
before = compiler.compile
told = runpy.run_path(sys.argv[1])["learn"]()
re.compile("a(b)")
re.compile(b"c", re.I)
import queue
found = told()
print(found["patterns"], "queue" in found["modules"], compiler.compile is before)
"""
    argv = [sys.executable, "-I", "-c", program, held_code.__file__]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "[['a(b)', False, 0], ['c', True, 2]] True True\n", done.stderr
