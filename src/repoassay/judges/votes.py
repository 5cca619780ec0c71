"""From a judge's samples to one verdict an axis, with the share of votes as its confidence, and to a rating."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from ulid import ULID

from repoassay.judges.judgement import Judgement
from repoassay.review import AnswerRole, Rubric, label_of
from repoassay.types import AxisAnswer, Rating, RatingPhase

__all__ = ["Vote", "rating_of", "states_of", "votes"]


@dataclass(frozen=True, slots=True)
class Vote:
    """What the samples of one axis of one item came to.

    `state` is None where no sample was taken, or they are tied or unsure. `share` is the part of the taken samples that
    say `state`; `problem` the part of those that chose which say there is a problem, None where none chose. `answer` is
    that of the first sample that says `state`, with its evidence. `by_order` counts samples that chose, and those with
    a problem among them, with the reference shown first (True) and last (False).
    """

    item: str
    axis: str
    state: str | None
    share: float | None
    problem: float | None
    taken: int
    void: tuple[str, ...]
    answer: AxisAnswer | None
    by_order: Mapping[bool, tuple[int, int]]


def votes(judgements: Iterable[Judgement], rubric: Rubric) -> dict[tuple[str, str], Vote]:
    """Return the vote on each (item, axis) that was judged; give samples of one phase.

    The rule is that of people's consensus: a strict majority of those who chose; on a scale of values a plurality or
    the median.
    """
    line: dict[tuple[str, str], list[Judgement]] = {}
    for each in judgements:
        line.setdefault((each.item, each.axis), []).append(each)
    return {pair: _vote(*pair, samples, rubric) for pair, samples in sorted(line.items())}


def states_of(found: Mapping[tuple[str, str], Vote], item: str, rubric: Rubric) -> dict[str, str]:
    """Return the settled states of an item, by axis."""
    pairs = ((axis.key, found.get((item, axis.key))) for axis in rubric.axes)
    return {key: vote.state for key, vote in pairs if vote is not None and vote.state is not None}


def rating_of(
    found: Mapping[tuple[str, str], Vote], item: str, rubric: Rubric, *, study: str, rater: str, phase: RatingPhase,
    position: int, before: Rating | None, at: datetime,
) -> Rating | None:  # fmt: skip
    """Return the rating that a judge submits of an item as one more rater.

    An axis without a verdict (void, tied) is unsure.

    Args:
        found: Votes on every axis of it.
        item: Its name.
        rubric: Of the study.
        study: Its name.
        rater: The judge.
        phase: Of the samples.
        position: Its place in the judge's queue.
        before: The judge's last rating of the item, which this one amends.
        at: When.

    Returns:
        None where an axis was not judged, an axis without a verdict has no state that says unsure, or the rating before
        says the same.
    """
    axes: dict[str, AxisAnswer] = {}
    notes: list[str] = []
    for axis in rubric.axes:
        vote = found.get((item, axis.key))
        if vote is None:
            return None
        if vote.answer is not None:
            axes[axis.key] = vote.answer
            continue
        unsure = next((each.key for each in rubric.levels(axis.key) if each.role is AnswerRole.UNSURE), None)
        if unsure is None:
            return None
        axes[axis.key] = AxisAnswer(state=unsure)
        notes.append(f"{axis.key}: no verdict. {vote.void[0] if vote.void else 'Its samples disagree.'}")
    if before is not None and (before.phase, before.axes) == (phase, axes):
        return None
    return Rating(
        id=str(ULID()), study=study, submission=item, rater=rater, rubric=rubric.digest, phase=phase, axes=axes,
        version=1 if before is None else before.version + 1, amends=None if before is None else before.id,
        mergeable=rubric.mergeable({key: answer.state for key, answer in axes.items()}),
        notes="\n".join(notes)[:20_000], position=position, created=at, submitted=at,
    )  # fmt: skip


def _vote(item: str, axis: str, samples: list[Judgement], rubric: Rubric) -> Vote:
    taken = [(each, each.answer) for each in samples if each.answer is not None]
    states = [answer.state for _, answer in taken]
    state = label_of(item, axis, states, rubric).state
    roles = [(sample, rubric.level(axis, answer.state).role) for sample, answer in taken]
    problems = [role is AnswerRole.PROBLEM for _, role in roles if role is not AnswerRole.UNSURE]
    orders: dict[bool, tuple[int, int]] = {}
    for sample, role in roles:
        if sample.swapped is not None and role is not AnswerRole.UNSURE:
            count, bad = orders.get(sample.swapped, (0, 0))
            orders[sample.swapped] = (count + 1, bad + (role is AnswerRole.PROBLEM))
    # A median of levels may be no sample's own answer.
    answer = next((answer for _, answer in taken if answer.state == state), None)
    return Vote(
        item=item,
        axis=axis,
        state=state,
        share=None if state is None else states.count(state) / len(states),
        problem=sum(problems) / len(problems) if problems else None,
        taken=len(taken),
        void=tuple(each.void for each in samples if each.answer is None),
        answer=answer,
        by_order=orders,
    )
