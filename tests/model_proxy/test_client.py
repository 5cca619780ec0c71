"""A program of ours asks a model: its answer, why there is none, and what is left of the budget."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest

from fake_provider import FakeProvider
from repoassay.errors import BadInput
from repoassay.model_proxy import CallLimits, Dialogue, Prices, ScriptedUpstream, Turn, Upstream, known_upstreams
from repoassay.model_proxy.client import (
    BudgetSpent,
    NoAnswer,
    UnreadableAnswer,
    costs_nothing,
    find_upstream,
    open_budgeted,
    open_model,
)
from repoassay.model_proxy.dialogue import Fault
from repoassay.model_proxy.request_rules.parts import JsonObject
from repoassay.model_proxy.vendors import VENDORS, Chat, Reply
from repoassay.types import Spending, Usage

USAGE = Usage(input=1_000_000, output=0)
PRICES = '[[price]]\nmodel = "*"\nfrom = 2020-01-01\ninput = "1"\noutput = "1"\n'


class _Nonsense(Chat):
    def response(self, reply: Reply) -> JsonObject:
        return {"choices": 5}


def scripted(*turns: Turn) -> ScriptedUpstream:
    return ScriptedUpstream(Dialogue(turn=turns or (Turn(text="Yes.", usage=USAGE),), end="loop"))


def dollar_a_call(tmp_path: Path) -> Prices:
    (tmp_path / "prices.toml").write_text(PRICES)
    return Prices.shipped(tmp_path / "prices.toml")


@pytest.mark.parametrize("dialect", VENDORS)
def test_every_vendor_can_be_asked(tmp_path: Path, dialect: str) -> None:
    vendor = VENDORS[dialect]
    with FakeProvider(Dialogue(turn=(Turn(text="Yes.", usage=USAGE),))) as provider:
        upstream = Upstream(name="up", base_url=provider.origin + vendor.base_path, dialects=(dialect,))
        with open_model("up/any", [upstream], tmp_path / "usage.jsonl", name="test") as client:
            assert client.ask("You judge.", "Is it?", max_tokens=9, temperature=0.5) == "Yes."
            assert client.spending().usage == USAGE
    assert {name.lower() for name in vendor.client_headers} <= set(provider.seen[0])


def test_what_was_spent_before_counts_against_the_budget(tmp_path: Path) -> None:
    before = Spending(dollars_known=Decimal(3))
    with open_model(
        "scripted/x", [scripted()], tmp_path / "usage.jsonl", name="test", prices=dollar_a_call(tmp_path),
        budget_usd=Decimal(5), before=before,
    ) as client:  # fmt: skip
        for _ in range(2):
            client.ask("", "", max_tokens=1)
        with pytest.raises(BudgetSpent, match="2 dollars is spent"):
            client.ask("", "", max_tokens=1)
        assert client.close().dollars == 2


@pytest.mark.parametrize(("budget", "left"), [(None, None), (Decimal(5), 2), (Decimal(1), 0)])
def test_nothing_is_left_below_nothing(budget: Decimal | None, left: int | None) -> None:
    accounts = [Spending(dollars_known=Decimal(1)), Spending(dollars=None, dollars_known=Decimal(2))]
    with open_budgeted([scripted()], budget_usd=budget, before=accounts, listen=False) as gateway:
        assert gateway.run.budget.dollars == left


def test_a_refusal_and_nonsense_are_no_answers(tmp_path: Path) -> None:
    faults = scripted(Turn(text="x", fault=Fault(status=418, times=9)))
    with open_model(
        "scripted/x", [faults], tmp_path / "usage.jsonl", name="test", limits=CallLimits(retries=0)
    ) as client, pytest.raises(NoAnswer, match="status 418"):  # fmt: skip
        client.ask("", "", max_tokens=1)


def test_what_is_not_of_the_dialect_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(VENDORS, "chat", _Nonsense())
    with open_model("scripted/x", [scripted()], tmp_path / "usage.jsonl", name="test") as client, pytest.raises(
        UnreadableAnswer, match="not one of its dialect"
    ):  # fmt: skip
        client.ask("", "", max_tokens=1)


def test_letters_that_json_cannot_carry_are_shown(tmp_path: Path) -> None:
    with open_model("scripted/x", [scripted()], tmp_path / "usage.jsonl", name="test") as client:
        assert client.ask("\ud800", "\udfff", max_tokens=1) == "Yes."
    assert json.loads((tmp_path / "usage.jsonl").read_text().splitlines()[0])["attempt"] == "test"


def test_an_unknown_upstream_and_a_missing_key_are_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    known = known_upstreams().values()
    for model, word in (("scripted/x", "nothing to say"), ("nobody/x", "openai, openrouter"), ("openai/x", "_API_KEY")):
        with pytest.raises(BadInput, match=word):
            find_upstream(model, known)
    assert find_upstream("openai/x", known, with_key=False).name == "openai"


def test_only_what_is_scripted_or_here_without_a_key_costs_nothing() -> None:
    known = known_upstreams()
    assert costs_nothing(scripted()) and costs_nothing(known["ollama"])
    assert not costs_nothing(known["openai"])
    assert not costs_nothing(Upstream(name="far", base_url="http://10.0.0.5/v1"))
    assert not costs_nothing(Upstream(name="paid", base_url="http://localhost/v1", key_env="KEY"))
