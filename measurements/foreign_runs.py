"""What is read of other tools' runs: by format, the share with commands, edits, tokens and dollars, and diagnosed.

    python measurements/foreign_runs.py [FORMAT=]PATH ...

An attempt in which no model ever answered did nothing that could be read: it is counted apart.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

from repoassay.diagnosis.actions import actions_of
from repoassay.diagnosis.purpose import CommandKind
from repoassay.interchange import import_run
from repoassay.records import FinishedAttempt
from repoassay.report import read_trajectory
from repoassay.report.diagnosis_runs import Diagnoser, subjects_of
from repoassay.types import Source

_RUN = {CommandKind.MESSAGE, CommandKind.EDIT, CommandKind.SUBMIT}
COLUMNS = ("attempts", "silent", "refused", "commands", "edits", "tokens", "dollars", "seen")


def looked_at(kind: str | None, source: Path, folder: Path) -> Counter[str]:
    """Counts of one format's attempts; `seen`: the diagnosis has an action for what was done."""
    done = import_run(kind, source, folder)
    counts = Counter({"attempts": done.attempts, "refused": len(done.refused)})
    diagnosis = Diagnoser(done.run)
    for subject in subjects_of(done.run):
        diagnosis.look(subject)  # fails where it cannot
    for found in done.run.finished():
        _count(found, counts)
    return counts


def _count(found: FinishedAttempt, counts: Counter[str]) -> None:
    trajectory = read_trajectory(found.folder)
    if trajectory is None or not any(step.source is Source.AGENT for step in trajectory.steps):
        counts["silent"] += 1
        return
    actions = actions_of(trajectory)
    counts["commands"] += any(action.kind not in _RUN for action in actions)
    counts["edits"] += any(action.kind is CommandKind.EDIT or action.authored for action in actions)
    counts["tokens"] += trajectory.own.usage is not None
    counts["dollars"] += trajectory.own.dollars is not None
    counts["seen"] += any(action.kind is not CommandKind.MESSAGE for action in actions)


def main() -> None:
    """Print a line a format, as counts and as percents of the attempts that are not silent."""
    print(f"{'format':<16}" + "".join(f"{name:>16}" for name in COLUMNS))
    for argument in sys.argv[1:]:
        kind, named, source = argument.partition("=")
        with tempfile.TemporaryDirectory() as place:
            counts = looked_at(kind if named else None, Path(source if named else argument), Path(place, "run"))
        spoke = counts["attempts"] - counts["silent"]
        cells = [
            str(counts[name]) + (f" ({counts[name] / spoke:.0%})" if name in COLUMNS[3:] and spoke else "")
            for name in COLUMNS
        ]
        print(f"{kind[-16:]:<16}" + "".join(f"{cell:>16}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
