"""What a folder or file of this machine that an agent is made of holds: it may change while its name stays."""

from __future__ import annotations

import hashlib
from pathlib import Path

from repoassay.errors import BadInput
from repoassay.tasks import digest_folder

__all__ = ["content_digest"]


def content_digest(path: Path) -> str:
    """The sha256 of a file, or of a folder's files without what changes by its being used: `.git` and runs of it.

    Raises:
        BadInput: It is not there, or cannot be read.
    """
    if path.is_dir():
        return digest_folder(path, skipped=_is_no_part)
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.", "Check its name.") from error


def _is_no_part(folder: Path) -> bool:
    """Whether a folder is a repository's own, or a run: an agent's folder is often where its runs are written."""
    return folder.name == ".git" or ((folder / "run.json").is_file() and (folder / "attempts").is_dir())
