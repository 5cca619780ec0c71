"""Doubts passes that only the process vouches for: altered copies of its tests must fail."""

from __future__ import annotations

import random
import secrets
from collections.abc import Collection
from dataclasses import dataclass

from repoassay.grading.examine import Subject
from repoassay.grading.hidden import canary, javascript
from repoassay.grading.hidden.canary import Site
from repoassay.model import Ended
from repoassay.tasks import TaskFolder

__all__ = ["Doubt", "can_doubt", "doubt_tests"]


@dataclass(frozen=True, slots=True)
class Doubt:
    """What came of doubting: a sign of tampering, the tests that stood up to it, or a run that did not end."""

    sign: str = ""
    tests: frozenset[str] = frozenset()
    timed_out: bool = False


def doubt_tests(subject: Subject, tests: Collection[str], seed: int | None = None) -> Doubt:
    """Run tests again with up to two of them changed so that they must fail.

    Raises:
        InfraFault: When the sandbox fails.
    """
    chance = random.Random(seed if seed is not None else secrets.randbits(64))  # noqa: S311 - seeded from secrets
    changed, chosen = _draw(subject.folder, tests, chance)
    if not chosen:
        return Doubt()
    ran = subject.run(changed=changed)
    if ran.exit.ended is Ended.TIMED_OUT:
        return Doubt(timed_out=True)
    if ran.told.signs:
        return Doubt(ran.told.signs[0])
    names = {site.test for site in chosen}
    stood = set()
    for result in ran.told.tests:
        touched = _plain(subject.folder, result.id) in names
        if touched and result.outcome == "passed":
            return Doubt(f"{result.id} passed although an assertion in it had been changed so that it must fail.")
        if result.outcome == "missing":
            return Doubt(f"{result.id} was not reported when tests had been changed so that some must fail.")
        if touched:
            stood.add(result.id)
    return Doubt(tests=frozenset(stood))


def can_doubt(folder: TaskFolder) -> bool:
    """Whether any hidden test has an assertion that a canary can change."""
    tests = folder.task.grading.tests
    assert tests is not None
    return bool(_draw(folder, tests.fail_to_pass, random.Random(0))[1])  # noqa: S311 - any draw tells


def _plain(folder: TaskFolder, test: str) -> str:
    """A test's id without the parameters that pytest adds to it."""
    tests = folder.task.grading.tests
    return test if tests is not None and tests.runner == "node" else test.partition("[")[0]


def _draw(folder: TaskFolder, doubted: Collection[str], chance: random.Random) -> tuple[dict[str, str], list[Site]]:
    """Changed test files by name, and what was changed: up to two altered assertions, or inverted ones for want of any.

    Whatever an inverted assertion catches, an altered one does, and no code can tell by reading that it is altered.
    """
    tests = folder.task.grading.tests
    assert tests is not None
    language = javascript if tests.runner == "node" else canary
    found: list[tuple[str, Site]] = []
    sources: dict[str, str] = {}
    for test in dict.fromkeys(_plain(folder, name) for name in doubted):
        file, _, inner = test.partition("::")
        source = sources.setdefault(file, (folder.tests / file).read_text(encoding="utf-8"))
        found += [(file, Site(test, site.line, site.kind)) for site in language.sites(source, inner)]
    chosen: list[tuple[str, Site]] = []
    kind = "altered" if any(site.kind == "altered" for _, site in found) else "inverted"
    for _ in range(2):
        taken = {site.test for _, site in chosen}
        options = [(file, site) for file, site in found if site.kind == kind and site.test not in taken]
        if options:
            chosen.append(chance.choice(options))
    changed: dict[str, str] = {}
    for file, site in chosen:
        inside = Site(site.test.partition("::")[2], site.line, site.kind)
        changed[file] = language.mutate(changed.get(file, sources[file]), inside, chance)
    return changed, [site for _, site in chosen]
