"""Rows judged and worked on in their own images, by both engines: nothing is built, fetched or shown of a past."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from docker_here import docker_daemon
from podman_here import make_podman
from repoassay.agents.reference import ReferenceAgent
from repoassay.cli.main import cli
from repoassay.engine.attempt import AttemptContext, OpenAttempt, work
from repoassay.engine.grading_context import GradingContext
from repoassay.engine.submit import SubmissionEngine
from repoassay.formats import RowSupplies, usable_tasks
from repoassay.sandbox import open_sandbox
from repoassay.sandbox.cache import Cache
from repoassay.tasks import TaskFolder
from repoassay.types import Outcome
from repoassay.workspace.image_layout import take_image
from testbed_image import FUTURE, NAME, make_testbed_image, row_of

pytestmark = [pytest.mark.exhaustive, pytest.mark.xdist_group("podman"), pytest.mark.timeout(1800)]
EDIT = "--- a/counter/__init__.py\n+++ b/counter/__init__.py\n@@ -1,2 +1,{count} @@\n def count(items):\n{lines}"
WRONG = EDIT.format(count=2, lines="-    return len(items) + 1\n+    return len(items) + 2\n")
USELESS = EDIT.format(count=3, lines="+    # counts\n     return len(items) + 1\n")
CONFTEST = """\
--- /dev/null
+++ b/conftest.py
@@ -0,0 +1,6 @@
+import pytest
+
+
+@pytest.hookimpl(hookwrapper=True)
+def pytest_runtest_makereport(item, call):
+    (yield).get_result().outcome = "passed"
"""
FORGERY = EDIT.format(
    count=10,
    lines="     return len(items) + 1\n+\n+\n+from _pytest.reports import TestReport\n+made = TestReport.__init__\n"
    "+def forged(self, *args, **more):\n+    made(self, *args, **more)\n+    self.outcome = 'passed'\n"
    "+TestReport.__init__ = forged\n",
)


@dataclass(frozen=True)
class Place:
    """An engine with the image, the row's task, and what judges it."""

    engine: str
    program: Path
    rows: Path
    folder: TaskFolder
    bench: GradingContext


@pytest.fixture(scope="module", params=["podman", "docker"])
def place(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Place]:
    if any(shutil.which(name) is None for name in ("bash", "find", "git", "tar")) or sys.base_prefix == "/usr":
        pytest.skip("no programs for an image, or a Python that containers are not shown")
    kind: str = request.param
    folder = tmp_path_factory.mktemp("image")
    with contextlib.ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        if kind == "podman":
            programs = make_podman(tmp_path_factory.mktemp("podman"))
            if programs is None:
                pytest.skip("podman is not installed, or cannot run a container here")
            patch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
        else:
            address = stack.enter_context(docker_daemon(tmp_path_factory.mktemp("docker")))
            if address is None:
                pytest.skip("no daemon of Docker can be started here: it takes root and the program dockerd")
            patch.setenv("DOCKER_HOST", address)
        program = Path(str(shutil.which(kind)))
        rows = folder / "rows.json"
        rows.write_text(json.dumps([row_of(make_testbed_image(program, folder))]))
        cache = Cache(tmp_path_factory.mktemp("cache"))
        patch.setenv("REPOASSAY_CACHE", str(cache.path))
        (task,) = usable_tasks(rows, cache.path / "rows", RowSupplies()).tasks.values()
        bench = GradingContext(None, cache, open_sandbox(f"{kind}@{{image}}", cache))
        yield Place(kind, program, rows, task, bench)


def test_patches_are_judged_in_the_image_as_it_is(place: Place) -> None:
    gold_patch = (place.folder.solution / "changes.diff").read_text("utf-8")
    patches = {"gold": gold_patch, "useless": USELESS, "wrong": WRONG, "empty": "", "conftest": CONFTEST}
    patches["forged"] = FORGERY
    with SubmissionEngine({"row": place.folder}, place.bench) as engine:
        answers = {name: engine.grade("row", patch).verdict for name, patch in patches.items()}
    assert {name: verdict.outcome for name, verdict in answers.items()} == {
        "gold": Outcome.PASSED, "useless": Outcome.FAILED, "wrong": Outcome.FAILED, "empty": Outcome.NO_OUTPUT,
        "conftest": Outcome.FAILED, "forged": Outcome.FAILED,
    }, [(name, verdict.comments) for name, verdict in answers.items()]  # fmt: skip
    gold = answers["gold"]
    assert gold.isolation is not None and gold.isolation.phrase == f"{place.engine}@{{image}}, grade container"
    assert gold.assurance is not None and gold.assurance.grade == "doubted"
    assert any(NAME in comment for comment in gold.comments)
    assert any("conftest.py" in comment for comment in answers["conftest"].comments)


def test_whoever_works_in_it_sees_nothing_of_its_past_and_future(place: Place) -> None:
    attempt = OpenAttempt(place.folder, place.bench, 300)
    try:
        look = "cd /testbed && git log --all --format=%s && git tag && git reflog && git rev-list --all | wc -l"
        said = attempt.session.exec(["/bin/bash", "-c", f"{look}; cat /opt/miniconda3/lib/*/site-packages/counter/*"])
        assert b"Base of the task" in said.stdout and FUTURE.encode() not in said.stdout + said.stderr
        assert b"v2.0" not in said.stdout
        deep = attempt.session.exec(["/bin/bash", "-c", f"grep -rlF {FUTURE!r} /testbed /opt; find / -name '*.pack'"])
        assert deep.stdout == b"", deep.stdout
        ran = attempt.session.exec(["python", "-m", "pytest", "-q", "/testbed/tests"])
        assert b"1 passed" in ran.stdout, (ran.stdout, ran.stderr)
        attempt.session.write("/testbed/counter/__init__.py", b"def count(items):\n    return len(items)\n")
        verdict = attempt.judge()
    finally:
        attempt.close()
    assert verdict.outcome is Outcome.PASSED, verdict.comments


def test_an_agent_of_ours_works_there(place: Place, tmp_path: Path) -> None:
    done = work(place.folder, ReferenceAgent(), place.bench, tmp_path / "attempt", None, AttemptContext("one"))
    assert done.verdict.outcome is Outcome.PASSED, done.verdict.comments
    assert "counter/__init__.py" in (tmp_path / "attempt/submission/changes.diff").read_text()


def test_what_the_image_tracks_is_the_base_and_what_it_built_is_beside(place: Place) -> None:
    engine = place.bench.sandbox
    base, environment = take_image(place.folder, place.bench.cache, engine)  # type: ignore[arg-type]  # it is that
    assert (base / "latest.txt").is_symlink() and (base / "counter.egg-info/PKG-INFO").is_file()
    assert "counter.egg-info" in (base / ".git/info/exclude").read_text()
    told = json.loads((environment / "image.json").read_text())
    assert told["python"] == "/opt/miniconda3/envs/testbed/bin/python"
    assert (told["variables"]["OWN"], told["variables"]["FROM_IMAGE"]) == ("yes", "1")


def test_predictions_in_images_by_the_command(place: Place, tmp_path: Path) -> None:
    call = ["swebench", "run", "--predictions", "gold", "--dataset", str(place.rows), "--out", str(tmp_path)]
    done = CliRunner().invoke(cli, [*call, "--isolation", f"{place.engine}@{{image}}"])
    assert done.exit_code == 0, done.output
    assert json.loads((tmp_path / "gold.repoassay.json").read_text())["resolved_ids"] == ["a__counter-1"]
    elsewhere = CliRunner().invoke(cli, [*call, "--isolation", f"{place.engine}@localhost/other/{{name}}"])
    assert elsewhere.exit_code == 1
    assert (
        f"{place.engine} does not have the image localhost/other/sweb.eval.x86_64.a_1776_counter-1" in elsewhere.output
    )
    pulled = CliRunner().invoke(
        cli, ["swebench", "pull", "--dataset", str(place.rows), "--isolation", f"{place.engine}@{{image}}"]
    )
    assert (pulled.exit_code, pulled.output) == (0, f"{NAME}  here\n")
