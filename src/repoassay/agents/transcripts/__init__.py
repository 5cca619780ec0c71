"""Readers of what agents record, one a file, each into `repoassay.types.trajectory`.

Records are hostile: files are bounded, JSON is checked at every step, and what cannot be read becomes a sentence in
`problems`, never an error.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from repoassay import plugins
from repoassay.agents.transcripts.building import Building
from repoassay.errors import BadInput, Unavailable
from repoassay.types import Trajectory

__all__ = ["read_transcript"]


def read_transcript(parser: str, folder: Path, *, agent: str, model: str = "") -> Trajectory:
    """Read the transcript folder of one attempt; never fails on its content.

    Args:
        parser: `none`, or a name among the entry points `repoassay.readers`.
        folder: What was collected, with `stdout.txt`.
        agent: The agent's name. `model`: the model's, when the records do not tell.
    """
    building = Building(agent, model)
    if parser != "none":
        try:
            reader = plugins.load("repoassay.readers", parser)
            read: Callable[[Path, Building], None] = getattr(reader, "read", reader)
            read(folder, building)
        except (BadInput, Unavailable) as error:
            building.problem(error.message)
        except Exception as error:  # noqa: BLE001 - records are hostile, and a reader may be a plug-in's
            building.problem(f"The transcript could not be read to its end ({type(error).__name__}).")
    return building.finish()
