"""Tokens and dollars as Aider's chat tells them below each reply, rounded to two digits of thousands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

from repoassay.agents.transcripts.building import money
from repoassay.types import Usage

__all__ = ["aider_tokens", "main_model"]

_TOLD = re.compile(
    r"Tokens: (?P<sent>[\d.,]{1,20}[kM]?) sent(?:, [\d.,]{1,20}[kM]? cache write)?"
    r"(?:, (?P<hit>[\d.,]{1,20}[kM]?) cache hit)?, (?P<received>[\d.,]{1,20}[kM]?) received\."
    r"(?: Cost: \$(?P<dollars>[\d.,]{1,20}) message)?"
)
_MODEL = re.compile(r"^> (?:Main model|Models?): (\S{1,200})", re.MULTILINE)
_SCALE = {"k": 1000, "M": 1_000_000}


def main_model(text: str) -> str:
    """The model that the chat's head names; empty where it names none."""
    found = _MODEL.search(text)
    return found[1] if found else ""


def aider_tokens(notices: list[list[str]]) -> Mapping[int, tuple[Usage | None, Decimal | None]]:
    """What each reply took, by the number of its part of the chat.

    Args:
        notices: The lines of each part that is Aider's own; none of a part that somebody else said.
    """
    found = {}
    for number, lines in enumerate(notices):
        tokens = next((match for line in lines if (match := _TOLD.search(line[:300]))), None)
        if tokens is not None:
            sent = _count(tokens["sent"])
            usage = Usage(input=sent, output=_count(tokens["received"]), cached=min(sent, _count(tokens["hit"] or "0")))
            found[number - 1] = (usage, money((tokens["dollars"] or "").replace(",", "")) or None)
    return found


def _count(text: str) -> int:
    plain = text.replace(",", "")
    scale = _SCALE.get(plain[-1:], 1)
    try:
        return min(int(Decimal(plain.rstrip("kM")) * scale), 10**12)
    except ArithmeticError:
        return 0
