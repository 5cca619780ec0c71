"""Which plans were made on this machine by this account: a note of each plan's digest in the cache.

A run folder says nothing of where it comes from, so what it may ask for on `resume` hangs on this note and on the
command line, never on the folder. Without the note a run counts as received, which is the safe mistake.
"""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path

from repoassay.errors import BadInput
from repoassay.sandbox import Cache

__all__ = ["note_plan", "planned_here"]


def note_plan(run: Path) -> None:
    """Note that the plan of a run folder was made here."""
    with contextlib.suppress(OSError, BadInput):
        note = _note(run)
        note.parent.mkdir(exist_ok=True, mode=0o700)
        note.touch()


def planned_here(run: Path) -> bool:
    """Whether the plan of a run folder is, letter by letter, one that was made here."""
    try:
        return _note(run).is_file()
    except (OSError, BadInput):
        return False


def _note(run: Path) -> Path:
    return Cache().path / "planned" / hashlib.sha256((run / "run.json").read_bytes()).hexdigest()
