"""What an attempt may ask of a model when the model is all it may reach: nothing by which the vendor acts for it.

A vendor's own web search, code runner, connectors, stored files and fetched addresses are the internet by another way,
and no price table has them. One file a dialect says what passes: fields on a list, tools the client runs, content that
lies in the request itself. What is not on a list is taken out where the agent loses nothing it was promised, and
refused where the answer would mean something else without it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import compress

from repoassay.model_proxy.request_rules.parts import JsonObject, Outside, name_of, passed_on

__all__ = ["ConfinedRequest", "confine", "passed_on"]

_MOST_NAMED = 20
_NEVER = frozenset({"model", "messages", "input", "contents", "tools", "n", "stream"})
"""Fields that are held to the rules whatever is exempt: they hold what is asked, and how often."""


@dataclass(frozen=True, slots=True)
class ConfinedRequest:
    """What became of a request: the names of what was taken out, and a sentence when it may not be asked at all.

    `granted` has the names of what stayed since it is allowed.
    """

    left_out: tuple[str, ...] = ()
    refused: str = ""
    granted: tuple[str, ...] = ()


def confine(
    rule: Callable[[JsonObject], list[str]], body: JsonObject, exemptions: Collection[str] = ()
) -> ConfinedRequest:
    """Take out of `body`, in place, what would make the vendor act beyond answering, by the vendor's own `rule`.

    Args:
        exemptions: Names of fields of the request, and of kinds of tools, that stay all the same.
    """
    fields = {name: body.pop(name) for name in exemptions if name in body and name not in _NEVER}
    listed = body.get("tools")
    tools = listed if isinstance(listed, list) else []
    exempt = [isinstance(tool, dict) and _is_exempt(tool, exemptions) for tool in tools]
    kept = list(compress(tools, exempt))
    if kept:
        body["tools"] = [tool for tool, stays in zip(tools, exempt, strict=True) if not stays]
    try:
        left_out = rule(body)
    except Outside as outside:
        return ConfinedRequest(refused=str(outside))
    body.update(fields)
    if kept:
        body["tools"] = [*body["tools"], *kept]
    granted = (*fields, *map(name_of, kept))
    return ConfinedRequest(tuple(name[:60] for name in left_out[:_MOST_NAMED]), granted=granted[:_MOST_NAMED])


def _is_exempt(tool: JsonObject, exemptions: Collection[str]) -> bool:
    """Whether all that a tool would have the vendor do is exempt; Gemini's have no type, and may be several in one."""
    return (
        tool["type"] in exemptions if isinstance(tool.get("type"), str) else bool(tool) and set(tool) <= {*exemptions}
    )
