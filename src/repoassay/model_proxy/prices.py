"""What tokens cost: a dated, tiered table in TOML; a model it does not know has no price, which is never zero.

::

    [[price]]
    model = "gemini-2.5-pro*"   # pattern over the model's name, with or without its provider before a slash
    from = 2025-06-17           # the first day it holds
    input = "1.25"              # US dollars per million tokens
    output = "10"
    cached = "0.31"             # read from a cache; as `input` when absent
    cache_write = "0"           # written to a cache; as `input` when absent
    source = "where it was read"
    tier = [{ above = 200_000, input = "2.50", output = "15", cached = "0.625" }]

A tier holds for the whole call when its input is larger than `above`. Of the entries that match, the most particular
pattern wins (the longest without its stars), then the latest date that is not after the call.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fnmatch import fnmatchcase
from importlib.resources import files
from pathlib import Path

from pydantic import ValidationError

from repoassay.errors import BadInput
from repoassay.model_proxy.price import Price, Tier
from repoassay.model_proxy.price_map import read_price_map
from repoassay.model_proxy.price_package import read_price_package
from repoassay.text import printable
from repoassay.types import Usage

__all__ = ["IN_DATA", "READERS", "Cost", "Prices", "read_table", "table_text"]


@dataclass(frozen=True, slots=True)
class Cost:
    """Dollars, or None and the reason; `source` says where the price is from."""

    dollars: Decimal | None
    note: str = ""
    source: str = ""


class Prices:
    """A price table. Later tables override earlier ones for the models they name.

    Args:
        tables: Prices.
        beneath: Reads the table that is asked last; called at most once, when nothing else has a model's price.
    """

    def __init__(self, *tables: Sequence[Price], beneath: Callable[[], list[Price]] | None = None) -> None:
        self._tables = tuple(tuple(table) for table in reversed(tables))
        self._beneath = beneath
        self._found: dict[tuple[str, date], Price | None] = {}

    @classmethod
    def shipped(cls, *user_tables: Path) -> Prices:
        """The tables that come with the package, overridden by the user's own files.

        The first is kept by hand; beneath it lies what `repoassay models prices --refresh` made of genai-prices.

        Raises:
            BadInput: A file is missing or has something else in it than prices.
        """
        tables = (read_table(path) for path in user_tables)
        return cls(_shipped("prices.toml"), *tables, beneath=lambda: _shipped("prices_data.toml"))

    def find(self, model: str, on: date) -> Price | None:
        """The entry that holds for `model` (`provider/name` or `name`) on a day."""
        if (model, on) not in self._found:
            if len(self._found) > 10_000:
                self._found.clear()
            self._found[model, on] = self._search(model, on)
        return self._found[model, on]

    def _search(self, model: str, on: date) -> Price | None:
        names = {model, model.partition("/")[2] or model, model.rpartition("/")[2]}
        if (price := self._in_tables(names, on)) is None and model.partition("/")[0] in IN_DATA and self._beneath:
            self._tables, self._beneath = (*self._tables, tuple(self._beneath())), None
            price = self._in_tables(names, on)
        return price

    def _in_tables(self, names: set[str], on: date) -> Price | None:
        for table in self._tables:
            fits = [entry for entry in table if any(fnmatchcase(name, entry.model) for name in names)]
            fits = [entry for entry in fits if entry.since <= on]
            if fits:
                return max(fits, key=lambda entry: (len(entry.model.replace("*", "")), entry.since))
        return None

    def cost(self, model: str, usage: Usage | None, at: datetime) -> Cost:
        """What a call cost."""
        if usage is None:
            return Cost(None, "the upstream told no usage")
        entry = self.find(model, at.date())
        if entry is None:
            return Cost(None, f"no price for {model} on {at.date()}")
        return Cost(entry.of(usage), source=entry.source)


IN_DATA = frozenset(
    {
        "anthropic", "cerebras", "cohere", "deepseek", "fireworks", "gemini", "groq", "minimax", "mistral",
        "moonshotai", "openai", "together", "x-ai", "zai",
    }
)  # fmt: skip
"""Providers of which the shipped data has prices; OpenRouter tells its own with every answer."""


def _shipped(name: str) -> list[Price]:
    return _parse(files("repoassay.model_proxy").joinpath(name).read_text("utf-8"), name)


def read_table(path: Path) -> list[Price]:
    """Read one price table by the reader of its suffix; what has none is TOML.

    Raises:
        BadInput: It cannot be read or has something else in it than prices.
    """
    return READERS.get(path.suffix, _read_toml)(path)


def _read_toml(path: Path) -> list[Price]:
    try:
        return _parse(path.read_text("utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"The price table {path} cannot be read ({error}).", "Give a TOML file of prices.") from error


def _parse(text: str, name: str) -> list[Price]:
    try:
        table = tomllib.loads(text, parse_float=Decimal)
        if set(table) - {"price"}:
            raise BadInput(
                f"The price table {name} has the unknown key {min(set(table) - {'price'})}.", "Use [[price]]."
            )
        return [Price.model_validate(entry) for entry in table.get("price", [])]
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"The price table {name} is not TOML: {error}.") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise BadInput(f"The price table {name} has a bad entry: {place}: {first['msg']}.") from error


READERS: Mapping[str, Callable[[Path], list[Price]]] = {
    ".toml": _read_toml, ".json": read_price_map, ".whl": read_price_package, ".py": read_price_package,
}  # fmt: skip
"""Readers of price tables by the suffix of the file; `.json` is LiteLLM's price map, the last two are genai-prices."""


def table_text(prices: Sequence[Price], heading: str) -> str:
    """A price table as TOML, with a heading of comments."""
    lines = [f"# {line}".rstrip() for line in heading.splitlines()]
    for price in prices:
        lines += ["", "[[price]]", f"model = {_quoted(price.model)}", f"from = {price.since}", *_rates(price)]
        lines.append(f"source = {_quoted(price.source)}")
        if price.tier:
            tiers = [", ".join([f"above = {tier.above}", *_rates(tier)]) for tier in price.tier]
            lines.append("tier = [" + ", ".join(f"{{ {tier} }}" for tier in tiers) + "]")
    return "\n".join(lines) + "\n"


def _rates(rate: Price | Tier) -> list[str]:
    named = {name: getattr(rate, name) for name in ("input", "output", "cached", "cache_write")}
    return [f'{name} = "{value.normalize():f}"' for name, value in named.items() if value is not None]


def _quoted(text: str) -> str:
    return json.dumps(printable(text, 300), ensure_ascii=False)
