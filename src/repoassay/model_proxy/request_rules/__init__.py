"""What an attempt may ask of a model when the model is all it may reach: nothing by which the vendor acts for it.

A vendor's own web search, code runner, connectors, stored files and fetched addresses are the internet by another way,
and no price table has them. One file a dialect says what passes: fields on a list, tools the client runs, content that
lies in the request itself. What is not on a list is taken out where the agent loses nothing it was promised, and
refused where the answer would mean something else without it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from repoassay.model_proxy.request_rules.parts import JsonObject, Outside, passed_on

__all__ = ["ConfinedRequest", "confine", "passed_on"]

_MOST_NAMED = 20


@dataclass(frozen=True, slots=True)
class ConfinedRequest:
    """What became of a request: the names of what was taken out, and a sentence when it may not be asked at all."""

    left_out: tuple[str, ...] = ()
    refused: str = ""


def confine(rule: Callable[[JsonObject], list[str]], body: JsonObject) -> ConfinedRequest:
    """Take out of `body`, in place, what would make the vendor act beyond answering, by the vendor's own `rule`."""
    try:
        left_out = rule(body)
    except Outside as outside:
        return ConfinedRequest(refused=str(outside))
    return ConfinedRequest(tuple(name[:60] for name in left_out[:_MOST_NAMED]))
