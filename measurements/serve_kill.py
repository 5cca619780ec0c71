"""Hand in patches from many clients while the server is killed: one final verdict each, the same as offline?

Run with `python measurements/serve_kill.py [--submissions 2000] [--clients 50] [--kills 2] [--database URL]`.
PostgreSQL needs a server that runs already and an empty database. Leaves with 0 when everything held.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import httpx

from repoassay.engine.answer import failure_feedback, word
from repoassay.engine.grading_context import GradingContext
from repoassay.engine.submit import SubmissionEngine
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.server.queue import open_queue_database
from repoassay.tasks.suite import find_suite
from repoassay.types import TaskKind, Verdict

NO_OP = "--- /dev/null\n+++ b/unasked_for.py\n@@ -0,0 +1 @@\n+# nothing\n"
MISFIT = "--- a/no/such/file.py\n+++ b/no/such/file.py\n@@ -1 +1 @@\n-a\n+b\n"


class Server:
    """A server process that can be killed and started again on the same port and queue."""

    def __init__(self, database: str, folder: Path, workers: int, lease: float) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._log = (folder / "server.log").open("ab")
        program = str(Path(sys.executable).with_name("repoassay"))
        self._line = [
            program, "serve", "--suite", "starter", "--database", database, "--port", str(self.port), "--no-cache",
            "--workers", str(workers), "--lease", str(lease),
        ]  # fmt: skip
        self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(self._line, stderr=self._log)
        until = time.monotonic() + 60
        while time.monotonic() < until and process.poll() is None:
            try:
                httpx.get(f"{self.url}/healthz", timeout=5).raise_for_status()
            except httpx.HTTPError:
                time.sleep(0.05)
            else:
                return process
        raise SystemExit(f"The server did not start; see {self._log.name}.")

    def kill(self) -> None:
        """SIGKILL, and start again."""
        self.process.kill()
        self.process.wait()
        self.process = self._start()

    def stop(self) -> int:
        """SIGTERM; returns the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


class Storm:
    """Clients that hand in patches, then ask for the verdicts, through whatever happens to the server."""

    def __init__(self, url: str, work: list[tuple[str, str, str]]) -> None:
        self.url = url
        self.work = work
        self.accepted: dict[str, str] = {}
        self.answers: dict[str, dict[str, Any]] = {}
        self.streamed: list[str] = []
        self.again: dict[int, float] = {}
        self.broken = 0
        self._next = iter(range(len(work)))
        self._lock = threading.Lock()

    def client(self) -> None:
        """Hand in one submission after another, sometimes a few at a time, then wait for the verdict of each."""
        mine = []
        with httpx.Client(base_url=self.url, timeout=30) as http:
            while numbers := self._take(random.choice((1, 1, 1, 2, 5))):
                given = [{"id": self.work[n][0], "patch": self.work[n][2], "key": f"{n}"} for n in numbers]
                whole = given if len(given) > 1 else given[0]
                answer = self.ask(http, "POST", "/v1/submissions", 202, numbers, json=whole)
                with self._lock:
                    for number, accepted in zip(numbers, answer["submissions"], strict=True):
                        task, kind, _ = self.work[number]
                        self.accepted[accepted["submission"]] = f"{task} {kind}"
                mine += [(each["submission"], each["url"]) for each in answer["submissions"]]
            for ulid, url in mine:
                found: dict[str, Any] = {}
                while found.get("status") != "done":
                    found = self.ask(http, "GET", url, 200, params={"wait": 5})
                with self._lock:
                    self.answers[ulid] = found

    def _take(self, count: int) -> list[int]:
        with self._lock:
            return list(itertools.islice(self._next, count))

    def ask(
        self, http: httpx.Client, method: str, path: str, wanted: int, numbers: Sequence[int] = (), **given: Any
    ) -> dict[str, Any]:
        """One request, again and again until it is answered."""
        while True:
            try:
                answer = http.request(method, path, **given)
            except httpx.TransportError:
                with self._lock:
                    self.broken += 1
                    for number in numbers:
                        self.again.setdefault(number, time.time())
                time.sleep(random.uniform(0.05, 0.5))
                continue
            if answer.status_code == wanted:
                found: dict[str, Any] = answer.json()
                return found
            if answer.status_code not in {429, 503}:
                raise SystemExit(f"{method} {path}: {answer.status_code} {answer.text}")
            time.sleep(float(answer.headers["Retry-After"]) / 10)

    def reader(self) -> None:
        """Follow the stream of results, resumed from the last cursor whenever it breaks."""
        cursor = 0
        while len(self.streamed) < len(self.work):
            try:
                with httpx.stream(
                    "GET", f"{self.url}/v1/results", params={"after": cursor, "wait": 2}, timeout=30
                ) as answer:
                    for line in answer.iter_lines():
                        if line:
                            result = json.loads(line)
                            cursor = result["cursor"]
                            self.streamed.append(result["submission"])
            except (httpx.TransportError, json.JSONDecodeError):
                time.sleep(0.2)


def judged(verdict: Verdict | dict[str, Any]) -> tuple[object, ...]:
    """What must be equal in two verdicts on one patch."""
    if isinstance(verdict, dict):
        verdict = Verdict.model_validate_json(json.dumps(verdict))
    tests = tuple((test.id, test.outcome) for test in verdict.tests)
    return (verdict.outcome, verdict.process, verdict.result, verdict.task_digest, tests)


def patches(only: str) -> tuple[list[tuple[str, str, str]], dict[str, Verdict]]:
    """Four patches a task: the solution, none, one in vain, one that fails; and the verdict of each offline."""
    suite = find_suite("starter", only=(only,))
    cache = Cache()
    tasks = {folder.task.id: folder for folder in suite.tasks if folder.task.kind is TaskKind.EDIT}
    found = []
    offline = {}
    with SubmissionEngine(
        tasks, GradingContext(suite.repositories, cache, open_sandbox("namespaces", cache))
    ) as engine:
        for name, folder in tasks.items():
            solution = (folder.solution / "changes.diff").read_text()
            for kind, patch in (("solution", solution), ("empty", ""), ("no-op", NO_OP), ("misfit", MISFIT)):
                found.append((name, kind, patch))
                offline[f"{name} {kind}"] = engine.grade(name, patch).verdict
    return found, offline


def main() -> int:
    """Print what was handed in and what came of it; return 0 when everything held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--submissions", type=int, default=2000)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--lease", type=float, default=5)
    parser.add_argument("--tasks", default="edit-*")
    parser.add_argument("--database", default="")
    given = parser.parse_args()
    distinct, offline = patches(given.tasks)
    work = [distinct[number % len(distinct)] for number in range(given.submissions)]
    random.Random(0).shuffle(work)
    with tempfile.TemporaryDirectory(prefix="serve-kill-") as place:
        database = given.database or str(Path(place, "queue.sqlite"))
        server = Server(database, Path(place), given.workers, given.lease)
        storm = Storm(server.url, work)
        threads = [threading.Thread(target=storm.client, daemon=True) for _ in range(given.clients)]
        threads.append(threading.Thread(target=storm.reader, daemon=True))
        began = time.perf_counter()
        for thread in threads:
            thread.start()
        for kill in range(given.kills):  # the first while they are handed in, the others while they are judged
            seen: Collection[object] = storm.accepted if kill == 0 else storm.streamed
            while len(seen) < len(work) * max(kill, 1) // max(given.kills, 2):
                time.sleep(0.005)
                if not any(thread.is_alive() for thread in threads):
                    raise SystemExit("The clients have ended early.")
            server.kill()
        for thread in threads:
            thread.join(600)
        seconds = time.perf_counter() - began
        code = server.stop()
        return _report(storm, offline, database, seconds, code, given.kills)


def _report(storm: Storm, offline: dict[str, Verdict], database: str, seconds: float, code: int, kills: int) -> int:
    kept = open_queue_database(database, Path(), "")
    with kept.reading() as connection:
        run = connection.exec_driver_sql
        rows = run("SELECT ulid, verdict FROM repoassay_verdicts").all()
        ((again,),) = run("SELECT count(*) FROM repoassay_submissions WHERE claims > 1")
        keys = run("SELECT client_key, created FROM repoassay_submissions")
        rows_by_key: dict[str, float] = {row[0]: row[1] for row in keys}
        ((total, open_ones),) = run("SELECT count(*), count(*) - sum(CASE status WHEN 'done' THEN 1 ELSE 0 END)"
                                    " FROM repoassay_submissions")  # fmt: skip
    kept.close()
    ulids = [row[0] for row in rows]
    checks = {
        "every submission was accepted once": len(storm.accepted) == total == len(storm.work),
        "every accepted submission has exactly one verdict": sorted(ulids) == sorted(storm.accepted) and not open_ones,
        "every answer is the verdict that was kept": all(
            judged(storm.answers[ulid]["verdict"]) == judged(json.loads(verdict)) for ulid, verdict in rows
        ),
        "the resumed stream told each once": sorted(storm.streamed) == sorted(ulids),
        "every verdict is the offline verdict": all(
            judged(answer["verdict"]) == judged(offline[storm.accepted[ulid]])
            and answer["message"] == word(offline[storm.accepted[ulid]])
            and answer["feedback"] == failure_feedback(offline[storm.accepted[ulid]])
            for ulid, answer in storm.answers.items()
        ),
        "the server ended well": code == 0,
    }
    words = Counter(answer["message"] for answer in storm.answers.values())
    rate = total / seconds
    print(f"{total} submissions in {seconds:.1f} s ({rate:.1f}/s), {kills} kills, {storm.broken} broken requests")
    unheard = sum(rows_by_key[f"{number}"] < moment for number, moment in storm.again.items())
    print(f"{len(storm.again)} handed in again, of which {unheard} had been accepted though the answer was lost")
    print(f"verdicts: {', '.join(f'{count} {name}' for name, count in words.most_common())}; judged again: {again}")
    for what, held in checks.items():
        print(f"{'yes' if held else 'NO '}  {what}")
    return 0 if all(checks.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
