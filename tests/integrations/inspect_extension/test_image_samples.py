"""Samples with a compose file: where they work, what they find there, and which files are refused."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("inspect_ai")
import anyio

from repoassay.errors import BadInput
from repoassay.integrations.inspect_extension import RepoAssaySandbox
from repoassay.workspace import release_lines  # noqa: F401  # asked by the mark, as a test starts
from swe_rows import patch_of

TEST = """\
diff --git a/tests/test_it.py b/tests/test_it.py
--- a/tests/test_it.py
+++ b/tests/test_it.py
@@ -1,2 +1,3 @@
+from it import x
 def test_it():
-    assert True
+    assert x == 2  # a hidden line
"""
COMPOSE = "services:\n  default:\n    image: some/image:latest\n    working_dir: {place}\n    {network}\n"


def commit(folder: Path) -> str:
    """A repository with one file and a test."""
    (folder / "tests").mkdir(parents=True)
    (folder / "it.py").write_text("x = 1\n")
    (folder / "setup.py").write_text("from setuptools import setup\nsetup(name='it', version='1', py_modules=['it'])\n")
    (folder / "tests" / "test_it.py").write_text("def test_it():\n    assert True\n")
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@localhost"]
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "one")):
        subprocess.run([*git, *words], check=True)
    return subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()


def compose(folder: Path, place: str = "/testbed", network: str = "network_mode: none") -> str:
    path = folder / "pallets__flask-1-compose.yaml"
    path.write_text(COMPOSE.format(place=place, network=network))
    return str(path)


def row(base: str) -> dict[str, Any]:
    """A sample's metadata as Inspect's own tasks have them: a row without its id and its text."""
    return {
        "repo": "pallets/flask", "base_commit": base, "version": "2.3", "patch": patch_of("it.py", "x = 1", "x = 2"),
        "test_patch": TEST, "FAIL_TO_PASS": ["tests/test_it.py::test_it"], "PASS_TO_PASS": [], "hints_text": "",
        "created_at": "2023-04-14T16:36:54Z", "environment_setup_commit": "", "image_name": "x", "arch": None,
    }  # fmt: skip


@pytest.mark.skipif("'3.11' not in release_lines()", reason="this machine has no Python 3.11 to make an environment of")
@pytest.mark.long
def test_the_repository_lies_where_the_image_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = commit(tmp_path / "mirrors" / "pallets" / "flask")
    (tmp_path / "frozen").mkdir()
    packages = ("pytest==7.4.0", "pluggy==1.2.0", "iniconfig==2.0.0", "packaging==23.1")
    frozen = "name: testbed\ndependencies:\n  - python=3.11.9=x_0\n  - pip:\n"
    frozen += "".join(f"      - {package}\n" for package in packages)
    (tmp_path / "frozen" / "pallets__flask-1.yml").write_text(frozen)
    monkeypatch.setenv("REPOASSAY_MIRRORS", str(tmp_path / "mirrors"))
    monkeypatch.setenv("REPOASSAY_ENVIRONMENTS", str(tmp_path / "frozen"))
    lines = (
        "pwd; cat it.py; git log --oneline | wc -l",
        "source /opt/miniconda3/bin/activate; conda activate testbed; "
        "python -c 'import pytest; print(pytest.__version__)'",
        "echo changed > tests/test_it.py; git checkout -q $0 tests/test_it.py && cat tests/test_it.py",
        "cat /workspace/repo/it.py; grep -rl 'a hidden line' /testbed /workspace /env /tmp /home /run /opt",
    )

    async def look() -> list[str]:
        config = compose(tmp_path)
        made = await RepoAssaySandbox.sample_init("a task", config, row(base))
        try:
            sandbox = made["default"]
            done = [await sandbox.exec(["bash", "-c", line, base]) for line in lines]
            with pytest.raises(BadInput, match="of no task"):
                sandbox.as_type(RepoAssaySandbox).sample.judge()
            return [each.stdout for each in done]
        finally:
            await RepoAssaySandbox.sample_cleanup("a task", config, made, interrupted=False)

    assert anyio.run(look) == [
        "/testbed\nx = 1\n1\n", "7.4.0\n", "def test_it():\n    assert True\n", "x = 1\n",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("place", "network", "why"),
    [
        ("/testbed", "", "asks for a network"),
        ("/etc/../root", "network_mode: none", "right below /"),
        ("testbed", "network_mode: none", "right below /"),
        ("/workspace", "network_mode: none", "right below /"),
        ("/testbed", "network_mode: none\n  other:\n    image: b", "no compose file of one service"),
    ],
)
def test_what_this_sandbox_has_not_is_refused(place: str, network: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=why):
        anyio.run(RepoAssaySandbox.sample_init, "a task", compose(tmp_path, place, network), row("0" * 40))


def test_a_sample_that_is_no_row_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no row of a known format"):
        anyio.run(RepoAssaySandbox.sample_init, "a task", compose(tmp_path), json.loads('{"colour": "red"}'))
