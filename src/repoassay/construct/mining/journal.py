"""What became of every commit: one line each in `mine.jsonl`, the last of a commit in force."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path

from repoassay.construct.mining.rewriting import RewordedInstruction
from repoassay.records import JsonLines, record_codec
from repoassay.types import Record

__all__ = ["MINE_LOG", "AgentPassRate", "CommitStatus", "Difficulty", "MinedCommit", "MiningJournal", "refusals"]

MINE_LOG = "mine.jsonl"
"""File of a mined suite with one line a commit."""
_MOST_LINE = 4 * 2**20


class CommitStatus(StrEnum):
    """Where a commit is on its way to a task."""

    PASSED_OVER = "passed over"
    """It does not keep to a rule."""
    NOT_DRAWN = "not drawn"
    WAITING = "waiting"
    TASK = "task"
    REFUSED = "refused"
    FAULT = "fault"
    """Something of ours failed; it is tried again."""


class Difficulty(Record):
    """How large a change is: source files, lines added and removed there, hunks, and tests that must pass."""

    files: int
    lines: int
    hunks: int
    tests: int

    def __str__(self) -> str:
        return f"{self.level}: {self.files} files, {self.lines} lines, {self.hunks} hunks, {self.tests} tests"

    @property
    def level(self) -> str:
        """`small` up to 10 lines in one file, `large` from 60 lines or four files, else `medium`."""
        if self.files == 1 and self.lines <= 10:
            return "small"
        return "large" if self.lines >= 60 or self.files >= 4 else "medium"


class AgentPassRate(Record):
    """How often an agent passed a task: attempts that passed, of those that could be judged, and of which run."""

    agent: str
    passed: int
    judged: int
    run: str = ""

    def __str__(self) -> str:
        return f"{self.passed} of {self.judged}"


class MinedCommit(Record):
    """One commit of a history.

    Attributes:
        repository: What the repository is called.
        commit: Its id.
        day: The day (UTC) on which it was made.
        subject: The first line of its message.
        status: Where it is on its way.
        cause: The rule it does not keep to, or the word for why it was refused.
        reason: The value found, or a sentence.
        kind: The task's kind.
        task: The task's id.
        source: What the instruction is taken from.
        told: Sentences that were added to the instruction.
        rewriting: What a model made of the instruction.
        passed: Why texts were passed over as instruction.
        notes: What is to be known of the task.
        difficulty: How large it is.
        pass_rates: How often agents passed it.
        patch: Its patch id, by which duplicates are found.
        must_pass: Tests that must pass.
        flaky: Tests that were found to flip.
        released: The first release tag that holds the commit.
        seconds: Wall time that it took.
    """

    repository: str
    commit: str
    day: str = ""
    subject: str = ""
    status: CommitStatus
    cause: str = ""
    reason: str = ""
    kind: str = ""
    task: str = ""
    source: str = ""
    told: tuple[str, ...] = ()
    rewriting: RewordedInstruction | None = None
    passed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    difficulty: Difficulty | None = None
    pass_rates: tuple[AgentPassRate, ...] = ()
    patch: str = ""
    must_pass: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    released: str = ""
    seconds: float = 0.0


class MiningJournal:
    """The file with one line a commit; safe for threads.

    Args:
        suite: Folder of the suite.

    Raises:
        BadInput: When it cannot be read or written.
    """

    def __init__(self, suite: Path) -> None:
        self._path = suite / MINE_LOG
        self._lines = JsonLines(self._path, record_codec(MinedCommit), longest=_MOST_LINE, fsync=False)
        self._lock = threading.Lock()
        self._rows = {(row.repository, row.commit): row for row in self._lines.open_all("commit")}

    def note(self, row: MinedCommit) -> None:
        """Keep what became of a commit."""
        with self._lock:
            self._lines.append(row)
            self._rows[row.repository, row.commit] = row

    def settle(self) -> None:
        """Leave one line a commit, the last, by repository and day; a crash leaves the file as it was."""
        with self._lock:
            part = self._path.with_suffix(".part")
            part.unlink(missing_ok=True)
            whole = JsonLines(part, record_codec(MinedCommit), fsync=False)
            whole.create()
            for row in sorted(self._rows.values(), key=lambda row: (row.repository, row.day, row.commit)):
                whole.append(row)
            part.replace(self._path)

    def rows(self, repository: str | None = None) -> list[MinedCommit]:
        """Every commit's last line, of one repository where it is named."""
        with self._lock:
            return [row for row in self._rows.values() if repository in (None, row.repository)]

    def of(self, repository: str) -> Mapping[str, MinedCommit]:
        """Last lines of a repository by commit."""
        return {row.commit: row for row in self.rows(repository)}


def refusals(rows: Iterable[MinedCommit]) -> Mapping[str, int]:
    """How many commits were refused by each cause, the most frequent first."""
    counted = Counter(row.cause for row in rows if row.status in (CommitStatus.REFUSED, CommitStatus.FAULT))
    return dict(counted.most_common())
