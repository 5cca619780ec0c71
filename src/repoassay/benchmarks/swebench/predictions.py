"""Predictions: patches as agents hand them in to SWE-bench."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from repoassay.formats import read_submissions
from repoassay.tasks import TaskFolder

__all__ = ["GOLD", "Prediction", "gold_predictions", "read_predictions"]

GOLD = "gold"
"""What stands in place of a file for the solutions of the data set itself."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """One model's patch for one instance; `patch` is empty where it made none."""

    instance: str
    model: str
    patch: str

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to apply."""
        return not self.patch.strip()


def read_predictions(path: Path) -> dict[str, Prediction]:
    """Read predictions by instance: JSON Lines, a list, or an object by instance; of several the last counts.

    Raises:
        BadInput: With the problems of up to 20 records.
    """
    return {each.id: Prediction(each.id, each.model or "unknown", each.patch) for each in read_submissions(path)}


def gold_predictions(tasks: Mapping[str, TaskFolder], only: Iterable[str]) -> dict[str, Prediction]:
    """Return the solutions of tasks as predictions of the model `gold`."""
    found = {}
    for name in only:
        diff = (tasks[name].solution / "changes.diff").read_bytes().decode("utf-8", "surrogateescape")
        found[name] = Prediction(name, GOLD, diff)
    return found
