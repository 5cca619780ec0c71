"""The application without a network: what is accepted, what is refused, and never a fault of ours."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import repoassay
from repoassay.engine.submit import SubmissionEngine
from repoassay.server.access import RateLimit, Tokens
from repoassay.server.queue import Queue
from repoassay.server.service import Guards, Service
from server.serving import connected

pytestmark = pytest.mark.exhaustive

if TYPE_CHECKING:
    import httpx

TASK = "edit-ledger-monthly"
TOKEN = "a-token-of-some-length"
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def client(service: Service) -> Iterator[httpx.Client]:
    with connected(service) as found:
        yield found


def guarded(service: Service, guards: Guards) -> AbstractContextManager[httpx.Client]:
    return connected(Service(service.queue, service.engine, guards))


def one(client: httpx.Client, **given: Any) -> dict[str, Any]:
    answer = client.post("/v1/submissions", json={"id": TASK, "patch": ""} | given)
    assert answer.status_code == 202, answer.text
    (found,) = answer.json()["submissions"]
    assert isinstance(found, dict)
    return found


def test_one_many_and_published_names_are_accepted(client: httpx.Client) -> None:
    accepted = one(client)
    assert accepted["status"] == "queued" and len(accepted["submission"]) == 26
    published = {"instance_id": TASK, "model_patch": None, "model_name_or_path": "a model"}
    answer = client.post("/v1/submissions", json=[published, {"id": TASK, "patch": "ü\0"}])
    assert answer.status_code == 202
    first, second = answer.json()["submissions"]
    assert client.get(first["url"]).json()["model"] == "a model"
    assert client.get(second["url"]).json()["status"] == "queued"
    listed = client.get("/v1/submissions").json()["submissions"]
    assert [each["submission"] for each in listed] == [each["submission"] for each in (accepted, first, second)]


def test_the_same_key_is_the_same_submission(client: httpx.Client) -> None:
    first = one(client, key="k")
    assert one(client, key="k") == first
    answer = client.post("/v1/submissions", json={"id": TASK, "patch": "other", "key": "k"})
    assert (answer.status_code, answer.json()["error"]) == (409, "key_taken")
    assert first["submission"] in answer.json()["message"]
    assert client.get("/healthz").json()["queued"] == 1


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (b"", 400, "not JSON"),
        (b"{", 400, "not JSON"),
        (b"\xff\xfe", 400, "not JSON"),
        (b'{"id": "\\ud800", "patch": ""}', 400, "not JSON"),
        (b"[" * 100_000, 400, "not JSON"),
        (b"9" * 100_000, 400, "not JSON"),
        (b"null", 422, ""),
        (b"[]", 422, "at least 1"),
        (b"[" + b",".join([b"0"] * 1001) + b"]", 422, "at most 1000"),
        (b'{"id": 1, "patch": ""}', 422, "id"),
        (b'{"id": "", "patch": ""}', 422, "id"),
        (b'{"id": "a\\u0000", "patch": ""}', 422, "id"),
        (b'{"id": "edit-ledger-monthly"}', 422, "patch"),
        (b'{"id": "edit-ledger-monthly", "patch": "", "pathc": ""}', 422, "pathc"),
        (b'{"id": "edit-ledger-monthly", "patch": "", "key": "a b"}', 422, "key"),
        (b'{"id": "edit-ledger-monthly", "patch": "", "model": "\\u0000"}', 422, "model"),
        (b'{"id": "edit-ledger-monthly", "instance_id": "other", "patch": ""}', 422, "differ"),
        (b'[{"id": "edit-ledger-monthly", "patch": ""}, {"id": "edit-ledger-monthyl", "patch": ""}]', 422,
         "[1].id: There is no task 'edit-ledger-monthyl'. Did you mean edit-ledger-monthly?"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_a_sentence_and_nothing_is_accepted(
    body: bytes, status: int, said: str, client: httpx.Client
) -> None:
    answer = client.post("/v1/submissions", content=body, headers=JSON)
    assert answer.status_code == status, answer.text
    assert said in answer.json()["message"] and set(answer.json()) == {"error", "message"}
    assert len(answer.content) < 4000  # never the echo of what was sent
    assert client.get("/healthz").json()["queued"] == 0


def test_only_json_is_read(client: httpx.Client) -> None:
    body = json.dumps({"id": TASK, "patch": ""})
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/json5", ""):
        assert client.post("/v1/submissions", content=body, headers={"Content-Type": kind}).status_code == 415
    headers = {"Content-Type": "Application/JSON; charset=utf-8"}
    assert client.post("/v1/submissions", content=body, headers=headers).status_code == 202


def test_sizes_are_limited(service: Service) -> None:
    with guarded(service, Guards(body=2000, patch=1000)) as client:
        one(client, patch="x" * 1000)
        for patch in ("x" * 1001, "ü" * 501):
            answer = client.post("/v1/submissions", json={"id": TASK, "patch": patch})
            assert (answer.status_code, answer.json()["error"]) == (413, "too_large")
        assert client.post("/v1/submissions", content=b" " * 2001, headers=JSON).status_code == 413
        chunked = (b" " * 500 for _ in range(5))
        assert client.post("/v1/submissions", content=chunked, headers=JSON).status_code == 413


def test_patches_that_are_too_much_together_wait_outside(service: Service) -> None:
    with guarded(service, Guards(patch=600, size=1000)) as client:
        one(client, patch="x" * 600)
        answer = client.post("/v1/submissions", json={"id": TASK, "patch": "y" * 600})
        assert (answer.status_code, answer.json()["error"]) == (503, "queue_full")
        assert "1,000 bytes" in answer.json()["message"]
        one(client, patch="y" * 300)


def test_a_full_queue_says_when_to_come_back(service: Service) -> None:
    with guarded(service, Guards(queue=2)) as client:
        kept = one(client, key="k")
        answer = client.post("/v1/submissions", json=[{"id": TASK, "patch": ""}] * 2)
        assert (answer.status_code, answer.json()["error"]) == (503, "queue_full")
        assert int(answer.headers["Retry-After"]) >= 1
        one(client)
        assert client.post("/v1/submissions", json={"id": TASK, "patch": ""}).status_code == 503
        assert one(client, key="k") == kept
        assert client.post("/v1/submissions", json=[{"id": TASK, "patch": ""}] * 3).status_code == 413


def test_tokens_let_in_and_keep_apart(service: Service) -> None:
    tokens = Tokens(tuple(hashlib.sha256(each.encode()).digest() for each in (TOKEN, "another-token-here")))
    with guarded(service, Guards(tokens)) as client:
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {TOKEN}"}):
            for method, path in (("GET", "/v1/submissions"), ("POST", "/v1/submissions"), ("GET", "/v1/results"),
                                 ("GET", "/metrics"), ("GET", "/v1/submissions/" + "0" * 26),
                                 ("GET", "/v1/openapi.json")):  # fmt: skip
                answer = client.request(method, path, headers=headers)
                assert answer.status_code == 401 and answer.headers["WWW-Authenticate"] == "Bearer"
        assert client.get("/healthz").status_code == 200
        client.headers["Authorization"] = f"Bearer {TOKEN}"
        url = one(client)["url"]
        assert client.get(url).status_code == 200
        assert "/v1/submissions" in client.get("/v1/openapi.json").json()["paths"]
        client.headers["Authorization"] = "Bearer another-token-here"
        assert client.get(url).status_code == 404
        assert client.get("/v1/submissions").json()["submissions"] == []


def test_too_many_requests_say_when_to_come_back(service: Service) -> None:
    with guarded(service, Guards(rate=RateLimit(2))) as client:
        assert [client.get("/v1/submissions").status_code for _ in range(3)] == [200, 200, 429]
        answer = client.get("/v1/results")
        assert answer.status_code == 429 and 1 <= int(answer.headers["Retry-After"]) <= 30
        assert client.get("/healthz").status_code == 200


def test_a_page_elsewhere_cannot_speak_for_its_reader(service: Service) -> None:
    with guarded(service, Guards(hosts=frozenset({"127.0.0.1", "localhost", "[::1]"}))) as client:
        for host in ("localhost", "localhost:8000", "127.0.0.1:1", "[::1]:8000", "[::1]"):
            assert client.get("/v1/submissions", headers={"Host": host}).status_code == 200
        for host in ("evil.example", "evil.example:8000", "127.0.0.1.evil.example"):
            assert client.get("/v1/submissions", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/v1/submissions/nothing", 404),
        ("/v1/submissions/" + "0" * 26, 404),
        ("/v1/submissions/%00", 404),
        ("/v1/submissions?after=%00", 422),
        ("/v1/submissions?limit=0", 422),
        ("/v1/submissions?limit=1e9", 422),
        ("/v1/results?after=-1", 422),
        ("/v1/results?after=9223372036854775807", 200),
        ("/v1/results?after=9223372036854775808", 422),
        ("/v1/results?wait=nan", 422),
        ("/v1/submissions/" + "0" * 26 + "?wait=inf", 422),
        ("/nowhere", 404),
        ("/docs", 404),
    ],
)
def test_what_is_asked_wrongly_is_a_sentence(path: str, status: int, client: httpx.Client) -> None:
    answer = client.get(path)
    assert answer.status_code == status, answer.text
    if status != 200:
        assert set(answer.json()) == {"error", "message"}
    assert client.delete("/v1/submissions").status_code == 405


def test_a_stopping_server_accepts_nothing(client: httpx.Client, service: Service) -> None:
    service.drain()
    answer = client.post("/v1/submissions", json={"id": TASK, "patch": ""})
    assert answer.status_code == 503 and "Retry-After" in answer.headers
    assert client.get("/healthz").status_code == 503


def test_a_database_that_is_lost_is_told_apart_from_a_full_queue(engine: SubmissionEngine, postgres: str) -> None:
    import psycopg

    from repoassay.server.queue import open_queue_database

    queue = Queue(open_queue_database(postgres, Path(), ""))
    with connected(Service(queue, engine, Guards())) as client:
        one(client)
        with psycopg.connect(postgres, autocommit=True) as connection:
            connection.execute("ALTER TABLE repoassay_submissions RENAME TO gone")
        answer = client.post("/v1/submissions", json={"id": TASK, "patch": ""})
        assert (answer.status_code, answer.json()["error"]) == (503, "no_queue")
        assert "gone" not in answer.text and client.get("/healthz").status_code == 503
    queue.database.close()


def test_metrics_and_health(client: httpx.Client) -> None:
    one(client)
    client.get("/nowhere")
    text = client.get("/metrics").text
    assert "repoassay_queue_length 1.0" in text
    assert "repoassay_submissions_accepted_total 1.0" in text
    assert 'repoassay_verdicts_total{verdict="PATCH FAILED"} 0.0' in text
    assert 'repoassay_requests_refused_total{error="not_found"} 1.0' in text
    assert client.get("/healthz").json() == {
        "status": "ok", "version": repoassay.__version__, "tasks": 3, "queued": 1, "running": 0,
    }  # fmt: skip
