"""Looking, before any work is done, whether the metrics a suite uses can run here."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterable

from repoassay.errors import MissingExtra
from repoassay.grading.registry import get, names
from repoassay.model import Criterion
from repoassay.tasks import TaskFolder

__all__ = ["check_packages"]

_FORMATS = {"xlsx": ("openpyxl",), "image": ("numpy", "pillow"), "png": ("numpy", "pillow"),
            "jpeg": ("numpy", "pillow"), "pdf": ("pypdf",)}  # fmt: skip


def check_packages(tasks: Iterable[TaskFolder]) -> None:
    """Raise `MissingExtra` when a criterion of these tasks needs a package that is not installed."""
    for folder in tasks:
        for criterion in (*folder.task.grading.process, *folder.task.grading.result):
            for package in _packages(criterion):
                try:
                    importlib.metadata.version(package)
                except importlib.metadata.PackageNotFoundError as error:
                    raise MissingExtra(package, "metrics") from error


def _packages(criterion: Criterion) -> tuple[str, ...]:
    if criterion.metric not in names():
        return ()
    if criterion.metric == "opens":
        return _FORMATS.get(str(criterion.options.get("format")), ())
    return get(criterion.metric).packages
