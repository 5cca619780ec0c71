"""Every dialect, streaming and not, through real sockets: bytes passed on, exact usage, keys kept on this side."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from model_proxy.conftest import address, key_header, request_body
from repoassay.errors import BadInput, InfraFault, MissingExtra
from repoassay.model_proxy import (
    Budget,
    CallLimits,
    Dialogue,
    Prices,
    ScriptedUpstream,
    Upstream,
    known_upstreams,
    open_gateway,
)
from repoassay.model_proxy.server import Gateway
from repoassay.records.calls import read_calls
from repoassay.types.usage import Usage

DIALECTS = ("chat", "responses", "messages", "gemini")
PROVIDER = {"chat": "up", "responses": "up", "messages": "plain", "gemini": "plain"}
SHELLS = {"chat": "bash", "responses": "exec_command", "messages": "Bash", "gemini": "run_shell_command"}
REAL_KEY = "sk-real-0123456789abcdef"


def told(dialect: str) -> Usage:
    whole = Usage(input=1234, output=77, cached=1000, cache_write=34, reasoning=17)
    return whole.model_copy(update={"messages": {"reasoning": 0}, "gemini": {"cache_write": 0}}.get(dialect, {}))


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_answers_come_through_and_are_counted_exactly(build: Any, turn: Any, dialect: str, stream: bool) -> None:
    rig = build(turn)
    entry = rig.admit(model=f"{PROVIDER[dialect]}/served-model")
    response = rig.ask(entry, dialect, stream=stream)
    assert response.status == 200 and not response.broken
    assert SHELLS[dialect] in response.body.decode() and "ls -la" in response.body.decode().replace('"}', "")
    totals = entry.close()
    (call,) = read_calls(entry.journal.path).calls
    assert call.usage == told(dialect) == totals.usage
    assert rig.upstream.script.sent(REAL_KEY) == (call.usage,)
    assert (call.asked, call.served, call.dialect, call.stream) == ("asked-model", "served-model", dialect, stream)
    assert call.status == 200 and not call.fault and call.first_byte is not None
    assert call.price is None and "no price" in call.price_note and totals.dollars is None


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_real_key_reaches_only_the_upstream(build: Any, turn: Any, dialect: str, tmp_path: Path) -> None:
    rig = build(turn)
    entry = rig.admit(model=f"{PROVIDER[dialect]}/m", keep_bodies=True, record=tmp_path / "dialogue.jsonl")
    response = rig.ask(entry, dialect, text=f"I know {REAL_KEY} and {entry.key}")
    entry.close()
    assert rig.upstream.seen[0]["key"] == REAL_KEY
    assert not any(entry.key in value for value in rig.upstream.seen[0].values())
    assert REAL_KEY.encode() not in response.body and REAL_KEY not in str(response.headers)
    import gzip

    for path in tmp_path.rglob("*"):
        if path.is_file():
            data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            assert REAL_KEY.encode() not in data and entry.key.encode() not in data and entry.token.encode() not in data


def test_a_key_that_comes_in_two_pieces_is_hidden_too(build: Any, turn: Any, tmp_path: Path) -> None:
    """A vendor's error may quote the key, and a stream is passed on as it comes."""
    listening, read = socket.create_server(("127.0.0.1", 0)), threading.Event()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\nX-Request-Id: of-%b\r\n\r\n"
    head %= REAL_KEY.encode()
    said = (
        b'event: ping\ndata: {"type": "ping"}\n\nevent: error\ndata: {"type": "error", "error": {"message": "%b"}}\n\n'
    )
    first, _, second = (said % REAL_KEY.encode()).partition(REAL_KEY[10:].encode())

    def answer() -> None:
        with listening.accept()[0] as connected:
            connected.recv(2**16)
            connected.sendall(head + first)
            read.wait(20)
            connected.sendall(REAL_KEY[10:].encode() + second)

    thread = threading.Thread(target=answer)
    thread.start()
    place = f"http://127.0.0.1:{listening.getsockname()[1]}"
    rig = build(turn, upstreams=[Upstream(name="two", base_url=place, dialects=("messages",), key_env="RIG_KEY")])
    entry = rig.admit(model="two/m")
    parts = urlsplit(address(entry.urls(rig.gateway.origin), "messages", stream=True))
    with contextlib.closing(http.client.HTTPConnection(parts.netloc, timeout=20)) as connection:
        body = json.dumps(request_body("messages", stream=True))
        connection.request("POST", parts.path, body, key_header("messages", entry.key))
        answered = connection.getresponse()
        told = answered.read1()
        read.set()
        told += answered.read()
    thread.join()
    listening.close()
    assert b"ping" in told and told.endswith(b'{"message": "[key]"}}\n\n') and REAL_KEY[:10].encode() not in told
    assert answered.headers["X-Request-Id"] == "of-[key]"


def test_a_chat_stream_hides_usage_unless_it_was_asked_for(build: Any, turn: Any) -> None:
    rig = build(turn)
    entry = rig.admit()
    hidden = rig.ask(entry, "chat", stream=True)
    shown = rig.ask(entry, "chat", stream=True, stream_options={"include_usage": True})
    assert all(event["choices"] for event in hidden.events) and hidden.body.endswith(b"data: [DONE]\n\n")
    assert next(event["usage"] for event in shown.events if not event["choices"])["prompt_tokens"] == 1234
    assert entry.close().usage.input == 2468


def test_streams_are_not_buffered(build: Any, turn: Any) -> None:
    events: list[float] = []
    release = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def speak() -> None:
            peer, _ = server.accept()
            with peer:
                peer.recv(65536)
                peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
                peer.sendall(b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n')
                release.wait(10)
                peer.sendall(b"data: [DONE]\n\n")

        thread = threading.Thread(target=speak)
        thread.start()
        import http.client

        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        rig = build(turn, upstreams=[Upstream(name="raw", base_url=url)])
        entry = rig.admit(model="raw/m")
        connection = http.client.HTTPConnection("127.0.0.1", int(rig.gateway.origin.rpartition(":")[2]), timeout=10)
        connection.request("POST", f"/{entry.token}/v1/chat/completions", json.dumps({"stream": True, "messages": []}))
        response = connection.getresponse()
        assert b'"a"' in response.read1(1000)  # while the upstream is still holding the rest back
        events.append(time.monotonic())
        release.set()
        assert b"[DONE]" in response.read()
        connection.close()
        thread.join()
    totals = entry.close()
    assert totals.unknown == 1 and totals.usage == Usage() and totals.dollars is None


def test_keys_alone_and_paths_alone_open_the_door_and_nothing_else_does(build: Any, turn: Any) -> None:
    rig = build(turn)
    entry = rig.admit()
    origin = rig.gateway.origin
    body = {"model": "m", "messages": []}
    sent = rig.send
    assert sent(f"{origin}/v1/chat/completions", body, {"authorization": f"Bearer {entry.key}"}).status == 200
    assert sent(f"{origin}/{entry.token}/v1/chat/completions", body, {"authorization": "Bearer x"}).status == 200
    for path, key in (("/v1/chat/completions", "x"), ("/" + "A" * 43 + "/v1/chat/completions", ""), ("/", "")):
        refused = sent(origin + path, body, {"authorization": f"Bearer {key}"})
        assert refused.status == 401 and refused.json["error"]["code"] == "invalid_api_key"
    entry.close()
    assert sent(f"{origin}/{entry.token}/v1/chat/completions", body, {}).status == 401
    assert rig.gateway.strangers == 4
    assert len(read_calls(rig.folder / "strangers.jsonl").calls) == 4
    assert entry.token not in (rig.folder / "strangers.jsonl").read_text()


def test_a_bound_socket_serves_one_attempt_only(build: Any, turn: Any) -> None:
    rig = build(turn)
    mine, other = rig.admit("mine"), rig.admit("other")
    listening = socket.create_server(("127.0.0.1", 0))
    origin = f"http://127.0.0.1:{listening.getsockname()[1]}"
    rig.gateway.serve(listening, mine)
    sent, body = rig.send, {"model": "m", "messages": []}
    assert sent(f"{mine.urls(origin)['chat']}/chat/completions", body, {}).status == 200
    by_path = sent(f"{other.urls(origin)['chat']}/chat/completions", body, {})
    by_key = sent(f"{mine.urls(origin)['chat']}/chat/completions", body, {"authorization": f"Bearer {other.key}"})
    assert (by_path.status, by_key.status) == (401, 401)
    assert "another attempt" in by_path.json["error"]["message"]
    assert mine.close().refused == 2 and other.close().calls == 0
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", int(origin.rpartition(":")[2])), timeout=1)
    calls = read_calls(mine.journal.path).calls
    assert [call.fault for call in calls] == ["", "refused", "refused"]
    assert other.token not in mine.journal.path.read_text()


def test_it_is_no_proxy(build: Any, turn: Any) -> None:
    rig = build(turn)
    entry = rig.admit()
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    rig.gateway.serve(listening, entry)
    for head in (
        "CONNECT example.org:443 HTTP/1.1",
        "GET http://169.254.169.254/latest HTTP/1.1",
        f"POST http://127.0.0.1:{port}/{entry.token}/v1/chat/completions HTTP/1.1",
        f"POST /{entry.token}/v1/files HTTP/1.1",
    ):
        with socket.create_connection(("127.0.0.1", port), timeout=10) as raw:
            raw.sendall(f"{head}\r\nHost: example.org\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".encode())
            answer = raw.recv(65536)
        assert answer.split()[1] in {b"400", b"401", b"404"}, (head, answer)
    assert entry.close().calls == 0 and not rig.upstream.seen


@pytest.mark.parametrize("dialect", DIALECTS)
def test_bodies_that_are_no_requests_are_refused_in_the_vendors_words(build: Any, turn: Any, dialect: str) -> None:
    rig = build(turn, limits=CallLimits(request=2000, first_wait=0.01))
    entry = rig.admit(model=f"{PROVIDER[dialect]}/m")
    tails = {"chat": "/chat/completions", "responses": "/responses", "messages": "/v1/messages"}
    url = entry.urls(rig.gateway.origin)[dialect] + tails.get(dialect, "/v1beta/models/m:generateContent")
    sent = rig.send
    for body, status in ((b"{", 400), (b"[1]", 400), (b"\xff\xfe", 400), (b"[" * 1999, 400), (b" " * 5000, 413)):
        answer = sent(url, body, {})
        assert answer.status == status and "message" in answer.json["error"]
    assert entry.close().refused == 5 and not rig.upstream.seen


def test_models_hello_and_count(build: Any, turn: Any) -> None:
    rig = build(turn, upstreams=[ScriptedUpstream(Dialogue.model_validate({"turn": [turn]}))])
    entry = rig.admit(model="scripted/any")
    urls, sent = entry.urls(rig.gateway.origin), rig.send
    assert sent(urls["chat"] + "/models", b"", {}, "GET").json["data"][0]["id"] == "any"
    assert (
        sent(urls["messages"] + "/v1/models", b"", {"anthropic-version": "1"}, "GET").json["data"][0]["type"] == "model"
    )
    assert sent(urls["gemini"] + "/v1beta/models", b"", {}, "GET").json["models"][0]["name"] == "models/any"
    assert sent(urls["messages"], b"", {}, "HEAD").status == 200
    count = sent(
        urls["messages"] + "/v1/messages/count_tokens", {"messages": [{"role": "user", "content": "x" * 360}]}, {}
    )
    assert 95 < count.json["input_tokens"] < 120
    assert entry.close().calls == 0


def test_a_hundred_streams_at_once(build: Any, turn: Any) -> None:
    rig = build({**turn, "delay": 0.2}, limits=CallLimits(concurrency=10))
    entries = [rig.admit(f"a{number}") for number in range(10)]
    with ThreadPoolExecutor(100) as pool:
        answers = list(pool.map(lambda number: rig.ask(entries[number % 10], "chat", stream=True), range(100)))
    assert all(answer.status == 200 and not answer.broken for answer in answers)
    totals = [entry.close() for entry in entries]
    assert sum(one.calls for one in totals) == 100 and sum(one.usage.total for one in totals) == 100 * 1311
    seqs = [call.seq for call in read_calls(entries[0].journal.path).calls]
    assert sorted(seqs) == list(range(1, 11))


def test_more_calls_at_once_than_allowed_are_told_to_wait(build: Any, turn: Any) -> None:
    rig = build({**turn, "delay": 0.5}, limits=CallLimits(concurrency=1))
    entry = rig.admit()
    with ThreadPoolExecutor(2) as pool:
        statuses = sorted(answer.status for answer in pool.map(lambda _: rig.ask(entry), range(2)))
    assert statuses == [200, 429] and entry.close().refused == 1


def test_what_cannot_be_admitted_says_why(
    build: Any, turn: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rig = build(turn, upstreams=[known_upstreams()["mistral"]])
    monkeypatch.delenv("MISTRAL_API_KEY", raising=False)
    for model, word in (("nowhere/m", "nowhere"), ("plainname", "provider/name"), ("mistral/m", "MISTRAL_API_KEY")):
        with pytest.raises(BadInput, match=word):
            rig.admit(model=model)
    with pytest.raises(BadInput, match="price"):
        rig.admit(budget=Budget(dollars=Decimal(1)))
    with pytest.raises(InfraFault):
        Gateway([], prices=Prices()).admit("a", model="up/m", journal=tmp_path / "j")


def test_a_dialect_the_upstream_does_not_speak(build: Any, turn: Any) -> None:
    origin = build(turn).upstream.origin
    rig = build(turn, upstreams=[Upstream(name="literal", base_url=f"{origin}/v1", translate=False)])
    entry = rig.admit(model="literal/m")
    answer = rig.ask(entry, "messages")
    assert answer.status == 400 and "does not speak messages" in answer.json["error"]["message"]
    assert entry.close().faults == {"dialect": 1}


def test_closing_a_pass_ends_what_is_under_way(build: Any, turn: Any) -> None:
    rig = build({**turn, "fault": {"silence": 30}}, limits=CallLimits(settle=0.1))
    entry = rig.admit()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(lambda: _broken(rig, entry))
        while not rig.upstream.seen:
            time.sleep(0.01)
        totals = entry.close()
        assert totals.faults == {"closed": 1} and totals.outage == "closed"
        assert waiting.result(timeout=10)
    assert entry.close().faults == {"closed": 1}
    assert read_calls(entry.journal.path).calls[0].whose == "ours"


def _broken(rig: Any, entry: Any) -> bool:
    try:
        return bool(rig.ask(entry).status >= 500)
    except OSError:
        return True


def test_a_gateway_closes_what_was_left_open(build: Any, turn: Any, tmp_path: Path) -> None:
    script = ScriptedUpstream(Dialogue.model_validate({"turn": [{"text": "x"}], "end": "loop"}))
    with Gateway([script], prices=Prices(), listen=False) as gateway:
        entry = gateway.admit("a", model="scripted/m", journal=tmp_path / "usage.jsonl")
        listening = socket.create_server(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        gateway.serve(listening, entry)
        with pytest.raises(InfraFault, match="loopback"):
            _ = gateway.origin
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", port), timeout=1)
    assert entry.totals().calls == 0


def test_the_callback_may_not_wait_for_the_gateway(build: Any, turn: Any) -> None:
    rig = build(turn)
    caught: list[str] = []

    def closes_at_once(why: str) -> None:
        try:
            rig.gateway.admit("other", model="up/m", journal=rig.folder / "other.jsonl")
        except InfraFault as error:
            caught.append(str(error))

    entry = rig.admit(budget=Budget(calls=0), on_exhausted=closes_at_once)
    assert rig.ask(entry).status == 403
    assert len(caught) == 1


def test_stray_bytes_in_a_request_line_are_journalled(build: Any, turn: Any) -> None:
    rig = build(turn)
    entry = rig.admit()
    port = int(rig.gateway.origin.rpartition(":")[2])
    for tail in (b"\xff\xfe", b"v1beta/models/\xff:generateContent", b"%ff/%00", b"a" * 6000):
        with socket.create_connection(("127.0.0.1", port), timeout=10) as raw:
            head = b"POST /" + entry.token.encode() + b"/" + tail + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
            raw.sendall(head + b"Content-Length: 2\r\n\r\n{}")
            assert raw.recv(65536).split()[1] in {b"400", b"404"}
    entry.close()
    assert "gateway" not in entry.totals().faults and not read_calls(entry.journal.path).torn


def test_without_the_extra_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "aiohttp", None)
    with pytest.raises(MissingExtra, match=r"repoassay\[agents\]"):
        open_gateway([])
