"""`repoassay view`: what it shows of runs below a folder, to whom, and that it follows a run at work."""

from __future__ import annotations

import contextlib
import fcntl
import http.client
import json
import shutil
import socket
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from browser import Opened, chromium
from repoassay.records import STEPS, RunFolder, steps_file
from repoassay.server import viewing
from repoassay.server.listening import listen
from repoassay.server.viewing import RunViewer, ViewServer
from repoassay.types import (
    Attempt,
    Observation,
    Plan,
    PlannedTask,
    Source,
    StepCall,
    Submission,
    TaskKind,
    TrajectoryStep,
    Verdict,
)

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NOW = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)
HOSTILE = "<script>alert(1)</script>\u202e"


def a_run(path: Path, agent: str, outcomes: dict[str, str], tasks: int = 3) -> RunFolder:
    """A run of one agent whose named tasks ended so; the rest is not finished."""
    planned = tuple(
        PlannedTask(
            id=f"t{number}", digest=f"{number:064x}", folder="/f", title=f"Title {HOSTILE}", kind=TaskKind.EDIT,
            domain="web",
        )
        for number in range(tasks)
    )  # fmt: skip
    plan = Plan(
        id=f"01KG9{path.name.upper():0>21.21}", created=NOW, suite="mini", suite_version="1", suite_folder="/nowhere",
        tasks=planned, agents={agent: {"kind": "command"}}, isolation="namespaces",
    )  # fmt: skip
    run = RunFolder.create(path, plan)
    for number, (task, outcome) in enumerate(outcomes.items()):
        digest = f"{int(task[1:]):064x}"
        attempt = Attempt(
            id=attempt_id(path.name, number), run=plan.id, task=task, task_digest=digest, agent=agent, number=1,
            started=NOW, ended=NOW, submission=Submission(),
        )  # fmt: skip
        good = outcome == "passed"
        verdict = {
            "task": task, "task_digest": digest, "outcome": outcome, "process": True, "result": good, "grader": "g",
            "graded_at": NOW.isoformat(), "comments": [] if good else [HOSTILE],
        }  # fmt: skip
        run.record(attempt, Verdict.model_validate(verdict))
    return run


def attempt_id(run: str, number: int) -> str:
    return f"01KG9{run.upper():A>12.12}{number:09d}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    a_run(tmp_path / "runs/one", "hare", {"t0": "passed", "t1": "passed", "t2": "passed"})
    a_run(tmp_path / "runs/deep/two", "snail", {"t0": "failed", "t1": "passed"})
    return tmp_path / "runs"


def get(viewer: RunViewer, target: str, status: int = 200) -> str:
    found = viewer.answer(target)
    assert found.status == status, found.text[:500]
    return found.text


def test_runs_are_listed_opened_and_compared(folder: Path) -> None:
    viewer = RunViewer(folder)
    listed = get(viewer, "/")
    assert 'href="run/one/report.html"' in listed and 'href="run/deep/two/report.html"' in listed
    states = {one["key"]: one["state"] for one in json.loads(get(viewer, "/state.json"))["runs"]}
    assert states == {"one": "finished", "deep/two": "stopped"}
    text = get(viewer, "/run/deep/two/report.html")
    assert '<bdi class="name">snail</bdi> passed 1 of 3 tasks' in text
    name = attempt_id("two", 0)
    assert f'href="report_files/{name}.html"' in text
    attempt = get(viewer, f"/run/deep/two/report_files/{name}.html")
    assert "<h1><bdi>t0</bdi>" in attempt and 'href="../report.html"' in attempt
    both = get(viewer, "/compare?run=one&run=deep/two")
    assert "is best" in both or "passed most" in both
    assert f'href="attempts/{name}.html"' in both
    assert 'href="/run/deep/two/report.html"' in get(viewer, f"/attempts/{name}.html")
    for text in (listed, attempt, both):
        assert "<script>alert" not in text and "\u202e" not in text


def test_an_attempt_that_was_made_again_says_so(folder: Path) -> None:
    run = RunFolder(folder / "one")
    first, again = attempt_id("one", 0), attempt_id("one", 9)
    found = next(item for item in run.finished() if item.attempt.id == first)
    run.record(found.attempt.model_copy(update={"id": again, "retry_of": first}), found.verdict)
    viewer = RunViewer(folder)
    assert "Superseded by a retry" in get(viewer, f"/run/one/report_files/{first}.html")
    assert "Superseded" not in get(viewer, f"/run/one/report_files/{again}.html")


@pytest.mark.by_day(6)
@pytest.mark.parametrize(
    "target",
    [
        "/run/../../etc/report.html", "/run/%2e%2e/report.html", "/run/one/report_files/../run.json", "/etc/passwd",
        "/run/one/run.json", "/run/one/attempts/x", "/run//report.html", "//run/one/report.html",
        "/run/%00/report.html", "http://[", "http://127.0.0.1/run/one/report.html",
        f"/attempts/{'0' * 26}.html", "/attempts/attempts-0000.js", f"/run/one/report_files/{'Z' * 26}.html",
    ],
)  # fmt: skip
def test_nothing_else_is_there(folder: Path, target: str) -> None:
    get(RunViewer(folder), target, 404)


def test_a_comparison_of_one_or_of_strangers_is_a_sentence(folder: Path) -> None:
    assert "takes 2 to" in get(RunViewer(folder), "/compare?run=one", 422)
    assert "There is no run" in get(RunViewer(folder), f"/compare?run=one&run={quote(HOSTILE)}", 422)


def test_links_out_of_the_folder_and_broken_runs_do_not_matter(folder: Path, tmp_path: Path) -> None:
    a_run(tmp_path / "elsewhere", "x", {})
    (folder / "link").symlink_to(tmp_path / "elsewhere")
    (folder / "broken").mkdir()
    (folder / "broken/run.json").write_text("{")
    (folder / "odd \u202e\n'\"<b>").mkdir()
    shutil.copytree(folder / "one", folder / "odd \u202e\n'\"<b>/one")
    viewer = RunViewer(folder)
    keys = {one["key"]: one["state"] for one in json.loads(get(viewer, "/state.json"))["runs"]}
    assert keys["broken"] == "unreadable" and len(keys) == 4
    odd = next(key for key in keys if key.startswith("odd"))
    assert "hare" in get(viewer, f"/run/{odd}/report.html")
    assert "cannot be read" in get(viewer, "/")
    get(viewer, "/run/broken/report.html", 422)


def test_a_run_at_work_is_followed(folder: Path) -> None:
    viewer = RunViewer(folder)
    run = RunFolder(folder / "deep/two")
    name = attempt_id("two", 7)
    run.journal.append("started", attempt=name, task="t2", agent="snail", number=1)
    place = run.attempt_folder(name)
    place.mkdir()
    assert json.loads(get(viewer, "/run/deep/two/state.json"))["state"] == "stopped"
    with (run.path / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        state = json.loads(get(viewer, "/run/deep/two/state.json"))
        assert (state["state"], state["finished"], state["planned"]) == ("running", 2, 3)
        assert [one["task"] for one in state["running"]] == ["t2"]
        (place / "log.txt").write_text(f"thinking {HOSTILE}\n")
        text = get(viewer, f"/run/deep/two/report_files/{name}.html")
        assert "thinking &lt;script&gt;" in text and "is at work" in text and 'id="step-' not in text
        said = TrajectoryStep(index=1, source=Source.AGENT, text=HOSTILE, calls=(StepCall(name="bash", id="c"),))
        answered = Observation(call="c", text="README.md")
        steps_file(place / STEPS).append(said)
        steps_file(place / STEPS).append(TrajectoryStep(index=2, source=Source.TOOL, observations=(answered,)))
        with (place / STEPS).open("ab") as half:
            half.write(b'{"index": 3, "sour')
        text = get(viewer, f"/run/deep/two/report_files/{name}.html")
        assert 'id="step-1"' in text and "README.md" in text and 'id="step-2"' not in text
        assert "<script>alert" not in text and "\u202e" not in text
    get(viewer, f"/run/deep/two/report_files/{name}.html", 404)


@pytest.fixture
def server(folder: Path) -> Iterator[ViewServer]:
    made = ViewServer(listen("127.0.0.1", 0), RunViewer(folder))
    thread = threading.Thread(target=made.serve_forever, args=(0.05,))
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def ask(server: ViewServer, method: str = "GET", host: str = "") -> tuple[int, str, bytes]:
    """Status, policy and content of an answer."""
    port = server.socket.getsockname()[1]
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        connection.request(method, "/", headers={"Host": host or f"127.0.0.1:{port}"})
        answer = connection.getresponse()
        return answer.status, answer.getheader("Content-Security-Policy") or "", answer.read()


def test_only_this_machine_is_answered_and_nothing_can_be_changed(server: ViewServer) -> None:
    status, policy, _ = ask(server)
    assert status == 200 and "frame-ancestors 'none'" in policy
    for host in ("evil.example", f"evil.example:{server.socket.getsockname()[1]}", "127.0.0.1"):
        assert ask(server, host=host)[0] == 403
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        assert ask(server, method)[0] == 501
    assert ask(server, "HEAD")[2] == b""


def test_silent_connections_leave_room_for_who_asks(server: ViewServer) -> None:
    """Fewer would be broken off in time; as many as there are places make way for who comes after."""
    with contextlib.ExitStack() as silent:
        for _ in range(3 * viewing._AT_ONCE):
            connected = silent.enter_context(socket.create_connection(server.socket.getsockname()))
            connected.sendall(b"GET / HTTP/1.1\r\nX: ")
        assert ask(server)[0] == 200


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    yield from chromium()


@pytest.mark.long
def test_runs_are_chosen_compared_and_read_in_a_browser(browser: Browser, server: ViewServer, folder: Path) -> None:
    port = server.socket.getsockname()[1]
    opened = Opened(browser, f"http://127.0.0.1:{port}/")
    page = opened.page
    assert page.locator("#compare").is_disabled()
    page.locator("#find").fill("snail")
    assert page.locator(".all-runs li:visible").count() == 1
    page.locator("#find").fill("")
    for box in page.locator(".all-runs input").all():
        box.check()
    assert opened.serious_faults() == []
    page.locator("#compare").click()
    assert "hare" in page.locator("h1").inner_text()
    page.locator(".matrix a.cell").last.click()
    page.get_by_text("All results").click()
    page.get_by_text("All runs").click()
    a_run(folder / "three", "fox", {"t0": "passed"})
    page.locator(".all-runs li", has_text="fox").wait_for(timeout=15_000)
    assert opened.complaints == []
    opened.close()
