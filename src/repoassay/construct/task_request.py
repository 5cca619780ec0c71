"""What a user asks to be made of a change."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

__all__ = ["MOST_SECONDS", "Proposal", "TaskRequest"]

MOST_SECONDS = 300.0
"""What one run may take: the proofs and the grading of them run the tests some ten times."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a pull-request task has beside what an edit task has.

    Args:
        rules: Contribution rules; None for a file of the repository's own, where it has one.
        description: The reference pull request's; None for the commit message of the change.
        checks: Commands that contributors run.
    """

    rules: str | None = None
    description: str | None = None
    checks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskRequest:
    """What a user asks to be made.

    Args:
        repository: A folder, a git URL, or `OWNER/NAME` on GitHub.
        solution: Revision after the change.
        base: Revision before it; the solution's first parent when None.
        tests: Hidden test files on this disk; None for the tests that the change adds or alters.
        instruction: The instruction for the agent; None for the solution's commit message.
        requirements: Lines for uv; pytest comes by itself. With the runner `repository` they are added to its own.
        python: Lowest Python version, such as `3.11`; with the runner `repository` the release line. None for 3.11, or
            for what the repository says.
        id: The task's id; made of the repository's name and the solution's id when None.
        only: Globs over paths of the change; empty for all.
        import_path: Folders of the repository to import from; the root, and `src` where there is one, when empty.
        seconds: How long the tests may take in one run; None for a minute, or with the runner `repository` for some
            times what they take.
        most_seconds: How long the repository's own tests may take in one run before it is known what they take; where
            they take longer, the change is refused.
        licence: The repository's licence; None for what its files say.
        bundle: Whether the base tree is stored beside the task.
        proposal: Makes it a pull-request task, where not None.
        runner: What runs the hidden tests: `repository` runs those of the change as its maintainers do, in an
            environment inferred from the repository; `pytest` and `node` run files by themselves.
    """

    repository: str
    solution: str
    base: str | None = None
    tests: tuple[Path, ...] | None = None
    instruction: str | None = None
    requirements: tuple[str, ...] = ()
    python: str | None = None
    id: str | None = None
    only: tuple[str, ...] = ()
    import_path: tuple[str, ...] = ()
    seconds: float | None = None
    most_seconds: float = MOST_SECONDS
    licence: str | None = None
    bundle: bool = False
    proposal: Proposal | None = None
    runner: Literal["repository", "pytest", "node"] = "pytest"
