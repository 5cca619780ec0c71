"""The few keys of `attempt.json` and `verdict.json` that tables need, validated, and the rest passed over."""

from __future__ import annotations

import os
import re
import stat
from decimal import Decimal
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from repoassay.errors import BadInput
from repoassay.model import Outcome

__all__ = ["LeanAttempt", "LeanVerdict", "read_attempt"]

_MOST_BYTES = 64 * 2**20
_FIRST = 2**18
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
_LATER = re.compile(r"verdict\.(\d{1,9})\.json")

_Count = Annotated[int, Field(ge=0, le=1 << 63)]
_Money = Annotated[Decimal, Field(ge=0)]


class _Lean(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Usage(_Lean):
    input: _Count = 0
    output: _Count = 0


class _Spent(_Lean):
    calls: _Count = 0
    usage: _Usage = _Usage()
    unknown: _Count = 0
    dollars: _Money | None = Decimal(0)
    dollars_known: _Money = Decimal(0)


class _Exit(_Lean):
    wall: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0


class _Submission(_Lean):
    exit: _Exit | None = None


class LeanAttempt(_Lean):
    """An attempt as rows need it; the same keys as `repoassay.model.Attempt`."""

    id: str
    task: str
    task_digest: str
    agent: str
    number: int = 1
    retry_of: str | None = None
    submission: _Submission
    spent: _Spent | None = None


class LeanVerdict(_Lean):
    """A verdict as rows need it; the same keys as `repoassay.model.Verdict`."""

    task_digest: str
    outcome: Outcome
    process: bool | None
    result: bool | None
    comments: tuple[str, ...] = ()


_ATTEMPT: TypeAdapter[LeanAttempt] = TypeAdapter(LeanAttempt)
_VERDICT: TypeAdapter[LeanVerdict] = TypeAdapter(LeanVerdict)


def read_attempt(run: Path, name: str) -> tuple[LeanAttempt, LeanVerdict]:
    """Read one finished attempt of a run folder and its latest verdict.

    Raises:
        BadInput: When its id is none, its files are missing, no plain files, too large or not what they should be.
    """
    if not _ID.fullmatch(name):
        raise _unreadable(run, f"{name[:60]!r} is no id of an attempt")
    folder = run / "attempts" / name
    place = str(folder)
    try:
        names = os.listdir(place)  # noqa: PTH208 - a Path for each of 300,000 entries takes longer than reading them
        later = max((int(found[1]) for item in names if (found := _LATER.fullmatch(item))), default=None)
        attempt = _ATTEMPT.validate_json(_read(f"{place}/attempt.json"))
        verdict = _VERDICT.validate_json(
            _read(f"{place}/verdict.json" if later is None else f"{place}/verdict.{later}.json")
        )
    except ValidationError as error:
        detail = error.errors()[0]
        where = f"{'attempt' if 'Attempt' in error.title else 'verdict'}.json"
        raise _unreadable(run, f"{name}/{where} {'.'.join(map(str, detail['loc']))}: {detail['msg']}") from error
    except OSError as error:
        raise _unreadable(run, f"{error.filename or folder}: {error.strerror}") from error
    if attempt.id != name:
        raise _unreadable(run, f"{name}/attempt.json is of attempt {attempt.id[:60]!r}")
    return attempt, verdict


def _read(path: str) -> bytes:
    """A whole file. Most fit one read, so what kind of file it is gets looked at only where one does not."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        content = os.read(descriptor, _FIRST)
        if len(content) < _FIRST:
            return content
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > _MOST_BYTES:
            raise OSError(0, "is no plain file, or too large", path)
        while more := os.read(descriptor, _FIRST):
            content += more
            if len(content) > _MOST_BYTES:
                raise OSError(0, "is too large", path)
        return content
    finally:
        os.close(descriptor)


def _unreadable(run: Path, what: str) -> BadInput:
    return BadInput(
        f"A finished attempt of {run} cannot be read back: {what}.",
        "Restore its folder from a copy; files of a run must not be edited or removed.",
    )
