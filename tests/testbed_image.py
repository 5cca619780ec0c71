"""A container image shaped as SWE-bench's are, of this machine's own programs, and a row that goes with it.

The interpreter of its environment `testbed` is the tests' own, which every container of ours is shown; what it has
installed lies in the image, as do a repository with a past and a future, and a later release of it outside.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from podman_here import fill_image
from repoassay.sandbox import git_program

__all__ = ["FUTURE", "NAME", "make_testbed_image", "row_of"]

NAME = "localhost/testbeds/sweb.eval.x86_64.a_1776_counter-1:latest"
FUTURE = "the fix of tomorrow"
_ROOT = "opt/miniconda3"
_ACTIVATE = """#!/bin/sh
conda() {
    [ "$1" = activate ] && [ "$2" = testbed ] || return 1
    export CONDA_PREFIX=/opt/miniconda3/envs/testbed PATH="/opt/miniconda3/envs/testbed/bin:$PATH"
    . /opt/miniconda3/envs/testbed/etc/conda/activate.d/own.sh
}
"""
_FILES = {
    "counter/__init__.py": "def count(items):\n    return len(items) + 1\n",
    "tests/test_counter.py": "from counter import count\n\n\ndef test_type():\n    assert isinstance(count([]), int)\n",
    "tests/conftest.py": "import os\n\n\ndef pytest_configure(config):\n    assert os.environ['OWN'] == 'yes'\n",
    "setup.cfg": "[metadata]\nname = counter\n[options]\npackages = counter\n",
}
_TESTS = """\
diff --git a/tests/test_counter.py b/tests/test_counter.py
--- a/tests/test_counter.py
+++ b/tests/test_counter.py
@@ -3,3 +3,8 @@

 def test_type():
     assert isinstance(count([]), int)
+
+
+def test_count():
+    assert count("abc") == 3
+    assert count([5, 6]) == 2
"""
_SOLUTION = """\
--- a/counter/__init__.py
+++ b/counter/__init__.py
@@ -1,2 +1,2 @@
 def count(items):
-    return len(items) + 1
+    return len(items)
"""


def row_of(base: str) -> dict[str, Any]:
    """A row of a repository that no table knows, whose image is ours."""
    return {
        "instance_id": "a__counter-1", "repo": "a/counter", "base_commit": base, "patch": _SOLUTION,
        "test_patch": _TESTS, "problem_statement": "It counts one too many.", "version": "1.0",
        "FAIL_TO_PASS": ["tests/test_counter.py::test_count"], "PASS_TO_PASS": ["tests/test_counter.py::test_type"],
        "docker_image": NAME,
    }  # fmt: skip


def make_testbed_image(engine: Path, folder: Path) -> str:
    """Make the image known to an engine; returns the commit that its row is based on."""
    root = folder / "root"
    fill_image(root, ("bash", "find", "git", "tar"))
    environment = root / _ROOT / "envs/testbed"
    python = f"python{sys.version_info.major}.{sys.version_info.minor}"
    site = environment / "lib" / python / "site-packages"
    later = root / _ROOT / "lib" / python / "site-packages/counter"
    for place in (environment / "bin", environment / "etc/conda/activate.d", site, later, root / _ROOT / "bin"):
        place.mkdir(parents=True)
    (root / _ROOT / "bin/activate").write_text(_ACTIVATE)
    (environment / "etc/conda/activate.d/own.sh").write_text("export OWN=yes\n")
    (environment / "pyvenv.cfg").write_text(f"home = {sys.base_prefix}/bin\n")
    (environment / "bin/python").symlink_to(f"{sys.base_prefix}/bin/{python}")
    for name in ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments"):
        found = importlib.util.find_spec(name)
        assert found is not None and found.origin is not None
        shutil.copytree(Path(found.origin).parent, site / name, ignore=shutil.ignore_patterns("__pycache__"))
    (site / "counter.pth").write_text("/testbed\n")
    (later / "__init__.py").write_text(f"# {FUTURE}\n")
    base = _repository(root / "testbed")
    made = f"tar -C {root} -c . | {engine} import -c 'ENV FROM_IMAGE=1' - {NAME}"
    subprocess.run(["/bin/sh", "-ec", made], check=True, capture_output=True)
    return base


def _repository(place: Path) -> str:
    """A repository as images have them: at a commit of its own after the row's, with later ones, tags and a reflog."""
    for name, text in _FILES.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    (place / "latest.txt").symlink_to("setup.cfg")

    def git(*words: str) -> str:
        own = ["-c", "user.name=SWE-bench", "-c", "user.email=setup@swebench.config", "-c", "init.defaultBranch=main"]
        command = [git_program(), "-C", str(place), *own, *words]
        env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"}
        return subprocess.run(command, check=True, capture_output=True, text=True, env=env).stdout.strip()

    git("init", "--quiet")
    git("add", "--all")
    git("commit", "--quiet", "--message=Base")
    base = git("rev-parse", "HEAD")
    (place / "counter/__init__.py").write_text(f"# {FUTURE}\n")
    git("commit", "--quiet", "--all", "--message", FUTURE)
    git("tag", "v2.0")
    git("branch", "later")
    git("reset", "--quiet", "--hard", base)
    git("commit", "--quiet", "--allow-empty", "--message=SWE-bench")
    (place / "counter.egg-info").mkdir()
    (place / "counter.egg-info/PKG-INFO").write_text("Name: counter\n")
    return base
