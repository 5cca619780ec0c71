"""A judge's way to its model: the model proxy opened for it alone, with its budget and journal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from repoassay.judges.sample import Asker
from repoassay.judges.store import JudgeRecord
from repoassay.model_proxy import CallLimits, Prices, ScriptedUpstream, Upstream, open_model
from repoassay.records import read_calls
from repoassay.types import Spending

__all__ = ["OpenModel", "open_judge", "spent_before"]


@dataclass(frozen=True, slots=True)
class OpenModel:
    """`asker` asks; `totals` says what was spent since opening; `abandon` ends calls under way."""

    asker: Asker
    totals: Callable[[], Spending]
    abandon: Callable[[], None]


@contextmanager
def open_judge(
    judge: JudgeRecord,
    upstreams: Iterable[Upstream | ScriptedUpstream],
    journal: Path,
    *,
    prices: Prices | None = None,
    budget: Decimal | None = None,
    limits: CallLimits | None = None,
) -> Iterator[OpenModel]:
    """Open the model proxy to a judge's model.

    Args:
        judge: Whose.
        upstreams: Where models are.
        journal: Its `usage.jsonl`, appended to; what it says was spent before counts against the budget.
        prices: The price table, by default the shipped one.
        budget: Dollars the judge may spend in all.
        limits: Bounds and times.

    Raises:
        BadInput: When the provider is unknown, its key is missing, or dollars are limited and the model has no price.
        MissingExtra: When the model proxy's packages are not installed.
    """
    parameters = judge.definition.parameters
    with open_model(
        judge.definition.model, upstreams, journal, name=f"judge-{judge.rater.id}", prices=prices, budget_usd=budget,
        before=spent_before(journal), limits=limits,
    ) as client:  # fmt: skip

        def asker(system: str, user: str) -> str:
            return client.ask(system, user, max_tokens=parameters.max_answer, temperature=parameters.temperature)

        def abandon() -> None:
            client.close()

        yield OpenModel(asker, client.spending, abandon)


def spent_before(journal: Path) -> Spending:
    """Return the account of a journal; empty where there is none."""
    return Spending.of(read_calls(journal).calls)
