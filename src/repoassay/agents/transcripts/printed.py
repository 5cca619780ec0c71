"""What an agent printed, for one that keeps no other record: its standard output as the one thing it said."""

from __future__ import annotations

from pathlib import Path

from repoassay.agents.transcripts.building import Building
from repoassay.agents.transcripts.files import text_file
from repoassay.types import Source

__all__ = ["read"]


def read(folder: Path, building: Building) -> None:
    """See `read_transcript`."""
    building.note = "it keeps no record that can be read"
    if text := text_file(folder / "stdout.txt", building).strip():
        building.step(Source.AGENT, text)
