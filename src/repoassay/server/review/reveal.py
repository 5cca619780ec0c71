"""What is revealed of an item: who made it, what tests said, signals, and the agent's steps. All of it is hostile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from repoassay.review import HiddenPart

__all__ = ["RevealedEvidence", "evidence_of"]

_MOST = 500


@dataclass(frozen=True, slots=True)
class RevealedEvidence:
    """Hidden knowledge, bounded and fit for a template; lists hold dictionaries of texts."""

    hidden: HiddenPart
    outcome: str
    comments: tuple[str, ...]
    tests: tuple[dict[str, str], ...]
    signals: tuple[dict[str, Any], ...]
    steps: tuple[str, ...]


def evidence_of(hidden: HiddenPart, *, lead: bool = False) -> RevealedEvidence:
    """Read the evidence of an item, passing over what is not as expected.

    A rater is told of a control only that people made it: which items are controls would help with the next ones.
    """
    if hidden.golden is not None and not lead:
        hidden = hidden.model_copy(update={"golden": None, "tests": None, "evidence": {}, "origin": ""})
    evidence = hidden.evidence
    return RevealedEvidence(
        hidden=hidden,
        outcome=str(evidence.get("outcome", "")),
        comments=tuple(str(each) for each in _list(evidence.get("comments"))),
        tests=tuple(
            {name: str(each.get(name, "")) for name in ("id", "outcome", "message")}
            for each in _list(evidence.get("tests"))
            if isinstance(each, dict)
        ),
        signals=tuple(_signal(each) for each in _list(evidence.get("signals")) if isinstance(each, dict)),
        steps=tuple(str(each) for each in _list(evidence.get("steps"))),
    )


def _signal(signal: dict[str, Any]) -> dict[str, Any]:
    places = [
        {name: "" if each.get(name) is None else str(each[name]) for name in ("path", "line", "quote", "text")}
        for each in _list(signal.get("evidence"))[:50]
        if isinstance(each, dict)
    ]
    texts = {name: str(signal.get(name, "")) for name in ("id", "axis", "state", "title", "reason", "threshold")}
    return {**texts, "evidence": places, "notes": [str(note) for note in _list(signal.get("notes"))]}


def _list(value: object) -> list[Any]:
    return value[:_MOST] if isinstance(value, list) else []
