"""Inspect View, in a real browser, shows what was said, called and answered in a run of ours, and the verdict."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browser import Opened, chromium
from mini_runs import DIFF, write_run
from repoassay.interchange import import_run
from repoassay.report import export_file, find_source
from repoassay.types import Outcome, TestResult

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytest.importorskip("inspect_ai")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    yield from chromium()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def viewed(tmp_path: Path) -> Iterator[str]:
    """The address of Inspect's own bundle of a run of two attempts, of which one failed a test here."""
    run = import_run(None, write_run(tmp_path / "theirs", {"a__b-1": DIFF, "a__b-2": ""}), tmp_path / "run").run
    first = next(found for found in run.finished() if found.attempt.task == "a__b-1")
    tests = (TestResult(id="tests/test_sum.py::test_all", outcome="failed"),)
    changes = {"outcome": Outcome.FAILED, "process": True, "result": False, "tests": tests, "grader": "repoassay 1"}
    run.add_verdict(first.attempt.id, first.verdict.model_copy(update=changes))
    (tmp_path / "logs").mkdir()
    export_file(find_source(str(run.path), tmp_path), "inspect", tmp_path / "logs" / "run.eval")
    words = ["view", "bundle", "--log-dir", str(tmp_path / "logs"), "--output-dir", str(tmp_path / "site")]
    done = subprocess.run([Path(sys.executable).with_name("inspect"), *words], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(tmp_path / "site")))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/#/tasks/run.eval"
    server.shutdown()
    server.server_close()


@pytest.mark.exhaustive
@pytest.mark.timeout(300)
def test_a_sample_shows_its_transcript_and_its_verdict(viewed: str, browser: Browser) -> None:
    opened = Opened(browser, viewed)
    page = opened.page
    page.set_default_timeout(60_000)
    page.get_by_text("a__b-1").first.click()
    for said in ("THOUGHT: go on.", "sed -i s/old/new/ ledger.py", "Fix it."):
        page.get_by_text(said).first.wait_for()
    page.get_by_role("tab", name="Scoring").click()
    page.get_by_text("tests/test_sum.py::test_all").first.wait_for()
    assert "failed" in page.inner_text("body")
    page.get_by_role("tab", name="Messages").click()
    page.get_by_text("ledger.py").first.wait_for()
    opened.close()
