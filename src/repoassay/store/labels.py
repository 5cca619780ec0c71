"""Labels that people and models gave to the attempts of a run: `labels.jsonl` in its folder, only ever added to.

One label a line, appended and fsynced as the journal is. A torn last line is what a crash leaves; it is passed over and
told, as is every other line that is no label.
"""

from __future__ import annotations

import fcntl
import os
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from repoassay.diagnosis.labels import Label
from repoassay.errors import BadInput
from repoassay.tasks.contents import read_regular

__all__ = ["LABELS", "LabelBook", "LabelsRead"]

LABELS = "labels.jsonl"
"""Name of the file in a run's folder."""
_MOST_BYTES = 64 * 2**20
_MOST_LINE = 64 * 2**10


@dataclass(frozen=True, slots=True)
class LabelsRead:
    """Labels in the order they were added, and the numbers (from 1) of lines that are none."""

    labels: tuple[Label, ...]
    torn: tuple[int, ...]

    def of(self, attempt: str) -> tuple[Label, ...]:
        """Those of one attempt."""
        return tuple(label for label in self.labels if label.attempt == attempt)


class LabelBook:
    """The labels of one run.

    Args:
        run: The run's folder.
    """

    def __init__(self, run: Path) -> None:
        self.path = run / LABELS

    def add(self, label: Label) -> None:
        """Add a label and return once it is on disk.

        Raises:
            BadInput: When the file cannot be written, is a link or no plain file, or is full.
        """
        line = label.model_dump_json(exclude_defaults=True).encode("utf-8", "backslashreplace")
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            descriptor = os.open(self.path, flags, 0o644)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                self._append(descriptor, line)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise BadInput(
                f"{self.path} cannot be written: {error.strerror}.", "Check who may write there and that it is no link."
            ) from error

    def _append(self, descriptor: int, line: bytes) -> None:
        size = os.fstat(descriptor).st_size
        if size + len(line) + 2 > _MOST_BYTES:
            raise BadInput(f"{self.path} holds {size:,} bytes, and no more fit.", "Move labels of models elsewhere.")
        # A torn last line must not swallow the label that follows it.
        torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
        whole = (b"\n" if torn else b"") + line + b"\n"
        if os.write(descriptor, whole) != len(whole):
            raise OSError(0, "the disk is full")

    def read(self) -> LabelsRead:
        """Read every label.

        Raises:
            BadInput: When the file is there and cannot be read, is no plain file, or is larger than 64 MiB.
        """
        try:
            content = read_regular(self.path, _MOST_BYTES)
        except FileNotFoundError:
            return LabelsRead((), ())
        except OSError as error:
            raise BadInput(
                f"{self.path} cannot be read: {error.strerror}.", "It must be a plain file of at most 64 MiB."
            ) from error
        labels: list[Label] = []
        torn: list[int] = []
        for number, line in enumerate(content.split(b"\n"), 1):
            if not line:
                continue
            label = _label(line)
            if label is None:
                torn.append(number)
            else:
                labels.append(label)
        return LabelsRead(tuple(labels), tuple(torn))


def _label(line: bytes) -> Label | None:
    if len(line) > _MOST_LINE:
        return None
    try:
        return Label.model_validate_json(line)
    except ValidationError:
        return None
