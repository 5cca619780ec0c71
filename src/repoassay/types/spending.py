"""What was spent on models: tokens, calls and dollars as the model proxy counted them, never as an agent tells it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import reduce
from typing import Self

from pydantic import Field

from repoassay.types.base import Record
from repoassay.types.calls import Call
from repoassay.types.usage import Usage

__all__ = ["Spending"]


class Spending(Record):
    """The account of one attempt, or a sum of several.

    Attributes:
        calls: Calls the upstream answered with success.
        failed: Forwarded calls that ended otherwise. `refused`: requests the model proxy did not forward.
        usage: The sum over calls whose usage is known. `unknown`: how many answered calls reported none, and tries that
            broke off.
        dollars: US dollars; None when any answered call has no price, and `dollars_note` says why.
        dollars_known: The sum over the calls that have a price, a lower bound.
        retries: Tries of the model proxy beyond the first of each call.
        faults: How often each fault word was journalled.
        outage: The fault that ended the last forwarded call when it was the upstream's or ours, else empty: an
            attempt that ended so failed through no fault of its agent. A sum has none: its parts ended apart.
        exhausted: Why a budget or the context window ended it, empty when none did; a sum has none.
        models: Names of the models that answered.
    """

    calls: int = 0
    failed: int = 0
    refused: int = 0
    usage: Usage = Usage()
    unknown: int = 0
    dollars: Decimal | None = Decimal(0)
    dollars_note: str = ""
    dollars_known: Decimal = Decimal(0)
    retries: int = 0
    faults: dict[str, int] = Field(default_factory=dict)
    outage: str = ""
    exhausted: str = ""
    models: tuple[str, ...] = ()

    @classmethod
    def of(cls, calls: Iterable[Call]) -> Self:
        """The account of an attempt's calls, in the order they ended."""
        return reduce(cls.with_call, calls, cls())

    def with_call(self, call: Call) -> Self:
        """The account with one more call, the last that ended."""
        answered, priced = call.answered, call.price or Decimal(0)
        note = call.price_note if answered else ""
        if call.untold and not note:
            note = "tries that broke off did not tell their tokens"
        unpriced = bool(note) or (answered and call.price is None)
        outage = self.outage
        if call.forwarded:
            outage = call.fault if call.whose in ("upstream", "ours") else ""
        return type(self)(
            calls=self.calls + answered,
            failed=self.failed + (call.forwarded and not answered and bool(call.fault)),
            refused=self.refused + bool(call.refused),
            usage=self.usage + call.usage if call.usage is not None else self.usage,
            unknown=self.unknown + (answered and call.usage is None) + call.untold,
            dollars=None if self.dollars is None or unpriced else self.dollars + priced,
            dollars_note=self.dollars_note or note,
            dollars_known=self.dollars_known + priced,
            retries=self.retries + len(call.retries),
            faults=_sum(self.faults, {call.fault: 1} if call.fault else {}),
            outage=outage,
            exhausted=self.exhausted,
            models=_union(self.models, (call.served,) if answered else ()),
        )

    def __add__(self, other: Spending) -> Spending:
        unknown = self.dollars is None or other.dollars is None
        return Spending(
            calls=self.calls + other.calls,
            failed=self.failed + other.failed,
            refused=self.refused + other.refused,
            usage=self.usage + other.usage,
            unknown=self.unknown + other.unknown,
            dollars=None if unknown else (self.dollars or Decimal(0)) + (other.dollars or Decimal(0)),
            dollars_note=self.dollars_note or other.dollars_note,
            dollars_known=self.dollars_known + other.dollars_known,
            retries=self.retries + other.retries,
            faults=_sum(self.faults, other.faults),
            models=_union(self.models, other.models),
        )


def _sum(some: Mapping[str, int], more: Mapping[str, int]) -> dict[str, int]:
    return {name: some.get(name, 0) + more.get(name, 0) for name in {**some, **more}}


def _union(some: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*some, *more)))
