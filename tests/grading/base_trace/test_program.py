"""Ways to look at a repository: whatever a test looks at, a patch that changes it is one that its trace sees."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from repoassay.grading.base_trace.sandbox import TraceSandbox
from repoassay.grading.base_trace.trace import PathSet
from repoassay.grading.hidden_tests.run import run_hidden
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.protocol import Sandbox
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.types import FileEdit
from small_edits import small_edit


@dataclass(frozen=True)
class Look:
    """A way to look.

    Attributes:
        body: Python that asserts what a patch makes true; its own folder is the current one, absolute in `HERE`.
        path: What the patch writes, below the test's own folder.
        content: What it writes; None to remove it.
        base: What is there before.
        executable: Whether the patch makes it a program.
    """

    body: str
    path: str
    content: bytes | None = b"changed"
    base: tuple[tuple[str, bytes | str | Path], ...] = (("kept.txt", b"kept"),)
    executable: bool = False


TEXT = (("a.txt", b"before"),)
LOOKS = {
    "open_absent": Look("assert open('new.txt').read()", "new.txt"),
    "open_changed": Look("assert open('a.txt').read() == 'changed'", "a.txt", base=TEXT),
    "open_removed": Look("import os; assert not os.path.exists('a.txt')", "a.txt", None, TEXT),
    "absolute": Look("assert open(f'{HERE}/./x/../new.txt').read()", "new.txt", base=(("x/y", b""),)),
    "exists": Look("import os; assert os.path.exists('deep/er/new.txt')", "deep/er/new.txt"),
    "folder_exists": Look("import os; assert os.path.isdir('deep')", "deep/er/new.txt"),
    "access": Look("import os; assert os.access('new.txt', os.R_OK)", "new.txt"),
    "mode": Look("import os; assert os.stat('a.txt').st_mode & 0o100", "a.txt", b"before", TEXT, executable=True),
    "size": Look("from pathlib import Path; assert Path('a.txt').stat().st_size == 7", "a.txt", base=TEXT),
    "listdir": Look("import os; assert len(os.listdir()) == 2", "new.txt"),
    "scandir": Look("import os; assert [e for e in os.scandir('.') if e.name == 'new.txt']", "new.txt"),
    "glob": Look("import glob; assert glob.glob('*.md')", "new.md"),
    "walk": Look("import os; assert any('n' in files for _, _, files in os.walk('.'))", "d/e/n", base=(("d/k", b""),)),
    "rglob": Look("from pathlib import Path; assert list(Path().rglob('*.md'))", "d/new.md", base=(("d/k", b""),)),
    "iter_modules": Look("import pkgutil; assert list(pkgutil.iter_modules([HERE]))", "plug.py", b"x = 1\n"),
    "import_absent": Look("import sys; sys.path.insert(0, HERE); import lonely_one", "lonely_one.py", b"\n"),
    "import_package": Look("import sys; sys.path.insert(0, HERE); import lonely_two.inner", "lonely_two/inner.py", b"",
                           (("lonely_two/__init__.py", b""),)),
    "import_shadow": Look("import sys; sys.path.insert(0, HERE); import colorsys; assert colorsys.mine",
                          "colorsys.py", b"mine = 1\n"),
    "namespace": Look("import sys; sys.path.insert(0, HERE); import spaced; assert spaced.__file__",
                      "spaced/__init__.py", b"", (("spaced/inner.py", b""),)),
    "find_spec": Look("import sys; sys.path.insert(0, HERE); from importlib.util import find_spec;"
                      "assert find_spec('lonely_three')", "lonely_three/__init__.py", b""),
    "resources": Look("import sys; sys.path.insert(0, HERE); import importlib.resources as r, held;"
                      "assert r.files(held).joinpath('data.txt').read_text()", "held/data.txt", b"x",
                      (("held/__init__.py", b""),)),
    "metadata": Look("import sys; sys.path.insert(0, HERE); from importlib.metadata import version;"
                     "assert version('lonely') == '1'", "lonely-1.dist-info/METADATA", b"Name: lonely\nVersion: 1\n"),
    "entry_points": Look("import sys; sys.path.insert(0, HERE); from importlib.metadata import entry_points;"
                         "assert entry_points(group='lonely.plugs')", "lonely.egg-info/entry_points.txt",
                         b"[lonely.plugs]\na = b\n"),
    "child": Look("import subprocess, sys; subprocess.check_call([sys.executable, '-I', '-c', 'open(\"new.txt\")'])",
                  "new.txt"),
    "shell": Look("import subprocess; subprocess.check_call('test -e new.txt', shell=True)", "new.txt"),
    "sitecustomize": Look("import subprocess, sys, os; told = subprocess.check_output(["
                          "sys.executable, '-c', ''], "
                          "env={**os.environ, 'PYTHONPATH': HERE}); assert b'hi' in told",
                          "sitecustomize.py", b"print('hi')\n"),
    "program_path": Look("import shutil; assert shutil.which('tool', path=HERE)",
          "tool", b"#!/bin/sh\n", executable=True),
    "program": Look("import subprocess; subprocess.check_call(['./run.sh'])", "run.sh", b"#!/bin/sh\nexit 0\n",
                    (("run.sh", b"#!/bin/sh\nexit 1\n"),), executable=True),
    "interpreter": Look("import subprocess; subprocess.check_call(['./run.sh'])", "interp", b"#!/bin/sh\nexit 0\n",
                        (("run.sh", b"#!interp\n"),), executable=True),
    "forked": Look("import os\npid = os.fork()\nif not pid: os._exit(not os.path.exists('new.txt'))\n"
                   "assert os.waitpid(pid, 0)[1] == 0", "new.txt"),
    "thread": Look("import threading, os\nseen = []\n"
                   "t = threading.Thread(target=lambda: seen.append(os.path.exists('new.txt')))\nt.start(); t.join()\n"
                   "assert seen[0]", "new.txt"),
    "folder_descriptor": Look("import os; d = os.open('d', os.O_PATH); os.stat('new.txt', dir_fd=d)", "d/new.txt",
                              base=(("d/k", b""),)),
    "change_folder": Look("import os; os.chdir('d'); assert os.path.exists('new.txt')", "d/new.txt",
                          base=(("d/k", b""),)),
    "proc": Look("assert open('/proc/self/cwd/new.txt').read()", "new.txt"),
    "proc_thread": Look("import os, threading\nseen = []\nt = threading.Thread(target=lambda: seen.append("
                        "os.path.exists('/proc/thread-self/cwd/new.txt')))\nt.start(); t.join(); assert seen[0]",
                        "new.txt"),
    "link": Look("assert open('link').read() == 'changed'", "a.txt", base=(*TEXT, ("link", Path("a.txt")))),
    "folder_link": Look("import os; assert os.path.exists('link/new.txt')", "d/new.txt",
                        base=(("d/k", b""), ("link", Path("d")))),
    "dangling_link": Look("assert open('link').read()", "new.txt", base=(("link", Path("new.txt")),)),
    "link_outside": Look("import os; os.symlink(HERE, '/tmp/way'); assert os.path.exists('/tmp/way/new.txt')",
          "new.txt"),
    "hard_link": Look("import os; os.link('a.txt', 'b.txt'); assert open('b.txt').read() == 'changed'", "a.txt",
                      base=TEXT),
    "copied_tree": Look("import shutil; shutil.copytree(HERE, '/tmp/copy'); assert open('/tmp/copy/new.txt')",
          "new.txt"),
    "remove_folder": Look("import os; os.remove('d/k')\ntry: os.rmdir('d')\nexcept OSError: return\nassert 0",
                          "d/new.txt", base=(("d/k", b""),)),
    "make_folder": Look("import os\ntry: os.mkdir('d')\nexcept FileExistsError: return\nassert 0", "d/new.txt"),
    "make_file": Look("try: open('new.txt', 'x')\nexcept FileExistsError: return\nassert 0", "new.txt"),
    "rename_file": Look("import os; os.rename('a.txt', 'b.txt'); assert open('b.txt').read() == 'changed'", "a.txt",
                        base=TEXT),
    "sqlite": Look("import sqlite3; sqlite3.connect('file:new.db?mode=ro', uri=True).execute('select 1')",
          "new.db", b""),
    "raw_call": Look("import ctypes; assert ctypes.CDLL(None).access(b'new.txt', 0) == 0", "new.txt"),
    "zip_import": Look("import sys; sys.path.insert(0, HERE + '/lib.zip'); import os; assert os.path.isfile("
                       "sys.path[0]); import lonely_zip", "lib.zip", None),
    "unicode": Look("import os; assert os.path.exists('\\u00e9.txt')", "\u00e9.txt"),
    "other_case": Look("import os; assert os.path.exists('README') and not os.path.exists('readme')", "README"),
    "socket": Look("import socket\ntry: socket.socket(socket.AF_UNIX).connect('new.sock')\n"
                   "except ConnectionRefusedError: return\nassert 0", "new.sock"),
    "source": Look("import sys; sys.path.insert(0, HERE); import sourced, inspect;"
                   "assert 'changed' in inspect.getsource(sourced)", "sourced.py", b"# changed\nx = 1\n",
                   (("sourced.py", b"x = 1\n"),)),
    "mapped": Look("import mmap; f = open('a.txt', 'rb'); m = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ);"
                   "assert m[:] == b'changed'", "a.txt", base=TEXT),
    "extended_attributes": Look("import os; os.listxattr('new.txt')", "new.txt"),
    "set_times": Look("import os; os.utime('new.txt')", "new.txt"),
}  # fmt: skip
UNREAD = {
    "renamed_folder": "import os; os.rename('d', 'e'); assert open('e/a.txt').read() == 'changed'",
    "watched": "import ctypes; c = ctypes.CDLL(None); assert c.inotify_add_watch(c.inotify_init(), b'd', 2) < 0",
    "own_program": "import shutil, subprocess; shutil.copy('/bin/true', '/tmp/x'); subprocess.check_call('/tmp/x')\n"
    "assert 0",
    "program_without_a_name": "import os; m = os.memfd_create('x', 0)\n"
    "os.write(m, b'#!/workspace/repo/program_without_a_name/d/tool\\n')\n"
    "if not os.fork(): os.execv(f'/proc/self/fd/{m}', ['x'])\n"
    "assert os.wait()[1] == 0",
}


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    return open_sandbox("namespaces", Cache())


def _function(name: str, body: str) -> str:
    here = f"/workspace/repo/{name}"
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    return f"def test_{name}():\n    import os as _os; HERE = {here!r}; _os.chdir(HERE)\n{lines}\n"


def _zip() -> bytes:
    import io
    import zipfile

    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("lonely_zip.py", "")
    return made.getvalue()


def _edits() -> dict[str, FileEdit | None]:
    edits: dict[str, FileEdit | None] = {}
    for name, look in LOOKS.items():
        content = _zip() if name == "zip_import" else look.content
        edits[f"{name}/{look.path}"] = None if content is None else FileEdit(content, look.executable)
    return edits


@pytest.mark.long
def test_whatever_changes_the_outcome_of_a_test_was_looked_at(tmp_path: Path, sandbox: Sandbox) -> None:
    repository: dict[str, str | bytes | Path] = {
        f"{name}/{path}": content for name, look in LOOKS.items() for path, content in look.base
    }
    repository |= {f"{name}/kept.txt": "kept" for name in LOOKS} | {"apart/never.txt": "never", "README.md": "x"}
    tests = "".join(_function(name, look.body) for name, look in LOOKS.items())
    task = small_edit(tmp_path, sandbox, repository, tests, [f"test_{name}" for name in LOOKS])

    tracer = TraceSandbox(sandbox)
    before = run_hidden(task.folder, task.base, {}, tracer, task.environment).report
    after = run_hidden(task.folder, task.base, _edits(), sandbox, task.environment).report
    names = [f"test_small.py::test_{name}" for name in LOOKS]
    assert [test.id for test in before.tests if test.outcome == "failed"] == names
    messages = {test.id: test.message for test in after.tests if test.outcome != "passed"}
    assert messages == {}, "these patches do not change anything, so the test shows nothing"

    assert tracer.notes.unread == ""
    absent = {path for path in tracer.notes.looked if not os.path.lexists(task.base / path)}
    paths = PathSet(tracer.notes.looked, tracer.notes.listed, absent)
    assert [path for path in _edits() if not paths.sees(path)] == []
    for path in ("apart/never.txt", "apart/new.txt", "README.md", "new.txt", "open_absent/other.txt", "sqlite/x/y"):
        assert not paths.sees(path)


@pytest.mark.parametrize("name", UNREAD)
def test_what_cannot_be_followed_is_told(tmp_path: Path, sandbox: Sandbox, name: str) -> None:
    repository = {f"{name}/d/a.txt": "before"}
    task = small_edit(tmp_path, sandbox, repository, _function(name, UNREAD[name]), [f"test_{name}"])
    tracer = TraceSandbox(sandbox)
    told = run_hidden(task.folder, task.base, {}, tracer, task.environment).report
    assert told.tests[0].outcome == "failed"
    if "memfd_create" in UNREAD[name] and "not implemented" in told.tests[0].message:
        pytest.skip("without control groups a sandbox gives no memory that its limits do not see")
    assert tracer.notes.unread != ""
