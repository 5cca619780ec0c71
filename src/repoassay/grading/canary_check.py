"""Doubts passes that only the process vouches for: altered copies of its tests must fail.

Tests in Python are doubted by their twins (`twin_check.py`), those of node by a second run with two of them altered.
"""

from __future__ import annotations

import random
import secrets
from collections.abc import Collection, Mapping
from pathlib import Path

from repoassay.grading.hidden_tests import javascript
from repoassay.grading.hidden_tests.canary import MutationPoint
from repoassay.grading.hidden_tests.results import HiddenTestRun
from repoassay.grading.oracle.twin_proof import candidates
from repoassay.grading.oracle.twins import TwinUnit
from repoassay.grading.test_run import HiddenTestSubject
from repoassay.grading.twin_check import Doubt, doubt_beside
from repoassay.tasks import TaskFolder
from repoassay.types import Ended

__all__ = ["Doubt", "can_doubt", "doubt_tests"]


def doubt_tests(
    subject: HiddenTestSubject,
    tests: Collection[str],
    first: HiddenTestRun,
    proven: Mapping[str, TwinUnit] | None,
    seed: int | None = None,
) -> Doubt:
    """Doubt tests that passed in the run `first`; `proven` holds what the reference proved to be alterable.

    Raises:
        InfraFault: When the sandbox fails.
    """
    hidden = subject.folder.task.grading.tests
    if hidden is not None and hidden.runner == "script":
        return Doubt()  # nobody knows what in it to alter
    if hidden is not None and hidden.runner != "node":
        return doubt_beside(subject, tests, first, proven, seed)
    chance = random.Random(seed if seed is not None else secrets.randbits(64))  # noqa: S311 - seeded from secrets
    changed, chosen = _draw(subject.folder, tests, chance)
    if not chosen:
        return Doubt()
    ran = subject.run(changed=changed)
    if ran.exit.ended is Ended.TIMED_OUT:
        return Doubt(timed_out=True)
    if ran.report.signs:
        return Doubt(ran.report.signs[0])
    names = {site.test for site in chosen}
    stood = set()
    for result in ran.report.tests:
        touched = result.id in names
        if touched and result.outcome == "passed":
            return Doubt(f"{result.id} passed although an assertion in it had been changed so that it must fail.")
        if result.outcome == "missing":
            return Doubt(f"{result.id} was not reported when tests had been changed so that some must fail.")
        if touched:
            stood.add(result.id)
    return Doubt(tests=frozenset(stood))


def can_doubt(folder: TaskFolder, base: Path | None = None) -> bool:
    """Whether any hidden test that fails on the base has an assertion that can be altered or inverted."""
    tests = folder.task.hidden_tests
    if tests.runner == "script":
        return False
    if tests.runner == "node":
        return bool(_draw(folder, tests.fail_to_pass, random.Random(0))[1])  # noqa: S311 - any draw tells
    return bool(candidates(folder, base or folder.tests, tests.fail_to_pass))


def _draw(
    folder: TaskFolder, doubted: Collection[str], chance: random.Random
) -> tuple[dict[str, str], list[MutationPoint]]:
    """Changed test files by name, and what was changed: up to two altered assertions, or inverted ones for want of any.

    Whatever an inverted assertion catches, an altered one does, and no code can tell by reading that it is altered.
    """
    found: list[tuple[str, MutationPoint]] = []
    sources: dict[str, str] = {}
    for test in dict.fromkeys(doubted):
        file, _, inner = test.partition("::")
        source = sources.setdefault(file, (folder.tests / file).read_text(encoding="utf-8"))
        found += [(file, MutationPoint(test, site.line, site.kind)) for site in javascript.sites(source, inner)]
    chosen: list[tuple[str, MutationPoint]] = []
    kind = "altered" if any(site.kind == "altered" for _, site in found) else "inverted"
    for _ in range(2):
        taken = {site.test for _, site in chosen}
        options = [(file, site) for file, site in found if site.kind == kind and site.test not in taken]
        if options:
            chosen.append(chance.choice(options))
    changed: dict[str, str] = {}
    for file, site in chosen:
        inside = MutationPoint(site.test.partition("::")[2], site.line, site.kind)
        changed[file] = javascript.mutate(changed.get(file, sources[file]), inside, chance)
    return changed, [site for _, site in chosen]
