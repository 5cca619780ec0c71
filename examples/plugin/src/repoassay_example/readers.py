"""A transcript reader: every line that the agent printed is a step."""

from __future__ import annotations

from pathlib import Path

from repoassay.agents.transcripts.building import Building
from repoassay.types.trajectory import Source

_MOST = 1 << 20


def read(folder: Path, building: Building) -> None:
    """Read `stdout.txt`. Transcripts are hostile: only so much is read, and nothing in it is believed."""
    with (folder / "stdout.txt").open(encoding="utf-8", errors="replace") as stream:
        for line in stream.read(_MOST).splitlines():
            building.step(Source.AGENT, line)
