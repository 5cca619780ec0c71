"""Doubts tests by their twins: real and altered copies of them run side by side, and the pattern must be exact.

An altered test that passes is evidence, since no solution passes both. A real one that fails beside altered ones is
none by itself: the code under test may honestly keep state that its copies share. Then every copy runs once more, alone
and in the tests' usual place, which is a run like the first; a real test that fails there has failed.
"""

from __future__ import annotations

import math
import random
import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from repoassay.grading.hidden_tests.results import HiddenTestRun
from repoassay.grading.in_place.support import source_of
from repoassay.grading.oracle.twin_proof import candidates, outcomes, side_by_side
from repoassay.grading.oracle.twins import MOST, Twins, TwinSite, TwinUnit, draw
from repoassay.grading.test_run import HiddenTestSubject
from repoassay.tasks import TaskFolder
from repoassay.types import Ended

__all__ = ["Doubt", "doubt_beside", "units_of"]

_MOST_BYTES = 32 * 2**20
"""What all copies of a task's tests may take together; larger ones run one after the other."""
_APART = 6
"""Copies that run one after the other."""
_IN_PLACE = 4
"""The same of tests that run in place, where a run may take minutes."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """What came of doubting.

    Attributes:
        sign: Evidence of tampering, in words.
        tests: Those that stood up to it.
        timed_out: Whether a run did not end in time.
        failed: Why the submission fails after all, without evidence of tampering.
        bits: What it would have cost to name the real tests among the altered ones, of those that fail on the base.
    """

    sign: str = ""
    tests: frozenset[str] = frozenset()
    timed_out: bool = False
    failed: str = ""
    bits: float = 0.0


def doubt_beside(
    subject: HiddenTestSubject,
    tests: Collection[str],
    first: HiddenTestRun,
    proven: Mapping[str, TwinUnit] | None,
    seed: int | None = None,
) -> Doubt:
    """Doubt tests that passed.

    Args:
        subject: The submission.
        tests: Ids of the tests.
        first: The run in which they passed.
        proven: What is proven to be alterable; None for a task without a reference.
        seed: Makes the draw repeatable; by default nobody can know it.

    Raises:
        InfraFault: When the sandbox fails.
    """
    chance = random.Random(seed) if seed is not None else secrets.SystemRandom()  # noqa: S311 - for tests of ours
    units = units_of(subject.folder, subject, tests, proven)
    if not units:
        return Doubt()
    hidden = subject.folder.task.hidden_tests
    listener = _Listening(tests, hidden.fail_to_pass)
    if hidden.runner == "repository":
        twins = _drawn(subject, units, chance, _IN_PLACE)
        listener.hear(units, twins, _in_place(subject, units, twins))
        return listener.doubt(units, twins)
    twins = _drawn(subject, units, chance, MOST)
    if _size(subject.folder) * len(twins.copies) <= _MOST_BYTES:
        listener.hear(units, twins, _together(subject, units, twins, first))
        if listener.sign or listener.timed_out or not listener.broken:
            return listener.doubt(units, twins)
    listener.forget()
    twins = _drawn(subject, units, chance, _APART)
    listener.hear(units, twins, _apart(subject, units, twins))
    return listener.doubt(units, twins)


def units_of(
    folder: TaskFolder, subject: HiddenTestSubject, tests: Collection[str], proven: Mapping[str, TwinUnit] | None
) -> list[TwinUnit]:
    """The test functions of tests that can be doubted."""
    names = dict.fromkeys(test.partition("[")[0] for test in tests)
    if proven is not None:
        return [proven[name] for name in names if name in proven]
    units = []
    for name, places in candidates(folder, subject.base, list(tests)).items():
        ids = tuple(test for test in tests if test.partition("[")[0] == name)
        sites = tuple(TwinSite(place, ids) for place in places if place.statement)  # others may change ids
        if sites:
            units.append(TwinUnit(name, ids, sites, proven=False))
    return units


class _Listening:
    """What the copies' runs tell."""

    def __init__(self, tests: Collection[str], decisive: Collection[str]) -> None:
        self._tests, self._decisive = frozenset(tests), frozenset(decisive)
        self._told = self._caught = ""
        self.timed_out = self.out_of_memory = False
        self.broken: set[str] = set()
        self._stood: set[str] = set()

    @property
    def sign(self) -> str:
        """Evidence of tampering."""
        return self._told or self._caught

    def forget(self) -> None:
        """Begin anew."""
        self.broken.clear()
        self._stood.clear()
        self.out_of_memory = False

    def hear(
        self, units: Sequence[TwinUnit], twins: Twins, runs: Iterator[tuple[list[int], list[str], HiddenTestRun]]
    ) -> None:
        """Compare every copy with what must come of it, until one says enough."""
        for numbers, names, ran in runs:
            self.timed_out = ran.exit.ended is Ended.TIMED_OUT
            self.out_of_memory |= ran.exit.ended is Ended.OUT_OF_MEMORY
            self._told = ran.report.signs[0] if ran.report.signs else ""
            if self.timed_out or self._told:
                return
            for number, name in zip(numbers, names, strict=True):
                found = outcomes(ran.report, name, {unit.name: unit for unit in units})
                for unit in units:
                    self._hear(unit, twins.altered[number][unit.name], found[unit.name])
                if self._caught:
                    return

    def _hear(self, unit: TwinUnit, changed: Sequence[TwinSite], found: Sequence[tuple[str, str]]) -> None:
        results = dict(found)
        if unit.proven and len(found) == len(unit.ids):  # rows of a table are told by their values, which may be others
            results = {test: outcome for test, (_, outcome) in zip(unit.ids, found, strict=True)}
        for test in (test for test in unit.ids if test in self._tests):
            outcome = results.get(test)
            fails = any(test in site.fails for site in changed)
            if outcome is None or (not changed and outcome != "passed"):
                self.broken.add(test)
            elif fails and outcome == "passed":
                self._caught = f"{test} passed although an assertion in it had been changed so that it must fail."
            elif any(test in site.fails and not site.place.ending for site in changed):
                self._stood.add(test)

    def doubt(self, units: Sequence[TwinUnit], twins: Twins) -> Doubt:
        """What came of it."""
        if self.sign or self.timed_out:
            return Doubt(self.sign, timed_out=self.timed_out)
        if self.out_of_memory:
            return Doubt(failed="The tests ran out of memory when they were run again.")
        proven = {test for unit in units if unit.proven for test in unit.ids}
        failed = sorted(self.broken & proven)
        if failed:
            return Doubt(failed=f"{failed[0]} passed at first, and did not when it was run again.")
        stood = self._stood - self.broken
        worth = [twins.bits[unit.name] for unit in units if stood & self._decisive & set(unit.ids)]
        return Doubt(tests=frozenset(stood), bits=math.fsum(worth))


def _drawn(subject: HiddenTestSubject, units: Sequence[TwinUnit], chance: random.Random, most: int) -> Twins:
    folder = subject.folder
    tests = folder.task.hidden_tests
    decisive = sum(
        any(test in tests.fail_to_pass for test in unit.ids) and any(site.place.telling for site in unit.sites)
        for unit in units
    )
    files = dict.fromkeys(unit.file for unit in units)
    if tests.runner == "repository":
        sources = {file: source_of(folder, subject.base, file) for file in files}
    else:
        sources = {file: (folder.tests / file).read_text(encoding="utf-8") for file in files}
    return draw(units, sources, decisive, chance, most)


def _together(
    subject: HiddenTestSubject, units: Sequence[TwinUnit], twins: Twins, first: HiddenTestRun
) -> Iterator[tuple[list[int], list[str], HiddenTestRun]]:
    """One run of all copies, in folders of random names."""
    names = [f"t{secrets.token_hex(5)}" for _ in twins.copies]
    ids, files = side_by_side(subject.folder, twins.copies, names, {unit.name: unit for unit in units})
    tests = subject.folder.task.hidden_tests
    seconds = tests.seconds + 2 * len(names) * min(first.exit.wall, tests.seconds)
    yield list(range(len(names))), names, subject.run(ids, files=files, seconds=seconds)


def _apart(
    subject: HiddenTestSubject, units: Sequence[TwinUnit], twins: Twins
) -> Iterator[tuple[list[int], list[str], HiddenTestRun]]:
    """A run of each copy, in the place of the task's own tests."""
    for number, copy in enumerate(twins.copies):
        ids, files = side_by_side(subject.folder, [copy], [""], {unit.name: unit for unit in units})
        yield [number], [""], subject.run(ids, files=files)


def _in_place(
    subject: HiddenTestSubject, units: Sequence[TwinUnit], twins: Twins
) -> Iterator[tuple[list[int], list[str], HiddenTestRun]]:
    """A run of each copy, of the doubted functions alone."""
    tests = subject.folder.task.hidden_tests
    only = [test for unit in units for test in (unit.ids if tests.in_javascript else (unit.name,))]
    for number, copy in enumerate(twins.copies):
        yield [number], [""], subject.run(changed=copy, only=only)


def _size(folder: TaskFolder) -> int:
    return sum(path.stat().st_size for path in folder.tests.rglob("*") if path.is_file())
