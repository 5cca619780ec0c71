"""The index of a results file: which submissions have a result, and how many results say what.

It says nothing that the file does not say. It rests on the file's first bytes, as their sha256 tells, and takes in what
was appended since, by whichever process. It remembers points it passed, the closer the later they are: of a file whose
end was cut off or changed it goes back to the last point that fits, and of one that fits none it is made anew.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from repoassay.formats.submissions import SubmissionMark
from repoassay.records import FilePrefix, JsonLines, index_transaction, open_index

__all__ = ["ResultIndex"]

_VERSION = 2
_SCHEMA = """
CREATE TABLE points (place INTEGER PRIMARY KEY, size INTEGER, digest TEXT);
CREATE TABLE messages (message BLOB, place INTEGER, count INTEGER);
CREATE TABLE results (id BLOB, number INTEGER, patch BLOB, place INTEGER, PRIMARY KEY (id, number)) WITHOUT ROWID;
CREATE TABLE answered (submissions BLOB, place INTEGER, size INTEGER, lines INTEGER, digest TEXT, count INTEGER,
                       numbers TEXT, PRIMARY KEY (submissions, place));
CREATE TABLE checked (submissions BLOB PRIMARY KEY, size INTEGER, lines INTEGER, digest TEXT, count INTEGER,
                      numbers TEXT)
"""
# `place` is how many lines of the results file had been taken in.
_BACK = (
    "DELETE FROM points WHERE place > ?",
    "DELETE FROM messages WHERE place > ?",
    "DELETE FROM results WHERE place > ?",
    "DELETE FROM answered WHERE place > ?",
)
_FORGET = ("DELETE FROM points", "DELETE FROM answered", "DELETE FROM checked")
_COUNTS = "SELECT message, SUM(count) FROM messages GROUP BY message ORDER BY MIN(rowid)"
_NEWEST = "INSERT INTO results VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET patch = ?3, place = ?4"
_MARK = "SELECT size, lines, digest, count, numbers FROM {} WHERE submissions = ? ORDER BY rowid DESC LIMIT 1"
_STEP = 16_384
"""Lines taken in from one point to the next."""


class ResultIndex:
    """An index opened for a results file, up to date.

    Args:
        file: The results.
        noun: What a line of it is.
        place: Where the index lies; None for memory.

    Raises:
        BadInput: A line is no result.
        sqlite3.Error: The index is damaged.
    """

    def __init__(self, file: JsonLines[dict[str, Any]], noun: str, place: Path | None) -> None:
        self._file, self._noun = file, noun
        self._connection = open_index(place, _VERSION, _SCHEMA)
        self._prefix: FilePrefix | None = None
        try:
            self.catch_up()
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        """Close it."""
        self._connection.close()

    def catch_up(self) -> None:
        """Take in what was appended to the file; raises as opening it does."""
        with index_transaction(self._connection):
            prefix = self._prefix = self._covered()
            start, counts = prefix.lines, Counter[str]()
            for record in self._file.each(self._noun, prefix):
                if record["message"] != "ERROR":  # what we failed to judge is tried again
                    counts[record["message"]] += 1
                    self._take(record["id"], record["number"], record["patch_sha256"], prefix.lines)
                if prefix.lines - start >= _STEP:
                    self._add_point(prefix, counts)
                    start = prefix.lines
            if prefix.lines > start:
                self._add_point(prefix, counts)

    def _covered(self) -> FilePrefix:
        """What it covers of the file, without what it knew of the rest of a file that was longer or another."""
        points = self._connection.execute("SELECT size, place, digest FROM points ORDER BY place").fetchall()
        if not points:
            return FilePrefix()
        if self._prefix is not None and self._prefix.size == points[-1][0]:
            return self._prefix
        found = self._file.unchanged(points) or FilePrefix()
        if found.size < points[-1][0]:
            for statement in _BACK:
                self._connection.execute(statement, (found.lines,))
        if not found.size:
            self._connection.execute("DELETE FROM checked")
        return found

    def _add_point(self, prefix: FilePrefix, counts: Counter[str]) -> None:
        """Remember what it covers, and of earlier points the oldest of those as far away, to a power of two."""
        rows = [(_bytes(message), prefix.lines, count) for message, count in counts.items()]
        self._connection.executemany("INSERT INTO messages VALUES (?, ?, ?)", rows)
        counts.clear()
        known = (prefix.lines, prefix.size, prefix.digest.hexdigest())
        self._connection.execute("INSERT INTO points VALUES (?, ?, ?)", known)
        distances: set[int] = set()
        for (place,) in self._connection.execute("SELECT place FROM points ORDER BY place").fetchall():
            if (distance := (prefix.lines - place).bit_length()) in distances:
                self._connection.execute("DELETE FROM points WHERE place = ?", (place,))
            distances.add(distance)
        self._connection.execute("DELETE FROM answered WHERE place NOT IN (SELECT place FROM points)")

    def _take(self, name: str, number: int, patch: str, place: int) -> None:
        known = self.patch_of(name, number)
        if known not in (None, patch):  # there is no way back behind this, and submissions are to be looked at again
            for statement in _FORGET:
                self._connection.execute(statement)
        if known != patch:
            self._connection.execute(_NEWEST, (_bytes(name), number, _bytes(patch), place))

    def patch_of(self, name: str, number: int) -> str | None:
        """The sha256 of the patch whose result stands last in the file; None where a submission has no result."""
        found = self._connection.execute(
            "SELECT patch FROM results WHERE id = ? AND number = ?", (_bytes(name), number)
        )
        row = found.fetchone()
        return None if row is None else _text(row[0])

    def results_of(self, numbers: Mapping[str, int]) -> int:
        """How many submissions have a result, of so many of each id."""
        counting = "SELECT COUNT(*) FROM results WHERE id = ? AND number >= 0 AND number < ?"
        return sum(
            self._connection.execute(counting, (_bytes(name), count)).fetchone()[0] for name, count in numbers.items()
        )

    @property
    def counts(self) -> Mapping[str, int]:
        """How many results have each message."""
        return {_text(message): count for message, count in self._connection.execute(_COUNTS)}

    def answered(self, submissions: Path) -> SubmissionMark | None:
        """How far a file of submissions is known to have results, all of them of these patches."""
        return self._mark("answered", submissions)

    def answer(self, submissions: Path, mark: SubmissionMark) -> None:
        """Note that all submissions up to a mark have results."""
        if self._prefix is not None and self._prefix.lines:
            row = (_name(submissions), self._prefix.lines, *_row(mark))
            self._connection.execute("INSERT OR REPLACE INTO answered VALUES (?, ?, ?, ?, ?, ?, ?)", row)

    def checked(self, submissions: Path) -> SubmissionMark | None:
        """How far a file of submissions is known to hold nothing wrong, nor a patch whose result is of another."""
        return self._mark("checked", submissions)

    def check(self, submissions: Path, mark: SubmissionMark) -> None:
        """Note that nothing is wrong up to a mark."""
        row = (_name(submissions), *_row(mark))
        self._connection.execute("INSERT OR REPLACE INTO checked VALUES (?, ?, ?, ?, ?, ?)", row)

    def _mark(self, table: str, submissions: Path) -> SubmissionMark | None:
        row = self._connection.execute(_MARK.format(table), (_name(submissions),)).fetchone()
        if row is None:
            return None
        size, lines, digest, count, numbers = row
        return SubmissionMark(size, lines, digest, count, json.loads(numbers))


def _row(mark: SubmissionMark) -> tuple[object, ...]:
    return mark.size, mark.lines, mark.digest, mark.count, json.dumps(mark.numbers)


def _name(path: Path) -> bytes:
    return os.fsencode(path.resolve())


def _bytes(text: str) -> bytes:
    """As SQLite can hold it, which half of a surrogate pair in somebody's file is not."""
    return text.encode("utf-8", "surrogatepass")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")
