"""Let raters rate all at once while the server is killed: is every rating there once, and does every answer come soon?

Run with `python measurements/review_kill.py [--raters 20] [--items 100] [--kills 2] [--database URL] [--think 0.5]`;
PostgreSQL needs a server that runs already and an empty database. A rater opens an item with its diff, saves a draft at
each of four steps, submits, and goes on; `--think` seconds pass on average between two steps, as with people (who need
far more). Leaves with 0 when everything held, the 95th percentile under `--limit` milliseconds among it.
"""

from __future__ import annotations

import argparse
import random
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx

from repoassay.review.adjudication import latest
from repoassay.review.database import event_log, open_database
from repoassay.review.rater_accounts import add_rater
from repoassay.review.rubric import read_rubric
from repoassay.review.studies import create_study
from repoassay.review.study import HiddenPart, Item, ItemPayload, Study
from repoassay.review.submitting import ratings_of
from repoassay.types import RatingPhase

AXES = ("core", "testing", "documentation", "lint", "quality")
STATES = ("problem", "no_problem", "not_applicable", "unsure")


def prepare(database: str, raters: int, items: int) -> list[str]:
    """Make a study of changes of some 200 lines each; returns the raters' tokens."""
    kept = open_database(database)
    rubric = read_rubric("mergeable")
    now = datetime.now(UTC)
    made = [
        Item(
            id=f"s{number:05}",
            payload=ItemPayload(title=f"Change {number}", issue="Do it. " * 50, diff=diff(number)),
            hidden=HiddenPart(task=f"t{number}", system=f"system-{number % 4}", tests=number % 2 == 0),
        )
        for number in range(items)
    ]
    create_study(kept, Study(name="storm", rubric=rubric.digest), rubric, made, at=now)
    tokens = [add_rater(kept, "storm", f"rater {number}", at=now).token for number in range(raters)]
    kept.close()
    return tokens


def diff(number: int) -> str:
    """Four files of fifty lines each."""
    found = []
    for file in range(4):
        lines = [f"+def function_{number}_{line}(value: int) -> str:  # line {line}" for line in range(25)]
        lines += [f" context_{line} = {line} * 'text'" for line in range(25)]
        head = f"diff --git a/m{file}.py b/m{file}.py\n--- a/m{file}.py\n+++ b/m{file}.py\n@@ -1,25 +1,50 @@\n"
        found.append(head + "\n".join(lines) + "\n")
    return "".join(found)


class Server:
    """`repoassay review` in a process that can be killed and started again on the same port."""

    def __init__(self, database: str, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self._log = (folder / "server.log").open("ab")
        program = str(Path(sys.executable).with_name("repoassay"))
        self._line = [program, "review", "--database", database, "--port", str(port), "--no-browser"]
        self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(self._line, stderr=self._log)
        until = time.monotonic() + 60
        while time.monotonic() < until and process.poll() is None:
            try:
                httpx.get(f"{self.url}/review/static/icon.png", timeout=5).raise_for_status()
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
        self.process.terminate()
        return self.process.wait(60)


class Storm:
    """Raters who rate everything, through whatever happens to the server."""

    def __init__(self, url: str, think: float) -> None:
        self.url = url
        self.think = think
        self.sent: dict[tuple[int, str], dict[str, Any]] = {}
        self.answered: dict[tuple[int, str], str] = {}
        self.took: list[tuple[str, float]] = []
        self.broken = 0
        self.down = threading.Event()
        self._lock = threading.Lock()

    def rater(self, number: int, token: str) -> None:
        """Join, and rate until the queue is empty."""
        chance = random.Random(number)
        time.sleep(chance.uniform(0, 2 * self.think))
        with httpx.Client(base_url=f"{self.url}/review", timeout=30) as http:
            self.ask(http, "join", "POST", "/join", data={"token": token})
            page = self.ask(http, "queue", "GET", "/queue")
            found = re.search(r'name="csrf" value="(\w+)"', page.text)
            assert found is not None
            csrf = found[1]
            while True:
                self.pause(chance)
                place = self.ask(http, "next", "POST", "/next", data={"csrf": csrf}).headers["location"]
                if not place.startswith("/review/item/"):
                    return
                self.rate(http, number, place.removeprefix("/review"), csrf, chance)

    def rate(self, http: httpx.Client, number: int, place: str, csrf: str, chance: random.Random) -> None:
        """One item: open it, look at its files, answer in steps that are saved, submit."""
        item = place.rsplit("/", 1)[1]
        page = self.ask(http, "item", "GET", place).text
        key = re.search(r'data-key="([^"]+)"', page)
        version = re.search(r'data-version="(\d+)"', page)
        assert key is not None and version is not None
        for file in range(4):
            self.ask(http, "diff", "GET", f"{place}/diff/{file}?view=unified")
        headers = {"X-CSRF-Token": csrf}
        answers: dict[str, Any] = {"axes": {}, "notes": f"{number} {item}"}
        now = int(version[1])
        for axes in (AXES[:1], AXES[1:3], AXES[3:], ()):
            self.pause(chance)
            answers["axes"] |= {axis: {"state": chance.choice(STATES)} for axis in axes}
            answers |= {"minutes": chance.choice((5, 15, 30)), "would_merge": chance.random() < 0.5}
            body = {"phase": "blind", "version": now, "answers": answers}
            now = self.ask(http, "draft", "POST", f"/api{place}/draft", json=body, headers=headers).json()["version"]
        self.pause(chance)
        with self._lock:
            self.sent[number, item] = answers
        body = {"phase": "blind", "key": key[1], "answers": answers}
        done = self.ask(http, "submit", "POST", f"/api{place}/submit", json=body, headers=headers).json()
        with self._lock:
            self.answered[number, item] = done["rating"]

    def pause(self, chance: random.Random) -> None:
        """Think."""
        time.sleep(chance.uniform(0.2, 1.8) * self.think)

    def ask(self, http: httpx.Client, what: str, method: str, path: str, **given: Any) -> httpx.Response:
        """One request, again and again until it is answered, as the page does."""
        while True:
            began = time.perf_counter()
            try:
                answer = http.request(method, path, **given)
            except httpx.TransportError:
                with self._lock:
                    self.broken += 1
                time.sleep(random.uniform(0.1, 0.4))
                continue
            if answer.status_code in {200, 303}:
                if not self.down.is_set():
                    with self._lock:
                        self.took.append((what, time.perf_counter() - began))
                return answer
            raise SystemExit(f"{method} {path}: {answer.status_code} {answer.text[:500]}")


def main() -> int:
    """Print what was rated and how soon was answered; return 0 when everything held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--raters", type=int, default=20)
    parser.add_argument("--items", type=int, default=100)
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--think", type=float, default=0.5)
    parser.add_argument("--limit", type=float, default=150.0)
    parser.add_argument("--database", default="")
    given = parser.parse_args()
    total = given.raters * given.items
    with tempfile.TemporaryDirectory(prefix="review-kill-") as place:
        database = given.database or str(Path(place, "reviews.sqlite"))
        tokens = prepare(database, given.raters, given.items)
        server = Server(database, Path(place))
        storm = Storm(server.url, given.think)
        threads = [
            threading.Thread(target=storm.rater, args=(number, token), daemon=True)
            for number, token in enumerate(tokens)
        ]
        began = time.perf_counter()
        for thread in threads:
            thread.start()
        for kill in range(1, given.kills + 1):
            while len(storm.answered) < total * kill // (given.kills + 1):
                time.sleep(0.01)
                if not any(thread.is_alive() for thread in threads):
                    raise SystemExit("The raters have ended early.")
            storm.down.set()
            server.kill()
            # Answers that waited for the server to be back are not what it takes to answer.
            threading.Timer(3, storm.down.clear).start()
        for thread in threads:
            thread.join(3600)
        seconds = time.perf_counter() - began
        code = server.stop()
        return report(storm, database, total, seconds, code, given.kills, given.limit)


def report(storm: Storm, database: str, total: int, seconds: float, code: int, kills: int, limit: float) -> int:
    """Hold what was sent against what was kept."""
    kept = open_database(database)
    ratings = ratings_of(kept, "storm", RatingPhase.BLIND)
    submitted = sum(event.kind == "submitted" for event in event_log(kept, "storm", most=10**7))
    kept.close()
    notes = {rating.notes: rating for rating in ratings}
    late = p95([took for _, took in storm.took])
    checks = {
        f"every one of {total} ratings was answered": len(storm.answered) == total,
        "each is kept once": len(ratings) == len(notes) == len(latest(ratings)) == submitted == total,
        "each is kept as it was sent": all(
            {axis: answer.state for axis, answer in notes[f"{number} {item}"].axes.items()}
            == {axis: answer["state"] for axis, answer in sent["axes"].items()}
            and notes[f"{number} {item}"].minutes == sent["minutes"]
            and notes[f"{number} {item}"].id == storm.answered[number, item]
            for (number, item), sent in storm.sent.items()
        ),
        f"95 of 100 answers within {limit:.0f} ms": late < limit,
        "the server ended well": code == 0,
    }
    print(f"{len(ratings)} ratings, {len(storm.took)} requests in {seconds:.1f} s "
          f"({len(storm.took) / seconds:.0f}/s), {kills} kills, {storm.broken} broken requests")  # fmt: skip
    print(f"all: median {1000 * statistics.median(t for _, t in storm.took):.1f} ms, p95 {late:.1f} ms")
    for what in ("next", "item", "diff", "draft", "submit"):
        line = [took for name, took in storm.took if name == what]
        if line:
            print(f"{what}: {len(line)}, median {1000 * statistics.median(line):.1f} ms, p95 {p95(line):.1f} ms, "
                  f"most {1000 * max(line):.1f} ms")  # fmt: skip
    for what, held in checks.items():
        print(f"{'yes' if held else 'NO '}  {what}")
    return 0 if all(checks.values()) else 1


def p95(seconds: list[float]) -> float:
    """The 95th percentile, in milliseconds."""
    return 1000 * sorted(seconds)[int(0.95 * (len(seconds) - 1))]


if __name__ == "__main__":
    sys.exit(main())
