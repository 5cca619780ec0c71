"""The submissions of a file that have no result yet, found and handed out without holding them."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from repoassay.formats.results import ResultLog
from repoassay.formats.submissions import PatchSubmission, SubmissionMark, SubmissionReader

__all__ = ["SubmissionBacklog"]

_MARKED = 1_000
"""Submissions from one mark to the next: resuming looks at no more that have results already."""
_SECONDS = 5.0
"""Between notes of how far it is."""


class SubmissionBacklog:
    """What is left of a file of submissions: looked through once when made, then iterated over once.

    Nothing is handed out of a file in which anything is wrong. As long as the file begins with the same bytes, what was
    noted to have results is not even parsed again, and what was looked through by an earlier call only when its turn
    comes.

    Args:
        submissions: The file of submissions, or some that were read already.
        kept: Their results so far.
        check: Refuses the id of a submission that is of no task, by raising.

    Attributes:
        count: Submissions in the file.
        left: Those without a result.

    Raises:
        BadInput: A submission is none, is of no task, or has the result of another patch. Such a result that came since
            an earlier call looked through the file is found when the submission's turn comes.
    """

    def __init__(
        self, submissions: Path | Sequence[PatchSubmission], kept: ResultLog, check: Callable[[str], None]
    ) -> None:
        self._given, self._kept = submissions, kept
        self._path = submissions if isinstance(submissions, Path) else None
        known, looked = self._noted_marks()
        reader = self._read(max(known, looked, key=lambda mark: mark.count if mark else 0))
        self._marks: deque[tuple[int, SubmissionMark | None]] = deque()
        self._done, self._all_judged = 0, True
        self._noted = time.monotonic()
        for name in reader.ids:
            check(name)
        self._start = known if reader.count else None
        self.count = reader.count
        self.left = reader.count - kept.results_of(reader.numbers)
        self._to_read = self.count > (known.count if known else 0)
        self._look(reader, check)

    def _noted_marks(self) -> tuple[SubmissionMark | None, SubmissionMark | None]:
        """How far all have results, and how far nothing is wrong."""
        path = self._path
        return (None, None) if path is None else (self._kept.answered(path), self._kept.checked(path))

    def _look(self, reader: SubmissionReader | _HeldSubmissions, check: Callable[[str], None]) -> None:
        """Look at what no call has looked at."""
        before = reader.count
        for each in reader:
            check(each.id)
            self.left += not self._kept.has(each.id, each.number, each.sha256)
            if not self.left and not self._to_read and reader.count % _MARKED == 0:
                self._start = reader.mark()
        self.count = reader.count
        if self._path is not None and self.count > before and (mark := reader.mark()) is not None:
            self._kept.note_check(self._path, mark)
        if not self.left and not self._to_read:
            self._marks.append((0, reader.mark()))
            self.note()

    def __iter__(self) -> Iterator[PatchSubmission]:
        if not self.left and not self._to_read:
            return
        reader = self._read(self._start)
        handed_out = 0
        for each in reader:
            if not self._kept.has(each.id, each.number, each.sha256):
                handed_out += 1
                yield each
            if reader.count % _MARKED == 0:
                self._mark(handed_out, reader)
                if time.monotonic() - self._noted > _SECONDS:
                    self.note()
        self._mark(handed_out, reader)

    def _read(self, after: SubmissionMark | None) -> SubmissionReader | _HeldSubmissions:
        return SubmissionReader(self._given, after) if isinstance(self._given, Path) else _HeldSubmissions(self._given)

    def _mark(self, handed_out: int, reader: SubmissionReader | _HeldSubmissions) -> None:
        """Remember where reading is, to be noted when all that was handed out until now has results."""
        if self._marks and self._marks[-1][0] == handed_out:
            self._marks.pop()
        if self._all_judged:
            self._marks.append((handed_out, reader.mark()))

    def graded(self, message: str) -> None:
        """The result of the next submission handed out was added to the log; `message` is its answer in a word."""
        if self._all_judged and message == "ERROR":
            self.note()  # marks before it, which are the last ones
            self._marks.clear()
            self._all_judged = False
        self._done += 1
        if time.monotonic() - self._noted > _SECONDS:
            self.note()

    def note(self) -> None:
        """Note how far it is, so that the command goes on from there when it is repeated."""
        mark: SubmissionMark | None = None
        while self._marks and self._marks[0][0] <= self._done:
            mark = self._marks.popleft()[1]
        self._kept.note(self._path, mark)
        self._noted = time.monotonic()


class _HeldSubmissions:
    """Submissions that were read already, as a reader of a file without lines gives them."""

    def __init__(self, submissions: Sequence[PatchSubmission]) -> None:
        self._given = submissions
        self.count = 0
        self.ids: Sequence[str] = ()
        self.numbers: Mapping[str, int] = {}

    def __iter__(self) -> Iterator[PatchSubmission]:
        for each in self._given:
            self.count += 1
            yield each

    def mark(self) -> SubmissionMark | None:
        """None: there is no file to go on with."""
        return None
