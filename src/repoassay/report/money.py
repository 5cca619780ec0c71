"""What a run spent, and on what: attempts that count, that were superseded, and that were never finished."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from repoassay.records import JOURNAL, RunFolder, journal_spent
from repoassay.report.figures import dollars, tokens, why_unknown
from repoassay.types import Spending

__all__ = ["RunSpending", "sentence", "spending_of", "sum_of"]


@dataclass(frozen=True, slots=True)
class RunSpending:
    """The account of a run; None where no attempt of that kind asked a model.

    `counted` is over attempts that enter the figures, `aside` over superseded ones and those outside the plan,
    `unfinished` over those that were dropped or killed. `total` is over every journal of the run folder.
    """

    counted: Spending | None
    aside: Spending | None
    unfinished: Spending | None
    total: Spending | None


def sum_of(parts: Iterable[Spending | None]) -> Spending | None:
    """The sum of what is there; None when nothing is."""
    found = [part for part in parts if part is not None]
    return sum(found, Spending()) if found else None


def spending_of(run: RunFolder, finished: Sequence[tuple[str, bool, Spending | None]]) -> RunSpending:
    """Work out the account. `finished` has id, whether it counts, and what it spent of every finished attempt."""
    known = {name for name, _, _ in finished}
    left = [path.parent for path in sorted((run.path / "attempts").glob(f"*/{JOURNAL}"))]
    counted = sum_of(spent for _, counts, spent in finished if counts)
    aside = sum_of(spent for _, counts, spent in finished if not counts)
    unfinished = sum_of(journal_spent(folder) for folder in left if folder.name not in known)
    return RunSpending(counted, aside, unfinished, sum_of((counted, aside, unfinished)))


def sentence(spent: Spending) -> str:
    """`12 calls, 3,450 tokens (3,000 in, 450 out, 80 cached), $0.0123`, and why what is unknown is."""
    usage = spent.usage
    parts = [f"{usage.input:,} in", f"{usage.output:,} out"]
    parts += [
        f"{count:,} {name}" for name, count in (("cached", usage.cached), ("reasoning", usage.reasoning)) if count
    ]
    calls = f"{spent.calls:,} call{'' if spent.calls == 1 else 's'}"
    untold = f", {spent.unknown} calls told no tokens" if spent.unknown else ""
    why = f" ({why_unknown(spent)})" if why_unknown(spent) else ""
    return f"{calls}, {tokens(spent)} tokens ({', '.join(parts)}){untold}, cost {dollars(spent)}{why}"
