"""Tasks of another tool as a suite: each converted by itself, and of those that are not it is told why."""

from __future__ import annotations

import contextlib
import random
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repoassay.engine import GradingContext
from repoassay.errors import BadInput
from repoassay.formats import safe_id, toml_string
from repoassay.interchange.image_file import ImportRefusal
from repoassay.interchange.import_record import ImportRecord, TaskRefusal, draw_digest
from repoassay.interchange.importers import ConvertedTask, find_importer, guard
from repoassay.plugins import Plugin
from repoassay.tasks import read_task
from repoassay.text import printable
from repoassay.workspace import unreached_hosts

__all__ = ["ImportedSuite", "TaskRefusal", "import_suite"]

_MOST_TASKS = 100_000


@dataclass(frozen=True, slots=True)
class ImportedSuite:
    """What an import came to.

    Attributes:
        path: The suite's folder.
        found: How many tasks were looked at.
        tasks: Those converted.
        refused: Those that were not.
        no_tasks: Folders that look like tasks, and are none for the other tool either; none of them is `found`.
    """

    path: Path
    found: int
    tasks: Sequence[str]
    refused: Sequence[TaskRefusal]
    no_tasks: Sequence[TaskRefusal] = ()

    @property
    def reasons(self) -> Mapping[str, int]:
        """How many tasks were refused for each reason, the most frequent first."""
        counts: dict[str, int] = {}
        for refusal in self.refused:
            counts[refusal.why] = counts.get(refusal.why, 0) + 1
        return dict(sorted(counts.items(), key=lambda item: -item[1]))

    def unreached(self) -> dict[str, Sequence[str]]:
        """The tasks whose builds fetch from hosts that builds here may not reach, with these hosts.

        Those that a proof has left out of the suite are gone by then.
        """
        folders = (self.path / "tasks" / name for name in self.tasks)
        tasks = {place.name: read_task(place).task for place in folders if place.is_dir()}
        return {name: hosts for name, task in tasks.items() if (hosts := unreached_hosts(task))}


def import_suite(
    kind: str | None, source: Path, folder: Path, open_bench: Callable[[], GradingContext], *,
    sample: int | None = None, seed: str = "0", resume: bool = False,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> ImportedSuite:  # fmt: skip
    """Write the tasks of another tool as a suite folder, whole or not at all.

    Args:
        kind: A format's name or a dotted path; None for the one that recognises the source.
        source: A folder of tasks, or one task.
        folder: The suite; must not exist, or be empty.
        open_bench: Gives what runs tests, for formats whose tasks are proved as they are made.
        sample: Take so many of the tasks, drawn by `seed`; all without.
        seed: What the draw starts from: the same seed draws the same tasks from the same source.
        resume: Take `folder` as it is where it holds the same tasks of the same source already.
        progress: Told how many tasks have been looked at, and of how many.

    Raises:
        BadInput: The source cannot be read or holds no task, or `folder` is taken.
        Unavailable: A plug-in cannot be imported or fails.
    """
    plugin, importer = find_importer(kind, source)
    if importer.gives != "suite":
        raise BadInput(f"The {plugin.title} reads no tasks.", "`repoassay formats` says which formats do.")
    taken = folder.exists() and (not folder.is_dir() or any(folder.iterdir()))
    before = ImportRecord.read(folder) if taken and resume else None
    if taken and before is None:
        raise BadInput(f"{folder} already exists and is not empty.", "Choose another --out.")
    folders, no_tasks = _drawn(plugin, importer, source, sample, seed)
    draw = draw_digest(plugin.name, (each.relative_to(source).as_posix() for each in folders))
    if before is not None:
        if before.drawn != draw:
            raise BadInput(f"{folder} holds tasks of another import.", "Choose another --out.")
        return ImportedSuite(folder, before.found, before.tasks, before.refused, no_tasks)
    with _part(folder) as place:
        part = Path(place, "suite")
        (part / "tasks").mkdir(parents=True)
        title = printable(source.resolve().name, 80)
        (part / "suite.toml").write_text(_suite_toml(folder.name, title, plugin.name), encoding="utf-8")
        written: list[str] = []
        refused: list[TaskRefusal] = []
        for done, each in enumerate(folders, 1):
            below = _below(each, source)
            target: Path | None = None
            try:
                task = _converted(plugin, importer, each)
                target = part / "tasks" / _free_name(task.name, below, written)
                task.write(target, open_bench)
                written.append(target.name)
            except ImportRefusal as refusal:
                if target is not None:
                    shutil.rmtree(target, ignore_errors=True)
                refused.append(_task_refusal(below, refusal))
            progress(done, len(folders))
        ImportRecord(draw, len(folders), written, refused).write(part)
        with contextlib.suppress(OSError):
            folder.rmdir()
        part.rename(folder)
    return ImportedSuite(folder, len(folders), written, refused, no_tasks)


def _part(folder: Path) -> tempfile.TemporaryDirectory[str]:
    """A folder beside the one that is to be written."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.part-")
    except OSError as error:
        raise BadInput(f"{folder} cannot be written: {error.strerror or error}.", "Choose another --out.") from error


def _below(folder: Path, source: Path) -> str:
    return folder.relative_to(source).as_posix() if folder != source else folder.name


def _task_refusal(below: str, refusal: ImportRefusal) -> TaskRefusal:
    return TaskRefusal(below, refusal.why, refusal.file, refusal.line, refusal.text)


def _drawn(
    plugin: Plugin, importer: Any, source: Path, sample: int | None, seed: str
) -> tuple[list[Path], list[TaskRefusal]]:
    """The tasks of a draw, and the folders that were left out before it, since they are none."""
    no_task = getattr(importer, "no_task", lambda _: None)
    try:
        looked_at = [(folder, no_task(folder)) for folder in sorted(importer.folders(source))]
    except Exception as error:
        raise guard(plugin, error) from error
    no_tasks = [_task_refusal(_below(folder, source), why) for folder, why in looked_at if why is not None]
    folders = [folder for folder, why in looked_at if why is None]
    if not folders and no_tasks:
        first = no_tasks[0]
        raise BadInput(f"{source} holds no task: {first.task}: {first.why}", "Name a folder of tasks, or one task.")
    if not folders:
        raise BadInput(f"{source} holds no task of this format.", "Name a folder of tasks, or one task.")
    if len(folders) > _MOST_TASKS:
        raise BadInput(f"{source} holds more than {_MOST_TASKS:,} tasks.", "Split it.")
    if sample is not None and sample < len(folders):
        folders = sorted(random.Random(seed).sample(folders, sample))  # noqa: S311 - a draw that can be repeated
    return folders, no_tasks


def _converted(plugin: Plugin, importer: Any, folder: Path) -> ConvertedTask:
    try:
        task: ConvertedTask = importer.convert(folder)
    except ImportRefusal:
        raise
    except Exception as error:
        raise guard(plugin, error) from error
    return task


def _free_name(name: str, below: str, written: Sequence[str]) -> str:
    """A task's id with us: its own name, else its place, whichever no other task has."""
    for each in (safe_id(name), safe_id(below)):
        if each not in written:
            return each
    raise ImportRefusal("Another task has its name.", below, 0, name)


def _suite_toml(name: str, source: str, kind: str) -> str:
    lines = (f"name = {toml_string(safe_id(name))}", 'version = "1"', f"title = {toml_string(f'Tasks of {source}')}",
             f"description = {toml_string(f'Read from {source} ({kind}).')}", 'licence = "unknown"')  # fmt: skip
    return "schema = 1\n\n[suite]\n" + "\n".join(lines) + "\n"
