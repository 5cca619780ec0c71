"""One attempt of a submission with its verdict, as its files have them."""

from __future__ import annotations

from dataclasses import dataclass

from repoassay.types import Attempt, Verdict

__all__ = ["AttemptFiles"]


@dataclass(frozen=True, slots=True)
class AttemptFiles:
    """One attempt and its verdict; `place` is its folder inside the submission, for what is said of it."""

    attempt: Attempt
    verdict: Verdict
    place: str
