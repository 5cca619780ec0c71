"""How the files of a submission, and those left out of it, are put on record."""

from __future__ import annotations

import hashlib
from pathlib import Path

from repoassay.types import SkippedFile, SubmittedFile

__all__ = ["describe", "rejected_of"]


def describe(files: Path) -> tuple[SubmittedFile, ...]:
    """Every file below a submission's folder with its size and digest, in order of path."""
    found = []
    for path in sorted(item for item in files.rglob("*") if item.is_file() and not item.is_symlink()):
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        found.append(SubmittedFile(path=path.relative_to(files).as_posix(), size=path.stat().st_size, sha256=digest))
    return tuple(found)


def rejected_of(pairs: list[tuple[str, str]]) -> tuple[SkippedFile, ...]:
    """Rejections as the model has them."""
    return tuple(SkippedFile(path=path, reason=reason) for path, reason in pairs)
