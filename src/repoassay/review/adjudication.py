"""From several raters' answers to one label an axis, and what people must still settle.

Where a strict majority of those who chose agrees, that is the label. On a scale of values, failing that, a unique
plurality (flagged), else the median of the levels, and both go to adjudication (GitTaskBench says "majority" and leaves
open what to do without one). On a scale of states, failing a majority, there is no label until somebody settles it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import AwareDatetime, Field

from repoassay.review.rubric import AnswerRole, Rubric
from repoassay.types import Identifier, Rating, Record

__all__ = [
    "Adjudication",
    "DisagreementCause",
    "DisagreementLabel",
    "Dispute",
    "Provenance",
    "consensus",
    "disputes",
    "label_of",
    "latest",
]


class Provenance(StrEnum):
    """Where a final label comes from."""

    UNANIMOUS = "unanimous"
    SINGLE = "single"
    MAJORITY = "majority"
    PLURALITY = "plurality"
    MEDIAN = "median"
    ADJUDICATED = "adjudicated"
    UNSETTLED = "unsettled"


class DisagreementCause(StrEnum):
    """Why raters disagreed, in the adjudicator's judgement."""

    GUIDELINE_GAP = "guideline_gap"
    RATER_ERROR = "rater_error"
    REAL_AMBIGUITY = "real_ambiguity"


class Adjudication(Record):
    """A settled label of one axis of one item, why raters disagreed, and who settled it. A later one replaces it."""

    item: Identifier
    axis: Identifier
    state: Identifier
    cause: DisagreementCause
    by: Identifier
    at: AwareDatetime
    notes: Annotated[str, Field(max_length=10_000)] = ""


@dataclass(frozen=True, slots=True)
class DisagreementLabel:
    """The final state of one axis of one item; None while unsettled. `votes` counts states chosen, unsure ones too."""

    item: str
    axis: str
    state: str | None
    provenance: Provenance
    votes: Mapping[str, int]

    @property
    def open(self) -> bool:
        """Whether somebody should settle it."""
        return self.provenance in {Provenance.UNSETTLED, Provenance.PLURALITY, Provenance.MEDIAN}


@dataclass(frozen=True, slots=True)
class Dispute:
    """An item raters disagree on, with each axis's share of disagreeing pairs of raters, and contradictions.

    `disagreement` orders the queue: the mean over axes, plus one for each rater who contradicts himself.
    """

    item: str
    disagreement: float
    axes: Mapping[str, float]
    answers: Mapping[str, Mapping[str, str]]
    contradictions: tuple[str, ...]
    unsettled: tuple[str, ...]


def latest(ratings: Iterable[Rating]) -> tuple[Rating, ...]:
    """Return each rater's last version of each item; give ratings of one phase for that phase's answers."""
    newest: dict[tuple[str, str], Rating] = {}
    for rating in ratings:
        pair = (rating.submission, rating.rater)
        if pair not in newest or newest[pair].version < rating.version:
            newest[pair] = rating
    return tuple(newest[pair] for pair in sorted(newest))


def label_of(
    item: str, axis: str, states: Sequence[str], rubric: Rubric, settled: str | None = None
) -> DisagreementLabel:
    """Return the label of one axis of one item.

    Args:
        item: Its name, carried into the label.
        axis: An axis of the rubric.
        states: What raters chose, one each.
        rubric: Says which states are unsure (they do not count as a choice), and which scales have values.
        settled: What an adjudicator decided.
    """
    votes = dict(sorted(Counter(states).items()))
    if settled is not None:
        return DisagreementLabel(item, axis, settled, Provenance.ADJUDICATED, votes)
    chosen = [state for state in states if rubric.level(axis, state).role is not AnswerRole.UNSURE]
    counts = Counter(chosen).most_common()
    # Where most would not choose, the few who did do not speak for all.
    if not counts or 2 * len(chosen) <= len(states):
        return DisagreementLabel(item, axis, None, Provenance.UNSETTLED, votes)
    first, most = counts[0]
    if len(counts) == 1 and len(chosen) == len(states):
        return DisagreementLabel(item, axis, first, Provenance.SINGLE if most == 1 else Provenance.UNANIMOUS, votes)
    if 2 * most > len(chosen):
        return DisagreementLabel(item, axis, first, Provenance.MAJORITY, votes)
    if not rubric.ordered(axis):
        return DisagreementLabel(item, axis, None, Provenance.UNSETTLED, votes)
    if counts[1][1] < most:
        return DisagreementLabel(item, axis, first, Provenance.PLURALITY, votes)
    line = sorted(chosen, key=lambda state: rubric.level(axis, state).value or 0.0)
    # An even number has two middles; the lower is a level of the scale, their mean may be none.
    return DisagreementLabel(item, axis, line[(len(line) - 1) // 2], Provenance.MEDIAN, votes)


def consensus(
    ratings: Iterable[Rating], rubric: Rubric, settled: Iterable[Adjudication] = ()
) -> dict[str, dict[str, DisagreementLabel]]:
    """Return every rated item's label on every axis.

    Args:
        ratings: One a rater and item (see `latest`), of people only: a judge is never in the majority.
        rubric: Theirs.
        settled: Adjudications in order; of several for one axis the last counts.
    """
    decided = {(each.item, each.axis): each.state for each in settled}
    states: dict[str, dict[str, list[str]]] = {}
    for rating in ratings:
        for axis, answer in rating.axes.items():
            states.setdefault(rating.submission, {}).setdefault(axis, []).append(answer.state)
    return {
        item: {
            axis.key: label_of(item, axis.key, axes.get(axis.key, ()), rubric, decided.get((item, axis.key)))
            for axis in rubric.axes
        }
        for item, axes in sorted(states.items())
    }


def disputes(ratings: Iterable[Rating], rubric: Rubric, settled: Iterable[Adjudication] = ()) -> tuple[Dispute, ...]:
    """Return the adjudication queue, most disagreement first.

    An item is in it when its raters differ on an axis, a label is not settled, or a rater's two answers on
    mergeability contradict; axes already adjudicated no longer count.
    """
    every, done = tuple(ratings), tuple(settled)
    labels = consensus(every, rubric, done)
    decided = {(each.item, each.axis) for each in done}
    by_item: dict[str, list[Rating]] = {}
    for rating in every:
        by_item.setdefault(rating.submission, []).append(rating)
    found = []
    for item, line in by_item.items():
        answers = {
            axis.key: {each.rater: each.axes[axis.key].state for each in line if axis.key in each.axes}
            for axis in rubric.axes
        }
        shares = {
            axis: 0.0 if (item, axis) in decided else _disagreement(list(chosen.values()))
            for axis, chosen in answers.items()
        }
        contradictions = tuple(each.rater for each in line if each.contradiction)
        unsettled = tuple(axis for axis, label in labels[item].items() if label.open)
        settled_here = all((item, axis.key) in decided for axis in rubric.axes)
        if any(shares.values()) or unsettled or (contradictions and not settled_here):
            weight = sum(shares.values()) / len(shares) + len(contradictions)
            found.append(Dispute(item, weight, shares, answers, contradictions, unsettled))
    return tuple(sorted(found, key=lambda each: (-each.disagreement, -len(each.unsettled), each.item)))


def _disagreement(states: Sequence[str]) -> float:
    """Return the share of pairs of raters who chose differently; 0 with fewer than two."""
    pairs = len(states) * (len(states) - 1)
    return 1 - sum(count * (count - 1) for count in Counter(states).values()) / pairs if pairs else 0.0
