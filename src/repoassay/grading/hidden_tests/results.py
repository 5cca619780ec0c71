"""Reading what the runner sent: signed, numbered lines, or they are not the runner's."""

from __future__ import annotations

import hmac
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from repoassay.types import Exit, Spending, TestResult

__all__ = ["ChannelReport", "HiddenTestRun", "Seen", "read_channel"]

_MOST_SIGNS = 20
Seen = tuple[int, list[Any]]
"""One observation: the number of an assertion, and its operands as nodes."""


@dataclass
class ChannelReport:
    """What the channel held: a result for every expected id, and signs of tampering in words.

    `others` are results nobody asked for by id, as they came: those of a file's tests when the file was asked for.
    `seen` holds what rewritten tests observed, by id: `[site, [operand, ...]]` in order. `names` are what
    else a test is called, by id, and `broken` why files could not be collected. `expected` are passes that are failures
    which were expected. `reward` is what a script of tests wrote. `learnt` is what a trial on the base told of itself.
    """

    tests: list[TestResult]
    complete: bool
    ready: bool = False
    signs: list[str] = field(default_factory=list)
    others: list[TestResult] = field(default_factory=list)
    seen: dict[str, list[Seen]] = field(default_factory=dict)
    names: dict[str, list[str]] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)
    expected: frozenset[str] = frozenset()
    reward: float | None = None
    learnt: Any = None

    @property
    def passed(self) -> bool:
        """Whether every expected test was reported passed and nothing is amiss."""
        return self.complete and not self.signs and all(test.outcome == "passed" for test in self.tests)

    @property
    def reported(self) -> list[TestResult]:
        """Every result that was reported, asked for or not, in the order in which tests ran."""
        results = {test.id: test for test in (*self.tests, *self.others)}
        return [results[name] for name in self.names]


@dataclass(frozen=True, slots=True)
class HiddenTestRun:
    """One run of hidden tests: how it ended, its results, the end of what it printed, and what it asked models."""

    exit: Exit
    report: ChannelReport
    printed: str
    judging: Spending | None = None


def read_channel(data: bytes, key: bytes, ids: Sequence[str]) -> ChannelReport:
    """Judge every line; an id never reported is `missing`, as after an early exit."""
    found: dict[str, TestResult] = {}
    seen: dict[str, list[Seen]] = {}
    names: dict[str, list[str]] = {}
    signs: list[str] = []
    collected: list[str] = []
    complete = ready = False
    learnt, number = None, 0
    failing: set[str] = set()
    for line in io.BytesIO(data):
        if len(signs) >= _MOST_SIGNS:
            break  # a flood is not worth verifying line by line
        body = _verified(line.rstrip(b"\n"), key) if line != b"\n" else {}
        if not body or body.get("n") != number:
            if line.endswith(b"\n") or complete:  # what a limit or the clock cut short accuses nobody
                signs.append("a line on the result channel was not the test runner's")
            continue
        number += 1
        if "ready" in body:
            ready = True
        elif "end" in body:
            complete, learnt = True, body.get("learnt")
            signs += [f"the code under test changed {name}" for name in _texts(body.get("changed"))]
        elif "collect" in body:
            collected.append(str(body.get("message", "")))
        elif (result := _result(body)) is None:
            signs.append("a line on the result channel says what the test runner never says")
        else:
            if result.id in found:
                signs.append(f"{result.id} was reported twice")
            found[result.id] = result
            seen[result.id] = _observations(body.get("seen"))
            names[result.id] = _texts(body.get("names"))
            failing |= {result.id} if body.get("expected") is True else set()
    missing = (collected[0] if collected else "It was never reported: the run ended before it.")[:4000]
    tests = [found.get(test) or TestResult(id=test, outcome="missing", message=missing) for test in ids]
    others = [result for name, result in found.items() if name not in set(ids)]
    signs = list(dict.fromkeys(signs))[:20]
    broken = collected[:_MOST_SIGNS]
    return ChannelReport(
        tests, complete, ready, signs, others, seen, names, broken, expected=frozenset(failing), learnt=learnt
    )


def _observations(value: object) -> list[Seen]:
    """Observations as they were sent; what is none is left out."""
    pairs = value if isinstance(value, list) else []
    return [
        (pair[0], pair[1])
        for pair in pairs
        if isinstance(pair, list) and len(pair) == 2 and type(pair[0]) is int and isinstance(pair[1], list)
    ]


def _result(body: Mapping[str, Any]) -> TestResult | None:
    """One test's result; None when it is not one, as when code under test found the key and made something up."""
    seconds = body.get("seconds")
    if not isinstance(seconds, int | float) or not 0 <= seconds < 1e7:
        return None
    try:
        return TestResult(
            id=str(body["id"])[:4000], outcome=body["outcome"], seconds=seconds,
            message=str(body["message"])[:4000].encode("utf-8", "replace").decode(),
        )  # fmt: skip
    except (KeyError, ValidationError):
        return None


def _texts(value: object) -> list[str]:
    return [str(item)[:200] for item in value[:_MOST_SIGNS]] if isinstance(value, list) else []


def _verified(line: bytes, key: bytes) -> dict[str, Any] | None:
    signature, _, body = line.partition(b" ")
    expected = hmac.digest(key, body, "sha256").hex().encode()
    if not hmac.compare_digest(signature, expected):
        return None
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None
