"""Dawid and Skene's model: what is each unit's true label, and how does each rater err?

A. P. Dawid and A. M. Skene, "Maximum likelihood estimation of observer error-rates using the EM algorithm", Applied
Statistics 28 (1979), 20-28, equations 2.3 to 2.5. A rater is a table: how likely he says l where the truth is j. With
fewer than three raters, or some thirty units, the tables cannot be told from the truth; `note` says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from math import exp, fsum, log

__all__ = ["DawidSkene", "dawid_skene"]

_FEWEST_RATERS = 3
_FEWEST_UNITS = 30

Confusion = Mapping[Hashable, Mapping[Hashable, float]]


@dataclass(frozen=True, slots=True)
class DawidSkene:
    """The fitted model.

    `shares` is how frequent each true label is, `truths` each unit's probabilities of the labels, `raters` each rater's
    table: raters[r][true][said] is a probability. `n` counts units. `undefined` holds the reason where nothing could be
    fitted; then the tables are empty.
    """

    shares: Mapping[Hashable, float]
    truths: Mapping[Hashable, Mapping[Hashable, float]]
    raters: Mapping[Hashable, Confusion]
    rounds: int
    n: int
    undefined: str = ""
    note: str = ""

    @property
    def method(self) -> str:
        """What was fitted, and for how long."""
        return f"Dawid-Skene, EM, {self.rounds} rounds"

    def label(self, unit: Hashable) -> Hashable:
        """The likeliest label of a unit; of equally likely ones the first seen."""
        truth = self.truths[unit]
        return max(truth, key=lambda label: truth[label])


def dawid_skene(
    ratings: Iterable[tuple[Hashable, Hashable, Hashable]], rounds: int = 500, tolerance: float = 1e-9
) -> DawidSkene:
    """Fit the model by EM, beginning with each unit's shares of votes.

    Args:
        ratings: Triples of unit, rater, label. A rater may rate a unit more than once; missing ratings are left out.
        rounds: The most rounds of EM.
        tolerance: EM ends when no probability of a truth moves by more.

    Raises:
        ValueError: When there are no rounds.
    """
    if rounds < 1:
        raise ValueError(f"EM of {rounds} rounds fits nothing")
    votes: dict[Hashable, Counter[tuple[Hashable, Hashable]]] = {}
    for unit, rater, label in ratings:
        votes.setdefault(unit, Counter())[rater, label] += 1
    if not votes:
        return DawidSkene({}, {}, {}, 0, 0, "there are no ratings")
    labels = list(dict.fromkeys(label for unit in votes.values() for _, label in unit))
    truths = {unit: _vote_shares(answers, labels) for unit, answers in votes.items()}
    shares: dict[Hashable, float] = {}
    tables: dict[Hashable, dict[Hashable, dict[Hashable, float]]] = {}
    done = 0
    for done in range(1, rounds + 1):  # noqa: B007 - the count is part of the result
        shares = {label: fsum(truth[label] for truth in truths.values()) / len(truths) for label in labels}
        tables = _tables(votes, truths, labels)
        after = {unit: _truth(answers, shares, tables) for unit, answers in votes.items()}
        moved = max(abs(after[unit][label] - truths[unit][label]) for unit in truths for label in labels)
        truths = after
        if moved <= tolerance:
            break
    notes = []
    if len(tables) < _FEWEST_RATERS:
        notes.append(
            f"{len(tables)} raters are too few to tell their errors from the truth; {_FEWEST_RATERS} are needed"
        )
    if len(votes) < _FEWEST_UNITS:
        notes.append(f"{len(votes)} units are few; about {_FEWEST_UNITS} are needed")
    return DawidSkene(shares, truths, tables, done, len(votes), note="; ".join(notes))


def _vote_shares(answers: Counter[tuple[Hashable, Hashable]], labels: list[Hashable]) -> dict[Hashable, float]:
    counts: Counter[Hashable] = Counter()
    for (_, label), times in answers.items():
        counts[label] += times
    return {label: counts[label] / answers.total() for label in labels}


def _tables(
    votes: Mapping[Hashable, Counter[tuple[Hashable, Hashable]]],
    truths: Mapping[Hashable, Mapping[Hashable, float]],
    labels: list[Hashable],
) -> dict[Hashable, dict[Hashable, dict[Hashable, float]]]:
    """Each rater's table, given the truths (equation 2.3)."""
    raters = dict.fromkeys(rater for answers in votes.values() for rater, _ in answers)
    tables = {rater: {true: dict.fromkeys(labels, 0.0) for true in labels} for rater in raters}
    for unit, answers in votes.items():
        for (rater, label), times in answers.items():
            for true in labels:
                tables[rater][true][label] += truths[unit][true] * times
    for table in tables.values():
        for row in table.values():
            # A rater who never saw this truth is taken as guessing: nothing is known of him there.
            total = fsum(row.values())
            for label in row:
                row[label] = row[label] / total if total > 0 else 1 / len(labels)
    return tables


def _truth(
    answers: Counter[tuple[Hashable, Hashable]],
    shares: Mapping[Hashable, float],
    tables: Mapping[Hashable, Mapping[Hashable, Mapping[Hashable, float]]],
) -> dict[Hashable, float]:
    """A unit's probabilities of the labels, given the tables (equation 2.5), in logarithms against underflow."""

    def score(true: Hashable) -> float:
        chances = [shares[true], *(tables[rater][true][label] for rater, label in answers)]
        if not all(chances):
            return float("-inf")
        times = [1, *answers.values()]
        return fsum(count * log(chance) for count, chance in zip(times, chances, strict=True))

    scores = {true: score(true) for true in shares}
    highest = max(scores.values())
    weights = {true: exp(value - highest) for true, value in scores.items()}
    total = fsum(weights.values())
    return {true: weight / total for true, weight in weights.items()}
