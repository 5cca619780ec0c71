"""Edit tasks of ours as task folders of Harbor: complete, with what they lose named, and read back as the same task."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from command_line import repoassay
from json_answers import data_of
from repoassay.interchange import harbor_check
from repoassay.sandbox import Cache, open_sandbox
from repoassay.tasks import find_suite
from small_edits import small_edit

REPOSITORY: dict[str, str | bytes | Path] = {
    "calc/__init__.py": "def add(a, b):\n    return a - b\n",
    "run me.sh": "#!/bin/sh\n",
    "link": Path("calc/__init__.py"),
    "a\nRUN echo forged\n#.sh": "#!/bin/sh\n",
    "forged link": Path("x\nRUN echo forged\n#"),
}
TESTS = """\
import os
from calc import add

def test_add():
    assert add(2, 3) == 5

def test_kept():
    assert os.access("/workspace/repo/run me.sh", os.X_OK) and os.environ["PRICE"] == '5 $ "each"'
    assert open("/workspace/repo/built").read() == "one\\ntwo\\n"
"""
SOLUTION = """\
--- a/calc/__init__.py
+++ b/calc/__init__.py
@@ -1,2 +1,2 @@
 def add(a, b):
-    return a - b
+    return a + b
"""
ENVIRONMENT = """\
requirements = "environment/requirements.txt"
build = ["printf 'one\\\\n' > built\\nprintf 'two\\\\n' >> built", "true"]
apt = ["jq"]
variables = { PRICE = '5 $ "each"' }
"""


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("suite")
    small_edit(place, open_sandbox("namespaces", Cache()), REPOSITORY, TESTS, ["test_add"], solution=SOLUTION)
    document = place / "tasks/small/task.toml"
    text = document.read_text().replace('requirements = "environment/requirements.txt"\n', ENVIRONMENT)
    text = text.replace("A small edit", "A small edit \U0001f600")
    document.write_text(text.replace("seconds = ", 'pass_to_pass = ["test_small.py::test_kept"]\nseconds = ', 1))
    return place


def test_a_task_goes_out_whole(suite: Path, tmp_path: Path) -> None:
    told = data_of(
        repoassay("export", suite, "--as", "harbor", "--out", tmp_path / "out", "--json", cwd=tmp_path).stdout
    )
    assert told == {"file": str(tmp_path / "out"), "left_out": []}
    task = tmp_path / "out/small"
    assert tomllib.loads((task / "task.toml").read_text())["metadata"]["title"] == "A small edit \U0001f600"
    lines = (task / "environment/Dockerfile").read_text().splitlines()
    assert lines[0] == "FROM python:3.11-slim"
    assert "RUN chmod +x '/workspace/repo/run me.sh'" in lines
    assert "RUN ln -s calc/__init__.py /workspace/repo/link" in lines
    assert not [line for line in lines if line.startswith("RUN echo")]  # names of the repository are a stranger's
    assert 'ENV PRICE="5 \\$ \\"each\\""' in lines
    assert lines[-2] == r"""RUN ["/bin/sh", "-c", "printf 'one\\n' > built\nprintf 'two\\n' >> built"]"""
    assert json.loads((task / "tests/ids.json").read_text()) == ["test_small.py::test_add", "test_small.py::test_kept"]
    shown = b"".join(path.read_bytes() for path in sorted((task / "environment").rglob("*")) if path.is_file())
    assert (
        b"assert add" not in shown
        and b"return a + b" not in shown
        and not (task / "environment/repository/.git").exists()
    )


@pytest.mark.exhaustive
def test_what_is_read_back_is_proven(suite: Path, tmp_path: Path) -> None:
    repoassay("export", suite, "--as", "harbor", "--out", tmp_path / "small", cwd=tmp_path)
    done = repoassay(
        "import", tmp_path / "small", "--as", "harbor", "--out", tmp_path / "again", "--prove", cwd=tmp_path
    )
    assert "proven: 1" in done.stdout + done.stderr
    told = data_of(
        repoassay("export", "starter", "--as", "harbor", "--out", tmp_path / "out", "--json", cwd=tmp_path).stdout
    )
    edits = {folder.task.id for folder in find_suite("starter").tasks if folder.task.kind.changes_repository}
    assert {path.name for path in (tmp_path / "out").iterdir()} == edits
    assert len(told["left_out"]) == len(find_suite("starter").tasks) - len(edits)
    done = repoassay("import", tmp_path / "out", "--as", "harbor", "--out", tmp_path / "back", "--prove", cwd=tmp_path)
    assert f"proven: {len(edits)}" in done.stdout + done.stderr


def test_a_suite_without_such_tasks_is_a_sentence(tmp_path: Path) -> None:
    done = repoassay("export", "pull-requests", "--as", "harbor", "--out", tmp_path / "out", cwd=tmp_path)
    assert done.returncode == 2 and "No task of pull-requests can be one of Harbor's." in done.stderr
    assert not list(tmp_path.iterdir())


CHECKED = """\
import pytest

def test_right():
    pass

def test_wrong():
    assert False

@pytest.mark.skip
def test_skipped():
    pass

@pytest.mark.xfail
def test_expected():
    assert False

@pytest.fixture
def broken():
    yield
    raise OSError

def test_torn_down(broken):
    pass

@pytest.mark.parametrize("word", ["a b", "ü/é"])
def test_each(word):
    pass
"""


@pytest.mark.long
def test_only_what_passed_has_passed(tmp_path: Path) -> None:
    tests = tmp_path / "hidden"
    tests.mkdir()
    (tests / "test_it.py").write_text(CHECKED)
    (tests / "right.py").write_text("import os\nassert os.getcwd().endswith('place')\n")
    (tests / "wrong.py").write_text("raise SystemExit(3)\n")
    (tmp_path / "place").mkdir()
    right = ["test_it.py::test_right", "test_it.py::test_each[a b]", "right.py::__script__"]
    wrong = [f"test_it.py::test_{name}" for name in ("wrong", "skipped", "expected", "torn_down", "absent")]
    wrong += ["wrong.py::__script__"]
    for ids, expected in ((right, []), ([*right, *wrong], wrong)):
        (tmp_path / "ids.json").write_text(json.dumps(ids))
        done = subprocess.run(
            [sys.executable, harbor_check.__file__, tmp_path / "ids.json", tmp_path / "place", tests],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == bool(expected), done.stdout
        assert [
            line.removeprefix("not passed: ") for line in done.stdout.splitlines() if "not passed" in line
        ] == expected
