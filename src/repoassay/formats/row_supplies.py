"""What lies on this disk for a data set's rows: repositories, and frozen environments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from repoassay.errors import BadInput
from repoassay.formats.edit_row import EditRow
from repoassay.formats.mirrors import mirrors_of, read_mirrors
from repoassay.tasks import read_regular
from repoassay.text import quote

__all__ = ["RowSupplies", "TakesEnvironment", "supplies_of"]

_MAX_ENVIRONMENT = 2**20


@runtime_checkable
class TakesEnvironment(Protocol):
    """A row that can be given a frozen environment."""

    def with_environment(self, text: str) -> EditRow:
        """Return the row with the environment that a file holds."""


@dataclass(frozen=True, slots=True)
class RowSupplies:
    """What lies on this disk for rows.

    Attributes:
        mirrors: Repository as rows name it -> folder, git bundle or URL.
        folder: A folder of repositories, see `mirrors_of`; None for none.
        environments: A folder of frozen environments, `ID.yml`; None for none.
    """

    mirrors: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None
    environments: Path | None = None

    def places(self, rows: Iterable[EditRow]) -> dict[str, str]:
        """Return where the repositories of rows lie.

        Raises:
            BadInput: When the folder is none.
        """
        return mirrors_of((row.repo_url for row in rows), self.folder, self.mirrors)

    def supplied(self, row: EditRow) -> EditRow:
        """Return the row with its frozen environment, if there is one.

        Raises:
            BadInput: When it cannot be read.
        """
        if self.environments is None or not isinstance(row, TakesEnvironment):
            return row
        if "/" in row.name or row.name.startswith("."):
            return row
        for file in (self.environments / f"{row.name}.yml", self.environments / f"{row.name}.yaml"):
            if file.is_file():
                try:
                    return row.with_environment(read_regular(file, _MAX_ENVIRONMENT).decode())
                except (OSError, ValueError) as error:
                    raise BadInput(f"its environment {quote(file)} cannot be read: {error}.") from error
        return row


def supplies_of(mirrors: tuple[str, ...], folder: Path | None, environments: Path | None) -> RowSupplies:
    """Return what options name: `URL=PATH` mirrors, a folder of mirrors, a folder of environments.

    Raises:
        BadInput: When a mirror has another form, or a folder is none.
    """
    for name, place in (("--mirrors", folder), ("--environments", environments)):
        if place is not None and not place.is_dir():
            raise BadInput(f"{name} {quote(place)} is no folder.", "Correct the path.")
    return RowSupplies(read_mirrors(mirrors), folder, environments)
