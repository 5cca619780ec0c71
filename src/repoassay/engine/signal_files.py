"""`signals.json` beside an attempt: what its signals said, of which diff, and which tools were there to say it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

import repoassay
from repoassay.errors import BadInput
from repoassay.records import check_version, parse_object, read_regular, reason, validation_reason, write_once
from repoassay.signals import Signal
from repoassay.types import Record

__all__ = ["NAME", "SignalFile", "keep", "measured_of", "read_measured", "tool_versions"]

NAME = "signals.json"
"""Name of the file in an attempt's folder; the review application reads it there."""
_MOST = 4 * 2**20
"""Bytes that readers take; a longer file would be none to them."""
_TOOLS = ("black", "coverage", "lizard", "mypy", "pytest", "ruff")


class SignalFile(Record):
    """What was measured of one change.

    Attributes:
        schema_version: 1, called `schema` in the file.
        attempt: The attempt's id; empty for a task's reference.
        task: The task's id; `task_digest` is the version of it.
        diff_sha256: Of the diff that was measured.
        measured_at: When it was done, in UTC.
        seconds: How long it took.
        versions: Of RepoAssay and of the tools that Python projects are measured with, by name: the task
            environment's where that has the tool, else RepoAssay's own. What is installed nowhere is left out.
        signals: In a fixed order.
    """

    schema_version: Annotated[Literal[1], Field(alias="schema")] = 1
    attempt: str = ""
    task: str
    task_digest: str
    diff_sha256: str
    measured_at: datetime
    seconds: Annotated[float, Field(ge=0)]
    versions: dict[str, str]
    signals: tuple[Signal, ...]


def measured_of(
    signals: Sequence[Signal], *, attempt: str, task: str, task_digest: str, diff_sha256: str, seconds: float,
    environment: Path | None,
) -> SignalFile:  # fmt: skip
    """Make the record of what has just been measured."""
    return SignalFile(
        attempt=attempt, task=task, task_digest=task_digest, diff_sha256=diff_sha256, seconds=round(seconds, 3),
        measured_at=datetime.now(UTC), versions=tool_versions(environment), signals=tuple(signals),
    )  # fmt: skip


def tool_versions(environment: Path | None) -> dict[str, str]:
    """Versions by name, as `SignalFile.versions` has them; `environment` is the task's, None without one."""
    own = {name: version for name in _TOOLS if (version := _own(name))}
    theirs: dict[str, str] = {}
    places = [str(path) for path in environment.glob("lib/python*/site-packages")] if environment else []
    if places:
        found = {each.name.lower(): each.version for each in metadata.distributions(path=places) if each.name}
        theirs = {name: found[name] for name in _TOOLS if name in found}
    return {"repoassay": repoassay.__version__, **own, **theirs}


def read_measured(path: Path) -> SignalFile | None:
    """Read a file back; None where there is none.

    Raises:
        BadInput: When something is there that is no such file.
    """
    try:
        content = read_regular(path, _MOST)
        with suppress(ValueError):
            check_version(parse_object(content).get("schema"), str(path))
        return SignalFile.model_validate_json(content)
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        why = reason(error) if isinstance(error, OSError) else validation_reason(error)
        raise BadInput(f"{path} cannot be read as signals: {why}.", "Measure it again with --again.") from error


def keep(path: Path, measured: SignalFile, *, again: bool) -> None:
    """Write the file whole and on disk before it can be seen; what is there is replaced only with `again`.

    Raises:
        FileExistsError: When it is there, and not `again`.
    """
    content = _bounded(measured)
    if not again:
        write_once(path, content)
        return
    part = path.with_name(f"{path.name}.again")
    part.unlink(missing_ok=True)  # what a killed process left
    write_once(part, content)
    part.replace(path)


def _bounded(measured: SignalFile) -> bytes:
    """As JSON of at most 4 MiB: places of a hostile change are left out and counted until it fits."""
    for most in (50, 10, 2, 0):
        cut = [
            each.model_copy(
                update={"evidence": each.evidence[:most], "more": each.more + max(0, len(each.evidence) - most)}
            )
            for each in measured.signals
        ]
        fitting = measured.model_copy(update={"signals": tuple(cut)})
        content = fitting.model_dump_json(indent=1, by_alias=True).encode() + b"\n"
        if len(content) <= _MOST:
            break
    return content


def _own(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""
