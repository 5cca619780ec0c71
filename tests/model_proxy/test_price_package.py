"""Prices out of genai-prices: read as text and never run, dated, tiered, and written as a table that reads back."""

from __future__ import annotations

import zipfile
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from click.testing import CliRunner

from json_answers import data_of
from repoassay.cli.main import cli
from repoassay.errors import BadInput
from repoassay.model_proxy import Prices
from repoassay.model_proxy.price_package import read_price_package
from repoassay.types.usage import Usage

DATA = """
from .types import *
open({marker!r}, "w")
providers: list[Provider] = [
    Provider(
        id='google', name='Google', pricing_urls=['https://prices.example/page'],
        models=[
            ModelInfo(id='g-pro', match=ClauseOr(or_=[ClauseStartsWith(starts_with='g-pro'), ClauseEquals(equals='[x]')]),
                prices=ModelPrice(
                    input_mtok=TieredPrices(base=Decimal('1'), tiers=[Tier(start=200000, price=Decimal('2'))]),
                    output_mtok=Decimal('10'), cache_read_mtok=Decimal('0.1'))),
            ModelInfo(id='dated', match=ClauseEquals(equals='dated'), prices=[
                ConditionalPrice(prices=ModelPrice(input_mtok=Decimal('8'), output_mtok=Decimal('8'))),
                ConditionalPrice(constraint=StartDateConstraint(start_date=datetime.date(2026, 5, 1)),
                                 prices=ModelPrice(input_mtok=Decimal('4'), output_mtok=Decimal('4')))]),
            ModelInfo(id='nightly', match=ClauseEquals(equals='nightly'), prices=[
                ConditionalPrice(constraint=TimeOfDateConstraint(start_time=datetime.time(1)),
                                 prices=ModelPrice(input_mtok=Decimal('8'), output_mtok=Decimal('8'))),
                ConditionalPrice(prices=ModelPrice(input_mtok=Decimal('4'), output_mtok=Decimal('4')))]),
            ModelInfo(id='pictures', match=ClauseEquals(equals='pictures'), prices=ModelPrice(requests_kcount=Decimal(1))),
            ModelInfo(id='by-regex', match=ClauseRegex(regex='.*'),
                      prices=ModelPrice(input_mtok=Decimal('3'), output_mtok=Decimal('3'))),
        ],
    ),
]
"""  # noqa: E501 - as the package has it


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    path = tmp_path / "genai_prices-9.8.7-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("genai_prices/data.py", DATA.format(marker=str(tmp_path / "ran")))
        archive.writestr("genai_prices-9.8.7.dist-info/METADATA", "Name: genai-prices")
    return path


def test_it_is_read_and_not_run(wheel: Path, tmp_path: Path) -> None:
    found = read_price_package(wheel)
    assert not (tmp_path / "ran").exists()
    models = [price.model for price in found]
    assert models == ["gemini/g-pro*", "gemini/[[]x]", "gemini/dated", "gemini/dated", "gemini/by-regex"]
    assert {price.source for price in found} == {"genai-prices 9.8.7; https://prices.example/page"}


def test_its_prices_hold_from_their_day_and_in_their_tier(wheel: Path) -> None:
    prices = Prices.shipped(wheel)
    assert [prices.find("gemini/dated", day).input for day in (date(2026, 4, 30), date(2026, 5, 1))] == [8, 4]  # type: ignore[union-attr]
    at = datetime(2026, 6, 1, tzinfo=UTC)
    assert prices.cost("gemini/g-pro-2", Usage(input=200_001), at).dollars == Decimal("0.400002")
    assert prices.cost("gemini/g-pro-2", Usage(input=1000, cached=1000), at).dollars == Decimal("0.0001")
    assert prices.cost("gemini/nightly", Usage(), at).dollars is None


def test_a_table_made_of_it_says_the_same(wheel: Path, tmp_path: Path) -> None:
    out = tmp_path / "prices.toml"
    done = CliRunner().invoke(cli, ["models", "prices", "--refresh", str(wheel), "--out", str(out)])
    assert done.exit_code == 0 and "5 prices out of genai-prices 9.8.7" in done.output
    assert str(datetime.now(UTC).year) in out.read_text().splitlines()[0]
    again, before = Prices.shipped(out), Prices.shipped(wheel)
    for model in ("gemini/g-pro-x", "gemini/[x]", "gemini/dated", "gemini/by-regex"):
        assert again.find(model, date(2026, 6, 1)) == before.find(model, date(2026, 6, 1)) is not None
    done = CliRunner().invoke(cli, ["models", "prices", "gemini/dated", "vllm/own", "--prices", str(out)])
    assert "in 4, out 4" in done.output and "genai-prices 9.8.7" in done.output and "no price" in done.output
    done = CliRunner().invoke(cli, ["models", "prices", "gemini/g-pro", "vllm/own", "--prices", str(out), "--json"])
    known, unknown = data_of(done.output)
    assert known["price"]["tier"][0]["above"] == 200_000 and unknown == {"model": "vllm/own", "price": None}


@pytest.mark.parametrize(
    "text", ["", "providers = [", "providers = [Provider(id=f())]", "providers = [Provider()]", "x = " + "(" * 5000]
)
def test_what_is_no_such_data_is_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "data.py"
    path.write_text(text)
    with pytest.raises(BadInput, match=r"data\.py"):
        read_price_package(path)


@pytest.mark.parametrize(
    "words",
    [["--refresh", "genai-prices"], ["--refresh", "numpy", "--out", "x.toml"], [], ["a/b", "--refresh", "x.whl"]],
)
def test_careless_commands_get_a_sentence(words: list[str]) -> None:
    done = CliRunner().invoke(cli, ["models", "prices", *words])
    assert done.exit_code != 0 and isinstance(done.exception, BadInput)


def test_shipped_data_says_where_it_is_from_and_lies_beneath_the_table_kept_by_hand() -> None:
    prices = Prices.shipped()
    today = date(2026, 11, 23)
    data, hand = prices.find("x-ai/grok-4", today), prices.find("openai/gpt-4.1", today)
    assert data is not None and data.source.startswith("genai-prices ")
    assert hand is not None and hand.source.startswith("OpenAI list price")
    assert prices.find("mine/grok-4", today) is None  # what others ask for it is not known
