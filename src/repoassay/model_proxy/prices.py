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
from repoassay.model_proxy.price import Price
from repoassay.model_proxy.price_map import read_price_map
from repoassay.types import Usage

__all__ = ["READERS", "Cost", "Prices", "read_table"]


@dataclass(frozen=True, slots=True)
class Cost:
    """Dollars, or None and the reason; `source` says where the price is from."""

    dollars: Decimal | None
    note: str = ""
    source: str = ""


class Prices:
    """A price table. Later tables override earlier ones for the models they name."""

    def __init__(self, *tables: Sequence[Price]) -> None:
        self._tables = tuple(tuple(table) for table in reversed(tables))
        self._found: dict[tuple[str, date], Price | None] = {}

    @classmethod
    def shipped(cls, *user_tables: Path) -> Prices:
        """The table that comes with the package, overridden by the user's own files.

        Raises:
            BadInput: A file is missing or has something else in it than prices.
        """
        own = files("repoassay.model_proxy").joinpath("prices.toml").read_text("utf-8")
        return cls(_parse(own, "prices.toml"), *(read_table(path) for path in user_tables))

    def find(self, model: str, on: date) -> Price | None:
        """The entry that holds for `model` (`provider/name` or `name`) on a day."""
        if (model, on) not in self._found:
            if len(self._found) > 10_000:
                self._found.clear()
            self._found[model, on] = self._search(model, on)
        return self._found[model, on]

    def _search(self, model: str, on: date) -> Price | None:
        names = {model, model.partition("/")[2] or model, model.rpartition("/")[2]}
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


READERS: Mapping[str, Callable[[Path], list[Price]]] = {".toml": _read_toml, ".json": read_price_map}
"""Readers of price tables by the suffix of the file; `.json` is LiteLLM's price map."""
