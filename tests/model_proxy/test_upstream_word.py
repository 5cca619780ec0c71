"""What upstreams say beside the answer: errors with status 200, costs, the model that answered; what they leave out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from model_proxy.conftest import address, key_header, request_body, send
from repoassay.model_proxy import Budget, CallLimits, Prices, Upstream
from repoassay.model_proxy.server import Gateway
from repoassay.records.calls import read_calls

USAGE = {"prompt_tokens": 1000, "completion_tokens": 500}
ERROR = {"error": {"code": 502, "message": "provider returned an error"}, "user_id": "u"}


def answer(usage: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": "Hello."}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"id": "gen-1", "model": "vendor/model-2026-01", "choices": [choice], "usage": usage or USAGE, **more}


def stream(*events: Any) -> bytes:
    comment = b": OPENROUTER PROCESSING\n\n"
    return comment + b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in events) + b"data: [DONE]\n\n"


def chunk(text: str) -> dict[str, Any]:
    return {"model": "vendor/model-2026-01", "choices": [{"index": 0, "delta": {"content": text}}]}


class Speaker:
    """Says prepared bodies one after another, the last of them again and again; `asked` counts."""

    def __init__(self, *bodies: Any, headers: dict[str, str] | None = None, cut: int = 0) -> None:
        self.asked = 0
        speaker = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                body = bodies[min(speaker.asked, len(bodies) - 1)]
                speaker.asked += 1
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(200)
                kind = "text/event-stream" if isinstance(body, bytes) else "application/json"
                for name, value in {"Content-Type": kind, "Content-Length": str(len(data)), **(headers or {})}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data[: len(data) // 2] if speaker.asked <= cut else data)
                self.close_connection = True

            def log_message(self, *_: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,))

    def __enter__(self) -> Speaker:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Any]:
    with ExitStack() as stack:

        def make(*bodies: Any, budget: Budget | None = None, prices: str = "", **how: Any) -> Any:
            upstream = {name: how.pop(name) for name in ("tells_cost",) if name in how}
            speaker = stack.enter_context(Speaker(*bodies, **how))
            table = tmp_path / "prices.toml"
            table.write_text(prices)
            gateway = stack.enter_context(
                Gateway(
                    [Upstream(name="up", base_url=speaker.url, **upstream)],
                    limits=CallLimits(first_wait=0.01, retries=2, settle=1.0),
                    prices=Prices.shipped(table),
                )
            )
            return speaker, gateway, gateway.admit("a", model="up/m", journal=tmp_path / "u.jsonl", budget=budget)

        yield make


def ask(gateway: Gateway, entry: Any, dialect: str = "chat", *, stream: bool = False) -> Any:
    url = address(entry.urls(gateway.origin), dialect, stream=stream)
    return send(url, request_body(dialect, stream=stream), key_header(dialect, entry.key))


@pytest.mark.parametrize("dialect", ["chat", "messages", "gemini"])
@pytest.mark.parametrize("streams", [False, True])
def test_an_error_with_status_200_is_retried(scene: Any, dialect: str, streams: bool) -> None:
    bad = stream(ERROR) if streams else ERROR
    good = stream(chunk("Hello."), {"model": "m", "choices": [], "usage": USAGE}) if streams else answer()
    speaker, gateway, entry = scene(bad, good)
    response = ask(gateway, entry, dialect, stream=streams)
    assert response.status == 200 and b"Hello." in response.body and b"provider returned" not in response.body
    totals = entry.close()
    (call,) = read_calls(entry.journal.path).calls
    assert speaker.asked == 2 and [(one.status, one.fault) for one in call.retries] == [(502, "upstream_error")]
    assert (totals.unknown, totals.usage.total, totals.outage) == (0, 1500, "")


@pytest.mark.parametrize(
    ("body", "status", "fault"),
    [
        (ERROR, 502, "upstream_error"),
        ({"choices": [{"error": {"code": 429, "message": "slow"}, "message": {"content": ""}}]}, 429, "rate_limited"),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}, 529, "upstream_error"),
        ({"error": {"code": "invalid", "message": "what"}}, 502, "upstream_error"),
        ({"error": "plain words"}, 502, "upstream_error"),
        ({"error": {"code": "400", "message": "bad request"}}, 400, "rejected"),
    ],
)
def test_one_that_stays_is_the_upstreams_fault_and_no_answer(scene: Any, body: Any, status: int, fault: str) -> None:
    speaker, gateway, entry = scene(body)
    assert ask(gateway, entry).status == status
    totals = entry.close()
    assert (totals.calls, totals.failed, totals.faults, totals.dollars) == (0, 1, {fault: 1}, 0)
    assert speaker.asked == (1 if status == 400 else 3)
    assert totals.outage == ("" if status == 400 else fault)


def test_a_null_error_and_one_that_was_worked_on_are_answers(scene: Any) -> None:
    speaker, gateway, entry = scene(answer(error=None), answer(error={"message": "cut short"}))
    assert [ask(gateway, entry).status for _ in range(2)] == [200, 200]
    assert entry.close().usage.total == 3000 and speaker.asked == 2


@pytest.mark.parametrize("streams", [False, True])
def test_the_cost_that_an_upstream_tells_counts_where_no_price_is_known(scene: Any, streams: bool) -> None:
    usage = {**USAGE, "cost": 0.0123}
    body = stream(chunk("Hi"), {**chunk(""), "choices": [], "usage": usage}) if streams else answer(usage)
    _, gateway, entry = scene(body)
    assert ask(gateway, entry, stream=streams).status == 200
    totals = entry.close()
    (call,) = read_calls(entry.journal.path).calls
    assert (call.price, call.upstream_cost, call.price_source) == (Decimal("0.0123"),) * 2 + ("told by the upstream",)
    assert totals.dollars == Decimal("0.0123") and call.answered_by == "vendor/model-2026-01"


def test_the_price_tables_word_stands_beside_the_upstreams(scene: Any) -> None:
    table = '[[price]]\nmodel="up/m"\nfrom=2020-01-01\ninput="1"\noutput="2"\nsource="our contract"\n'
    _, gateway, entry = scene(answer(), prices=table, headers={"x-litellm-response-cost": "0.5"})
    ask(gateway, entry)
    entry.close()
    (call,) = read_calls(entry.journal.path).calls
    assert (call.price, call.upstream_cost, call.price_source) == (Decimal("0.002"), Decimal("0.5"), "our contract")


@pytest.mark.by_day(3)
@pytest.mark.parametrize("told", ["-1", "nan", "1e999", "Infinity", "x", "99999999"])
def test_what_is_no_amount_is_no_cost(scene: Any, told: str) -> None:
    _, gateway, entry = scene(answer(), headers={"x-litellm-response-cost": told})
    ask(gateway, entry)
    assert entry.close().dollars is None


def test_with_a_key_of_ones_own_the_vendors_charge_is_added(scene: Any) -> None:
    usage = {**USAGE, "cost": 0.001, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.02}}
    _, gateway, entry = scene(answer(usage))
    ask(gateway, entry)
    assert entry.close().dollars == Decimal("0.021")


def test_the_tokens_of_a_cut_answer_that_was_asked_for_again_are_unknown(scene: Any) -> None:
    speaker, gateway, entry = scene(answer(), cut=1)
    assert ask(gateway, entry).status == 200
    totals = entry.close()
    assert speaker.asked == 2 and totals.retries == 1
    assert (totals.usage.total, totals.unknown, totals.dollars) == (1500, 1, None)
    assert "broke off" in totals.dollars_note or "no price" in totals.dollars_note


def test_dollars_hold_by_the_upstreams_word_one_call_at_a_time(scene: Any) -> None:
    usage = {**USAGE, "cost": 0.4}
    speaker, gateway, entry = scene(answer(usage), budget=Budget(dollars=Decimal(1)), tells_cost=True)
    assert [ask(gateway, entry).status for _ in range(5)] == [200, 200, 200, 403, 403]
    assert speaker.asked == 3 and entry.close().dollars == Decimal("1.2")


def test_parallel_calls_pass_such_a_budget_by_one_call_at_most(scene: Any) -> None:
    usage = {**USAGE, "cost": 0.4}
    speaker, gateway, entry = scene(answer(usage), budget=Budget(dollars=Decimal(1)), tells_cost=True)
    with ThreadPoolExecutor(10) as pool:
        answers = sorted(pool.map(lambda _: ask(gateway, entry).status, range(10)))
    assert answers == [200] * 3 + [403] * 7 and speaker.asked == 3
    assert entry.close().dollars == Decimal("1.2")


def test_dollars_that_nobody_tells_end_the_attempt(scene: Any) -> None:
    speaker, gateway, entry = scene(answer(), budget=Budget(dollars=Decimal(1)), tells_cost=True)
    assert [ask(gateway, entry).status for _ in range(2)] == [200, 403]
    assert speaker.asked == 1 and "cost" in entry.why
    entry.close()
