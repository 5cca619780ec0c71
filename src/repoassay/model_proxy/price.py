"""What one model's tokens cost: an entry of a price table; see `repoassay.model_proxy.prices` for its fields."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from pydantic import Field

from repoassay.types import Record, Usage

__all__ = ["Price", "Tier"]

_MILLION = Decimal(1_000_000)


class Tier(Record):
    """Dollars per million tokens for calls whose input is larger than `above` tokens."""

    above: int = Field(ge=0)
    input: Decimal = Field(ge=0)
    output: Decimal = Field(ge=0)
    cached: Decimal | None = Field(default=None, ge=0)
    cache_write: Decimal | None = Field(default=None, ge=0)


class Price(Record):
    """Dollars per million tokens of the models whose names match `model`, from a day on."""

    model: str = Field(min_length=1)
    since: date = Field(alias="from")
    input: Decimal = Field(ge=0)
    output: Decimal = Field(ge=0)
    cached: Decimal | None = Field(default=None, ge=0)
    cache_write: Decimal | None = Field(default=None, ge=0)
    source: str = ""
    tier: tuple[Tier, ...] = ()

    def of(self, usage: Usage) -> Decimal:
        """Dollars for `usage`."""
        fits = [tier for tier in self.tier if usage.input > tier.above]
        rate: Price | Tier = max(fits, key=lambda tier: tier.above) if fits else self
        cached = rate.input if rate.cached is None else rate.cached
        write = rate.input if rate.cache_write is None else rate.cache_write
        read = usage.fresh * rate.input + usage.cached * cached + usage.cache_write * write
        return (read + usage.output * rate.output) / _MILLION
