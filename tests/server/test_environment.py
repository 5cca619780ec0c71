"""The environment over HTTP: an episode, its reward, what is refused, and how much is kept."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from repoassay.attacks import aim, catalogue
from repoassay.engine.grading_context import GradingContext
from repoassay.engine.submit import SubmissionEngine
from repoassay.server.access import Tokens
from repoassay.server.episodes import Episodes
from repoassay.server.problems import ApiError
from repoassay.server.queue import Queue, open_queue_database
from repoassay.server.service import Guards, Service
from repoassay.tasks import TaskFolder
from server.serving import connected
from ten_lines import STARTER

if TYPE_CHECKING:
    import httpx

TASK = "edit-ledger-monthly"
JSON = {"Content-Type": "application/json"}


@contextmanager
def serving(engine: SubmissionEngine, place: Path, guards: Guards | None = None) -> Iterator[httpx.Client]:
    """The application with its workers at work."""
    queue = Queue(open_queue_database(str(place / "q.sqlite"), place, "queue"))
    service = Service(queue, engine, guards or Guards())
    service.workers.start()
    try:
        with connected(service) as client:
            yield client
    finally:
        service.workers.stop(5, lambda: False)
        queue.database.close()


@pytest.fixture
def client(tasks: dict[str, TaskFolder], bench: GradingContext, tmp_path: Path) -> Iterator[httpx.Client]:
    with serving(SubmissionEngine(tasks, bench), tmp_path) as found:
        yield found


def stepped(client: httpx.Client, patch: str, **reset: object) -> dict[str, object]:
    began = client.post("/openenv/reset", json={"task": TASK, **reset}).json()
    name = began["observation"]["episode_id"]
    answer = client.post("/openenv/step", json={"action": {"patch": patch}, "episode_id": name})
    assert answer.status_code == 200, answer.text
    found: dict[str, object] = answer.json()
    return found


def test_an_episode_from_reset_to_reward(client: httpx.Client, tasks: dict[str, TaskFolder]) -> None:
    solution = (tasks[TASK].solution / "changes.diff").read_text()
    began = client.post("/openenv/reset", json={"task": TASK, "episode_id": "mine"}).json()
    assert set(began) == {"observation", "reward", "done"} and began["reward"] is None and not began["done"]
    observation = began["observation"]
    assert observation["instruction"] == tasks[TASK].instruction
    assert "===== src/pocketledger/reports.py" in observation["repository"]
    assert "test_monthly" not in began["observation"]["repository"]
    before = client.get("/openenv/state", params={"episode_id": "mine"}).json()
    assert before == {"episode_id": "mine", "step_count": 0, "task": TASK, "done": False}
    sent = {"action": {"patch": f"Done.\n```diff\n{solution}```"}, "episode_id": "mine", "timeout_s": 5}
    first = client.post("/openenv/step", json=sent).json()
    assert (first["reward"], first["done"], first["observation"]["message"]) == (1.0, True, "PASS")
    assert client.post("/openenv/step", json=sent).json() == first
    assert client.get("/healthz").json()["queued"] == 0
    assert client.get("/openenv/state", params={"episode_id": "mine"}).json()["done"]
    other = client.post("/openenv/step", json=sent | {"action": {"patch": "another"}})
    assert (other.status_code, other.json()["error"]) == (409, "episode_done")


def test_forgeries_and_prose_earn_nothing(client: httpx.Client, tasks: dict[str, TaskFolder]) -> None:
    target = aim(tasks[TASK], STARTER / "repositories/pocketledger")
    (forgery,) = (each for each in catalogue() if each.name == "os._exit" and each.fits(target))
    assert stepped(client, forgery.make(target).decode())["reward"] == 0.0
    prose = stepped(client, "I did it.")
    assert prose["reward"] == 0.0 and "no diff" in str(prose["observation"])


def test_a_pass_that_much_was_told_of_earns_nothing(
    tasks: dict[str, TaskFolder], bench: GradingContext, tmp_path: Path
) -> None:
    solution = (tasks[TASK].solution / "changes.diff").read_text()
    engine = SubmissionEngine(tasks, bench)
    engine.ledger.remember({tasks[TASK].digest: 2**110})
    with serving(engine, tmp_path) as client:
        found = stepped(client, solution)
    assert found["reward"] == 0.0 and "PASS" in str(found["observation"])


def test_the_same_seed_draws_the_same_task(client: httpx.Client, tasks: dict[str, TaskFolder]) -> None:
    drawn = [
        client.post("/openenv/reset", json={"seed": seed}).json()["observation"]["task"] for seed in (3, 3, 4, 5, 6)
    ]
    assert drawn[0] == drawn[1] and set(drawn) <= set(tasks)
    assert client.post("/openenv/reset", content=b"", headers=JSON).status_code == 200


@pytest.mark.by_day(3)
@pytest.mark.parametrize(
    ("path", "body", "status", "said"),
    [
        ("reset", b"{", 400, "not JSON"),
        ("reset", b"[1]", 422, ""),
        ("reset", b'{"task": "edit-ledger-monthyl"}', 422, "Did you mean"),
        ("reset", b'{"seed": -1}', 422, "seed"),
        ("reset", b'{"episode_id": "a b"}', 422, "episode_id"),
        ("reset", b" " * 2001, 413, "larger"),
        ("step", b"{}", 422, "action"),
        ("step", b'{"action": {"patch": 1}, "episode_id": "x"}', 422, "patch"),
        ("step", b'{"action": {"patch": ""}, "episode_id": "x"}', 404, "Reset first"),
    ],
)
def test_what_cannot_be_used_is_a_sentence(
    path: str, body: bytes, status: int, said: str, engine: SubmissionEngine, tmp_path: Path
) -> None:
    queue = Queue(open_queue_database(str(tmp_path / "q.sqlite"), tmp_path, "queue"))
    with connected(Service(queue, engine, Guards(body=2000, patch=1000))) as client:
        answer = client.post(f"/openenv/{path}", content=body, headers=JSON)
        assert answer.status_code == status and said in answer.json()["message"], answer.text
        assert client.post(f"/openenv/{path}", content=b"{}", headers={"Content-Type": "text/plain"}).status_code == 415
        assert client.get("/openenv/state").status_code == 422
    queue.database.close()


def test_episodes_are_of_their_token(engine: SubmissionEngine, tmp_path: Path) -> None:
    digests = tuple(hashlib.sha256(token).digest() for token in (b"token-of-ada-long", b"token-of-bob-long"))
    ada, bob = ({"Authorization": f"Bearer token-of-{name}-long"} for name in ("ada", "bob"))
    queue = Queue(open_queue_database(str(tmp_path / "q.sqlite"), tmp_path, "queue"))
    with connected(Service(queue, engine, Guards(Tokens(digests)))) as client:
        assert client.post("/openenv/reset", json={}).status_code == 401
        assert client.post("/openenv/reset", json={"task": TASK, "episode_id": "e"}, headers=ada).status_code == 200
        assert client.get("/openenv/state?episode_id=e", headers=ada).status_code == 200
        assert client.get("/openenv/state?episode_id=e", headers=bob).status_code == 404
    queue.database.close()


def test_resets_of_one_token_do_not_hold_up_another(
    engine: SubmissionEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = {name: f"the-token-of-somebody-called-{name}" for name in ("one", "two")}
    guards = Guards(Tokens(tuple(hashlib.sha256(each.encode()).digest() for each in tokens.values())))
    checkout, begun, over = engine.checkout, threading.Event(), threading.Event()

    def slow(task: str) -> Path:
        if not begun.is_set():
            begun.set()
            assert over.wait(60)
        return checkout(task)

    with serving(engine, tmp_path, guards) as client:
        headers = {name: {"Authorization": f"Bearer {token}"} for name, token in tokens.items()}

        def reset(holder: str) -> int:
            return client.post("/openenv/reset", json={"task": TASK}, headers=headers[holder]).status_code

        monkeypatch.setattr(SubmissionEngine, "checkout", lambda _, task: slow(task))
        with ThreadPoolExecutor(3) as pool:
            first = [pool.submit(reset, "one") for _ in range(3)]
            try:
                assert begun.wait(60)
                assert reset("two") == 200
                assert not any(each.done() for each in first)
            finally:
                over.set()
            assert [each.result() for each in first] == [200] * 3


def test_a_long_answer_that_is_searched_for_its_patch_holds_nobody_up(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, over = threading.Event(), threading.Event()

    def search(text: str) -> tuple[str, str]:
        begun.set()
        assert over.wait(60)
        return "", "It holds none."

    monkeypatch.setattr("repoassay.server.environment.extract_patch", search)
    with ThreadPoolExecutor(1) as pool:
        step = pool.submit(stepped, client, "x")
        try:
            assert begun.wait(60)
            assert client.get("/healthz", timeout=30).status_code == 200
        finally:
            over.set()
        assert step.result()["reward"] == 0


def test_episodes_are_bounded_in_number_and_age() -> None:
    episodes = Episodes(most=3, age=1000.0)
    for number in range(5):
        episodes.begin("ada", str(number), TASK)
    episodes.begin("bob", "0", TASK)
    assert [name for name in "01234" if _found(episodes, "ada", name)] == ["2", "3", "4"]
    assert _found(episodes, "bob", "0")
    hasty = Episodes(age=-1.0)
    hasty.begin("ada", "0", TASK)
    assert not _found(hasty, "ada", "0")


def _found(episodes: Episodes, holder: str, name: str) -> bool:
    try:
        episodes.find(holder, name)
    except ApiError:
        return False
    return True
