"""A command: `repoassay longest-line`."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["longest_line"]


@click.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
def longest_line(file: Path) -> None:
    """Print how many characters the longest line of FILE has."""
    click.echo(max(map(len, file.read_text("utf-8").splitlines()), default=0))
