"""An output that was made elsewhere, copied to where nobody can change it, and its verdict."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path

from repoassay.engine.grading_context import GradingContext
from repoassay.engine.submitted_files import describe, rejected_of
from repoassay.errors import InfraFault, Unavailable
from repoassay.grading import fault, name_isolation
from repoassay.sandbox.launcher.collect import collect
from repoassay.tasks import TaskFolder
from repoassay.types import Submission, Verdict

__all__ = ["StagedOutput", "grade_output", "stage_output"]


@dataclass(frozen=True, slots=True)
class StagedOutput:
    """What is graded of an output: its task, the folder of its files, and what is said of them."""

    folder: TaskFolder
    files: Path
    submission: Submission


def stage_output(folder: TaskFolder, source: Path, staged: Path) -> StagedOutput:
    """Copy what may be graded of the folder `source`, following nothing, into the new folder `staged`."""
    staged.mkdir(parents=True)
    if not source.is_dir() or source.is_symlink():
        absent = rejected_of([(source.name, "there is no such folder among the outputs")])
        return StagedOutput(folder, staged, Submission(rejected=absent))
    task = folder.task
    rejected = collect(str(source), str(staged), task.outputs.max_bytes, 10_000, [])
    if task.kind.changes_repository:
        from repoassay.grading import diff_name  # readers of patches, which graders of other outputs never come to

        wanted = diff_name(task.kind)
        found = [] if (staged / wanted).exists() else sorted(staged.iterdir())
        patches = [path for path in found if path.suffix in (".diff", ".patch")]
        if len(patches) == 1:
            patches[0].rename(staged / wanted)
        elif patches:
            names = ", ".join(path.name for path in patches)
            rejected.append((source.name, f"several patches ({names}); name one of them {wanted}"))
    return StagedOutput(folder, staged, Submission(files=describe(staged), rejected=rejected_of(rejected)))


def grade_output(output: StagedOutput, bench: GradingContext, cancel: threading.Event | None = None) -> Verdict:
    """The verdict on one output; a fault of ours is one too. With `cancel` set it is meaningless."""
    from repoassay.grading import judge
    from repoassay.workspace import lay_out

    folder = output.folder
    try:
        changes = folder.task.kind.changes_repository
        layout = lay_out(folder, bench.repositories, bench.cache, bench.sandbox) if changes else None
        return judge(
            folder, layout, output.files, output.submission, bench.sandbox, cancel, bench.reading, bench.oracle
        )
    except (InfraFault, Unavailable) as error:
        return name_isolation(fault(folder, error, bench.reading), bench.sandbox)
