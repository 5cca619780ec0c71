"""One possible cause of a failure."""

from __future__ import annotations

from dataclasses import dataclass

from repoassay.diagnosis.classes import ErrorClass, Subclass
from repoassay.diagnosis.evidence import Evidence

__all__ = ["RootCause"]


@dataclass(frozen=True, slots=True)
class RootCause:
    """A class with its confidence (0 to 1), the rule that says so, why in words, and where it is seen."""

    code: ErrorClass
    subclass: Subclass | None
    confidence: float
    rule: str
    why: str
    evidence: tuple[Evidence, ...]
