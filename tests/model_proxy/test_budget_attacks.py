"""More ways past a budget, on real sockets: each costs one call more than the budget at most."""

from __future__ import annotations

import gzip
import json
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from model_proxy.biller import A_FILE, UNASKED, Biller
from model_proxy.conftest import request_body, send
from repoassay.model_proxy import AttemptSession, Budget, CallLimits, Upstream
from repoassay.model_proxy.server import Gateway

PDF = "data:application/pdf;base64,JVBERi0xLjQK"
FILES = {
    "pdf": {"type": "image_url", "image_url": {"url": PDF}},
    "broken line": {"type": "image_url", "image_url": {"url": PDF + "\nAAAA"}},
    "stored": {"type": "file", "file": {"file_id": "file-1"}},
}


def enter(biller: Biller, gateway: Gateway, folder: Path, **settings: Any) -> AttemptSession:
    return gateway.admit("a", model="up/m", journal=folder / "usage.jsonl", **settings)


def proxy(biller: Biller, limits: CallLimits | None = None) -> Gateway:
    return Gateway([Upstream(name="up", base_url=f"{biller.origin}/v1")], limits=limits or CallLimits(settle=5.0))


def url_of(gateway: Gateway, entry: AttemptSession) -> str:
    return entry.urls(gateway.origin)["chat"] + "/chat/completions"


@pytest.mark.parametrize("kind", FILES)
def test_small_files_of_many_pages_go_one_by_one(tmp_path: Path, kind: str) -> None:
    """A file's bytes tell nothing of its tokens; where the network is open it may even lie elsewhere."""
    body = {**request_body("chat"), "max_tokens": 100}
    body["messages"] = [{"role": "user", "content": [FILES[kind]]}]
    with Biller() as biller, proxy(biller) as gateway:
        entry = enter(biller, gateway, tmp_path, budget=Budget(tokens=2_000_000), closed_world=kind != "stored")
        with ThreadPoolExecutor(30) as pool:
            answers = list(pool.map(lambda _: send(url_of(gateway, entry), body, timeout=60).status, range(30)))
        entry.close()
    assert set(answers) == {200, 403}
    assert biller.billed <= 2_000_000 + A_FILE + 1_000
    assert entry.ledger.tokens == biller.billed


@pytest.mark.parametrize("stream", [1, "true", "yes", [True], 0])
def test_a_stream_that_only_the_vendor_would_see_is_refused(tmp_path: Path, stream: object) -> None:
    with Biller() as biller, proxy(biller) as gateway:
        entry = enter(biller, gateway, tmp_path, budget=Budget(tokens=60_000))
        answer = send(url_of(gateway, entry), {**request_body("chat"), "stream": stream})
    assert answer.status == 400 and "neither true nor false" in answer.json["error"]["message"] and not biller.bodies


def raw(gateway: Gateway, data: bytes, *, read: bool) -> bytes:
    """Send bytes as they are; what came back by the time the other side hangs up."""
    found = b""
    with socket.create_connection(("127.0.0.1", int(gateway.origin.rpartition(":")[2])), timeout=30) as stream:
        stream.sendall(data)
        with suppress(OSError):
            while read and (part := stream.recv(65536)):
                found += part
    return found


def request_of(gateway: Gateway, entry: AttemptSession, body: bytes, more: str = "") -> bytes:
    path = url_of(gateway, entry).removeprefix(gateway.origin)
    return f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n{more}\r\n".encode() + body


@pytest.mark.parametrize("pipelined", [False, True])
def test_calls_whose_asker_hangs_up_at_once_are_charged(tmp_path: Path, *, pipelined: bool) -> None:
    body = json.dumps(request_body("chat")).encode()
    with Biller() as biller, proxy(biller) as gateway:
        entry = enter(biller, gateway, tmp_path, budget=Budget(tokens=60_000))
        one = request_of(gateway, entry, body)
        if pipelined:
            last = request_of(gateway, entry, body, "Connection: close\r\n")
            assert b"insufficient_quota" in raw(gateway, one * 19 + last, read=True)
        else:
            threads = [threading.Thread(target=raw, args=(gateway, one), kwargs={"read": False}) for _ in range(20)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        entry.close()
    assert biller.billed <= 60_000 + UNASKED and entry.ledger.tokens >= biller.billed - 100


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/completions"), ("POST", "/embeddings"), ("POST", "/files"), ("POST", "/batches"),
        ("POST", "/chat/completions/"), ("POST", "//chat/completions"), ("POST", "/chat/completions/x"),
        ("POST", "/chat%2Fcompletions"), ("POST", "/CHAT/COMPLETIONS"), ("GET", "/chat/completions"),
        ("GET", "/responses/resp_1"), ("POST", "/responses/resp_1/cancel"), ("POST", "/messages/batches"),
        ("POST", "/fine_tuning/jobs"), ("POST", "/audio/speech"), ("POST", "/images/edits"), ("PUT", "/responses"),
    ],
)  # fmt: skip
def test_no_other_endpoint_is_served(tmp_path: Path, method: str, path: str) -> None:
    with Biller() as biller, proxy(biller) as gateway:
        entry = enter(biller, gateway, tmp_path)
        answer = send(entry.urls(gateway.origin)["chat"] + path, request_body("chat"), method=method)
    assert answer.status == 404 and not biller.bodies


def test_a_web_socket_is_not_opened(tmp_path: Path) -> None:
    with Biller() as biller, proxy(biller) as gateway:
        entry = enter(biller, gateway, tmp_path)
        for path in ("/responses", "/realtime?model=m"):
            target = entry.urls(gateway.origin)["chat"].removeprefix(gateway.origin) + path
            head = (
                f"GET {target} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n"
                "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
            )
            assert raw(gateway, head.encode(), read=True).split()[1] in (b"404", b"400")
    assert not biller.bodies


def test_compressed_bodies_are_held_to_the_same(tmp_path: Path) -> None:
    packed = gzip.compress(json.dumps(request_body("chat")).encode())
    bomb = gzip.compress(b'{"messages": "' + b"a" * 3_000_000 + b'"}')
    with Biller() as biller, proxy(biller, CallLimits(request=1_000_000)) as gateway:
        entry = enter(biller, gateway, tmp_path, budget=Budget(tokens=30_000))
        url, coded = url_of(gateway, entry), {"Content-Encoding": "gzip"}
        assert send(url, bomb, coded).status == 413 and not biller.bodies
        answers = [send(url, packed, coded).status for _ in range(5)]
        entry.close()
    assert answers[0] in (200, 400) and biller.billed <= 30_000 + 100


@pytest.mark.parametrize("told", [{}, {"prompt_tokens": 0, "completion_tokens": 0}, {"completion_tokens": "many"}])
@pytest.mark.parametrize("stream", [False, True])
def test_usage_that_is_not_told_is_charged_by_what_came(tmp_path: Path, told: dict[str, Any], *, stream: bool) -> None:
    with Biller(told=told) as biller, proxy(biller) as gateway:
        entry = enter(biller, gateway, tmp_path, budget=Budget(tokens=50_000))
        body = {**request_body("chat", stream=stream), "max_tokens": 10_000}
        answers = [send(url_of(gateway, entry), body, timeout=60).status for _ in range(20)]
        totals = entry.close()
    assert 403 in answers and biller.billed <= 50_000 + 10_000 + 100
    assert totals.usage.total == 0 and totals.unknown == answers.count(200)


def test_an_error_that_was_worked_on_is_charged(tmp_path: Path) -> None:
    """Status 200, an error and a usage: the vendor charges for it."""
    with Biller() as biller, proxy(biller) as gateway:
        biller.extra = {"error": {"code": 502, "message": "the tool failed"}}
        entry = enter(biller, gateway, tmp_path, budget=Budget(tokens=50_000))
        for _ in range(6):
            send(url_of(gateway, entry), {**request_body("chat"), "max_tokens": 10_000}, timeout=60)
        entry.close()
    assert entry.ledger.tokens == biller.billed <= 50_000 + 100


def test_answers_so_long_that_nobody_waits_for_them_are_charged(tmp_path: Path) -> None:
    """A server before the vendor's answers 504, and the vendor writes on."""
    with Biller() as biller, proxy(biller, CallLimits(first_wait=0.01, settle=5.0)) as gateway:
        biller.status = 504
        entry = enter(biller, gateway, tmp_path, budget=Budget(tokens=50_000))
        answers = [
            send(url_of(gateway, entry), {**request_body("chat"), "max_tokens": 10_000}).status for _ in range(8)
        ]
        assert entry.close().outage == "silence"
    assert set(answers) == {504, 403} and biller.billed <= 50_000 + 2 * 10_000
