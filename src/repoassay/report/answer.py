"""The sentence that a page of results begins with: who is best, by how much, whether that is chance, at what price.

A sentence is a tuple of parts, so that names, which others wrote, are set apart from our words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from repoassay.report.figures import cost, percent, seconds
from repoassay.report.standings import MOST_TESTED, PairTest, Standings, SystemResult
from repoassay.stats import p_text
from repoassay.text import one_line
from repoassay.types import Outcome

__all__ = ["AnswerPart", "ResultAnswer", "answer_of", "plain_answer", "price_of"]

_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """A piece of a sentence; `name` where it is the name of a system or a task."""

    text: str
    name: bool = False


@dataclass(frozen=True, slots=True)
class ResultAnswer:
    """What a suite's results say: the first sentence, and what it rests on."""

    first: tuple[AnswerPart, ...]
    more: tuple[tuple[AnswerPart, ...], ...]


def answer_of(board: Standings) -> ResultAnswer:
    """Say what the standings come to."""
    systems = board.ranked or board.systems
    if not any(one.finished for one in board.systems):
        planned = sum(one.planned for one in board.systems)
        return ResultAnswer((AnswerPart(f"No attempt is finished yet: 0 of {planned:,}."),), ())
    found = _of_one(systems[0]) if len(board.systems) == 1 else _of_several(board, systems)
    planned, finished = (
        sum(count) for count in zip(*((one.planned, one.finished) for one in board.systems), strict=True)
    )
    if finished == planned:
        return found
    return ResultAnswer((AnswerPart(f"With {finished:,} of {planned:,} attempts finished, "), *found.first), found.more)


def plain_answer(board: Standings) -> str:
    """The first sentence as one line."""
    return "".join(part.text for part in answer_of(board).first)


def price_of(one: SystemResult) -> str:
    """What an attempt cost, `$0.0123 an attempt`; or that no model was asked, or that it is not known."""
    if not one.asked:
        return "no model asked"
    if one.dollars is None:
        return "price not known"
    return f"{cost(one.dollars, Decimal(0))} an attempt"


def _at(one: SystemResult) -> str:
    """` at $0.0123 an attempt`; empty without a model."""
    if not one.asked:
        return ""
    return " at a price not known" if one.dollars is None else f" at {price_of(one)}"


def _name(text: str, most: int = 160) -> AnswerPart:
    return AnswerPart(one_line(text, most), name=True)


def _count(one: SystemResult) -> str:
    """`14 of 24 tasks`, of several attempts a task `40 of 72 attempts`."""
    word = "task" if one.rows[0].run.attempts == 1 else "attempt"
    return f"{one.passed.successes:,} of {one.planned:,} {word}{'' if one.planned == 1 else 's'}"


def _of_one(one: SystemResult) -> ResultAnswer:
    if one.planned == 1:
        return _of_one_attempt(one)
    paid = f",{_at(one)}" if one.asked else ""
    first = (_name(one.short), AnswerPart(f" passed {_count(one)}, {percent(one.passed.value)}{paid}."))
    return ResultAnswer(first, tuple(_remarks((one,), alone=True)))


_ENDED = {
    Outcome.FAILED: "what it left does not pass the checks",
    Outcome.NO_OUTPUT: "it left no usable output",
    Outcome.PATCH_FAILED: "its patch does not apply",
    Outcome.TIMED_OUT: "it ran out of time",
    Outcome.BUDGET: "it ran out of budget",
    Outcome.TAMPERING: "what it left interferes with grading",
    Outcome.NOT_GRADABLE: "the suite lacks what grading needs",
    Outcome.INFRA_FAULT: "a fault that is not the agent's doing spoiled the attempt",
}
"""Why a single attempt did not pass, or is unknown, as the end of a sentence."""


def _of_one_attempt(one: SystemResult) -> ResultAnswer:
    row = one.rows[0]
    outcome = row.outcome or Outcome.INFRA_FAULT
    who, what = _name(one.short), _name(row.task, 120)
    if outcome is Outcome.PASSED:
        first: tuple[AnswerPart, ...] = (who, AnswerPart(" passed "), what, AnswerPart("."))
    elif row.result is None:
        why = AnswerPart(f" is not known: {_ENDED[outcome]}.")
        first = (AnswerPart("Whether "), who, AnswerPart(" passes "), what, why)
    else:
        first = (who, AnswerPart(" did not pass "), what, AnswerPart(f": {_ENDED[outcome]}."))
    if not one.asked:
        paid = "asked no model"
    else:
        paid = "its price is not known" if one.dollars is None else f"cost {cost(one.dollars, Decimal(0))}"
    took = f"It took {seconds(row.seconds)} and {paid}." if row.seconds is not None else f"It {paid}."
    return ResultAnswer(first, ((AnswerPart(took.replace("It its", "Its")),),))


def _of_several(board: Standings, systems: Sequence[SystemResult]) -> ResultAnswer:
    best = [one for one in systems if one.rank == 1] or [systems[0]]
    rest = [one for one in systems if one not in best]
    more = [*_compared(board, best, rest), *_remarks(systems, prices=len(board.ranked) > 1)]
    if board.common:
        more.append((AnswerPart("All have "), _name(board.common), AnswerPart(" in common.")))
    if len(board.ranked) < len(board.systems):
        more.append((AnswerPart(_unranked_sentence(board)),))
    if len(board.ranked) < 2:
        leader = systems[0]
        others = "no other system" if board.ranked else "no system"
        sentence = f" passed {_count(leader)}{_at(leader)}; {others} ran on all {len(board.tasks):,} tasks."
        return ResultAnswer((_name(leader.short), AnswerPart(sentence)), tuple(more))
    if len(best) == 1:
        return ResultAnswer(tuple(_alone(board, best[0], rest)), tuple(more))
    return ResultAnswer(tuple(_together(board, best)), tuple(more))


def _alone(board: Standings, best: SystemResult, rest: Sequence[SystemResult]) -> Iterator[AnswerPart]:
    yield _name(best.short)
    yield AnswerPart(f" is best: it passed {_count(best)}, ")
    second = rest[0]
    second_best = [one for one in rest if one.passed.value == second.passed.value]
    ahead = 100 * ((best.passed.value or 0.0) - (second.passed.value or 0.0))
    yield AnswerPart(f"{ahead:.3g} points ahead of ")
    yield from _listed(second_best)
    tested = board.between(best, second)
    sure = f" (significant, {_p_value(tested)})" if tested is not None and tested.significant else ""
    paid = _at(best)
    yield AnswerPart(f"{sure},{paid}." if paid else f"{sure}.")


def _together(board: Standings, best: Sequence[SystemResult]) -> Iterator[AnswerPart]:
    counts = [one.passed.successes for one in best]
    if max(counts) == min(counts) and len({one.planned for one in best}) == 1:
        yield from _named_or_counted(best, board)
        every = "both" if len(best) == 2 else "each"
        yield AnswerPart(f" {every} passed {_count(best[0])}: none of them is better.")
        return
    top = best[0]
    level = [one for one in best if one.passed == top.passed]
    others = [one for one in best if one not in level]
    if len(level) > 1:
        yield from _named_or_counted(level, board)
        named = "the other one" if len(others) == 1 else f"the other {len(others)}"
        yield AnswerPart(f" passed most, {_count(top)} each, but not significantly more than {named}.")
        return
    yield _name(top.short)
    yield AnswerPart(f" passed most, {_count(top)}{_at(top)}, but not significantly more than ")
    if len(others) > _MOST_NAMED:
        yield AnswerPart(f"{'any of the' if len(best) == len(board.systems) else 'the next'} {len(others)} others.")
        return
    yield from _listed(others)
    yield AnswerPart(f" ({_count(others[0])})." if len(others) == 1 else ".")


def _named_or_counted(systems: Sequence[SystemResult], board: Standings) -> Iterator[AnswerPart]:
    """The names of a few, `12 of 40 systems` of more."""
    if len(systems) <= _MOST_NAMED + 1:
        yield from _listed(systems)
    else:
        yield AnswerPart(f"{len(systems)} of {len(board.systems)} systems")


def _listed(systems: Sequence[SystemResult]) -> Iterator[AnswerPart]:
    """`a`, `a and b`, `a, b and c`, `a, b, c and 4 more`."""
    shown = systems if len(systems) <= _MOST_NAMED + 1 else systems[:_MOST_NAMED]
    for place, one in enumerate(shown):
        if place:
            last = place == len(shown) - 1 and len(shown) == len(systems)
            yield AnswerPart(" and " if last else ", ")
        yield _name(one.short)
    if len(shown) < len(systems):
        yield AnswerPart(f" and {len(systems) - len(shown)} more")


def _compared(
    board: Standings, best: Sequence[SystemResult], rest: Sequence[SystemResult]
) -> Iterator[tuple[AnswerPart, ...]]:
    """Whether the lead is more than chance, by which test."""
    first, other = best[0], (rest[0] if rest and len(best) == 1 else best[1] if len(best) > 1 else None)
    if other is None:
        return
    tested = board.between(first, other)
    if tested is None:
        if len(board.ranked) > MOST_TESTED:
            yield (AnswerPart("Ranks are by 95% intervals that do not meet: there are too many systems for tests."),)
        return
    if tested.adjusted is None:
        yield (AnswerPart(f"Whether that is chance cannot be said: {tested.test.undefined}."),)
        return
    how = tested.test.method.partition(",")[0]
    holm = f", Holm's correction for {len(board.tests)} comparisons" if len(board.tests) > 1 else ""
    sentence = "The difference is significant" if tested.significant else "The difference may well be chance"
    if tested.adjusted == 1.0 and tested.difference == 0:
        sentence = "No difference is to be seen"
    yield (AnswerPart(f"{sentence} ({_p_value(tested)}, {how} test on {tested.test.n} tasks{holm})."),)


def _p_value(tested: PairTest) -> str:
    return p_text(tested.adjusted or 0.0, digits=2)


def _remarks(
    systems: Sequence[SystemResult], *, alone: bool = False, prices: bool = False
) -> Iterator[tuple[AnswerPart, ...]]:
    """What was paid, which price is least where they are of the same tasks, and what is not known."""
    if alone:
        ends = systems[0].passed.interval
        if ends.low is not None and ends.high is not None:
            yield (AnswerPart(f"The 95% interval is {100 * ends.low:.0f} to {100 * ends.high:.0f}%."),)
    if not any(one.asked for one in systems):
        yield (AnswerPart("No model was asked, so nothing was paid."),)
    elif prices:
        yield from _prices(systems)
    unknown = sum(one.result.unknown for one in systems)
    if unknown:
        what = "attempt is" if unknown == 1 else "attempts are"
        yield (AnswerPart(f"{unknown:,} {what} unknown, counted as not passed."),)


def _prices(systems: Sequence[SystemResult]) -> Iterator[tuple[AnswerPart, ...]]:
    """Which system costs least, where several have a price."""
    known = [one for one in systems if one.dollars is not None]
    if len(known) < 2:
        return
    cheapest = min(known, key=lambda one: one.dollars or Decimal(0))
    least = AnswerPart(f" with {price_of(cheapest)}.")
    yield AnswerPart("The cheapest is "), _name(cheapest.short), least


def _unranked_sentence(board: Standings) -> str:
    parts = len(board.systems) - len(board.ranked)
    ran, have = ("1 system ran", "has") if parts == 1 else (f"{parts} systems ran", "have")
    return f"{ran} on a part of the {len(board.tasks):,} tasks and {have} no rank."
