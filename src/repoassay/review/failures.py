"""What is wrong with submissions: problems by axis, among those whose tests passed and those whose failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from repoassay.review.item_summary import ItemSummary
from repoassay.review.rubric import AnswerRole, Rubric
from repoassay.stats import Proportion, Significance, fisher

__all__ = ["AxisFailures", "ReviewProblems", "failure_table", "problems_per_submission"]


@dataclass(frozen=True, slots=True)
class AxisFailures:
    """How often one axis shows a problem, over the submissions to which it applies and whose label is settled.

    `pooled` also counts submissions of which it is not known whether tests passed. `not_applicable` and `open` (unsure
    or unsettled) submissions are in no denominator. `test` compares failing with passing ones.
    """

    axis: str
    title: str
    failing: Proportion
    passing: Proportion
    pooled: Proportion
    not_applicable: int
    open: int
    test: Significance


@dataclass(frozen=True, slots=True)
class ReviewProblems:
    """How many problems each of `n` submissions has: `counts` maps a number of problems to submissions."""

    counts: Mapping[int, int]
    n: int
    total: int

    def at_least(self, problems: int) -> Proportion:
        """Submissions with that many problems or more."""
        return Proportion(sum(count for number, count in self.counts.items() if number >= problems), self.n)


def failure_table(rows: Iterable[ItemSummary], rubric: Rubric) -> tuple[AxisFailures, ...]:
    """Return one line an axis whose scale has a problem, in the rubric's order; controls are left aside.

    An axis that does not apply to a submission leaves that axis's denominator: METR's 89 % for documentation is 8 of 9,
    not of 11.
    """
    line = [row for row in rows if row.golden is None]
    table = []
    for axis in rubric.axes:
        if not any(level.role is AnswerRole.PROBLEM for level in rubric.levels(axis.key)):
            continue
        roles = [(row.tests, _role(row, axis.key, rubric)) for row in line]
        failing, passing = (_share([role for tests, role in roles if tests is want]) for want in (False, True))
        table.append(
            AxisFailures(
                axis=axis.key,
                title=axis.title,
                failing=failing,
                passing=passing,
                pooled=_share([role for _, role in roles]),
                not_applicable=sum(role is AnswerRole.NOT_APPLICABLE for _, role in roles),
                open=sum(role in {None, AnswerRole.UNSURE} for _, role in roles),
                test=fisher((failing.successes, failing.n), (passing.successes, passing.n)),
            )
        )
    return tuple(table)


def problems_per_submission(rows: Iterable[ItemSummary], rubric: Rubric) -> ReviewProblems:
    """Count problems a submission; controls are left aside."""
    numbers = [rubric.problems(dict(row.states)) for row in rows if row.golden is None]
    return ReviewProblems(dict(sorted(Counter(numbers).items())), len(numbers), sum(numbers))


def _role(row: ItemSummary, axis: str, rubric: Rubric) -> AnswerRole | None:
    state = row.states.get(axis)
    return None if state is None else rubric.level(axis, state).role


def _share(roles: list[AnswerRole | None]) -> Proportion:
    return Proportion(roles.count(AnswerRole.PROBLEM), roles.count(AnswerRole.PROBLEM) + roles.count(AnswerRole.CLEAR))
