"""Tasks that a quarter keeps out of its public release, which holds their digests, so that nobody can train on them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from repoassay.errors import BadInput
from repoassay.grading import names
from repoassay.tasks import TaskFolder, find_suite

__all__ = ["choose_private", "earlier_private", "private_digests", "private_problems"]


def choose_private(added: Mapping[str, TaskFolder], share: float, quarter: str) -> list[str]:
    """Which of the tasks that are added stay private: a share of them, rounded, that depends on nothing but content."""
    order = sorted(added, key=lambda name: hashlib.sha256(f"{quarter} private {added[name].digest}".encode()).digest())
    return sorted(order[: int(share * len(added) + 0.5)])


def earlier_private(before: Mapping[str, Any], place: Path | None) -> Sequence[TaskFolder]:
    """Private tasks of the quarter before.

    Args:
        before: What its release says of itself.
        place: Its private bundle.

    Raises:
        BadInput: When the release before has private tasks and these are not they.
    """
    digests = private_digests(before)
    if place is None:
        if digests:
            raise BadInput(
                f"The release before keeps {len(digests)} tasks private, and nobody says where they are.",
                "Name its private bundle with --private-before.",
            )
        return ()
    found = find_suite(place, metrics=names()).tasks
    if sorted(folder.digest for folder in found) != sorted(digests):
        raise BadInput(
            f"The tasks of {place} are not those whose digests the release before holds.",
            "Name the private bundle that was written with it.",
        )
    return found


def private_digests(release: Mapping[str, Any]) -> list[str]:
    """Digests of the tasks that a release keeps private."""
    return [str(each) for each in release.get("private", [])]


def private_problems(release: Mapping[str, Any], place: Path) -> list[str]:
    """Sentences on what of a private bundle is not what its public release holds the digests of."""
    there = {folder.digest: folder.task.id for folder in find_suite(place, metrics=names()).tasks}
    digests = set(private_digests(release))
    problems = [f"the private task {digest[:12]} is missing" for digest in sorted(digests - there.keys())]
    return problems + [
        f"{name} is no private task of this release" for digest, name in sorted(there.items()) if digest not in digests
    ]  # fmt: skip
