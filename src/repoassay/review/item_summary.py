"""One row a submission: what tests said of it and what its raters said together. Every figure is made of these rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median

from repoassay.review.adjudication import Adjudication, DisagreementLabel, consensus
from repoassay.review.rubric import Rubric
from repoassay.review.study import Golden, Item
from repoassay.types import Rating

__all__ = ["ItemSummary", "set_aside", "summarize_items"]


@dataclass(frozen=True, slots=True)
class ItemSummary:
    """A rated submission.

    `tests` is None where it is not known whether they passed. `states` holds the settled axes only; `mergeable` is
    derived from them, None where they leave it open. `would_merge` is what a strict majority answered, None without
    one. `minutes` is the median over raters, None where nobody was asked.
    """

    item: str
    task: str
    system: str
    tests: bool | None
    golden: Golden | None
    flagged: str
    states: Mapping[str, str]
    labels: Mapping[str, DisagreementLabel]
    mergeable: bool | None
    would_merge: bool | None
    minutes: float | None
    human_minutes: float | None
    raters: int


def summarize_items(
    items: Iterable[Item], ratings: Iterable[Rating], rubric: Rubric, settled: Iterable[Adjudication] = ()
) -> tuple[ItemSummary, ...]:
    """Join items with their ratings; items nobody rated have no row.

    Args:
        items: With their hidden halves.
        ratings: One a rater and item (see `latest`), of people only.
        rubric: Theirs.
        settled: Adjudications in order.
    """
    every = tuple(ratings)
    labels = consensus(every, rubric, settled)
    by_item: dict[str, list[Rating]] = {}
    for rating in every:
        by_item.setdefault(rating.submission, []).append(rating)
    rows = []
    for item in items:
        line = by_item.get(item.id)
        if not line:
            continue
        states = {axis: label.state for axis, label in labels[item.id].items() if label.state is not None}
        minutes = [rating.minutes for rating in line if rating.minutes is not None]
        rows.append(
            ItemSummary(
                item=item.id,
                task=item.hidden.task,
                system=item.hidden.system,
                tests=item.hidden.tests,
                golden=item.hidden.golden,
                flagged=item.hidden.flagged,
                states=states,
                labels=labels[item.id],
                mergeable=rubric.mergeable(states),
                would_merge=_majority([rating.would_merge for rating in line]),
                minutes=median(minutes) if minutes else None,
                human_minutes=item.hidden.human_minutes,
                raters=len(line),
            )
        )
    return tuple(rows)


def set_aside(
    rows: Iterable[ItemSummary], flagged: Mapping[str, str] | None = None
) -> tuple[tuple[ItemSummary, ...], tuple[tuple[ItemSummary, str], ...]]:
    """Part rows into those that figures use and those an integrity check wants out, each of these with the reason.

    Args:
        rows: Reviewed submissions.
        flagged: Reasons by item that came after the study was made; they count beside those items carry.
    """
    kept, out = [], []
    for row in rows:
        reason = (flagged or {}).get(row.item, "") or row.flagged
        if reason:
            out.append((row, reason))
        else:
            kept.append(row)
    return tuple(kept), tuple(out)


def _majority(answers: Iterable[bool | None]) -> bool | None:
    known = [answer for answer in answers if answer is not None]
    if 2 * sum(known) == len(known):
        return None
    return 2 * sum(known) > len(known)
