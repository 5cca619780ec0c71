"""A submission: what an agent left behind, whoever made it."""

from __future__ import annotations

from enum import StrEnum

from repoassay.types.base import Record

__all__ = ["Ended", "Exit", "SkippedFile", "Submission", "SubmittedFile"]


class Ended(StrEnum):
    """Why a command in a sandbox ended."""

    EXITED = "exited"
    SIGNALLED = "signalled"
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    CANCELLED = "cancelled"


class Exit(Record):
    """How a command ended and what it used: wall and CPU seconds, peak memory of its process tree in bytes."""

    ended: Ended
    code: int | None = None
    signal: int | None = None
    wall: float = 0.0
    cpu: float = 0.0
    peak_memory: int | None = None
    output_truncated: bool = False


class SubmittedFile(Record):
    """A regular file copied out of the workspace: path inside the submission, size and digest."""

    path: str
    size: int
    sha256: str


class SkippedFile(Record):
    """Something in the output folder that was not copied out, and why (a link, a device, too large ...)."""

    path: str
    reason: str


class Submission(Record):
    """What came out of the workspace: output files (deliverable) or `changes.diff` (edit), and how the agent ended."""

    files: tuple[SubmittedFile, ...] = ()
    rejected: tuple[SkippedFile, ...] = ()
    exit: Exit | None = None
