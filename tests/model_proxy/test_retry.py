"""Upstreams that fail in every way: retried when it helps, told apart from the agent's failures, never a crash."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from repoassay.model_proxy import Budget, CallLimits, Upstream
from repoassay.records.calls import read_calls

PROVIDER = {"chat": "up", "responses": "up", "messages": "plain", "gemini": "plain"}
QUICK = CallLimits(first_wait=0.01, idle=20.0, retries=2, settle=1.0)
IMPATIENT = replace(QUICK, idle=0.4)
"""Where silence itself is tried; a busy machine is silent for as long."""


def faulty(turn: dict[str, Any], **fault: Any) -> dict[str, Any]:
    return {**turn, "fault": fault}


@pytest.mark.parametrize("status", [429, 500, 502, 503, 529])
@pytest.mark.parametrize("stream", [False, True])
def test_passing_errors_are_retried_and_recorded(build: Any, turn: Any, status: int, stream: bool) -> None:
    rig = build(faulty(turn, status=status, times=2), limits=QUICK)
    entry = rig.admit()
    answer = rig.ask(entry, stream=stream)
    totals = entry.close()
    (call,) = read_calls(entry.journal.path).calls
    assert answer.status == 200 and [retry.status for retry in call.retries] == [status, status]
    assert (totals.retries, totals.outage, totals.faults, totals.calls) == (2, "", {}, 1)


def test_retry_after_is_honoured(build: Any, turn: Any) -> None:
    rig = build(faulty(turn, status=429, retry_after=0.3), limits=QUICK)
    entry = rig.admit()
    before = time.monotonic()
    assert rig.ask(entry).status == 200
    assert time.monotonic() - before >= 0.3
    entry.close()
    assert read_calls(entry.journal.path).calls[0].retries[0].waited >= 0.3


@pytest.mark.parametrize("dialect", ["chat", "responses", "messages", "gemini"])
def test_after_the_last_retry_the_vendors_error_passes_on_as_an_outage(build: Any, turn: Any, dialect: str) -> None:
    rig = build(faulty(turn, status=503, times=99, body='{"error": {"message": "vendor says no"}}'), limits=QUICK)
    entry = rig.admit(model=f"{PROVIDER[dialect]}/m")
    answer = rig.ask(entry, dialect)
    totals = entry.close()
    assert answer.status == 503 and answer.json["error"]["message"] == "vendor says no"
    assert (totals.outage, totals.failed, totals.calls, totals.retries) == ("upstream_error", 1, 0, 2)
    assert totals.dollars == 0 and totals.unknown == 0  # nothing was answered, so nothing is unknown


@pytest.mark.by_day(6)
@pytest.mark.parametrize(
    ("fault", "word", "status"),
    [
        ({"cut": 0}, "cut", 502),
        ({"malformed": True}, "malformed", 502),
        ({"wrong_type": "text/html"}, "wrong_type", 502),
        ({"silence": 30}, "silence", 504),
        ({"status": 307}, "redirect", 502),
        ({"status": 401, "body": "your key sk-real-0123456789abcdef is bad"}, "credentials", 502),
        ({"status": 429, "body": '{"error":{"code":"insufficient_quota"}}'}, "quota", 429),
    ],
)
@pytest.mark.parametrize("dialect", ["chat", "messages"])
def test_unusable_answers(build: Any, turn: Any, dialect: str, fault: Any, word: str, status: int) -> None:
    rig = build(faulty(turn, times=99, **fault), limits=IMPATIENT if word == "silence" else QUICK)
    entry = rig.admit(model=f"{PROVIDER[dialect]}/m")
    answer = rig.ask(entry, dialect)
    totals = entry.close()
    (call,) = read_calls(entry.journal.path).calls
    assert (answer.status, call.fault, totals.outage) == (status, word, word)
    assert call.whose == ("ours" if word in {"credentials", "quota"} else "upstream")
    assert b"sk-real" not in answer.body and "sk-real" not in entry.journal.path.read_text()


def test_what_a_server_has_not_implemented_is_no_outage_of_it(build: Any, turn: Any) -> None:
    rig = build(faulty(turn, status=501, times=99, body='{"error": {"message": "not supported"}}'), limits=QUICK)
    entry = rig.admit(model=f"{PROVIDER['chat']}/m")
    assert rig.ask(entry, "chat").status == 501
    totals = entry.close()
    assert (totals.outage, totals.faults, totals.retries) == ("", {"rejected": 1}, 0)


@pytest.mark.parametrize("dialect", ["chat", "responses", "messages", "gemini"])
def test_a_stream_cut_in_the_middle_is_cut_for_the_client_and_unknown(build: Any, turn: Any, dialect: str) -> None:
    rig = build(faulty(turn, cut=2), limits=QUICK)
    entry = rig.admit(model=f"{PROVIDER[dialect]}/m")
    cut = rig.ask(entry, dialect, stream=True)
    assert cut.status == 200 and cut.broken and cut.body
    first = entry.totals()
    assert (first.outage, first.unknown, first.usage.total, first.dollars) == ("cut", 1, 0, None) or dialect == "gemini"
    assert rig.ask(entry, dialect, stream=True).status == 200
    totals = entry.close()
    call = read_calls(entry.journal.path).calls[0]
    assert call.answered and call.fault == "cut" and call.whose == "upstream"
    assert totals.outage == "" and totals.faults == {"cut": 1}


def test_malformed_events_pass_through_and_are_noted(build: Any, turn: Any) -> None:
    rig = build(faulty(turn, malformed=True), limits=QUICK)
    entry = rig.admit()
    answer = rig.ask(entry, stream=True)
    assert answer.status == 200 and b'{"broken' in answer.body
    assert entry.close().faults == {"malformed": 1}


def test_the_agents_own_bad_request_is_no_outage(build: Any, turn: Any) -> None:
    rig = build(turn, end="error")
    entry = rig.admit()
    rig.ask(entry)
    answer = rig.ask(entry)  # the script is over: the upstream says 400
    totals = entry.close()
    assert answer.status == 400 and totals.outage == "" and totals.faults == {"rejected": 1}
    assert read_calls(entry.journal.path).calls[1].whose == "agent"


@contextmanager
def server(*parts: bytes, hold: float = 0) -> Iterator[str]:
    """A raw upstream that says the same to everyone, then waits before it hangs up."""
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.1)

        def speak() -> None:
            while not stop.is_set():
                try:
                    peer, _ = listening.accept()
                except TimeoutError:
                    continue
                with peer:
                    peer.recv(65536)
                    for part in parts:
                        peer.sendall(part)
                    stop.wait(hold)

        thread = threading.Thread(target=speak)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        finally:
            stop.set()
            thread.join()


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


@pytest.mark.by_day(5)
@pytest.mark.parametrize(
    ("parts", "hold", "word"),
    [
        ([b"not http at all\r\n\r\n"], 0, "bad_http"),
        ([b"HTTP/1.1 200 OK\r\nX: " + b"a" * 100_000 + b"\r\n\r\n"], 0, "bad_http"),
        ([HEAD], 0, "cut"),
        ([HEAD], 3, "silence"),
        ([HEAD, b'data: {"choices":[]}\n\n'], 3, "silence"),
        ([HEAD, b"data: " + b"x" * 3000], 0, "too_large"),
        ([HEAD, b'data: {"usage": {"prompt_tokens": 1e400}}\n\ndata: [DONE]\n\n'], 0, "malformed"),
        ([HEAD, b'data: {"usage": {"prompt_tokens": -1, "completion_tokens": "x"}}\n\ndata: [DONE]\n\n'], 0, ""),
        ([HEAD, b'data: {"usage": [], "choices": 7}\n\ndata: [DONE]\n\n'], 0, ""),
        ([HEAD, b'event: error\ndata: {"error": {"message": "overloaded"}}\n\n'], 0, "upstream_error"),
    ],
)
def test_hostile_upstreams(build: Any, turn: Any, parts: list[bytes], hold: float, word: str) -> None:
    with server(*parts, hold=hold) as url:
        idle = 0.4 if hold else 20.0
        limits = CallLimits(first_wait=0.01, idle=idle, retries=1, response=2000, settle=1.0)
        rig = build(turn, limits=limits, upstreams=[Upstream(name="raw", base_url=url)])
        entry = rig.admit(model="raw/m")
        rig.ask(entry, stream=True)
        totals = entry.close()
    assert totals.faults == ({word: 1} if word else {})
    untold = 2 if word in {"cut", "silence"} and not totals.calls else 0  # both tries may have been worked on
    assert totals.usage.total == 0 and totals.unknown == totals.calls + untold


def test_an_unreachable_upstream_is_an_outage(build: Any, turn: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    rig = build(turn, limits=QUICK, upstreams=[Upstream(name="gone", base_url=f"http://127.0.0.1:{port}/v1")])
    entry = rig.admit(model="gone/m")
    assert rig.ask(entry).status == 502
    totals = entry.close()
    assert (totals.outage, totals.retries) == ("unreachable", 2)


def test_no_retry_outlives_the_attempt(build: Any, turn: Any) -> None:
    rig = build(faulty(turn, status=429, retry_after=30, times=9), limits=QUICK)
    entry = rig.admit(budget=Budget(seconds=5))
    assert rig.ask(entry).status == 429
    assert entry.close().retries == 0


def test_a_client_that_leaves_is_noted_and_its_answer_counted(build: Any, turn: Any) -> None:
    long = {"text": "word " * 200_000}
    rig = build(long)
    entry = rig.admit()
    port = int(rig.gateway.origin.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port)) as raw:
        body = b'{"stream": true, "messages": []}'
        head = f"POST /{entry.token}/v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
        raw.sendall(head.encode() + body)
        assert raw.recv(100)
    until = time.monotonic() + 10
    while time.monotonic() < until and not entry.totals().faults:
        time.sleep(0.02)
    totals = entry.close()
    assert totals.faults == {"client_gone": 1} and totals.outage == ""
    assert totals.unknown == 0 and totals.usage.output == 20  # the answer was read to its end
