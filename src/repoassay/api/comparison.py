"""Runs side by side, from Python."""

from __future__ import annotations

from pathlib import Path

from repoassay.api.runs import Run
from repoassay.api.settings import one_of
from repoassay.engine import locate
from repoassay.errors import BadInput
from repoassay.report import Comparison, Measure, compare_sides, named_reviews, read_sides

__all__ = ["compare"]


def compare(
    first: Run | str | Path,
    *others: Run | str | Path,
    by: str = "result",
    every_pair: bool = False,
    across_versions: bool = False,
    level: float = 0.05,
    reviews: str = "",
    study: str = "",
) -> Comparison:
    """Compare systems on the tasks they have in common; the first is the baseline.

    With one attempt a task: exact McNemar test and Tango interval; with several: permutation test and Tango
    interval by task. Of more than two systems p-values are Holm's. Unknown is never false.

    Args:
        first: A run of one agent, `RUN:AGENT` as text, or one run of several agents that are compared with each other.
        others: Further systems.
        by: What is compared: `result` for tasks passed, `process` for tasks executed.
        every_pair: Compare each system with each, instead of with the first.
        across_versions: Compare tasks also where their content differs.
        level: Level of the tests, between 0 and 1.
        reviews: Database of `repoassay review`: what people said of merging the attempts is compared, too.
        study: Which study of it; the only one that asks whether to merge when not given.

    Returns:
        All comparisons; of two systems, `p_value` and `difference` are its figures.

    Raises:
        BadInput: A run or the reviews cannot be read, or systems have no task in common.

    Examples:
        >>> compared = ra.compare(run)  # the agents of one run; or ra.compare(before, after)
        >>> compared.difference, compared.p_value
        (1.0, 1.0)
    """
    if not 0 < level < 1:
        raise BadInput(f"level is {level!r}.", "Give a number between 0 and 1, such as 0.05.")
    measure = Measure(one_of("measure", by, list(Measure)))
    names = [str(each.path) if isinstance(each, Run) else str(each) for each in (first, *others)]
    reviewed = named_reviews(reviews, study)
    sides = read_sides(names, locate)
    return compare_sides(
        sides, measure, across_versions=across_versions, every_pair=every_pair, level=level, reviews=reviewed
    )
