"""Run folders on disk: append-only, one folder an attempt; files are the truth.

::

    runs/<run>/run.json            the plan, written once
    runs/<run>/journal.jsonl       one event a line, appended and fsynced; the truth for resume
    runs/<run>/attempts/<id>/      attempt.json verdict.json submission/ transcript/ log.txt

Other files of the room: JSON lines (`lines`), versions of records (`versions`), the reader of attempts (`attempts`),
places of a plan (`slots`). Knows the model alone: not who ran an attempt, nor how it was graded.
"""

from __future__ import annotations

from repoassay.store.journal import Journal, JournalRead
from repoassay.store.runs import Finished, RunFolder

__all__ = ["Finished", "Journal", "JournalRead", "RunFolder"]
