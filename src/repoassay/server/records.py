"""What the queue takes in and hands out."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Claim", "Counts", "KeyTaken", "New", "QueueFull", "QuotaUsed", "StoredSubmission"]


class QueueFull(Exception):
    """More would be waiting than may."""


class QuotaUsed(Exception):
    """More of one holder's would be waiting than may."""


class KeyTaken(Exception):
    """A client's key names another submission already."""

    def __init__(self, key: str, ulid: str) -> None:
        super().__init__(key)
        self.key, self.ulid = key, ulid


@dataclass(frozen=True, slots=True)
class New:
    """A submission as handed in: `patch` in bytes; `key` is the client's own name for it."""

    task: str
    patch: bytes
    model: str = ""
    key: str | None = None


@dataclass(frozen=True, slots=True)
class StoredSubmission:
    """A submission as kept: `status` is queued, running or done; what follows `created` is None until it is done.

    Times are seconds since 1970. `number` counts verdicts in the order they became visible. `verdict` is JSON.
    """

    ulid: str
    task: str
    model: str
    key: str | None
    status: str
    faults: int
    created: float
    number: int | None = None
    word: str | None = None
    whose: str | None = None
    feedback: str | None = None
    verdict: str | None = None
    finished: float | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """A submission to be judged: `claims` counts how often it was claimed, `faults` how often we failed at it."""

    ulid: str
    task: str
    patch: bytes
    owner: str
    claims: int
    faults: int


@dataclass(frozen=True, slots=True)
class Counts:
    """How many submissions are waiting and under way."""

    queued: int
    running: int
