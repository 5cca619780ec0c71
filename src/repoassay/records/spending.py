"""What was spent in a run, read back from the model proxy's journals: the truth, also for what was never finished.

An attempt that was killed has a journal and no `attempt.json`; its money is gone all the same.
"""

from __future__ import annotations

from pathlib import Path

from repoassay.records.calls import read_calls
from repoassay.types import Spending

__all__ = ["JOURNAL", "journal_spent", "run_spent"]

JOURNAL = "usage.jsonl"
"""Name of an attempt's journal of model calls."""


def journal_spent(attempt_folder: Path) -> Spending:
    """The account of one attempt as its journal has it; nothing where there is none."""
    return Spending.of(read_calls(attempt_folder / JOURNAL).calls)


def run_spent(run: Path) -> dict[str, Spending]:
    """Attempt id -> its account, for every attempt folder with a journal, finished or not."""
    folders = sorted((run / "attempts").glob(f"*/{JOURNAL}"))
    return {path.parent.name: journal_spent(path.parent) for path in folders}
