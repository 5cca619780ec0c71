"""Runs made by hand, clients that behave as browsers do, and servers for tests of the review application."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import uvicorn

import repoassay
from repoassay.engine.submitted_files import describe
from repoassay.records import RunFolder
from repoassay.server.listening import listen
from repoassay.server.review.review_state import ReviewState
from repoassay.server.review.serving import settings_for
from repoassay.types import Attempt, Exit, Plan, Submission, TaskKind, Verdict
from repoassay.types.pull_request import Commit, Commits
from repoassay.types.run import PlannedTask
from repoassay.types.submission import Ended
from repoassay.types.trajectory import Source, StepCall, Trajectory, TrajectoryStep
from repoassay.types.verdict import Outcome, TestResult

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
AGENT, MODEL = "zebrawolf", "acme/quagga-9"
SECRETS = ("zebrawolf", "quagga", "mallory", "feature-by-zebra", "test_hidden_thing", "VERDICT-COMMENT", "STEP-TEXT")
"""Words that tell of the maker, the verdict or the steps; none of them may reach a rater before submission."""
TASKS = (
    "pr-bytes-iec-units", "pr-cachetools-resize", "pr-humanize-parse-size", "pr-more-itertools-run-length-key",
    "pr-sqlparse-check", "pr-tabulate-columns",
)  # fmt: skip
_SUITE = Path(repoassay.__file__).parent / "benchmarks/pull_requests/suite"
_DESCRIPTION = """Adds what the issue asks for, with tests.

Generated with ZebraWolf using acme/quagga-9.
Branch: feature-by-zebra
Co-authored-by: Mallory <mallory@example.org>
"""


def make_run(
    path: Path, agents: tuple[str, ...] = (AGENT,), tasks: tuple[str, ...] = TASKS, diffs: dict[str, str] | None = None,
    *, repositories: bool = False,
) -> Path:  # fmt: skip
    """Write a finished run of pull-request tasks: every second one passed, and everything names its maker.

    Args:
        path: Folder of the run.
        agents: Entries of the plan.
        tasks: Of the bundled suite `pull-requests`.
        diffs: Diff by task, instead of the reference's.
        repositories: Whether the plan says of which repository each task is; raters are asked about it then.
    """
    planned = tuple(
        PlannedTask(
            id=task,
            digest="0" * 64,
            folder=str(_SUITE / "tasks" / task),
            title=f"Task {task}",
            kind=TaskKind.PULL_REQUEST,
            domain="Text",
            repository=f"pypi:{task.split('-')[1]}" if repositories else "",
        )
        for task in tasks
    )
    plan = Plan(
        id=f"run-{path.name}", created=NOW, suite="pull-requests", suite_version="1", suite_folder=str(_SUITE),
        tasks=planned, agents={agent: {"agent": agent, "model": MODEL} for agent in agents}, isolation="none",
    )  # fmt: skip
    run = RunFolder.create(path, plan)
    for place, agent in enumerate(agents):
        for number, task in enumerate(tasks):
            diff = (diffs or {}).get(task) or (_SUITE / "tasks" / task / "solution/changes.diff").read_text()
            _attempt(run, f"A{place}{number:03}", agent, task, diff, passed=number % 2 == 0)
    return path


def _attempt(run: RunFolder, name: str, agent: str, task: str, diff: str, *, passed: bool) -> None:
    folder = run.attempt_folder(name)
    files = folder / "submission"
    files.mkdir(parents=True)
    (files / "submission.diff").write_text(diff)
    (files / "description.md").write_text(_DESCRIPTION)
    commit = Commit(id="1" * 40, author=f"{agent} <mallory@example.org>", subject=f"By {agent}")
    (files / "commits.json").write_text(Commits(branch="feature-by-zebra", commits=(commit,)).model_dump_json())
    step = TrajectoryStep(
        index=1, source=Source.AGENT, text="STEP-TEXT", calls=(StepCall(name="bash", arguments={"c": "ls"}),)
    )
    (folder / "trajectory.json").write_text(Trajectory(agent=agent, model=MODEL, steps=(step,)).model_dump_json())
    signal = {"id": "tests.none", "axis": "testing", "state": "finding", "title": "SIGNAL-TITLE of a test",
              "evidence": [{"path": "x.py", "line": 3, "text": "untested"}]}  # fmt: skip
    import json

    (folder / "signals.json").write_text(json.dumps([signal]))
    attempt = Attempt(
        id=name, run=run.plan.id, task=task, task_digest="0" * 64, agent=agent, started=NOW,
        ended=NOW + timedelta(seconds=9), settings=run.plan.agents[agent].settings,
        submission=Submission(files=describe(files), exit=Exit(ended=Ended.EXITED, code=0)),
    )  # fmt: skip
    outcome = Outcome.PASSED if passed else Outcome.FAILED
    test = TestResult(id="tests/test_it.py::test_hidden_thing", outcome="passed" if passed else "failed")
    verdict = Verdict(
        task=task, task_digest="0" * 64, outcome=outcome, process=True, result=passed, tests=(test,),
        comments=("VERDICT-COMMENT",), grader="test", graded_at=NOW,
    )  # fmt: skip
    run.record(attempt, verdict)


_OPEN: list[httpx.Client] = []


def close_clients() -> None:
    """Close what persons left open."""
    while _OPEN:
        _OPEN.pop().close()


class Person:
    """Somebody with a browser: keeps cookies, follows redirects, sends the token that pages carry."""

    def __init__(self, url: str, link: str = "") -> None:
        self.http = httpx.Client(base_url=url, follow_redirects=True, timeout=60)
        _OPEN.append(self.http)
        self.csrf = ""
        if link:
            self.join(link)

    def join(self, link: str) -> httpx.Response:
        """Follow an invitation."""
        answer = self.http.post("/review/join", data={"token": link.rsplit("/", 1)[1]})
        self._remember(answer)
        return answer

    def _remember(self, answer: httpx.Response) -> None:
        found = re.search(r'name="csrf" value="(\w+)"', answer.text)
        self.csrf = found[1] if found else self.csrf

    def get(self, path: str, **more: Any) -> httpx.Response:
        """Open a page."""
        answer = self.http.get(f"/review{path}", **more)
        self._remember(answer)
        return answer

    def form(self, path: str, **fields: Any) -> httpx.Response:
        """Send a form."""
        return self.http.post(f"/review{path}", data={"csrf": self.csrf, **fields})

    def call(self, path: str, **body: Any) -> httpx.Response:
        """Send JSON to the API."""
        return self.http.post(f"/review/api{path}", json=body, headers={"X-CSRF-Token": self.csrf})

    def next(self) -> str:
        """Open the next item and return its name; empty when there is none."""
        address = self.form("/next").url.path
        return address.rsplit("/", 1)[1] if "/item/" in address else ""

    def study(self, name: str = "st", **fields: Any) -> httpx.Response:
        """Create a study of every run."""
        given = {"run": "0", "name": name, "title": "", "rubric": "mergeable", "mode": "all", "overlap": "2",
                 "seed": "1", "each": "1", "controls": "0", "reference": "revealed", "reveal": "never", "lease": "30",
                 "flagged": "", **fields}  # fmt: skip
        self.get("/studies/new")
        return self.form("/studies/new", **{key: value for key, value in given.items() if value is not None})

    def invite(self, name: str, role: str = "rater", study: str = "st") -> str:
        """Invite somebody and return the path of the link."""
        found = re.search(r'data-path="([^"]+)"', self.form(f"/studies/{study}/invite", name=name, role=role).text)
        assert found is not None
        return found[1]


def answers(states: str = "ccccc", **more: Any) -> dict[str, Any]:
    """Return answers as the page sends them: p problem, c clear, n not applicable, u unsure."""
    names = {"p": "problem", "c": "no_problem", "n": "not_applicable", "u": "unsure"}
    axes = ("core", "testing", "documentation", "lint", "quality")
    given = {axis: {"state": names[letter]} for axis, letter in zip(axes, states, strict=True)}
    return {"axes": given, "minutes": 5, "would_merge": "p" not in states, "active_seconds": 30.0, **more}


@contextlib.contextmanager
def answering(desk: ReviewState) -> Iterator[str]:
    """Serve a desk from a thread; gives the address."""
    bound = listen("127.0.0.1", 0)
    settings = settings_for(desk)
    settings.log_level = "critical"
    server = uvicorn.Server(settings)
    thread = threading.Thread(target=server.run, args=([bound],))
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"
    finally:
        close_clients()
        server.should_exit = True
        thread.join()


class Process:
    """`repoassay review` in a process, to kill and start again on the same port."""

    def __init__(self, database: str, *runs: Path, port: int = 0) -> None:
        self._line = [str(Path(sys.executable).with_name("repoassay")), "review", *map(str, runs), "--database",
                      database, "--no-browser", "--port"]  # fmt: skip
        self.port = port
        self.start()

    def start(self) -> None:
        """Start, and wait until it answers."""
        self.process = subprocess.Popen([*self._line, str(self.port)], stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        said = ""
        for line in self.process.stderr:
            said += line
            if found := re.search(r"alone: (http://[^/]+)(/\S+)", line):
                self.url, self.link = found[1], found[2]
                self.port = int(self.url.rsplit(":", 1)[1])
                return
        raise AssertionError(said)

    def kill(self) -> None:
        """SIGKILL."""
        self.process.kill()
        self.process.wait()
        if self.process.stderr is not None:
            self.process.stderr.close()

    def stop(self) -> int:
        """Ask it to stop; returns the exit code."""
        self.process.terminate()
        code = self.process.wait(30)
        if self.process.stderr is not None:
            self.process.stderr.close()
        return code
