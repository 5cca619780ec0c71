"""Hostile clients: bodies without end, heads that never come, idle connections, readers that leave."""

from __future__ import annotations

import hashlib
import json
import re
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

import pytest

from repoassay.server import connection
from repoassay.server.access import Tokens
from repoassay.server.service import Guards, Service
from server.serving import connected
from waiting import wait_until

pytestmark = pytest.mark.exhaustive

if TYPE_CHECKING:
    import httpx

TASK = "edit-ledger-monthly"
POST = b"POST /v1/submissions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"


@contextmanager
def plain(client: httpx.Client) -> Iterator[socket.socket]:
    address = (client.base_url.host, client.base_url.port or 0)
    with socket.create_connection(address, timeout=30) as found:
        yield found


def ended(wire: socket.socket) -> bytes:
    """Everything until the server closes the connection."""
    found = b""
    try:
        while part := wire.recv(65536):
            found += part
    except ConnectionResetError:
        pass
    return found


def streams(client: httpx.Client) -> int:
    found = re.search(r"^repoassay_streams ([0-9]+)", client.get("/metrics").text, re.MULTILINE)
    assert found
    return int(found[1])


def test_a_body_without_end_is_cut_off_and_not_kept(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_HEAD", 0.5)
    with connected(Service(service.queue, service.engine, Guards(body=100_000))) as client, plain(client) as wire:
        wire.sendall(POST + b"Transfer-Encoding: chunked\r\n\r\n")
        with pytest.raises(OSError):  # noqa: PT012 - which of the writes fails is the kernel's affair
            while True:
                wire.sendall(b"ffff\r\n" + b" " * 0xFFFF + b"\r\n")
        assert client.get("/healthz").json()["queued"] == 0


@pytest.mark.parametrize(("length", "status"), [("9" * 19, 413), ("100001", 413), ("9" * 100, 400), ("-1", 400)])
def test_a_body_that_says_it_is_too_large_is_not_waited_for(length: str, status: int, service: Service) -> None:
    with connected(Service(service.queue, service.engine, Guards(body=100_000))) as client, plain(client) as wire:
        wire.sendall(POST + f"Content-Length: {length}\r\n\r\n".encode())
        assert wire.recv(4096).startswith(f"HTTP/1.1 {status} ".encode())


def test_without_a_token_no_body_is_read(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_HEAD", 0.5)
    guards = Guards(Tokens((hashlib.sha256(b"a-token-of-some-length").digest(),)))
    with connected(Service(service.queue, service.engine, guards)) as client, plain(client) as wire:
        wire.sendall(POST + b"Transfer-Encoding: chunked\r\n\r\n")
        assert wire.recv(4096).startswith(b"HTTP/1.1 401 ")
        with pytest.raises(OSError):  # noqa: PT012 - which of the writes fails is the kernel's affair
            while True:  # pytest's own time limit would end this
                wire.sendall(b"1\r\n \r\n")
                time.sleep(0.01)


@pytest.mark.parametrize("path", ["/healthz", "/v1/nothing"])
def test_who_does_not_read_the_answers_holds_no_connection(
    path: str, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Requests one after the other on a connection that is never read, without a token."""
    monkeypatch.setattr(connection, "_SENDING", 0.5)
    guards = Guards(Tokens((hashlib.sha256(b"a-token-of-some-length").digest(),)))
    with connected(Service(service.queue, service.engine, guards)) as client, plain(client) as wire:
        wire.setblocking(False)
        end = time.monotonic() + 200
        with pytest.raises(OSError):  # noqa: PT012 - reset, or a broken pipe
            while time.monotonic() < end:
                try:
                    wire.send(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode() * 50)
                except BlockingIOError:
                    time.sleep(0.05)


@pytest.mark.parametrize("said", [b"", b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"])
def test_one_address_that_holds_every_place_gives_way_to_others(
    said: bytes, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Connections that say nothing, and those that keep theirs open after an answer."""
    monkeypatch.setattr("repoassay.server.server.most_connections", lambda: 16)
    with connected(service) as client, ExitStack() as held:
        host, port = client.base_url.host, client.base_url.port or 0
        assert client.get("/healthz").status_code == 200
        crowd = [held.enter_context(socket.create_connection((host, port), 30, ("127.0.0.9", 0))) for _ in range(30)]
        for each in crowd:
            with suppress(OSError):
                each.sendall(said)
        assert client.get("/healthz").status_code == 200  # kept, since others have more
        for _ in range(3):
            wire = held.enter_context(plain(client))
            wire.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert wire.recv(4096).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    ("address", "network"),
    [("192.0.2.7", "192.0.2.7"), ("::ffff:192.0.2.7", "192.0.2.7"), ("2001:db8:0:1::9", "2001:db8:0:1::/64"),
     ("fe80::1%eth0", "fe80::/64")],
)  # fmt: skip
def test_addresses_of_one_client_are_one(address: str, network: str) -> None:
    found = object.__new__(connection.Connection)
    found.client = (address, 7)
    assert found.network == network


def test_streams_of_one_token_are_bounded_whatever_they_wait(service: Service) -> None:
    token = "a-token-of-some-length"
    guards = Guards(Tokens((hashlib.sha256(token.encode()).digest(),)), waiting=2)
    with connected(Service(service.queue, service.engine, guards)) as client:
        client.headers["Authorization"] = f"Bearer {token}"
        with ExitStack() as held:
            for _ in range(2):
                held.enter_context(client.stream("GET", "/v1/results", params={"wait": 3600}))
            wait_until(lambda: streams(client) == 2)
            for wait in (0, 3600):
                assert client.get("/v1/results", params={"wait": wait}).status_code == 429
        wait_until(lambda: client.get("/v1/results").status_code == 200)


@pytest.mark.parametrize("drip", [b"", b"X"])
def test_who_says_nothing_or_little_is_not_waited_for(
    drip: bytes, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "_HEAD", 0.5)
    with connected(service) as client, plain(client) as wire:
        wire.sendall(b"GET /healthz HTTP/1.1\r\n" if drip else b"")
        with pytest.raises(OSError):  # noqa: PT012 - which of the writes fails is the kernel's affair
            while True:
                if drip:
                    wire.sendall(drip)
                elif not ended(wire):
                    raise ConnectionResetError
                time.sleep(0.02)


def test_a_kept_connection_may_be_slower_than_one_request(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_HEAD", 0.5)
    with connected(service) as client, plain(client) as wire:
        for _ in range(4):
            wire.sendall(b"GET /v1/results?wait=0.7 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            found = b""
            while not found.endswith(b"0\r\n\r\n"):
                found += wire.recv(4096)
            assert found.startswith(b"HTTP/1.1 200 ")


def test_idle_connections_beyond_the_limit_are_refused(service: Service) -> None:
    with connected(service, limit=4) as client:
        url = (client.base_url.host, client.base_url.port or 0)
        idle = [socket.create_connection(url, timeout=30) for _ in range(40)]
        wait_until(lambda: sum(_closed(each) for each in idle) >= 36)
        for each in idle:
            each.close()
        wait_until(lambda: client.get("/healthz").status_code == 200)


def _closed(wire: socket.socket) -> bool:
    wire.setblocking(False)
    try:
        return not wire.recv(1)
    except BlockingIOError:
        return False
    except OSError:
        return True


def test_a_stream_ends_when_its_reader_leaves(service: Service) -> None:
    with connected(service) as client:
        assert streams(client) == 0
        with client.stream("GET", "/v1/results", params={"wait": 3600}):
            wait_until(lambda: streams(client) == 1)
        wait_until(lambda: streams(client) == 0)


def test_a_stream_tells_what_is_judged_meanwhile(service: Service) -> None:
    with connected(service) as client:
        with client.stream("GET", "/v1/results", params={"wait": 3600}) as answer:
            client.post("/v1/submissions", json={"id": TASK, "patch": ""})
            claim = service.queue.claim("me", 60)
            assert claim is not None and service.queue.finish(claim, "PASS", "agent", "", "{}")
            service.bell.ring(claim.ulid)
            line = next(answer.iter_lines())
        assert json.loads(line)["submission"] == claim.ulid


def test_json_that_unfolds_is_refused_and_the_next_is_read(client_body: int, service: Service) -> None:
    hostile = b"[" + b"[]," * (client_body // 3) + b"[]]"
    with connected(Service(service.queue, service.engine, Guards(body=len(hostile)))) as client:
        answer = client.post("/v1/submissions", content=hostile, headers={"Content-Type": "application/json"})
        assert (answer.status_code, answer.json()["error"]) == (422, "invalid")
        assert client.post("/v1/submissions", json={"id": TASK, "patch": ""}).status_code == 202


@pytest.fixture
def client_body() -> int:
    return 4 * 2**20


def test_many_large_bodies_at_a_time_are_all_read(service: Service) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with connected(service) as client:

        def post(number: int) -> int:
            given = {"id": TASK, "patch": "x" * 1_000_000, "key": f"{number}"}
            return client.post("/v1/submissions", json=given).status_code

        with ThreadPoolExecutor(24) as pool:
            assert set(pool.map(post, range(48))) == {202}
        assert client.get("/healthz").json()["queued"] == 48


def test_answers_are_never_taken_for_pages(service: Service) -> None:
    with connected(service) as client:
        client.post("/v1/submissions", json={"id": TASK, "patch": "", "model": "<script>alert(1)</script>"})
        for path in ("/v1/submissions", "/v1/results", "/metrics", "/healthz", "/v1/<script>", "/v1/openapi.json"):
            answer = client.get(path)
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert "html" not in answer.headers["Content-Type"]
