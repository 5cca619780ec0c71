"""Making a submission folder of a run: one agent's attempts and accounts, and no more of this machine than needed."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from repoassay.errors import BadInput
from repoassay.records import OBJECTS, RunFolder, to_json
from repoassay.report.leaderboard.entry import (
    FIGURES,
    MANIFEST,
    RUN,
    SUBMISSION,
    Declarations,
    LeaderboardEntry,
    to_toml,
)
from repoassay.report.leaderboard.figures import figures_of
from repoassay.report.leaderboard.manifest import MOST_FILE_BYTES, manifest_of
from repoassay.report.leaderboard.validate import validate
from repoassay.report.results import read_rows
from repoassay.text import one_line
from repoassay.types import Plan

__all__ = ["pack"]

_SECRET = re.compile(
    rb"sk-[A-Za-z0-9_-]{20,}|\b(?:ghp|gho|ghs|ghr)_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|\bAKIA[A-Z0-9]{16}\b"
    rb"|AIza[A-Za-z0-9_-]{35}|xox[abprs]-[A-Za-z0-9-]{10,}|glpat-[A-Za-z0-9_-]{20,}|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    rb"|Bearer [A-Za-z0-9._-]{20,}"
)
_SECRET_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD)$", re.IGNORECASE)
_SHORTEST_SECRET = 8


def pack(
    run: RunFolder, out: Path, *, contact: str, declared: Declarations, agent: str | None = None,
    organisation: str = "", with_files: bool = False, now: datetime | None = None,
) -> LeaderboardEntry:  # fmt: skip
    """Write a submission folder and validate it.

    The plan keeps the one agent and loses the paths of this machine. Transcripts, logs and bodies of calls stay here.

    Args:
        run: A finished run.
        out: Where to; must not exist, or be empty.
        contact: Whom to ask.
        declared: What whoever hands it in answers for.
        agent: Which agent; needed where the run has several.
        organisation: Who stands behind it.
        with_files: Whether what agents left is packed too, so that it can be graded again.
        now: What counts as the present.

    Raises:
        BadInput: When there is no such agent, `out` is not empty, something packed looks like a secret, or what was
            packed is no sound submission; the sentence says the first reasons.
    """
    system = _agent(run.plan, agent)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BadInput(f"{out} already exists and is not empty.", "Choose another --out.")
    for _ in run.finished():  # what cannot be read is said of this run, not of a copy
        pass
    moment = now or datetime.now(UTC)
    try:
        submitted = LeaderboardEntry(
            schema_version=1, system=system, contact=contact, organisation=organisation, run=run.plan.id,
            submitted=moment, declarations=declared,
        )  # fmt: skip
    except ValueError as error:
        raise BadInput(f"The submission cannot be described: {_first(error)}.", "Look at --contact.") from error
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".pack-") as scratch:
        folder = Path(scratch, "submission")
        _copy(run, system, folder, with_files)
        _write(folder / SUBMISSION, to_toml(submitted).encode())
        figures = figures_of(read_rows([folder / RUN]))
        _write(folder / FIGURES, json.dumps(figures, indent=1).encode() + b"\n")
        _refuse_secrets(folder)
        _write(folder / MANIFEST, manifest_of(folder))
        found = validate(folder, moment)
        if not found.sound:
            reasons = " ".join(map(str, found.refusals[:5]))
            more = f" And {len(found.refusals) - 5} more." if len(found.refusals) > 5 else ""
            raise BadInput(f"{run.path} cannot be handed in: {reasons}{more}")
        if out.exists():
            out.rmdir()
        folder.rename(out)
    return submitted


def _agent(plan: Plan, agent: str | None) -> str:
    names = ", ".join(one_line(name, 60) for name in list(plan.agents)[:8])
    if agent is None and len(plan.agents) != 1:
        raise BadInput(f"The run has several agents: {names}.", "Name one with --agent.")
    found = agent if agent is not None else next(iter(plan.agents))
    if found not in plan.agents:
        raise BadInput(f"The run has no agent {one_line(found, 60)!r}.", f"It has {names}.")
    return found


def _first(error: ValueError) -> str:
    return one_line(str(error).partition("\n")[2] or str(error), 200)


def _copy(run: RunFolder, system: str, folder: Path, with_files: bool) -> None:
    events = list(_events(run, system))
    (folder / RUN / "attempts").mkdir(parents=True)
    _write(folder / RUN / "run.json", to_json(_reduced(run.plan, system), indent=1) + b"\n")
    journal = b"".join(OBJECTS.write(event) + b"\n" for event in events)
    _write(folder / RUN / "journal.jsonl", journal)
    for name in dict.fromkeys(str(event["attempt"]) for event in events):
        source, target = run.attempt_folder(name), folder / RUN / "attempts" / name
        for part in ("attempt.json", "verdict.json", "usage.jsonl"):
            if (source / part).is_file() and not (source / part).is_symlink():
                target.mkdir(exist_ok=True)
                _write(target / part, (source / part).read_bytes())
        if with_files and (source / "submission").is_dir():
            _copy_files(source / "submission", target / "submission")


def _copy_files(source: Path, target: Path) -> None:
    for place, folders, names in os.walk(source, followlinks=False):
        folders[:] = [name for name in folders if not Path(place, name).is_symlink()]
        for name in names:
            path = Path(place, name)
            if path.is_file() and not path.is_symlink():
                copy = target / path.relative_to(source)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, copy)


def _events(run: RunFolder, system: str) -> Iterator[dict[str, object]]:
    """Of the journal what is about attempts of this agent: started, dropped, finished."""
    mine: set[str] = set()
    for event in run.journal.read().events:
        if event.get("agent") == system and "attempt" in event:
            mine.add(str(event["attempt"]))
        if str(event.get("attempt")) in mine:
            yield event


def _reduced(plan: Plan, system: str) -> Plan:
    """The plan with one agent, and with names of files instead of their places on this machine."""
    metering = plan.metering
    named = {
        "upstreams": tuple(file.model_copy(update={"path": Path(file.path).name}) for file in metering.upstreams),
        "prices": tuple(file.model_copy(update={"path": Path(file.path).name}) for file in metering.prices),
        "dialogue": metering.dialogue
        and metering.dialogue.model_copy(update={"path": Path(metering.dialogue.path).name}),
    }
    return plan.model_copy(
        update={
            "agents": {system: plan.agents[system]},
            "suite_folder": Path(plan.suite_folder).name,
            "tasks": tuple(task.model_copy(update={"folder": Path(task.folder).name}) for task in plan.tasks),
            "metering": metering.model_copy(update=named),
        }
    )


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _refuse_secrets(folder: Path) -> None:
    """What looks like a key, or is the value of a variable that is named like one, is not handed in."""
    values = [
        value.encode()
        for name, value in os.environ.items()
        if _SECRET_NAME.search(name) and len(value) >= _SHORTEST_SECRET and not value.isdigit()
    ]
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        if path.stat().st_size > MOST_FILE_BYTES:
            raise BadInput(f"{path.relative_to(folder)} is larger than {MOST_FILE_BYTES} bytes.", "Leave files out.")
        content = path.read_bytes()
        if _SECRET.search(content) or any(value in content for value in values):
            raise BadInput(
                f"{path.relative_to(folder)} holds what looks like a key or a password; nothing was written.",
                "Revoke the key, and make the run again without it in settings and outputs.",
            )
