"""The journals of model calls, `usage.jsonl`, read back: the calls of an attempt, and what was spent in a run.

An attempt that was killed has a journal and no `attempt.json`; its money is gone all the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from repoassay.records.lines import JsonLines, record_codec
from repoassay.types import Call, Spending

__all__ = ["JOURNAL", "CallsRead", "journal_spent", "read_calls", "run_spent"]


@dataclass(frozen=True, slots=True)
class CallsRead:
    """Whole records in order, and the numbers of the lines that could not be read."""

    calls: tuple[Call, ...]
    torn: tuple[int, ...]


def read_calls(path: Path) -> CallsRead:
    """Read a journal, leaving out lines that are torn or not calls. A missing file is an empty journal.

    Raises:
        BadInput: When it is a link, no regular file, cannot be read, or was written by a newer RepoAssay.
    """
    found = JsonLines(path, record_codec(Call)).read()
    return CallsRead(found.items, found.torn)


JOURNAL = "usage.jsonl"
"""Name of an attempt's journal of model calls."""


def journal_spent(attempt_folder: Path) -> Spending:
    """The account of one attempt as its journal has it; nothing where there is none."""
    return Spending.of(read_calls(attempt_folder / JOURNAL).calls)


def run_spent(run: Path) -> dict[str, Spending]:
    """Attempt id -> its account, for every attempt folder with a journal, finished or not."""
    folders = sorted((run / "attempts").glob(f"*/{JOURNAL}"))
    return {path.parent.name: journal_spent(path.parent) for path in folders}
