"""Everything a user can be told: one tree, each error a sentence that names what, where and the remedy.

::

    RepoAssayError            exit 1   something went wrong and we know what
    ├── BadInput              exit 2   a file, folder or option the user gave cannot be used
    │   └── BadTask           exit 2   a task folder has problems; all of them are listed
    ├── Unavailable           exit 3   this machine or installation lacks something; says how to get it
    │   ├── NoIsolation       exit 3   no sandbox can be had here
    │   └── MissingExtra      exit 3   an optional dependency is not installed
    ├── InfraFault            exit 1   our own machinery failed; never counted against an agent
    │   └── DiskFull          exit 3   a disk has no room for what was to be written
    └── Interrupted           exit 130 the user stopped us, or SIGTERM, exit 143; what was finished is kept
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

TYPE_CHECKING = False  # as typing has it, without the price of importing typing
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "BadInput",
    "BadTask",
    "DiskFull",
    "InfraFault",
    "Interrupted",
    "MissingExtra",
    "NoIsolation",
    "Problem",
    "RepoAssayError",
    "Terminated",
    "Unavailable",
]


class RepoAssayError(Exception):
    """Root of every error that is shown to the user as a sentence, without a traceback.

    Args:
        message: What is wrong and where, as one sentence.
        remedy: What the user can do about it, as one sentence; empty when the message already says it.

    Attributes:
        run: The `repoassay.Run` that it ended, with every finished attempt; None where none had begun.
    """

    exit_code = 1
    run: Any = None

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()


class BadInput(RepoAssayError):
    """A file, folder, option or value given by the user cannot be used."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong in a task folder: the file, the key inside it (may be empty), what, and the remedy."""

    file: str
    key: str
    what: str
    remedy: str

    def __str__(self) -> str:
        place = f"{self.file}: {self.key}" if self.key else self.file
        return f"{place}: {self.what} {self.remedy}".strip()


class BadTask(BadInput):
    """A task folder, or a suite of them, has problems; every one of them is listed, not only the first."""

    def __init__(self, folder: str, problems: Sequence[Problem], noun: str = "task folder") -> None:
        lines = "\n".join(f"  {problem}" for problem in problems)
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        super().__init__(f"The {noun} {folder} has {count}:\n{lines}")
        self.problems = tuple(problems)


class Unavailable(RepoAssayError):
    """This machine or installation lacks something that was asked for."""

    exit_code = 3


class NoIsolation(Unavailable):
    """No sandbox can be had on this machine; the remedy names the flag that accepts none."""


class MissingExtra(Unavailable):
    """An optional dependency is not installed.

    Args:
        package: The missing package as it is imported.
        extra: The extra of RepoAssay that brings it.
    """

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"The package {package!r} is not installed.", f"Install it with: pip install 'repoassay[{extra}]'"
        )


class InfraFault(RepoAssayError):
    """Our own machinery failed (environment, sandbox, grader, upstream): retried or reported, never the agent's."""


class DiskFull(InfraFault):
    """A disk has no room for what was to be written: whatever was tried says nothing, and is to be tried again.

    Args:
        place: What lies on that disk, as it is named in a sentence.
    """

    exit_code = 3

    def __init__(self, place: str) -> None:
        super().__init__(f"The disk of {place} is full.", "Free some space, or choose another place.")


class Interrupted(RepoAssayError):
    """The user stopped the work; everything finished before is kept."""

    exit_code = 130


class Terminated(KeyboardInterrupt):
    """SIGTERM, raised wherever the main thread is: as the last Ctrl-C, what is under way is given up."""
