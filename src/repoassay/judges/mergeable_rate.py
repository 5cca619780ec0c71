"""The rate of mergeable changes among all that were judged, from the few that people rated, never the judge's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

from repoassay.stats import Figure, Interval, PredictionPowered, Proportion, prediction_powered, rogan_gladen

__all__ = ["MergeableRate", "mergeable_rate"]


@dataclass(frozen=True, slots=True)
class MergeableRate:
    """Estimates of one rate; the items people rated must be a random sample of those judged.

    `people` is from people alone. `estimate` is prediction-powered, `gained` how many more ratings by people it is
    worth than were given. `naive` is the judge's own rate over all items, biased by what it misses; `corrected` is that
    rate after Rogan and Gladen, with the delta method's interval. `open` items are in none: people rated them without a
    settled answer.
    """

    people: Proportion
    estimate: PredictionPowered
    gained: Figure
    naive: Proportion
    corrected: Figure
    corrected_interval: Interval
    open: int


def mergeable_rate(
    people: Mapping[str, bool | None], judge: Mapping[str, bool | None], confidence: float = 0.95
) -> MergeableRate:
    """Estimate the rate.

    A judge that leaves an item open is taken as a half: the estimate is unbiased whatever the judge says, as long as it
    says the same kind of thing of rated and unrated items.

    Args:
        people: Whether each item that people rated is mergeable, None where that is open.
        judge: The same of every item judged.
        confidence: Two-sided level.
    """
    rated = [item for item in judge if people.get(item) is not None]
    alone = [item for item in judge if item not in people]
    votes = {item: 0.5 if answer is None else float(answer) for item, answer in judge.items()}
    estimate = prediction_powered(
        [float(bool(people[item])) for item in rated], [votes[item] for item in rated], [votes[item] for item in alone],
        confidence,
    )  # fmt: skip
    method = "effective ratings by people, less those given"
    if estimate.effective_n is None:
        gained = Figure(None, method, len(rated), estimate.undefined or "the estimate has no error to compare")
    else:
        gained = Figure(estimate.effective_n - len(rated), method, len(rated))
    plain = {item: answer for item, answer in judge.items() if answer is not None}
    pairs = [(people[item], plain[item]) for item in rated if item in plain]
    good = Proportion(pairs.count((True, True)), sum(truth is True for truth, _ in pairs))
    bad = Proportion(pairs.count((False, False)), sum(truth is False for truth, _ in pairs))
    # Items that people rated without settling them are no part of the rate either way.
    every = [answer for item, answer in plain.items() if item not in people or people[item] is not None]
    naive = Proportion(sum(every), len(every))
    corrected, interval = _corrected(naive, good, bad, confidence)
    return MergeableRate(
        people=Proportion(sum(people[item] is True for item in rated), len(rated)), estimate=estimate, gained=gained,
        naive=naive, corrected=corrected, corrected_interval=interval,
        open=sum(answer is None for answer in people.values()),
    )  # fmt: skip


def _corrected(
    naive: Proportion, sensitivity: Proportion, specificity: Proportion, confidence: float
) -> tuple[Figure, Interval]:
    """Rogan and Gladen's rate, with the error of all three shares (their equation for the variance)."""
    kind = f"Rogan-Gladen, delta method, {confidence * 100:g}%"
    p, se, sp = naive.value, sensitivity.value, specificity.value
    if p is None or se is None or sp is None:
        reason = "people found no mergeable and no unmergeable item among those judged" if p is not None else ""
        reason = reason or "nothing was judged"
        if (se is None) != (sp is None):
            reason = f"people found no {'mergeable' if se is None else 'unmergeable'} item among those judged"
        return Figure(None, "Rogan-Gladen", naive.n, reason), Interval(None, None, kind, naive.n, reason)
    found = rogan_gladen(p, se, sp, naive.n)
    if found.value is None:
        return found, Interval(None, None, kind, naive.n, found.undefined)
    true, apart = found.value, se + sp - 1
    spread = (
        p * (1 - p) / naive.n
        + true**2 * se * (1 - se) / sensitivity.n
        + (1 - true) ** 2 * sp * (1 - sp) / specificity.n
    ) / apart**2
    if spread == 0:
        reason = "no variation: nothing says how far off the rate may be"
        return found, Interval(None, None, kind, naive.n, reason)
    half = NormalDist().inv_cdf(0.5 + confidence / 2) * sqrt(spread)
    note = "few of either kind for a normal interval" if min(sensitivity.n, specificity.n) < 15 else ""
    return found, Interval(max(0.0, true - half), min(1.0, true + half), kind, naive.n, note=note)
