"""Tasks on their way to the nodes of a cluster: the folder with its hidden files, and a repository that lies here.

A node keeps them in its cache, which nothing but checkouts, inputs and environments is ever shown of to a sandbox.
"""

from __future__ import annotations

import hashlib
import tempfile
import threading
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from pydantic import ValidationError

from repoassay.errors import InfraFault
from repoassay.executors import CacheParcel, pack_tree
from repoassay.records import parse, to_json
from repoassay.sandbox import Cache
from repoassay.tasks import Elsewhere, TaskFolder
from repoassay.types import Record, Task
from repoassay.workspace import checkout

__all__ = ["ShippedTask", "ShippedTasks", "TaskParcels"]

_KIND = "tasks"
_RECORD, _FOLDER, _INPUTS, _TESTS, _REPOSITORIES = "task.json", "folder", "inputs", "tests", "repositories"


class ShippedTask(Record):
    """What is known of a task besides its files. `files` are those that its suite keeps apart, by path."""

    task: Task
    instruction: str
    digest: str
    apart: str | None = None
    files: Mapping[str, int] = {}


class TaskParcels:
    """The parcels of tasks, each made up once. Used from any thread.

    Args:
        repositories: Where `bundled:NAME` repositories lie.
        cache: Where checkouts are made of repositories that lie on this machine alone.
    """

    def __init__(self, repositories: Path | None, cache: Cache) -> None:
        self._repositories, self._cache = repositories, cache
        self._found: dict[tuple[str, str], tuple[CacheParcel, ...]] = {}
        self._lock = threading.Lock()

    def of(self, folder: TaskFolder) -> tuple[CacheParcel, ...]:
        """The task's own parcel, and its checkout's where no other machine could make it.

        Raises:
            InfraFault: Its repository cannot be had.
        """
        place = folder.digest, str(folder.path)
        with self._lock:
            if place not in self._found:
                self._found[place] = self._parcels_of(folder)
            return self._found[place]

    def _parcels_of(self, folder: TaskFolder) -> tuple[CacheParcel, ...]:
        trees = {_FOLDER: folder.path}
        task = folder.task
        more: tuple[CacheParcel, ...] = ()
        kind, _, name = task.repository.source.partition(":")
        if kind in ("bundled", "folder"):
            root = self._repositories if kind == "bundled" else folder.path
            if root is None:
                raise InfraFault(f"{task.id} names a bundled repository, but its suite has none.")
            local = (root / name).resolve()
            trees[f"{_REPOSITORIES}/{local.name}"] = local
            source = f"folder:../{_REPOSITORIES}/{local.name}"
            task = task.model_copy(update={"repository": task.repository.model_copy(update={"source": source})})
        elif kind == "git" and name.startswith("/"):
            tree = checkout(folder, self._repositories, self._cache)
            more = (CacheParcel("checkouts", tree.name, partial(pack_tree, {".": tree})),)
        apart = folder.elsewhere
        if apart is not None:
            trees |= {key: path for key, path in ((_INPUTS, apart.inputs), (_TESTS, apart.tests)) if path.is_dir()}
        record = ShippedTask(
            task=task, instruction=folder.instruction, digest=folder.digest,
            apart=None if apart is None else apart.digest, files={} if apart is None else dict(apart.files),
        )  # fmt: skip
        text = to_json(record)
        key = hashlib.sha256(text).hexdigest()[:32]
        return (CacheParcel(_KIND, key, partial(_packed, text, trees)), *more)


def _packed(record: bytes, trees: Mapping[str, Path]) -> bytes:
    with tempfile.NamedTemporaryFile() as stream:
        stream.write(record)
        stream.flush()
        return pack_tree({_RECORD: Path(stream.name), **trees})


class ShippedTasks(dict[str, TaskFolder]):
    """Tasks by the keys of their parcels, each read from a node's cache when it is first asked for by `[key]`.

    That raises `InfraFault` when there is none under the key.
    """

    def __init__(self, cache: Cache) -> None:
        super().__init__()
        self._cache = cache

    def __missing__(self, key: str) -> TaskFolder:
        found = self[key] = _read_shipped(self._cache, key)
        return found


def _read_shipped(cache: Cache, key: str) -> TaskFolder:
    place = cache.path / _KIND / key
    try:
        record = parse(ShippedTask, (place / _RECORD).read_bytes())
    except (OSError, ValidationError) as error:
        raise InfraFault(f"The task {key} did not come whole: {type(error).__name__}.") from error
    apart = None
    if record.apart is not None:
        apart = Elsewhere(place / _INPUTS, place / _TESTS, record.files, record.apart)
    return TaskFolder(place / _FOLDER, record.task, record.instruction, record.digest, apart)
