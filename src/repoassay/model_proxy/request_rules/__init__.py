"""What an attempt may ask of a model when the model is all it may reach: nothing by which the vendor acts for it.

A vendor's own web search, code runner, connectors, stored files and fetched addresses are the internet by another way,
and no price table has them. One file a dialect says what passes: fields on a list, tools the client runs, content that
lies in the request itself. What is not on a list is taken out where the agent loses nothing it was promised, and
refused where the answer would mean something else without it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from repoassay.model_proxy.request_rules.parts import JsonObject, Outside, name_of, passed_on

__all__ = ["ConfinedRequest", "confine", "passed_on"]

_MOST_NAMED = 20
_NEVER = frozenset({"model", "messages", "input", "contents", "tools", "n", "stream"})
"""Fields that are held to the rules whatever is allowed: they hold what is asked, and how often."""


@dataclass(frozen=True, slots=True)
class ConfinedRequest:
    """What became of a request: the names of what was taken out, and a sentence when it may not be asked at all.

    `granted` has the names of what stayed since it is allowed.
    """

    left_out: tuple[str, ...] = ()
    refused: str = ""
    granted: tuple[str, ...] = ()


def confine(
    rule: Callable[[JsonObject], list[str]], body: JsonObject, allowed: Collection[str] = ()
) -> ConfinedRequest:
    """Take out of `body`, in place, what would make the vendor act beyond answering, by the vendor's own `rule`.

    Args:
        allowed: Names of fields of the request, and of kinds of tools, that stay all the same.
    """
    fields = {name: body.pop(name) for name in allowed if name in body and name not in _NEVER}
    tools = body.get("tools")
    kept = [tool for tool in tools if isinstance(tool, dict) and name_of(tool) in allowed] if allowed and isinstance(
        tools, list
    ) else []  # fmt: skip
    if kept and isinstance(tools, list):
        body["tools"] = [tool for tool in tools if not any(tool is one for one in kept)]
    try:
        left_out = rule(body)
    except Outside as outside:
        return ConfinedRequest(refused=str(outside))
    body.update(fields)
    if kept:
        body["tools"] = [*body["tools"], *kept]
    granted = (*fields, *map(name_of, kept))
    return ConfinedRequest(tuple(name[:60] for name in left_out[:_MOST_NAMED]), granted=granted[:_MOST_NAMED])
