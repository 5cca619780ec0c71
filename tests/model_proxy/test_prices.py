"""Prices: dated, tiered, overridden by users, and unknown where nothing is known."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from repoassay.errors import BadInput
from repoassay.model_proxy import Prices
from repoassay.model_proxy.price_map import read_price_map
from repoassay.types.usage import Usage

MILLION = 1_000_000
NOW = datetime(2025, 8, 1, tzinfo=UTC)


def test_the_papers_models_at_their_list_prices() -> None:
    prices = Prices.shipped()
    expected = {
        "openai/gpt-4o": ("2.5", "10"),
        "openai/gpt-4.1-2025-04-14": ("2", "8"),
        "openai/o3-mini": ("1.1", "4.4"),
        "anthropic/claude-3-5-sonnet-20241022": ("3", "15"),
        "anthropic/claude-3-7-sonnet-20250219": ("3", "15"),
        "deepseek/deepseek-chat": ("0.27", "1.1"),
        "openrouter/anthropic/claude-3-7-sonnet": ("3", "15"),
    }
    for model, (taken, given) in expected.items():
        assert prices.cost(model, Usage(input=MILLION), NOW).dollars == Decimal(taken), model
        assert prices.cost(model, Usage(output=MILLION), NOW).dollars == Decimal(given), model


def test_the_most_particular_pattern_and_the_latest_date_win() -> None:
    prices = Prices.shipped()
    assert prices.cost("openai/gpt-4o-mini", Usage(input=MILLION), NOW).dollars == Decimal("0.15")
    assert prices.cost("openai/gpt-4o-2024-05-13", Usage(input=MILLION), NOW).dollars == 5
    june = [prices.find("openai/o3", date(2025, 6, day)) for day in (9, 10)]
    assert [entry.input for entry in june if entry is not None] == [10, 2]
    assert prices.find("vllm/o3", date(2020, 1, 1)) is None


def test_a_tier_holds_for_the_whole_call() -> None:
    prices = Prices.shipped()
    low = prices.cost("gemini/gemini-2.5-pro", Usage(input=200_000, output=1000), NOW).dollars
    high = prices.cost("gemini/gemini-2.5-pro", Usage(input=200_001, output=1000), NOW).dollars
    assert (low, high) == (Decimal("0.26"), Decimal("0.5150025"))


def test_cached_tokens_and_cache_writes_have_their_own_prices() -> None:
    usage = Usage(input=1000, output=100, cached=600, cache_write=300)
    dollars = Prices.shipped().cost("anthropic/claude-3-7-sonnet", usage, NOW).dollars
    assert dollars == (100 * 3 + 600 * Decimal("0.3") + 300 * Decimal("3.75") + 100 * 15) / MILLION


def test_unknown_is_none_with_a_reason_and_never_zero() -> None:
    prices = Prices.shipped()
    for model, usage in (("vllm/qwen3-32b", Usage(input=5)), ("openai/gpt-4o", None), ("openai/gpt-77", Usage())):
        cost = prices.cost(model, usage, NOW)
        assert cost.dollars is None and cost.note


def test_a_users_table_overrides(tmp_path: Path) -> None:
    table = tmp_path / "mine.toml"
    table.write_text('[[price]]\nmodel = "vllm/*"\nfrom = 2020-01-01\ninput = 0.1\noutput = "0"\n')
    again = tmp_path / "again.toml"
    again.write_text('[[price]]\nmodel = "gpt-4o"\nfrom = 2020-01-01\ninput = "7"\noutput = "7"\n')
    prices = Prices.shipped(table, again)
    assert prices.cost("vllm/qwen3-32b", Usage(input=MILLION), NOW).dollars == Decimal("0.1")
    assert prices.cost("openai/gpt-4o", Usage(input=MILLION), NOW).dollars == 7
    assert prices.cost("openai/gpt-4o-mini", Usage(input=MILLION), NOW).dollars == Decimal("0.15")


@pytest.mark.parametrize(
    "text",
    [
        "not toml",
        "[[price]]\nmodel = 'm'",
        "[[price]]\nmodel='m'\nfrom=2020-01-01\ninput='-1'\noutput='1'",
        "[[price]]\nmodel='m'\nfrom=2020-01-01\ninput='1'\noutput='1'\nimput='1'",
        "[[prices]]",
    ],
)
def test_bad_tables_are_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "bad.toml").write_text(text)
    with pytest.raises(BadInput, match=r"bad\.toml"):
        Prices.shipped(tmp_path / "bad.toml")


def test_litellms_map(tmp_path: Path) -> None:
    path = tmp_path / "map.json"
    entry = {"litellm_provider": "x", "mode": "chat", "input_cost_per_token": 1.25e-06, "output_cost_per_token": 1e-05}
    tiers = {
        "input_cost_per_token_above_200k_tokens": 2.5e-06,
        "output_cost_per_token_above_200k_tokens": 1.5e-05,
        "cache_read_input_token_cost": 3.125e-07,
    }
    strange = {"input_cost_per_token": "free", "output_cost_per_token": True}
    models = {"sample_spec": entry, "gemini/g[1]": {**entry, **tiers}, "free": {**entry, "input_cost_per_token": 0}}
    path.write_text(json.dumps({**models, "odd": strange, "image": {"output_cost_per_image": 1}, "text": "x"}))
    assert [price.model for price in read_price_map(path)] == ["gemini/g[[]1]", "free"]
    prices = Prices.shipped(path)
    assert prices.cost("gemini/g[1]", Usage(input=MILLION), NOW).dollars == Decimal("2.5")
    assert prices.cost("gemini/g[1]", Usage(input=100_000, cached=100_000), NOW).dollars == Decimal("0.03125")
    for bad in ("[]", "{", '{"a": ' * 5000):
        path.write_text(bad)
        with pytest.raises(BadInput, match=r"map\.json"):
            read_price_map(path)
