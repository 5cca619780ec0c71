"""What a plan may cost at most, or why nobody can know."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from repoassay.engine.models import prices_of, provider_of, upstreams_of
from repoassay.model_proxy import Price, Prices, Tier, costs_nothing
from repoassay.types import AgentEntry, Plan

__all__ = ["CostBound", "bound_of"]


@dataclass(frozen=True, slots=True)
class CostBound:
    """The most a plan may cost in dollars; None is unknown. `why` says what the figure rests on, or why there is none.

    `limited` when the user's own limits in dollars hold it: then nothing unforeseen can be spent. Every limit may be
    passed by one model call an attempt, since what a call costs is known when it is over.
    """

    dollars: Decimal | None
    why: str
    limited: bool = False

    @property
    def free(self) -> bool:
        """Whether nothing can be spent."""
        return self.dollars == 0


def bound_of(plan: Plan, slots: int | None = None) -> CostBound:
    """The upper bound of a plan, or of so many attempts of each of its entries as `slots` says, retries among them.

    Raises:
        BadInput: A file of the plan is not what it should be.
    """
    upstreams, prices = upstreams_of(plan.metering), prices_of(plan.metering)
    total, reasons, all_limited = Decimal(0), [], True
    tries = 1 + plan.metering.retries
    for entry in plan.agents.values():
        model = entry.model
        if not model or costs_nothing(upstreams[provider_of(entry)]):
            continue
        each = _most(entry, prices)
        all_limited = all_limited and entry.budget_usd is not None
        if each.dollars is None:
            reasons.append(f"{model}: {each.why}")
        else:
            total += each.dollars * (slots or len(plan.tasks) * plan.attempts) * tries
    whole = plan.metering.budget_usd
    if whole is not None and (reasons or whole < total):
        return CostBound(whole, "the run's budget", limited=True)
    if reasons:
        return CostBound(None, "; ".join(dict.fromkeys(reasons)))
    if total == 0:
        return CostBound(total, _free(plan, prices))
    retried = f", each made up to {tries} times should a fault of ours spoil it" if tries > 1 else ""
    return CostBound(total, f"the limits of each attempt{retried}", limited=all_limited)


def _free(plan: Plan, prices: Prices) -> str:
    """Why nothing is spent; prices given for models that cost nothing are still reckoned with."""
    models = {entry.model for entry in plan.agents.values() if entry.model}
    if not models:
        return "no model"
    priced = any(prices.find(model, datetime.now(UTC).date()) for model in models)
    return "scripted and local models alone" + (", whose listed prices are reckoned and not spent" if priced else "")


def _most(entry: AgentEntry, prices: Prices) -> CostBound:
    """The most one attempt may cost."""
    found = [entry.budget_usd] if entry.budget_usd is not None else []
    price = prices.find(entry.model, datetime.now(UTC).date())
    if entry.max_tokens is not None and price is not None:
        tiers: list[Price | Tier] = [price, *price.tier]
        rates = [rate for tier in tiers for rate in _rates(tier)]
        found.append(max(rates) * entry.max_tokens / 1_000_000)
    if found:
        return CostBound(min(found), "")
    return CostBound(None, "it has no price" if price is None else "neither its dollars nor its tokens are limited")


def _rates(tier: Price | Tier) -> list[Decimal]:
    """Dollars a million tokens, whatever kind of token."""
    return [rate for rate in (tier.input, tier.output, tier.cached, tier.cache_write) if rate is not None]
