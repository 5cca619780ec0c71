"""Whether a plan that was read from a file says what a plan can say: known settings, numbers within bounds."""

from __future__ import annotations

import math

from repoassay.engine.agent_settings import check_entry
from repoassay.errors import BadInput
from repoassay.model_proxy import split_model
from repoassay.types import Plan

__all__ = ["check_sane"]

_MOST = {"attempts": 1_000, "workers": 256, "size": 1_000_000}
_MOST_RETRIES = 10


def check_sane(plan: Plan) -> None:
    """Look at every number and name of a plan that decides what is done.

    Raises:
        BadInput: One is out of bounds or unknown.
    """
    for name, most in _MOST.items():
        if not 1 <= getattr(plan, name) <= most:
            raise _odd(f"{name} is {getattr(plan, name)}, not between 1 and {most}")
    if plan.timeout is not None and not (math.isfinite(plan.timeout) and plan.timeout > 0):
        raise _odd(f"timeout is {plan.timeout}")
    metering = plan.metering
    if metering.retries > _MOST_RETRIES:
        raise _odd(f"retries is {metering.retries}, more than {_MOST_RETRIES}")
    if any(places < 1 for places in metering.concurrency.values()):
        raise _odd("concurrency has a number below 1")
    for name, entry in plan.agents.items():
        check_entry(name, entry)
        if entry.model:
            split_model(entry.model)


def _odd(what: str) -> BadInput:
    return BadInput(f"The plan in run.json is none that `repoassay run` makes: {what}.", "Start a new run.")
