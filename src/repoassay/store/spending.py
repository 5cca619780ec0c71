"""What was spent in a run, read back from the gateway's journals: they are the truth, also for what was never finished.

An attempt that was killed has a journal and no `attempt.json`; its money is gone all the same.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

from repoassay.model import Spent
from repoassay.store.calls import read_calls

__all__ = ["JOURNAL", "journal_spent", "run_spent"]

JOURNAL = "usage.jsonl"
"""Name of an attempt's journal of model calls."""


def journal_spent(attempt_folder: Path) -> Spent:
    """The account of one attempt as its journal has it; nothing where there is none."""
    total = Spent()
    outage = ""
    for call in read_calls(attempt_folder / JOURNAL).calls:
        unpriced = call.answered and (call.price is None or bool(call.price_note))
        total += Spent(
            calls=int(call.answered),
            failed=int(call.forwarded and not call.answered and bool(call.fault)),
            refused=int(bool(call.refused)),
            usage=call.usage or Spent().usage,
            unknown=int(call.answered and call.usage is None),
            dollars=None if unpriced else call.price or Decimal(0),
            dollars_note=call.price_note if unpriced else "",
            dollars_known=call.price or Decimal(0),
            retries=len(call.retries),
            faults={call.fault: 1} if call.fault else {},
            models=(call.served,) if call.answered else (),
        )
        if call.forwarded:
            outage = call.fault if call.whose in ("upstream", "ours") else ""
    return total.model_copy(update={"outage": outage})


def run_spent(run: Path) -> dict[str, Spent]:
    """Attempt id -> its account, for every attempt folder with a journal, finished or not."""
    folders = sorted((run / "attempts").glob(f"*/{JOURNAL}"))
    return {path.parent.name: journal_spent(path.parent) for path in folders}
