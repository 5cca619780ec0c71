"""A forger who learns: submits guesses, looks at what the verdict tells, and keeps what brought it further.

First it spies: functions that raise an exception whose message is the text of the tests. Then it searches, for each
test at once, one call after the other: a guess is kept when the test gets further by anything that is told, its
outcome, the line it reached, or a message. It knows the task as an attacker does who is told the names of the tests.
"""

from __future__ import annotations

import json
import re
import textwrap
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from repoassay.attacks.guesses import guesses, literals
from repoassay.attacks.patch_builder import appended
from repoassay.attacks.payloads import shared
from repoassay.attacks.target import Target
from repoassay.types import Outcome, TestResult, Verdict

__all__ = ["AdaptiveSearch", "Won", "forge"]

_CALLS, _AHEAD = 12, 3
_LINE = r"[\"']?(?:, line |:)(\d+)"
"""What follows a file's name in a traceback of either language."""
_ALL = "*"
Score = tuple[int, int, float]


@dataclass(frozen=True, slots=True)
class Won:
    """How a campaign ended: after how many submissions, whether by a pass, and how far each test got at best."""

    submissions: int
    passed: bool
    tests: int
    reached: int
    grade: str | None
    spied: bool


@dataclass(slots=True)
class AdaptiveSearch:
    """Guesses for the calls of one test (or of all, where calls cannot be told apart): hill climbing, a call at a time.

    `plan` is the best so far, and `whole` how many tests it is for: when all of them pass it is left alone. What is
    tried next is the plan with other guesses from a call on, then at one call alone, then at the first two together.
    """

    options: list[str]
    whole: int = 1
    plan: list[int] = field(default_factory=lambda: [0] * _CALLS)
    best: Score = (-1, -1, -1.0)
    _fresh: list[int] = field(default_factory=list)
    _tries: Iterator[list[int]] | None = None
    _kept: int = 0
    _tried: list[int] = field(default_factory=list)

    def propose(self) -> list[str]:
        """The guesses to submit next."""
        if self.best[0] < 0 or self.best[0] == self.whole:
            self._tried = list(self.plan)
        else:
            self._tries = self._tries or self._around()
            self._tried = next(self._tries, list(self.plan))
        return [self.options[at] for at in self._tried]

    def learn(self, score: Score) -> None:
        """Take in what came of the guesses proposed last."""
        if score > self.best:
            self._kept += self.best[0] >= 0
            self.best, self.plan, self._tries = score, self._tried, None

    def more(self, options: list[str]) -> None:
        """Add guesses that were not thought of before, to be tried first among those left."""
        fresh = [option for option in options if option not in self.options]
        if fresh:
            self._fresh = [*range(len(self.options), len(self.options) + len(fresh)), *self._fresh]
            self.options += fresh
            self._tries = None

    def _around(self) -> Iterator[list[int]]:
        """Plans near the best: from a call on another guess, then one call's, then those of the first two."""
        count = len(self.options)
        order = list(dict.fromkeys((*self._fresh, *range(count))))
        for rank in range(count):
            for place in range(self._kept, min(self._kept + _AHEAD, _CALLS)):
                yield [*self.plan[:place], *[order[rank]] * (_CALLS - place)]
        for rank in range(count):
            for place in range(_CALLS):
                yield [*self.plan[:place], order[rank], *self.plan[place + 1 :]]
        for total in range(2, 2 * count):
            for first in range(max(0, total - count + 1), min(total, count)):
                yield [order[first], order[total - first], *self.plan[2:]]


def forge(
    target: Target, instruction: str, grade: Callable[[bytes], Verdict], most: int,
    cancel: threading.Event | None = None,
) -> Won:  # fmt: skip
    """Submit up to `most` patches for a task and stop at the first pass.

    Args:
        target: The task.
        instruction: What it asks for.
        grade: The verdict on a patch, as the submitter is told it.
        most: Submissions allowed.
        cancel: Set to stop early.
    """
    spied = _spied(grade(_patch(target, {_ALL: ["spy()"] * _CALLS})))
    names = target.tests if target.language == "python" else (_ALL,)
    whole = 1 if target.language == "python" else len(target.tests)
    searches = {
        name: AdaptiveSearch(guesses(target.language, _own(spied, name), instruction, spied), whole) for name in names
    }
    lines = re.compile("(?:" + "|".join(map(re.escape, target.files)) + ")" + _LINE)
    won: set[str] = set()
    number, grade_told = 1, None
    while number < most and not (cancel and cancel.is_set()):
        number += 1
        verdict = grade(_patch(target, {name: search.propose() for name, search in searches.items()}))
        grade_told = getattr(getattr(verdict, "assurance", None), "grade", None)
        if verdict.outcome is Outcome.PASSED:
            return Won(number, True, len(target.tests), len(target.tests), grade_told, bool(spied))
        for name, search in searches.items():
            results = [test for test in verdict.tests if name in (test.id, _ALL)]
            search.learn(_score(results, verdict, lines))
            search.more([found for test in results for found in _expected_literals(test.message)])
        won |= {test.id for test in verdict.tests if test.outcome == "passed"}
    return Won(number, False, len(target.tests), len(won), grade_told, bool(spied))


def _score(tests: list[TestResult], verdict: Verdict, lines: re.Pattern[str]) -> Score:
    """How far guesses got: tests that passed, the furthest line that a message names, and bits if any are told."""
    reached = [int(line) for test in tests for line in lines.findall(test.message)]
    bits = getattr(getattr(verdict, "assurance", None), "bits", 0.0) or 0.0
    return sum(test.outcome == "passed" for test in tests), max(reached, default=0), float(bits)


def _spied(verdict: Verdict) -> str:
    """The text of the tests, where messages are told and hold it."""
    for test in verdict.tests:
        _, mark, text = test.message.partition("<<<spied>>>")
        if mark:
            return text
    return ""


def _expected_literals(message: str) -> list[str]:
    """Literals that the end of a message names, where a failed assertion says what it wanted."""
    tail = message[message.rfind("Error") :]
    wanted = [repr(line) for line in re.findall(r"^\s*- (.*)$", tail, re.MULTILINE)]
    return [*wanted, *(found for found in literals(tail) if "..." not in found)]


def _own(text: str, test: str) -> str:
    """The part of the tests' text that is one test, with what stands above it; all of it where there are no parts."""
    name = re.escape(test.rpartition("::")[2].partition("[")[0])
    found = re.search(rf"^(?:[ \t]*@.*\n)*[ \t]*def {name}\b.*\n(?:[ \t]+.*\n|\n)*", text, re.MULTILINE)
    return textwrap.dedent(found[0]) if found else text


def _patch(target: Target, plan: Mapping[str, list[str]]) -> bytes:
    code = shared(target, "planned").replace("@PLAN@", json.dumps(plan))
    return appended(target, code)
