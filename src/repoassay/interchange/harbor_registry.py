"""A data set of a Harbor registry: which tasks it has, and their folders fetched from where the user allows.

A registry is a file that somebody wrote: its addresses are reached when the user has named them, and not before; its
paths lead into a repository's own tree, or into the registry's own folder.
"""

from __future__ import annotations

import itertools
import random
import re
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from repoassay.errors import BadInput, InfraFault
from repoassay.interchange.agent_files import json_value
from repoassay.interchange.import_record import TaskRefusal
from repoassay.text import join_names, printable
from repoassay.workspace import fetch_folders

__all__ = ["HarborDataset", "dataset_names", "find_dataset", "open_dataset"]

_MOST_TASKS = 100_000
_MOST_SHOWN = 12
_AT_ONCE = 2000
"""Folders of one fetch: their names stand on a command line."""
_COMMIT = re.compile(r"HEAD|[0-9a-f]{40}|[0-9a-f]{64}")
_ADDRESS = re.compile(r"[\w/~][^\s\x00-\x1f]{0,999}")
_FOLDER = re.compile(r"[\w.@+=,~-]+(?:/[\w.@+=,~-]+)*")


@dataclass(frozen=True, slots=True)
class _RegistryTask:
    """A task's repository (empty: beside the registry), commit, folder there, and name."""

    url: str
    commit: str
    folder: str
    name: str


@dataclass(slots=True)
class HarborDataset:
    """A data set of a registry.

    Attributes:
        title: NAME@VERSION.
        registry: The registry's file.
        tasks: Its tasks, or those that were drawn of them.
        refused: Tasks whose entry names no place that can be read, or that are not there.
    """

    title: str
    registry: Path
    tasks: Sequence[_RegistryTask]
    refused: list[TaskRefusal] = field(default_factory=list)

    @property
    def urls(self) -> list[str]:
        """The repositories that it comes from."""
        return sorted({task.url for task in self.tasks if task.url})

    def draw(self, sample: int, seed: str) -> None:
        """Keep so many of its tasks, drawn by a seed."""
        if sample < len(self.tasks):
            self.tasks = sorted(
                random.Random(seed).sample(self.tasks, sample), key=lambda task: task.name  # noqa: S311 - repeatable
            )  # fmt: skip


def dataset_names(registry: Path) -> list[str]:
    """NAME@VERSION of each data set; empty where the file is no registry."""
    return [_title(row) for row in _rows(registry)]


def _rows(registry: Path) -> list[dict[str, Any]]:
    found = json_value(registry) if registry.suffix == ".json" and registry.is_file() else None
    rows = found if isinstance(found, list) else []
    named = all(isinstance(row, dict) and "name" in row and isinstance(row.get("tasks"), list) for row in rows)
    return rows if named else []


def _title(row: dict[str, Any]) -> str:
    return printable(f"{row['name']}@{row.get('version')}", 200)


def find_dataset(registry: Path, wanted: str) -> HarborDataset:
    """The data set NAME@VERSION of a registry; NAME alone where there is one version of it.

    Raises:
        BadInput: The file is no registry, or has no such data set.
    """
    rows = _rows(registry)
    if not rows:
        raise BadInput(f"{registry} is no registry of Harbor.", "It is a JSON list of data sets, each with its tasks.")
    fitting = [row for row in rows if wanted in (_title(row), row["name"])]
    if len(fitting) != 1:
        names = join_names([_title(row) for row in (fitting or rows)][:_MOST_SHOWN])
        what = "several versions of" if fitting else "no data set"
        raise BadInput(f"{registry} has {what} {wanted}.", f"Choose with --dataset NAME@VERSION, for example {names}.")
    title, tasks = _title(fitting[0]), fitting[0]["tasks"]
    if len(tasks) > _MOST_TASKS:
        raise BadInput(f"{title} has more than {_MOST_TASKS:,} tasks.", "Split it.")
    dataset = HarborDataset(title, registry, [])
    dataset.tasks = [task for number, row in enumerate(tasks) if (task := _task(row, number, dataset))]
    return dataset


def _task(row: Any, number: int, dataset: HarborDataset) -> _RegistryTask | None:
    """An entry that names a folder below a repository, at a commit; another one is refused."""
    entry = row if isinstance(row, dict) else {}
    folder, url, commit = (entry.get(key) for key in ("path", "git_url", "git_commit_id"))
    name = printable(str(entry.get("name") or folder or number), 200)
    checks = {
        "path": (folder, _FOLDER),
        "git_url": (url or "/", _ADDRESS),
        "git_commit_id": (commit or "HEAD", _COMMIT),
    }
    for key, (value, pattern) in checks.items():
        if not isinstance(value, str) or not pattern.fullmatch(value) or ".." in PurePosixPath(value).parts:
            why = f"Its entry in the registry has a {key} that is not read."
            dataset.refused.append(TaskRefusal(name, why, dataset.registry.name, 0, printable(str(value), 200)))
            return None
    return _RegistryTask(str(url or ""), str(commit or "HEAD"), str(folder), name)


@contextmanager
def open_dataset(dataset: HarborDataset, urls: Collection[str], parent: Path) -> Iterator[Path]:
    """A folder that has the data set's task folders by their names, while the context lasts.

    Args:
        dataset: The data set; what cannot be had of it is added to its `refused`.
        urls: The repositories that may be fetched from.
        parent: A folder, on the disk that is to be written.

    Raises:
        BadInput: It comes from a repository that is not allowed, or none of its tasks can be had.
    """
    if missing := [url for url in dataset.urls if url not in urls]:
        named = " ".join(f"--git {printable(url, 500)}" for url in missing[:_MOST_SHOWN])
        raise BadInput(
            f"{dataset.title} is fetched from {len(missing)} git repositories that you have not named.",
            f"Where that is what you want, add: {named}",
        )
    parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=parent, prefix=".registry-", ignore_cleanup_errors=True) as place:
        top = Path(place, re.sub(r"[^\w@.-]", "-", dataset.title).lstrip("."))
        top.mkdir()
        groups: dict[tuple[str, str], list[_RegistryTask]] = {}
        for task in dataset.tasks:
            groups.setdefault((task.url, task.commit), []).append(task)
        for (url, commit), tasks in groups.items():
            for at in range(0, len(tasks), _AT_ONCE):
                _lay(dataset, url, commit, tasks[at : at + _AT_ONCE], Path(place), top)
        if not any(top.iterdir()):
            first = dataset.refused[0] if dataset.refused else None
            refusal = f": {first.task}: {first.why} ({first.text})" if first else ""
            raise BadInput(
                f"No task of {dataset.title} can be had{refusal}.", "Look at the registry, and at its repositories."
            )
        yield top


def _lay(dataset: HarborDataset, url: str, commit: str, tasks: Sequence[_RegistryTask], place: Path, top: Path) -> None:
    """Put tasks of one commit below `top`, or say why they are not there."""
    with tempfile.TemporaryDirectory(dir=place) as part:
        tree = Path(part).resolve() if url else dataset.registry.resolve().parent
        if url:
            try:
                fetch_folders(url, commit, sorted({task.folder for task in tasks}), tree, every=False)
            except InfraFault as error:
                _refuse(dataset, tasks, "Its repository cannot be had.", error.message)
                return
        for task in tasks:
            folder = tree / task.folder
            if folder.resolve() != folder or not folder.is_dir():  # no link on the way there
                _refuse(dataset, [task], "Its folder is not in the repository.", task.folder)
                continue
            target = _free_place(task.name, top)
            try:
                if url:
                    folder.rename(target)
                else:
                    shutil.copytree(folder, target, symlinks=True)
            except OSError as error:
                _refuse(dataset, [task], "Its folder cannot be read.", str(error))


def _free_place(name: str, top: Path) -> Path:
    """A folder that is not there, named as the task is as far as a file may be."""
    plain = re.sub(r"[^\w.-]", "-", name).lstrip(".-")[:100] or "task"
    places = (top / (plain if number == 1 else f"{plain}-{number}") for number in itertools.count(1))
    return next(place for place in places if not place.exists())


def _refuse(dataset: HarborDataset, tasks: Iterable[_RegistryTask], why: str, text: str) -> None:
    dataset.refused += [TaskRefusal(task.name, why, dataset.registry.name, 0, printable(text, 300)) for task in tasks]
