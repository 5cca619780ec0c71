"""`repoassay models`: what models cost, and where that is known from."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from repoassay.json_output import print_document
from repoassay.options import PATH, json_option

if TYPE_CHECKING:
    from repoassay.model_proxy import Price

__all__ = ["models"]


@click.group()
def models() -> None:
    """Say what models cost, and renew the table of prices.

    \b
    Examples:
      repoassay models prices openai/gpt-4.1 anthropic/claude-sonnet-4-5
    """


@models.command()
@click.argument("names", nargs=-1, metavar="[PROVIDER/NAME]...")
@click.option("--prices", "tables", multiple=True, type=PATH, metavar="FILE", help="Price tables put on top.")
@click.option("--refresh", metavar="SOURCE", help="Write a table of SOURCE: a wheel of genai-prices, LiteLLM's "
              "price map, or the name of one of these packages where it is installed.")  # fmt: skip
@click.option("--provider", "providers", multiple=True, metavar="NAME", help="Of --refresh, models of these alone.")
@click.option("--out", "target", type=PATH, metavar="FILE", help="Where --refresh writes.")
@json_option
def prices(
    names: tuple[str, ...],
    tables: tuple[Path, ...],
    refresh: str | None,
    providers: tuple[str, ...],
    target: Path | None,
    as_json: bool,
) -> None:
    """Print the prices of models, each with its source, or renew a table from a data source.

    Prices are dollars a million tokens. Nothing is fetched: get the data as a file first, such as with
    `pip download --no-deps genai-prices`. Use what --refresh wrote with --prices FILE.

    \b
    Examples:
      repoassay models prices gemini/gemini-2.5-pro
      repoassay models prices --refresh genai_prices-0.2.3-py3-none-any.whl --provider openai --out prices.toml
    """
    from repoassay.errors import BadInput
    from repoassay.model_proxy import Prices

    if refresh is not None:
        if target is None or names or as_json:
            raise BadInput("--refresh writes a table and prints none.", "Say where with --out FILE.")
        _refresh(refresh, providers, target)
        return
    if not names:
        raise BadInput("No model is named.", "Name some as PROVIDER/NAME, or give --refresh SOURCE.")
    table, today = Prices.shipped(*tables), datetime.now(UTC).date()
    found = {name: table.find(name, today) for name in names}
    if as_json:
        print_document([{"model": name, "price": _facts(price)} for name, price in found.items()])
        return
    for name, price in found.items():
        click.echo(f"{name:<40} " + ("no price" if price is None else _line(price)))


def _facts(price: Price | None) -> dict[str, object] | None:
    if price is None:
        return None
    facts = price.model_dump(mode="json", by_alias=True)
    return {"pattern": facts.pop("model"), **facts}


def _line(price: Price) -> str:
    cached = "" if price.cached is None else f", cached {price.cached.normalize():f}"
    tiers = "".join(f"; above {tier.above:,} tokens {tier.input:f} and {tier.output:f}" for tier in price.tier)
    rates = f"in {price.input.normalize():f}, out {price.output.normalize():f}{cached}{tiers}"
    return f"{rates}  ({price.source or 'no source'}; {price.model})"


def _refresh(source: str, providers: tuple[str, ...], target: Path) -> None:
    from repoassay.model_proxy import installed_prices, read_table, table_text

    path = Path(source) if Path(source).suffix else installed_prices(source)
    found = read_table(path)
    if providers:
        found = [price for price in found if price.model.partition("/")[0] in providers]
    day = datetime.now(UTC).date()
    sources = ", ".join(sorted({price.source.partition(";")[0] for price in found}))
    heading = f"Dollars per million tokens out of {sources}, read {day} by `repoassay models prices --refresh`."
    target.write_text(table_text(found, heading), "utf-8")
    click.echo(f"{len(found)} prices out of {sources} are in {target}; use them with --prices {target}.")
