"""How well labels agree with those of people: a confusion table, agreement, precision and recall of each class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from repoassay.stats import Interval, wilson

__all__ = ["VALUES", "ClassScore", "Score", "confusion_text", "score"]

VALUES = ("E1", "E2", "E3", "E4", "E5", "none", "unclear")
"""What a label can be, in the order of tables."""


@dataclass(frozen=True, slots=True)
class ClassScore:
    """One class: how often it was said rightly (precision) and found (recall), as counts and intervals."""

    value: str
    answers: int
    true: int
    right: int
    precision: Interval
    recall: Interval


@dataclass(frozen=True, slots=True)
class Score:
    """All cases: `table[true, said]` counts them; `agreement` is the share of equal labels, Wilson, 95%."""

    n: int
    right: int
    agreement: Interval
    table: dict[tuple[str, str], int]
    classes: tuple[ClassScore, ...]
    wrong: tuple[tuple[str, str, str], ...]

    @property
    def share(self) -> float | None:
        """The share of equal labels, None without cases."""
        return self.right / self.n if self.n else None


def score(cases: Iterable[tuple[str, str, str]]) -> Score:
    """Score labels against people's.

    Args:
        cases: Of each case its name, the true value and the value said; values are those of `VALUES`.

    Raises:
        ValueError: When a value is none of these.
    """
    triples = tuple(cases)
    strange = {value for _, true, answer in triples for value in (true, answer)} - set(VALUES)
    if strange:
        raise ValueError(f"{sorted(strange)} are no labels; use {', '.join(VALUES)}")
    table = Counter((true, answer) for _, true, answer in triples)
    classes = []
    for value in VALUES:
        right = table[value, value]
        answers = sum(count for (_, other), count in table.items() if other == value)
        true = sum(count for (other, _), count in table.items() if other == value)
        classes.append(ClassScore(value, answers, true, right, wilson(right, answers), wilson(right, true)))
    right = sum(table[value, value] for value in VALUES)
    wrong = tuple((name, true, answer) for name, true, answer in triples if true != answer)
    return Score(len(triples), right, wilson(right, len(triples)), dict(table), tuple(classes), wrong)


def confusion_text(found: Score) -> str:
    """The confusion table as Markdown: a row a true label, a column a label said, with precision and recall."""
    head = "| true \\ said | " + " | ".join(VALUES) + " | n | recall [95%] | precision [95%] |"
    lines = [head, "|---" * (len(VALUES) + 4) + "|"]
    for one in found.classes:
        cells = [str(found.table.get((one.value, answer), 0) or "·") for answer in VALUES]
        lines.append(
            f"| {one.value} | {' | '.join(cells)} | {one.true} | {_share_text(one.recall, one.right, one.true)} "
            f"| {_share_text(one.precision, one.right, one.answers)} |"
        )
    lines.append("")
    lines.append(
        f"Agreement {found.right}/{found.n}"
        + (f" = {found.right / found.n:.1%} {_ends(found.agreement)}" if found.n else "")
    )
    return "\n".join(lines)


def _share_text(interval: Interval, right: int, n: int) -> str:
    return f"{right}/{n} {_ends(interval)}" if n else "-"


def _ends(interval: Interval) -> str:
    return (
        f"[{interval.low:.2f}, {interval.high:.2f}]" if interval.low is not None and interval.high is not None else ""
    )
