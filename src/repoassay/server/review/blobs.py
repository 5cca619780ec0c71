"""Files of submissions and their ground truth, kept by digest beside the database."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from repoassay.errors import BadInput
from repoassay.records import write_once

__all__ = ["Blobs"]

_DIGEST = re.compile(r"[0-9a-f]{64}")


class Blobs:
    """A folder of files named by their SHA-256.

    Args:
        folder: Made when the first file comes.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, data: bytes) -> str:
        """Keep a file and return its digest."""
        digest = hashlib.sha256(data).hexdigest()
        place = self._place(digest)
        if not place.is_file():
            place.parent.mkdir(parents=True, exist_ok=True)
            write_once(place, data)
        return digest

    def path(self, digest: str) -> Path:
        """Where a file lies.

        Raises:
            BadInput: When it is not here.
        """
        place = self._place(digest) if _DIGEST.fullmatch(digest) else None
        if place is None or not place.is_file():
            raise BadInput("A file of this submission is not here.", "Start the application where the study was made.")
        return place

    def _place(self, digest: str) -> Path:
        return self.folder / digest[:2] / digest
