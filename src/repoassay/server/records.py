"""What the queue takes in and hands out."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["NO_QUOTA", "Claim", "Counts", "KeyTaken", "New", "QueueFull", "Quota", "QuotaUsed", "StoredSubmission"]


class QueueFull(Exception):
    """More would be waiting than may."""


class QuotaUsed(Exception):
    """One holder's quota is used up.

    Args:
        what: What is used up, as a sentence.
        wait: Seconds until it may not be any more.
    """

    def __init__(self, what: str, wait: float) -> None:
        super().__init__(what)
        self.wait = wait


class KeyTaken(Exception):
    """A client's key names another submission, or another request, already; the sentence says which."""

    def __init__(self, key: str, ulid: str, sentence: str = "") -> None:
        super().__init__(sentence or f"The key {key} is that of submission {ulid}, which has another task or patch.")
        self.key, self.ulid = key, ulid


@dataclass(frozen=True, slots=True)
class Quota:
    """What one holder may have.

    Attributes:
        waiting: Submissions that wait; None for any number.
        hour: Submissions accepted within an hour; None for any number.
        day: The same within a day.
        weight: Turns for each one of a holder of weight 1.
        size: Bytes of patches that wait; None for any number.
    """

    waiting: int | None = None
    hour: int | None = None
    day: int | None = None
    weight: int = 1
    size: int | None = None


NO_QUOTA = Quota()
"""What is no limit."""


@dataclass(frozen=True, slots=True)
class New:
    """A submission as handed in: `patch` in bytes; `key` is the client's own name for it.

    Of one holder's, those of the highest `priority` come first. Only a server whose task has this `task_digest` judges
    it; None for any.
    """

    task: str
    patch: bytes
    model: str = ""
    key: str | None = None
    priority: int = 0
    task_digest: str | None = None


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
    """A submission to be judged: `claims` counts how often it was claimed, `faults` how often we failed at it.

    `answers` counts the verdicts that were given on its task, by any server of the queue; `created` is when it was
    accepted, in seconds since 1970, and `waited` how many seconds ago that was when it was claimed.
    """

    ulid: str
    task: str
    patch: bytes
    owner: str
    claims: int
    faults: int
    task_digest: str | None = None
    answers: int = 0
    created: float = 0.0
    waited: float = 0.0


@dataclass(frozen=True, slots=True)
class Counts:
    """How many submissions are waiting and under way."""

    queued: int
    running: int
