"""Git repositories that a Dockerfile clones or makes: their files stay, their histories are taken away.

No history crosses between sandboxes, and a later commit in it might hold the solution. Where a task speaks of the
history, or its tests or solution work on the repository, it is another task without, and is refused.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

from repoassay.interchange.image_file import ImportRefusal

__all__ = ["check_without_history", "without_history"]

_SPOKEN_OF = re.compile(
    r"\bgit[ -]?(log|show|diff|bisect|blame|history|commit|branch|checkout|rebase|merge|stash|push|tag|status|repo)"
    r"|\bcommit(s|ted)?\b[^.\n]{0,40}\b(history|hash|message|sha)|\.git\b(?!hub)|\bbisect\b",
    re.IGNORECASE,
)
_WORKED_ON = re.compile(r"(?m)^(?!\s*#).*(?<![\w./-])git +(?!apply\b|config\b|--version\b)(-\S+ +\S+ +)*[a-z]")


def check_without_history(instruction: str, tests: str, solution: str) -> None:
    """Refuse a task that needs the history of a repository in its image.

    Raises:
        ImportRefusal: Its instruction speaks of it, or its tests or solution call git on it.
    """
    why = "Its task needs the history of a git repository, which is not kept."
    for text, pattern, file in (
        (instruction, _SPOKEN_OF, "instruction.md"), (tests, _WORKED_ON, "tests"), (solution, _WORKED_ON, "solution"),
    ):  # fmt: skip
        if found := pattern.search(text):
            line = text.count("\n", 0, found.start()) + 1
            raise ImportRefusal(why, file, line if file == "instruction.md" else 0, text.split("\n")[line - 1])


def without_history(places: Iterable[str]) -> str:
    """The command that takes the histories of repositories below some places away."""
    where = " ".join(map(shlex.quote, places))
    return f"find {where} -name .git -prune -exec rm -rf {{}} +"
