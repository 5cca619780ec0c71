"""The command, from the shell: what it says, what it refuses, and both databases through being killed."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest

from repoassay.review.database import event_log, open_database
from repoassay.review.submitting import ratings_of
from server.review.samples import Person, Process, answers, close_clients, make_run

PROGRAM = str(Path(sys.executable).with_name("repoassay"))


def said(*line: str | Path) -> tuple[int, str]:
    done = subprocess.run([PROGRAM, "review", *map(str, line)], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stderr


@pytest.mark.exhaustive  # each starts the command, which imports a web framework
@pytest.mark.parametrize(
    ("line", "word"),
    [
        (("nothing",), "not a run folder"), (("--rubric", "nothing.toml"), "no rubric"),
        (("--host", "0.0.0.0"), "--allow-host"), (("--database", "mysql://x/y"), "cannot be"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_said_in_a_sentence(tmp_path: Path, line: tuple[str, ...], word: str) -> None:
    given = line if "--database" in line else (*line, "--database", str(tmp_path / "r.sqlite"))
    code, text = said(*given, "--no-browser")
    assert code == 2 and word in text and "Traceback" not in text


@pytest.mark.exhaustive
def test_a_lead_comes_in_by_the_link_and_it_ends_with_the_server(tmp_path: Path) -> None:
    server = Process(str(tmp_path / "r.sqlite"), make_run(tmp_path / "run", tasks=("pr-sqlparse-check",)))
    try:
        owner = Person(server.url, server.link)
        assert owner.study().url.path.endswith("/studies/st")
        assert httpx.get(f"{server.url}/", follow_redirects=False).headers["location"] == "/review/"
        assert httpx.get(f"{server.url}/review/queue", headers={"Host": "evil.example"}).status_code == 421
        old = server.link
        assert server.stop() == 0
        server.start()
        assert httpx.get(server.url + old).status_code == 404
        assert owner.get("/studies/st").status_code == 200  # a session outlives the server
    finally:
        close_clients()
        server.kill()


@pytest.mark.long
def test_serve_has_the_review_beside_it(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", tasks=("pr-sqlparse-check",))
    line = [PROGRAM, "serve", "--suite", "starter", "--port", "0", "--review", "--review-run", str(run),
            "--review-database", str(tmp_path / "r.sqlite"), "--database", str(tmp_path / "q.sqlite")]  # fmt: skip
    process = subprocess.Popen(line, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        link = next(text for text in process.stderr if "alone: " in text).split("alone: ")[1].strip()
        next(text for text in process.stderr if "Serving" in text)
        url, _, path = link.partition("/review")
        owner = Person(url, f"/review{path}")
        assert owner.study().status_code == 200
        assert httpx.get(f"{url}/healthz").status_code == 200
        assert "script-src" in owner.get("/studies/st").headers["content-security-policy"]
    finally:
        close_clients()
        process.kill()
        process.wait()
        process.stderr.close()


@pytest.mark.exhaustive
@pytest.mark.parametrize("place", ["sqlite", "postgres"])
def test_nothing_is_lost_or_doubled_when_the_server_dies(
    place: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The small brother of `measurements/review_kill.py`."""
    if place == "postgres" and shutil.which("pg_ctl") is None and not list(Path("/usr/lib/postgresql").glob("*/bin")):
        pytest.skip("PostgreSQL is not installed")
    database = str(tmp_path / "r.sqlite") if place == "sqlite" else request.getfixturevalue("postgres")
    server = Process(database, make_run(tmp_path / "run"))
    sent: dict[tuple[str, str], str] = {}
    try:
        owner = Person(server.url, server.link)
        owner.study()
        people = {name: Person(server.url, owner.invite(name)) for name in ("Ann", "Bob", "Cara", "Dan", "Eve")}
        threads = [threading.Thread(target=_work, args=(name, each, sent)) for name, each in people.items()]
        for thread in threads:
            thread.start()
        for kill in (8, 18):
            while len(sent) < kill and any(thread.is_alive() for thread in threads):
                time.sleep(0.01)
            server.kill()
            server.start()
        for thread in threads:
            thread.join()
        assert server.stop() == 0
    finally:
        close_clients()
        server.kill()
    kept = open_database(database)
    ratings = ratings_of(kept, "st")
    events = [event for event in event_log(kept, "st") if event.kind == "submitted"]
    kept.close()
    assert len(ratings) == len(events) == 30
    assert {rating.notes for rating in ratings} == {f"{name} {item}" for name, item in sent}
    assert {rating.id for rating in ratings} == set(sent.values())


def _work(name: str, person: Person, sent: dict[tuple[str, str], str]) -> None:
    def again(call: object, *given: object, **more: object) -> httpx.Response:
        while True:
            try:
                answer: httpx.Response = call(*given, **more)  # type: ignore[operator]  # one of Person's methods
            except httpx.TransportError:
                time.sleep(0.1)
            else:
                assert answer.status_code == 200, answer.text
                return answer

    again(person.get, "/queue")
    while True:
        place = again(person.form, "/next").url.path
        if "/item/" not in place:
            return
        item = place.rsplit("/", 1)[1]
        given = answers(notes=f"{name} {item}")
        version = again(person.get, f"/api/item/{item}/draft").json()["version"]
        again(person.call, f"/item/{item}/draft", version=version, answers=given)
        done = again(person.call, f"/item/{item}/submit", key=f"{name}-{item}", answers=given)
        sent[name, item] = done.json()["rating"]
