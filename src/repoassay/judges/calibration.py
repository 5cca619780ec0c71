"""A judge held against people: every figure by which it may be believed, and where it may not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from repoassay.judges.axis_figures import JudgeAxisFigures, JudgedCase, axis_figures
from repoassay.judges.bias_checks import Kin, Orders, SecondPass, kin_of, orders_of, second_pass_of, triage_of
from repoassay.judges.definition import Definition
from repoassay.judges.dev_test_split import DevTestSplit, split_items
from repoassay.judges.judged_systems import (
    CalibrationState,
    JudgeDrift,
    JudgedSystem,
    calibration_state,
    judged_systems,
)
from repoassay.judges.judgement import Judgement
from repoassay.judges.mergeable_rate import MergeableRate, mergeable_rate
from repoassay.judges.substitute import FLOOR, Substitute, substitute
from repoassay.judges.votes import Vote, states_of, votes
from repoassay.review import Adjudication, AnswerRole, Item, ItemSummary, Rubric, summarize_items
from repoassay.types import Rating, RatingPhase

__all__ = ["Calibration", "calibrate", "state_of_study"]


@dataclass(frozen=True, slots=True)
class Calibration:
    """Everything about one judge.

    `left_out` items are controls or flagged. `void` counts rejected samples out of `samples`. `flagged` items hold text
    that speaks to reviewers. `state` says whether there are ratings enough to believe any figure; `systems` and `drift`
    are of what was judged, by task. `rate` uses the whole study, whatever the split: it is an estimate, not a test.
    `triage` are items nobody rated that people should see first, with the reason.
    """

    judge: str
    version: str
    state: CalibrationState
    split: DevTestSplit
    items: int
    left_out: int
    people: int
    samples: int
    void: int
    axes: tuple[JudgeAxisFigures, ...]
    systems: tuple[JudgedSystem, ...]
    drift: tuple[JudgeDrift, ...]
    rate: MergeableRate | None
    substitute: Substitute
    orders: tuple[Orders, ...]
    second_pass: tuple[SecondPass, ...]
    kin: Kin
    flagged: tuple[str, ...]
    triage: tuple[tuple[str, str], ...]


def calibrate(
    items: Iterable[Item],
    people: Iterable[Rating],
    judgements: Iterable[Judgement],
    rubric: Rubric,
    definition: Definition,
    settled: Iterable[Adjudication] = (),
    *,
    split: DevTestSplit = DevTestSplit.ALL,
    seed: int = 0,
    dev_share: float = 0.5,
    floor: float = FLOOR,
    draws: int = 1000,
) -> Calibration:
    """Hold a judge against the consensus of people.

    Args:
        items: Of the study, hidden halves included.
        people: One blind rating a rater and item (see `latest`), of people only.
        judgements: The judge's samples, of both passes.
        rubric: Of the study.
        definition: The judge.
        settled: Adjudications in order.
        split: The part that figures are of.
        seed: Of the split and of each bootstrap.
        dev_share: See `split_items`.
        floor: See `substitute`.
        draws: Of each bootstrap, at least 100.
    """
    every, ratings, samples = list(items), list(people), list(judgements)
    usable = {item.id for item in every if item.hidden.golden is None and not item.hidden.flagged}
    rows = {row.item: row for row in summarize_items(every, ratings, rubric, settled) if row.item in usable}
    blind = {
        pair: vote
        for pair, vote in votes((each for each in samples if each.phase is RatingPhase.BLIND), rubric).items()
        if pair[0] in usable
    }
    part = sorted(split_items(every, split, seed, dev_share) & usable)
    judged = [axis.key for axis in rubric.axes if any(pair[1] == axis.key for pair in blind)]
    held = _PartLabels(rubric, rows, blind, ratings, part)
    axes = [held.axis(key, draws, seed) for key in judged]
    if rubric.rule != "none" and len(judged) == len(rubric.axes):
        axes.append(held.mergeable(draws, seed))
    systems, drift = judged_systems(every, blind, rows, rubric, part)
    of_part = {pair: vote for pair, vote in blind.items() if pair[0] in set(part)}
    own = [each for each in samples if each.item in usable]
    return Calibration(
        judge=f"{definition.model} {definition.digest[:12]}", version=definition.digest,
        state=calibration_state(of_part, rows, rubric), systems=systems, drift=drift, split=split, items=len(part),
        left_out=len(every) - len(usable), people=len({rating.rater for rating in ratings}), samples=len(own),
        void=sum(each.answer is None for each in own), axes=tuple(axes), rate=held.rate(judged),
        substitute=substitute(axes, floor), orders=tuple(filter(None, (orders_of(key, blind, part) for key in judged))),
        second_pass=second_pass_of(samples, blind, rows, rubric, part),
        kin=kin_of(every, blind, rows, rubric, part, definition.family),
        flagged=tuple(sorted({each.item for each in own if each.flags})), triage=triage_of(every, blind, rows, rubric),
    )  # fmt: skip


class _PartLabels:
    """People's labels and the judge's votes on the items of one part."""

    def __init__(
        self, rubric: Rubric, rows: Mapping[str, ItemSummary], blind: Mapping[tuple[str, str], Vote],
        ratings: Sequence[Rating], part: Sequence[str],
    ) -> None:  # fmt: skip
        self.rubric, self.rows, self.blind, self.part = rubric, rows, blind, part
        self.people = sorted({rating.rater for rating in ratings})
        self.ratings = {(rating.submission, rating.rater): rating for rating in ratings}

    def axis(self, key: str, draws: int, seed: int) -> JudgeAxisFigures:
        """Figures of one axis."""
        levels = [level for level in self.rubric.levels(key) if level.role is not AnswerRole.UNSURE]
        ordered = self.rubric.ordered(key)
        if ordered:
            levels.sort(key=lambda level: level.value or 0.0)
        known = {level.key for level in levels}
        bad, good = (
            next((each.key for each in levels if each.role is role), None)
            for role in (AnswerRole.PROBLEM, AnswerRole.CLEAR)
        )
        title = next(axis.title for axis in self.rubric.axes if axis.key == key)

        def state(rating: Rating) -> str | None:
            found = rating.axes[key].state if key in rating.axes else None
            return found if found in known else None

        return axis_figures(
            key, title, self.cases(key, state), [level.key for level in levels], bad, good, ordinal=ordered,
            draws=draws, seed=seed,
        )  # fmt: skip

    def mergeable(self, draws: int, seed: int) -> JudgeAxisFigures:
        """Figures of what the axes imply together; what is to be found is a mergeable change."""
        cases = [
            JudgedCase(
                item, self.rows[item].mergeable, self.rubric.mergeable(states_of(self.blind, item, self.rubric)), None,
                self.answers(item, lambda rating: rating.mergeable),
            )
            for item in self.part
            if item in self.rows and self.whole(item)
        ]  # fmt: skip
        title = "Mergeable, from the axes"
        return axis_figures("mergeable", title, cases, [True, False], True, False, draws=draws, seed=seed)

    def rate(self, judged: Sequence[str]) -> MergeableRate | None:
        """Estimate the rate among all items that were judged on every axis."""
        if self.rubric.rule == "none" or len(judged) != len(self.rubric.axes):
            return None
        whole = sorted({item for item, _ in self.blind if self.whole(item)})
        answers = {item: self.rubric.mergeable(states_of(self.blind, item, self.rubric)) for item in whole}
        return mergeable_rate({item: row.mergeable for item, row in self.rows.items()}, answers)

    def cases(self, key: str, answer: Callable[[Rating], str | bool | None]) -> list[JudgedCase]:
        """Items of the part that people rated and the judge was asked about."""
        found = []
        for item in self.part:
            vote = self.blind.get((item, key))
            if vote is not None and item in self.rows:
                label = self.rows[item].states.get(key)
                unsure = label is not None and self.rubric.level(key, label).role is AnswerRole.UNSURE
                people = None if unsure else label
                found.append(JudgedCase(item, people, vote.state, vote.problem, self.answers(item, answer)))
        return found

    def answers(self, item: str, answer: Callable[[Rating], str | bool | None]) -> tuple[str | bool | None, ...]:
        """What each person said, None where nothing."""
        line = [self.ratings.get((item, rater)) for rater in self.people]
        return tuple(None if rating is None else answer(rating) for rating in line)

    def whole(self, item: str) -> bool:
        """Whether every axis of an item was judged."""
        return all((item, axis.key) in self.blind for axis in self.rubric.axes)


def state_of_study(
    items: Iterable[Item], people: Iterable[Rating], judgements: Iterable[Judgement], rubric: Rubric,
    adjudications: Iterable[Adjudication] = (),
) -> CalibrationState:  # fmt: skip
    """Say whether a judge was held against people often enough, without its figures; see `calibrate`."""
    every = list(items)
    usable = {item.id for item in every if item.hidden.golden is None and not item.hidden.flagged}
    rows = {row.item: row for row in summarize_items(every, people, rubric, adjudications) if row.item in usable}
    samples = [each for each in judgements if each.phase is RatingPhase.BLIND and each.item in usable]
    return calibration_state(votes(samples, rubric), rows, rubric)
