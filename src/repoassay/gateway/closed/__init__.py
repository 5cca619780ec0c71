"""What an attempt may ask of a model when the model is all it may reach: nothing by which the vendor acts for it.

A vendor's own web search, code runner, connectors, stored files and fetched addresses are the internet by another way,
and no price table has them. One file a dialect says what passes: fields on a list, tools the client runs, content that
lies in the request itself. What is not on a list is taken out where the agent loses nothing it was promised, and
refused where the answer would mean something else without it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from repoassay.gateway.closed import chat, gemini, messages, responses
from repoassay.gateway.closed.headers import passed_on
from repoassay.gateway.closed.parts import Outside
from repoassay.gateway.dialects import JsonObject

__all__ = ["Confined", "confine", "passed_on"]

_RULES: Mapping[str, Callable[[JsonObject], list[str]]] = {
    "chat": chat.confine, "responses": responses.confine, "messages": messages.confine, "gemini": gemini.confine,
}  # fmt: skip
_MOST_NAMED = 20


@dataclass(frozen=True, slots=True)
class Confined:
    """What became of a request: the names of what was taken out, and a sentence when it may not be asked at all."""

    left_out: tuple[str, ...] = ()
    refused: str = ""


def confine(dialect: str, body: JsonObject) -> Confined:
    """Take out of `body`, in place, what would make the vendor act beyond answering."""
    try:
        left_out = _RULES[dialect](body)
    except Outside as outside:
        return Confined(refused=str(outside))
    return Confined(tuple(name[:60] for name in left_out[:_MOST_NAMED]))
