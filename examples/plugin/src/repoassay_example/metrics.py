"""A metric: how much of a text is wrapped."""

from __future__ import annotations

from pathlib import Path

from repoassay.grading.protocol import Measurement, UnreadableOutput
from repoassay.grading.registry import metric

_LARGEST = 1 << 20


@metric("wrapped_share", unit="ratio", span="[0, 1]", better="larger", source="lines that fit")
def wrapped_share(of: Path, *, width: int = 72) -> Measurement:
    """Share of the lines of a text that are at most `width` characters long."""
    if of.stat().st_size > _LARGEST:
        raise UnreadableOutput("it is larger than 1 MiB")
    lines = of.read_text("utf-8", "replace").splitlines()
    long = sum(len(line) > width for line in lines)
    return Measurement(1 - long / len(lines) if lines else 0.0, f"{long} of {len(lines)} lines are too long")
