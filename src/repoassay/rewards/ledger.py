"""What a policy was told of each task, and what that leaves of the bits that a pass is attested with.

A reward is an answer of the oracle: whoever may try n patches has n guesses. Answers are kept by task and patch, so
that the same patch is told the same again and is charged once, however often a policy repeats itself.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Self

from pydantic import ValidationError

from repoassay.engine import TESTED, bits_told
from repoassay.records import KEPT, SqliteFile, parse, to_json
from repoassay.sandbox import temporary_folder
from repoassay.types import Grade, Outcome, Record, Verdict

__all__ = ["RESERVE", "RewardAnswer", "RewardLedger"]

RESERVE = 20.0
"""Bits that partial credit leaves beyond those required: all-or-nothing answers to a million patches."""

_ANSWERS = """CREATE TABLE IF NOT EXISTS answers
    (task TEXT NOT NULL, patch TEXT NOT NULL, answer TEXT NOT NULL, PRIMARY KEY (task, patch)) WITHOUT ROWID"""
_TOLD = """CREATE TABLE IF NOT EXISTS told
    (task TEXT PRIMARY KEY, answers INTEGER NOT NULL, bits REAL NOT NULL) WITHOUT ROWID"""
_CHARGE = """INSERT INTO told VALUES (?1, ?2, ?3)
    ON CONFLICT (task) DO UPDATE SET answers = answers + ?2, bits = bits + ?3"""


class RewardAnswer(Record):
    """What a policy was told of one patch.

    Attributes:
        task: The task's id.
        outcome: Of the verdict.
        grade: How a pass is assured.
        bits: What a pass is attested with, less what earlier answers had told.
        share: Share of the tests that the task asks to repair which were attested, where partial credit was told.
        why: What the verdict says besides, in a sentence; for logs, never for the policy.
    """

    task: str
    outcome: Outcome
    grade: Grade | None = None
    bits: float = 0.0
    share: float | None = None
    why: str = ""


class RewardLedger:
    """Answers by task and patch in one SQLite file, which processes of one machine may share.

    Args:
        path: The file; None for one that ends with the ledger.

    Raises:
        BadInput: When the file cannot be used.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._place = None if path else temporary_folder("rewards")
        found = path or Path(self._place.name if self._place else "", "ledger.sqlite")
        self._file = SqliteFile(found, (_ANSWERS, _TOLD), "ledger of rewards", "Name another file as ledger.")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove a file that was not asked for."""
        if self._place:
            self._place.cleanup()

    def known(self, task_digest: str, patch_digest: str) -> RewardAnswer | None:
        """The answer that was given to a patch; None where there is none that can be read here."""
        row = self._file.row("SELECT answer FROM answers WHERE task = ? AND patch = ?", task_digest, patch_digest)
        try:
            return parse(RewardAnswer, str(row[0]).encode()) if row else None
        except ValidationError:
            return None

    def told(self, task_digest: str) -> tuple[int, float]:
        """How many different patches of a task were answered, and the bits that this has told."""
        row = self._file.row("SELECT answers, bits FROM told WHERE task = ?", task_digest)
        answers, bits = (int(row[0]), float(row[1])) if row else (0, 0.0)
        return answers, bits + bits_told("verdict", answers, 0)

    def tell(
        self, verdict: Verdict, patch_digest: str, share: tuple[float, int] | None = None, spare: float = -math.inf
    ) -> RewardAnswer:
        """Answer with a verdict, and charge the answer.

        Args:
            verdict: The verdict as it is, cut by nobody.
            patch_digest: Of the patch.
            share: Partial credit, and of how many tests it is a share; None for all or nothing.
            spare: Bits that partial credit may use up in this task. Once they are, answers are all or nothing.

        Returns:
            The answer; the first one where others came in between.
        """
        comment = verdict.comments[0] if verdict.comments else ""
        answer = RewardAnswer(task=verdict.task, outcome=verdict.outcome, why=comment[:500])
        if verdict.outcome not in TESTED:
            return answer
        task = verdict.task_digest
        with self._file.transaction():
            if found := self.known(task, patch_digest):
                return found
            _, before = self.told(task)
            cost = bits_told("counts", 1, share[1]) if share else 0.0
            if share and before + cost <= spare:
                answer = answer.model_copy(update={"share": share[0]})
                self._file.row(_CHARGE, task, 0, cost)
            else:
                self._file.row(_CHARGE, task, 1, 0.0)
            if verdict.assurance:
                left = max(0.0, round(verdict.assurance.bits - before, 1))
                answer = answer.model_copy(update={"grade": verdict.assurance.grade, "bits": left})
            if verdict.outcome in KEPT:  # a time-out may be a busy machine's
                self._file.row(
                    "INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", task, patch_digest, to_json(answer).decode()
                )
        return answer
