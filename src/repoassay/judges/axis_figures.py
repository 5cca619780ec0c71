"""One axis of a judge held against people: what it finds and misses, agreement beyond chance, and its confidence.

Confidence is its share of votes, held against Brier's score and the expected calibration error: G. W. Brier,
"Verification of forecasts expressed in terms of probability", Monthly Weather Review 78 (1950), 1-3; M. P. Naeini, G.
F. Cooper and M. Hauskrecht, "Obtaining well calibrated probabilities using Bayesian binning", AAAI (2015).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Literal

from repoassay.stats import (
    Figure,
    Interval,
    Proportion,
    Ratings,
    agreement_interval,
    cohen_kappa,
    gwet_ac1,
    gwet_ac2,
    krippendorff_alpha,
    percent_agreement,
    wilson,
)
from repoassay.stats.agreement import leave_one_out

__all__ = [
    "BINS",
    "JudgeAxisFigures",
    "JudgedCase",
    "MeasuredAxis",
    "axis_figures",
    "beside_others",
    "brier",
    "calibration_error",
]


@dataclass(frozen=True, slots=True)
class JudgedCase:
    """One item on one axis.

    `people` and `judge` are labels, None where unsettled or without a verdict; `share` the part of the judge's samples
    that say there is a problem; `answers` what each person said, always in the same order of people.
    """

    item: str
    people: str | bool | None
    judge: str | bool | None
    share: float | None
    answers: tuple[str | bool | None, ...]


@dataclass(frozen=True, slots=True)
class MeasuredAxis:
    """A figure and its 95 % interval, which draws items."""

    figure: Figure
    interval: Interval


@dataclass(frozen=True, slots=True)
class JudgeAxisFigures:
    """A judge on one axis.

    `n` items have both a settled label and a verdict; on `unsettled` people have none, on `abstained` the judge has
    none (void, tied or unsure). The four counts are of items on which people say there is or is not a `positive`; of
    these the judge `found` or `missed` it, or raised a `false_alarm`; "not applicable" of the judge is no alarm. The
    agreement figures are over all labels, and for people (`human_alpha`) among themselves. `judge_beside` and `human`
    hold the judge, and each person, against the majority of the others, left out one by one: the only two that may be
    compared.
    """

    key: str
    title: str
    positive: str
    n: int
    unsettled: int
    abstained: int
    found: int
    false_alarm: int
    missed: int
    rejected: int
    precision: Proportion
    sensitivity: Proportion
    specificity: Proportion
    percent: MeasuredAxis
    kappa: MeasuredAxis
    alpha: MeasuredAxis
    chance_free: MeasuredAxis
    human_alpha: MeasuredAxis
    judge_beside: Figure
    human: Figure
    brier: Figure
    calibration_error: Figure

    @property
    def recall(self) -> Proportion:
        """Another name of the sensitivity."""
        return self.sensitivity


def axis_figures(
    key: str, title: str, cases: Sequence[JudgedCase], categories: Sequence[str | bool], positive: str | bool | None,
    negative: str | bool | None, *, ordinal: bool = False, draws: int = 1000, seed: int = 0,
) -> JudgeAxisFigures:  # fmt: skip
    """Hold one axis against people.

    Args:
        key: Of the axis.
        title: Its words.
        cases: Items of people's and the judge's.
        categories: Every label, in order where it has one; unsure is none.
        positive: The label that is to be found (a problem), None on a scale without one.
        negative: Its opposite.
        ordinal: Whether near misses count less.
        draws: Of each bootstrap, at least 100.
        seed: Of each bootstrap.
    """
    both = [case for case in cases if case.people is not None and case.judge is not None]
    decided_cases = [case for case in both if positive is not None and case.people in (positive, negative)]
    found = sum(case.people == positive and case.judge == positive for case in decided_cases)
    alarm = sum(case.people == negative and case.judge == positive for case in decided_cases)
    missed = sum(case.people == positive for case in decided_cases) - found
    rejected = len(decided_cases) - found - alarm - missed
    # A tied vote is no verdict, but a share all the same.
    labelled = [case for case in cases if positive is not None and case.people in (positive, negative)]
    shares = [(case.share, case.people == positive) for case in labelled if case.share is not None]
    pairs = [(case.people, case.judge) for case in both]
    scale: Literal["ordinal", "nominal"] = "ordinal" if ordinal else "nominal"

    def kappa(ratings: Ratings) -> Figure:
        return cohen_kappa([each[0] for each in ratings], [each[1] for each in ratings], scale, categories)

    def alpha(ratings: Ratings) -> Figure:
        return krippendorff_alpha(ratings, scale, categories)

    def chance_free(ratings: Ratings) -> Figure:
        return gwet_ac2(ratings, "ordinal", categories) if ordinal else gwet_ac1(ratings, categories)

    def measured(coefficient: Callable[[Ratings], Figure], ratings: Ratings = pairs) -> MeasuredAxis:
        return MeasuredAxis(coefficient(ratings), agreement_interval(ratings, coefficient, draws=draws, seed=seed))

    people = [case.answers for case in cases]
    share = percent_agreement(pairs)
    agreed = sum(one == other for one, other in pairs)
    return JudgeAxisFigures(
        key=key, title=title, positive="" if positive is None else _word(positive),
        n=len(both), unsettled=sum(case.people is None for case in cases),
        abstained=sum(case.people is not None and case.judge is None for case in cases),
        found=found, false_alarm=alarm, missed=missed, rejected=rejected,
        precision=Proportion(found, found + alarm), sensitivity=Proportion(found, found + missed),
        specificity=Proportion(rejected, rejected + alarm),
        percent=MeasuredAxis(share, wilson(agreed, len(pairs))),
        kappa=measured(kappa), alpha=measured(alpha), chance_free=measured(chance_free),
        human_alpha=measured(alpha, people), judge_beside=beside_others(cases), human=leave_one_out(people).overall,
        brier=brier(shares), calibration_error=calibration_error(shares),
    )  # fmt: skip


def beside_others(cases: Sequence[JudgedCase]) -> Figure:
    """The judge's agreement with the majorities that people are held against when each is left out in turn.

    With one person an item nobody is left to be a majority. Ties are left out, as they are for people.
    """
    agreed = compared = 0
    for case in cases:
        everyone = Counter(answer for answer in case.answers if answer is not None)
        if case.judge is None or everyone.total() < 2:
            continue
        for answer, times in everyone.items():
            others = (everyone - Counter([answer])).most_common(2)
            if len(others) == 2 and others[0][1] == others[1][1]:
                continue
            compared += times
            agreed += times * (others[0][0] == case.judge)
    method = "judge's agreement with the majority of people, each left out in turn"
    if not compared:
        return Figure(None, method, 0, "no item has two people's answers and a verdict of the judge")
    return Figure(agreed / compared, method, compared)


def _word(label: str | bool) -> str:
    names: Mapping[str | bool, str] = {True: "mergeable", False: "not mergeable"}
    return names.get(label, str(label))


BINS = 10
"""Bins of equal width; a share of exactly 1 is in the last."""


def brier(pairs: Sequence[tuple[float, bool]]) -> Figure:
    """The mean squared distance of the share from the truth: 0 is perfect, a constant 0.5 gives 0.25.

    Args:
        pairs: The share of samples that say there is a problem, and whether people say so.
    """
    method = "Brier score of the vote share"
    if not pairs:
        return Figure(None, method, 0, "no item has both a vote and people's label")
    return Figure(fsum((share - truth) ** 2 for share, truth in pairs) / len(pairs), method, len(pairs))


def calibration_error(pairs: Sequence[tuple[float, bool]], bins: int = BINS) -> Figure:
    """The mean distance, weighted by cases, between the mean share of a bin and how often people say so in it.

    Args:
        pairs: As for `brier`.
        bins: Of equal width, from 0 to 1.
    """
    method = f"expected calibration error, {bins} bins"
    if not pairs:
        return Figure(None, method, 0, "no item has both a vote and people's label")
    held: dict[int, list[tuple[float, bool]]] = {}
    for share, truth in pairs:
        held.setdefault(min(bins - 1, int(share * bins)), []).append((share, truth))
    apart = fsum(abs(fsum(share for share, _ in each) - sum(truth for _, truth in each)) for each in held.values())
    return Figure(apart / len(pairs), method, len(pairs))
