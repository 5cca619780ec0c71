"""The one reader of finished attempts: `attempt.json` and the latest verdict, whole or only the columns of tables."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

from repoassay.errors import BadInput
from repoassay.records.attempt_columns import AttemptColumns, VerdictColumns
from repoassay.records.files import reason
from repoassay.records.journal import Journal
from repoassay.records.versions import parse, validation_reason
from repoassay.types import Attempt, Verdict

__all__ = ["ALL", "TABLE", "Fields", "finished_ids", "read_attempt", "read_attempts"]

_MOST_BYTES = 64 * 2**20
_FIRST = 2**18
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
_LATER = re.compile(r"verdict\.(\d{1,9})\.json")

_A = TypeVar("_A", bound=BaseModel)
_V = TypeVar("_V", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Fields(Generic[_A, _V]):
    """Which keys of the records are read: the classes that have them."""

    attempt: type[_A]
    verdict: type[_V]


ALL = Fields(Attempt, Verdict)
"""Whole records; a key that is unknown is an error."""
TABLE = Fields(AttemptColumns, VerdictColumns)
"""What tables need, in a fraction of the time."""


def finished_ids(run: Path) -> list[str]:
    """Ids of the attempts that a run's journal calls finished, in the order they ended, each once.

    Raises:
        BadInput: When the journal cannot be read, or an event names no attempt.
    """
    events = Journal(run / "journal.jsonl").read().events
    return list(dict.fromkeys(named_attempt(run, event) for event in events if event.get("event") == "finished"))


def named_attempt(run: Path, event: Mapping[str, object]) -> str:
    """The id of the attempt that an event of a run's journal calls finished; raises `BadInput` where it names none."""
    name = event.get("attempt")
    if not isinstance(name, str) or not _ID.fullmatch(name):
        what = "no attempt" if name is None else f"{str(name)[:60]!r}, which is no id of an attempt"
        raise _unreadable(run, f"an event in journal.jsonl that calls an attempt finished names {what}")
    return name


def read_attempt(run: Path, name: str, fields: Fields[_A, _V], verdict_file: str = "") -> tuple[_A, _V]:
    """Read one attempt of a run folder and its latest verdict, or that of `verdict_file` where it is the latest.

    Raises:
        BadInput: When its id is none, its files are missing, no plain files, too large, not what they should be, or of
            a newer RepoAssay.
    """
    if not _ID.fullmatch(name):
        raise _unreadable(run, f"{name[:60]!r} is no id of an attempt")
    folder = f"{run}/attempts/{name}"
    try:
        file = "attempt.json"
        attempt = parse(fields.attempt, _read(f"{folder}/{file}"), f"{folder}/{file}")
        file = verdict_file or latest_verdict(os.listdir(folder))  # noqa: PTH208 - a Path for each of 300,000 takes longer than reading
        verdict = parse(fields.verdict, _read(f"{folder}/{file}"), f"{folder}/{file}")
    except ValidationError as error:
        raise _unreadable(run, f"{name}/{file} {validation_reason(error)}") from error
    except OSError as error:
        raise _unreadable(run, f"{error.filename or folder}: {reason(error)}") from error
    if (written := getattr(attempt, "id", name)) != name:
        raise _unreadable(run, f"{name}/attempt.json is of attempt {written[:60]!r}")
    return attempt, verdict


def read_attempts(run: Path, fields: Fields[_A, _V]) -> Iterator[tuple[_A, _V]]:
    """Read every finished attempt of a run folder, in the order they ended.

    Raises:
        BadInput: As `finished_ids` and `read_attempt` raise it.
    """
    return (read_attempt(run, name, fields) for name in finished_ids(run))


def latest_verdict(names: Iterable[str]) -> str:
    """Which of a folder's files has the latest verdict: grading again adds `verdict.1.json` and so on."""
    later = max(
        (int(found[1]) for item in names if item[:8] == "verdict." and (found := _LATER.fullmatch(item))), default=None
    )
    return "verdict.json" if later is None else f"verdict.{later}.json"


def _read(path: str) -> bytes:
    """A whole file. Most fit one read, so what kind of file it is gets looked at only where one does not."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        content = os.read(descriptor, _FIRST)
        if len(content) < _FIRST:
            return content
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > _MOST_BYTES:
            raise OSError(errno.EINVAL, "is no plain file, or too large", path)
        while more := os.read(descriptor, _FIRST):
            content += more
            if len(content) > _MOST_BYTES:
                raise OSError(errno.EFBIG, "is too large", path)
        return content
    finally:
        os.close(descriptor)


def _unreadable(run: Path, what: str) -> BadInput:
    return BadInput(
        f"A finished attempt of {run} cannot be read back: {what}.",
        "Restore its folder from a copy; files of a run must not be edited or removed.",
    )
