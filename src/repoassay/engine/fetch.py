"""Getting a suite's data: from a folder, or from its git repository at the pinned commit."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from repoassay.errors import BadInput
from repoassay.tasks import DataFile, DataState, Manifest, take_data
from repoassay.workspace import fetch_folders

__all__ = ["fetch_data"]


def fetch_data(
    manifest: Manifest, source: Path | None, done: Callable[[DataFile, DataState], None]
) -> dict[DataState, list[DataFile]]:
    """Make sure of every file of the manifest; return them by what became of each.

    Args:
        manifest: What must be there.
        source: A folder that has the files; None to get them from the repository.
        done: Told of each file as it is settled.

    Raises:
        BadInput: When the folder cannot be used.
        InfraFault: When the repository cannot be had.
    """
    if source is not None:
        if not source.is_dir():
            raise BadInput(f"The folder {source} does not exist.", "Give a folder that has the suite's data.")
        return take_data(manifest, source, done)
    if all(file.state(manifest.root) is DataState.RIGHT for file in manifest.files if file.sha256):
        return take_data(manifest, manifest.root, done)
    folders = sorted({file.path.partition("/")[0] for file in manifest.files})
    manifest.root.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=manifest.root.parent) as place:
        fetch_folders(manifest.data.source, manifest.data.revision, folders, Path(place))
        return take_data(manifest, Path(place), done)
