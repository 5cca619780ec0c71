"""A submission folder: what lies in it, who hands it in, and what they declare.

::

    submission.toml                who, what, and the declarations
    figures.json                   the figures stated; a validator works them out again
    manifest.json                  size and sha256 of every other file
    run/run.json                   the plan, with this one agent
    run/journal.jsonl              what happened, of this agent
    run/attempts/<id>/             attempt.json verdict.json, and usage.jsonl where a model was asked
    run/attempts/<id>/submission/  what the agent left, where it was handed in too
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import AwareDatetime, Field, ValidationError

from repoassay.records import NewerRecord, check_version, load_toml
from repoassay.text import one_line
from repoassay.types import Record

__all__ = [
    "FIGURES",
    "MANIFEST",
    "RUN",
    "SUBMISSION",
    "Declarations",
    "EntryRefusal",
    "LeaderboardEntry",
    "read_submitted",
    "to_toml",
]

SUBMISSION, FIGURES, MANIFEST, RUN = "submission.toml", "figures.json", "manifest.json", "run"


@dataclass(frozen=True, slots=True)
class EntryRefusal:
    """Why a submission does not follow: the file, and one sentence that names the figure."""

    file: str
    what: str

    def __str__(self) -> str:
        return f"{one_line(self.file, 200)}: {one_line(self.what, 600)}"


class Declarations(Record):
    """Statements that cannot be checked and for which whoever hands in is responsible."""

    no_test_knowledge: bool
    every_attempt: bool
    no_human_help: bool
    one_attempt: bool


class LeaderboardEntry(Record):
    """`submission.toml`. `system` is the agent's name in the plan, `run` the plan's id, `submitted` a UTC time."""

    schema_version: int = Field(ge=1, le=1)
    system: str = Field(min_length=1, max_length=400)
    contact: str = Field(min_length=3, max_length=200)
    organisation: str = Field(default="", max_length=200)
    run: str = Field(min_length=1, max_length=64)
    submitted: AwareDatetime
    declarations: Declarations


def read_submitted(folder: Path) -> LeaderboardEntry | EntryRefusal:
    """Read `submission.toml`; a refusal where it is not what it should be."""
    try:
        document = load_toml((folder / SUBMISSION).read_text("utf-8"))
        check_version(document.get("schema_version"), "it")
        return LeaderboardEntry.model_validate(document)
    except NewerRecord as error:
        return EntryRefusal(SUBMISSION, str(error))
    except ValidationError as error:
        detail = error.errors()[0]
        return EntryRefusal(SUBMISSION, f"{'.'.join(map(str, detail['loc']))}: {detail['msg']}.")
    except (OSError, UnicodeDecodeError, ValueError, RecursionError) as error:
        return EntryRefusal(SUBMISSION, f"it cannot be read: {error}.")


def to_toml(submitted: LeaderboardEntry) -> str:
    """The document, with a comment on each declaration."""
    values = submitted.model_dump()
    declared = values.pop("declarations")
    lines = [f"{name} = {_toml(value)}" for name, value in values.items()]
    lines += ["", "[declarations]", *(f"{name} = {_toml(value)}" for name, value in declared.items())]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return value.isoformat()
    # A JSON string is a TOML one, but for DEL.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
