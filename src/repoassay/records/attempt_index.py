"""The index of a run folder: of every finished attempt what reports and `resume` ask, without opening its files.

It says nothing that the folder does not say. Of the journal it covers the first bytes, as their sha256 tells. Of each
attempt it notes which folder and files it read: inode, size and times of change, which no program can set back. An
attempt of which one of these differs is read again, as is one that had changed just before it was read.
"""

from __future__ import annotations

import gc
import json
import math
import os
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from sys import intern
from typing import Any, NamedTuple, Self

from pydantic import ValidationError

from repoassay.errors import BadInput
from repoassay.records.attempt_columns import AttemptColumns, VerdictColumns
from repoassay.records.attempts import ALL, TABLE, latest_verdict, named_attempt, read_attempt
from repoassay.records.file_prefix import FilePrefix
from repoassay.records.folder_check import check_attempt, check_attempts
from repoassay.records.index_file import index_path, index_transaction, open_index, with_index
from repoassay.records.journal import Journal
from repoassay.types import Attempt, Outcome, Spending, Verdict

__all__ = ["IndexedAttempt", "IndexedRun", "check_and_index", "extend_index", "index_run", "undisturbed"]

_VERSION = 4
_SCHEMA = """
CREATE TABLE journal (size INTEGER, lines INTEGER, digest TEXT, torn TEXT);
CREATE TABLE finished (position INTEGER PRIMARY KEY, id TEXT UNIQUE);
CREATE TABLE attempts (position INTEGER PRIMARY KEY, state INTEGER, verdict TEXT, sound INTEGER, whole INTEGER,
    task TEXT, task_digest TEXT, judged_digest TEXT, agent TEXT, number INTEGER, retry_of TEXT,
    outcome TEXT, process INTEGER, result INTEGER, comment TEXT, wall REAL, spent TEXT, isolation TEXT)
"""
_EMPTY = ("DELETE FROM journal", "DELETE FROM finished", "DELETE FROM attempts")
_ROWS = """
SELECT f.position, f.id, a.state, a.verdict, a.sound, a.whole, a.task, a.task_digest, a.judged_digest, a.agent,
    a.number, a.retry_of, a.outcome, a.process, a.result, a.comment, a.wall, a.spent, a.isolation
FROM finished f LEFT JOIN attempts a USING (position) ORDER BY f.position
"""
_UNREAD = "SELECT f.position, f.id FROM finished f LEFT JOIN attempts a USING (position) WHERE a.position IS NULL"
_NOTE = f"INSERT OR REPLACE INTO attempts VALUES ({','.join('?' * 18)})"  # noqa: S608 - question marks
_OUTCOMES = {outcome.value: outcome for outcome in Outcome}
_ANSWERS = {None: None, 0: False, 1: True}
_SETTLED = 2_000_000_000
"""Nanoseconds after which a change of a file shows in its times: some file systems count whole seconds."""
_SMALL = 256 << 10
"""Bytes of a journal, some hundred attempts, below which nothing is kept: reading them takes no time."""
_STEP = 500
_COMMENT = 2_000
_PHRASE = 200


class IndexedAttempt(NamedTuple):
    """A finished attempt as its latest verdict has it; `spending` is its account as JSON, None without a model.

    `judged_digest` is the task's digest in the verdict, `comment` the beginning of the verdict's first, `wall` the
    seconds of the agent's command, None where nobody measured them, `isolation` what the verdict was given under in
    words, empty where that is not recorded.
    """

    id: str
    task: str
    task_digest: str
    judged_digest: str
    agent: str
    number: int
    retry_of: str | None
    outcome: Outcome
    process: bool | None
    result: bool | None
    comment: str
    wall: float | None
    spending: str | None
    isolation: str = ""

    @classmethod
    def of(cls, attempt: Attempt | AttemptColumns, verdict: Verdict | VerdictColumns) -> IndexedAttempt:
        """Of what was read."""
        ending = attempt.submission.exit
        return cls(
            attempt.id, attempt.task, attempt.task_digest, verdict.task_digest, attempt.agent, attempt.number,
            attempt.retry_of, verdict.outcome, verdict.process, verdict.result,
            verdict.comments[0][:_COMMENT] if verdict.comments else "", ending.wall if ending else None,
            attempt.spent.model_dump_json(exclude_defaults=True) if attempt.spent else None,
            intern(verdict.isolation.phrase[:_PHRASE]) if verdict.isolation else "",
        )  # fmt: skip

    @property
    def spent(self) -> Spending | None:
        """What its model calls took."""
        return Spending.model_validate_json(self.spending) if self.spending is not None else None


@dataclass(frozen=True, slots=True)
class IndexedRun:
    """The finished attempts of a run in the order they ended, and the lines of its journal that are torn."""

    attempts: Sequence[IndexedAttempt]
    torn: tuple[int, ...]


def index_run(run: Path, progress: Callable[[int], None] | None = None, *, strict: bool = True) -> IndexedRun:
    """Every finished attempt of a run folder as its files are now.

    Args:
        run: The run folder.
        progress: Called now and then with how many attempts there are so far.
        strict: Refuse attempts of which any key cannot be read; else only those of which a key of tables cannot.

    Raises:
        BadInput: The journal or an attempt cannot be read.
    """
    return with_index(partial(_place, run), lambda place: _read(run, place, progress, strict, False))


def check_and_index(run: Path) -> tuple[IndexedRun, list[str]]:
    """Look at the folder of every attempt as `check_sound` does, and read the finished ones; returns them, and the
    names of the others.

    Both want to know what changed in 100,000 folders, which takes most of the time of either: it is asked once.

    Raises:
        BadInput: A folder is not sound, or the journal or an attempt cannot be read.
    """
    found = with_index(partial(_place, run), lambda place: _read(run, place, None, True, True))
    return found, check_attempts(run, {attempt.id for attempt in found.attempts})


def extend_index(run: Path) -> None:
    """Take into the index of a run folder the finished attempts that it does not know; others are not looked at.

    Raises:
        BadInput: The journal or such an attempt cannot be read.
    """
    with_index(partial(_place, run), partial(_extend, run))


@contextmanager
def undisturbed() -> Iterator[None]:
    """Without the cyclic collector: a hundred thousand new records make no cycles, and it would visit them all."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _place(run: Path) -> Path | None:
    return index_path("run", run) if (run / "journal.jsonl").lstat().st_size >= _SMALL else None


def _read(
    run: Path, place: Path | None, progress: Callable[[int], None] | None, whole: bool, check: bool
) -> IndexedRun:
    connection = open_index(place, _VERSION, _SCHEMA)
    try:
        with index_transaction(connection), _Attempts(run, connection, check=check) as attempts:
            torn, rest = _journal(connection, run)
            before = time.time_ns() - _SETTLED
            read: dict[str, IndexedAttempt | None] = {}
            places: dict[str, int] = {}
            for place_of, name, state, verdict, sound, known_whole, *columns in connection.execute(_ROWS):
                enough = state and (known_whole or not whole) and (sound or not check)
                if enough and state == attempts.state(name, verdict, before):
                    read[name] = _row(name, columns)
                else:
                    read[name], places[name] = None, place_of
            for name in rest:
                read.setdefault(name, None)
            for number, (name, found) in enumerate(read.items(), 1):
                if found is None:
                    read[name] = attempts.read(name, places.get(name), whole, before)
                if progress is not None and (number % _STEP == 0 or number == len(read)):
                    progress(number)
    finally:
        connection.close()
    return IndexedRun(tuple(filter(None, read.values())), torn)


def _extend(run: Path, place: Path | None) -> None:
    if place is None:
        return
    connection = open_index(place, _VERSION, _SCHEMA)
    try:
        with index_transaction(connection), _Attempts(run, connection) as attempts:
            _journal(connection, run)
            before = time.time_ns() - _SETTLED
            for position, name in connection.execute(_UNREAD).fetchall():
                attempts.read(name, position, True, before)
    finally:
        connection.close()


def _journal(connection: sqlite3.Connection, run: Path) -> tuple[tuple[int, ...], list[str]]:
    """Take in what was appended; returns torn lines, and what lines finish that cannot be covered: a last one without
    its end, and all after one that is too long."""
    journal = Journal(run / "journal.jsonl")
    known = connection.execute("SELECT size, lines, digest, torn FROM journal").fetchone()
    prefix = journal.unchanged(*known[:3]) if known is not None else None
    if prefix is None:
        for statement in _EMPTY:
            connection.execute(statement)
    torn: list[int] = json.loads(known[3]) if known is not None and prefix is not None else []
    prefix = prefix or FilePrefix()
    rest: list[str] = []
    stored = list(torn)
    for number, event in journal.after(prefix):
        ended = prefix.lines >= number
        if event is None:
            torn.append(number)
            stored += [number] if ended else []
        elif event.get("event") == "finished":
            name = named_attempt(run, event)
            if ended:
                connection.execute("INSERT OR IGNORE INTO finished (id) VALUES (?)", (name,))
            else:
                rest.append(name)
    connection.execute("DELETE FROM journal")
    row = (prefix.size, prefix.lines, prefix.digest.hexdigest(), json.dumps(stored))
    connection.execute("INSERT INTO journal VALUES (?, ?, ?, ?)", row)
    return tuple(torn), rest


class _Attempts:
    """The folder of a run's attempts, open, and what is to be noted of those that are read from their files."""

    def __init__(self, run: Path, connection: sqlite3.Connection, *, check: bool = False) -> None:
        self._run, self._connection, self._check = run, connection, check
        self._notes: list[tuple[object, ...]] = []
        self._folder = -1

    def __enter__(self) -> Self:
        with suppress(OSError):  # where there is none, reading an attempt says so
            self._folder = os.open(self._run / "attempts", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._folder >= 0:
            os.close(self._folder)
        if kind is None:
            self._connection.executemany(_NOTE, self._notes)

    def read(self, name: str, position: int | None, strict: bool, before: int) -> IndexedAttempt:
        """Read an attempt from its files, and note what was read of one whose position the index has."""
        sound, verdict = self._look(name)
        state = self.state(name, verdict, before)  # before it is read: a change meanwhile shows the next time
        known_whole = True
        try:
            attempt, judged = read_attempt(self._run, name, ALL, verdict)
            found, possible = IndexedAttempt.of(attempt, judged), _is_possible(attempt)
        except BadInput:
            if strict:
                raise
            known_whole = possible = False
        if not (strict or possible):  # or says what is impossible
            found, possible = IndexedAttempt.of(*read_attempt(self._run, name, TABLE, verdict)), True
        if position is not None and state and possible and found.number.bit_length() < 64:  # which SQLite can hold
            self._notes.append((position, state, verdict, sound, known_whole, *found[1:]))
            if len(self._notes) == _STEP:
                self._connection.executemany(_NOTE, self._notes)
                self._notes.clear()
        return found

    def _look(self, name: str) -> tuple[bool, str]:
        """Whether an attempt's folder is sound, and then the name of its latest verdict's file."""
        try:
            return True, latest_verdict(check_attempt(self._run, name))
        except (BadInput, OSError) as error:
            if self._check and isinstance(error, BadInput):
                raise
            return False, ""  # as reading it says, or what it needs of it is sound

    def state(self, name: str, verdict: str, before: int) -> int:
        """A number for what its folder and its two files are; 0 where that cannot be relied on, as when one changed
        after `before`."""
        folder = self._folder
        try:
            place = os.stat(name, dir_fd=folder, follow_symlinks=False)
            attempt = os.stat(f"{name}/attempt.json", dir_fd=folder, follow_symlinks=False)
            judged = os.stat(f"{name}/{verdict}", dir_fd=folder, follow_symlinks=False)
        except OSError:
            return 0
        plain = stat.S_ISDIR(place.st_mode) and stat.S_ISREG(attempt.st_mode) and stat.S_ISREG(judged.st_mode)
        placed, attempt_time, graded = place.st_ctime_ns, attempt.st_ctime_ns, judged.st_ctime_ns
        if not plain or placed > before or attempt_time > before or graded > before:
            return 0
        return hash((
            place.st_dev, place.st_ino, place.st_mtime_ns, placed,
            attempt.st_ino, attempt.st_size, attempt.st_mtime_ns, attempt_time,
            judged.st_ino, judged.st_size, judged.st_mtime_ns, graded,
        ))  # fmt: skip


def _is_possible(attempt: Attempt) -> bool:
    """Whether tables can have its figures."""
    ending = attempt.submission.exit
    if attempt.spent is None and (ending is None or 0 <= ending.wall < math.inf):
        return True
    try:
        AttemptColumns.model_validate(attempt, from_attributes=True)
    except ValidationError:
        return False
    return True


def _row(name: str, columns: Sequence[Any]) -> IndexedAttempt:
    task, task_digest, judged_digest, agent, number, retry_of, outcome, process, result, *rest = columns
    comment, wall, spent, isolation = rest
    return IndexedAttempt(
        name, intern(task), intern(task_digest), intern(judged_digest), intern(agent), number, retry_of,
        _OUTCOMES[outcome], _ANSWERS[process], _ANSWERS[result], comment, wall, spent, intern(isolation),
    )  # fmt: skip
