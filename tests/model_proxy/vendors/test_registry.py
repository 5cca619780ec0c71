"""Another vendor is one class and one name in the registry: it is recognised, forwarded, metered and asked by us."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from fake_provider import FakeProvider
from repoassay.agents.spec import AgentSpec
from repoassay.model_proxy import Dialogue, Turn, Upstream
from repoassay.model_proxy.client import open_model
from repoassay.model_proxy.vendors import VENDORS, Asks, Chat, Route
from repoassay.model_proxy.vendors.protocol import Reply
from repoassay.records.calls import read_calls
from repoassay.types import Usage


class Fifth(Chat):
    """Chat completions at another address, with its key in another header."""

    name = "fifth"
    base_path = "/v5"

    def route(self, method: str, path: str, query: Mapping[str, str]) -> Route | None:
        return Route(Asks.REPLY) if (method, path) == ("POST", "/v5/talk") else None

    def url(self, base: str, route: Route, model: str) -> str:
        return f"{base}/talk"

    def key(self, headers: Mapping[str, str], query: Mapping[str, str]) -> str:
        return headers.get("X-Fifth", "")

    def sign(self, key: str) -> dict[str, str]:
        return {"X-Fifth": key} if key else {}


@pytest.fixture
def fifth(monkeypatch: pytest.MonkeyPatch) -> Fifth:
    vendor = Fifth()
    monkeypatch.setitem(VENDORS, vendor.name, vendor)
    return vendor


def test_a_fifth_vendor_is_asked_and_metered(fifth: Fifth, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIFTH_KEY", "the-real-key")
    dialogue = Dialogue(turn=(Turn(text="Five.", usage=Usage(input=7, output=2)),))
    with FakeProvider(dialogue) as provider:
        upstream = Upstream(name="five", base_url=f"{provider.origin}/v5", dialects=("fifth",), key_env="FIFTH_KEY")
        with open_model("five/any", [upstream], tmp_path / "usage.jsonl", name="test") as client:
            assert client.ask("You count.", "How many?", max_tokens=10) == "Five."
    (call,) = read_calls(tmp_path / "usage.jsonl").calls
    assert (call.dialect, call.path, call.usage) == ("fifth", "/v5/talk", Usage(input=7, output=2))
    assert provider.seen[0]["key"] == "the-real-key"


def test_an_agent_may_speak_it(fifth: Fifth) -> None:
    run = {"command": ["/agent/bin/a", "{prompt}"]}
    assert AgentSpec.model_validate({"schema": 1, "name": "a", "dialect": "fifth", "run": run}).dialect == "fifth"


@pytest.mark.parametrize("name", VENDORS)
def test_a_vendor_reads_the_usage_it_writes_but_for_what_it_does_not_report(name: str) -> None:
    vendor, usage = VENDORS[name], Usage(input=100, output=50, cached=30, cache_write=20, reasoning=10)
    reported = usage.model_copy(update=dict.fromkeys(vendor.untold, 0))
    assert vendor.usage(vendor.response(Reply("1", "m", "Hi.", (), usage))) == reported


@pytest.mark.parametrize("name", VENDORS)
def test_a_prompt_that_is_too_long_is_told_in_numbers(name: str) -> None:
    assert all(number in VENDORS[name].too_long(1234, 567) for number in ("1234", "567"))
