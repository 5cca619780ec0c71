"""`repoassay fetch`: the data of a suite, got and checked."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from repoassay.completion import complete_suites
from repoassay.json_output import print_document
from repoassay.options import PATH, json_option

if TYPE_CHECKING:
    from repoassay.tasks import DataFile, DataState, Manifest

__all__ = ["fetch"]


@click.command()
@click.argument("suite", shell_complete=complete_suites)
@click.option("--from", "source", type=PATH, metavar="DIR", help="A folder that has the data; nothing is downloaded.")
@json_option
def fetch(suite: str, source: Path | None, as_json: bool) -> None:
    """Get the inputs and ground truth of SUITE that do not come with this package.

    They are taken from the suite's git repository at its pinned commit, or from a folder, into the data folder
    ($REPOASSAY_DATA, else ~/.local/share/repoassay), and every file is checked against the suite's list of sha256
    digests. What is here already is kept, so an interrupted fetch goes on where it was. Leaves with 1 when a file is
    missing or is not what it must be.

    \b
    Examples:
      repoassay fetch gittaskbench
      repoassay fetch gittaskbench --from ./GitTaskBench
    """
    from repoassay.engine import fetch_data
    from repoassay.errors import BadInput
    from repoassay.tasks import locate

    located = locate(suite)
    manifest = located.manifest
    if manifest is None:
        raise BadInput(f"The suite {located.suite.name} brings all its data along.", "There is nothing to fetch.")
    click.echo(f"{len(manifest.files)} files, {manifest.size / 1e6:.1f} MB, into {manifest.root}", err=True)
    with _Progress(manifest, quiet=as_json) as progress:
        found = fetch_data(manifest, source, progress.done)
    _tell(manifest, found, as_json)
    wrong = [file for state, files in found.items() if state != "right" for file in files if file.sha256]
    sys.exit(1 if wrong else 0)


class _Progress:
    """A bar on a terminal, a line every few seconds elsewhere."""

    def __init__(self, manifest: Manifest, quiet: bool) -> None:
        self._bar = click.progressbar(
            length=manifest.size, label="checking", file=sys.stderr, hidden=quiet or not sys.stderr.isatty()
        )

    def __enter__(self) -> _Progress:
        self._bar.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.render_finish()

    def done(self, file: DataFile, state: DataState) -> None:
        """Count one file."""
        self._bar.update(file.size)


def _tell(manifest: Manifest, found: dict[DataState, list[DataFile]], as_json: bool) -> None:
    if as_json:
        facts = {str(state): [file.path for file in files] for state, files in found.items()}
        print_document({"folder": str(manifest.root), "bytes": manifest.size, **facts})
        return
    from repoassay.tasks import DataState

    for file in found[DataState.CHANGED]:
        click.echo(f"changed  {file.path}: its content is not what the suite's list says; it was not taken")
    for file in found[DataState.MISSING]:
        known = "" if file.sha256 else " (nobody had it when the list was made)"
        click.echo(f"missing  {file.path}{known}")
    right = found[DataState.RIGHT]
    checked = sum(bool(file.sha256) for file in right)
    click.echo(
        f"{len(right)} of {len(manifest.files)} files are here, {checked} checked by sha256; "
        f"{len(found[DataState.MISSING])} missing, {len(found[DataState.CHANGED])} changed; {manifest.root}"
    )
