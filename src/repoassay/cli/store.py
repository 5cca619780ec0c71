"""`repoassay store`: runs on an object store or a shared folder."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from repoassay.completion import complete_runs
from repoassay.json_output import print_record
from repoassay.options import PATH, FiniteRange, json_option

if TYPE_CHECKING:
    from repoassay.records import StoreCount

__all__ = ["store"]


@click.group()
def store() -> None:
    """Copy runs to an object store or a shared folder, and back.

    A URL is what fsspec knows: file:///FOLDER/RUN with the extra `storage`; s3://, gs://, abfs:// and others with their
    drivers (s3fs, gcsfs, adlfs), which find keys where they always do. `report`, `show`, `compare` and `leaderboard`
    take such a URL in place of a run.

    \b
    Examples:
      repoassay store push latest s3://our-runs/night-12
      repoassay report s3://our-runs/night-12
    """


@store.command()
@click.argument("run", type=PATH, shell_complete=complete_runs)
@click.argument("url")
@click.option(
    "--every", type=FiniteRange(1), metavar="S", help="Copy again every S seconds until every attempt has ended."
)
@json_option
def push(run: Path, url: str, every: float | None, as_json: bool) -> None:
    """Copy finished attempts of RUN to URL: what is there already is not sent again.

    The manifest is written last, so that a push which is interrupted changes nothing for readers; repeat it.

    \b
    Examples:
      repoassay store push latest file:///mnt/shared/runs/night-12
      repoassay store push latest s3://our-runs/night-12 --every 60
    """
    from repoassay.engine import locate, open_slots
    from repoassay.records import RunFolder, push_run

    folder = RunFolder(locate(run))
    while True:
        done = every is None or not open_slots(folder)
        _tell("push", push_run(folder.path, url), f"{folder.path} to {url}", as_json)
        if done:
            return
        time.sleep(every or 0)


@store.command()
@click.argument("url")
@click.argument("folder", type=PATH)
@json_option
def pull(url: str, folder: Path, as_json: bool) -> None:
    """Copy the run at URL into FOLDER, new or an earlier copy; each file is held against its digest.

    What was pulled is a run from somebody else: `repoassay resume` asks for what its plan may not have by itself.

    \b
    Examples:
      repoassay store pull s3://our-runs/night-12 runs/night-12
    """
    from repoassay.records import pull_run

    _tell("pull", pull_run(url, folder), f"{url} to {folder}", as_json)


def _tell(record: str, count: StoreCount, what: str, as_json: bool) -> None:
    if as_json:
        print_record(record, {"attempts": count.attempts, "copied": count.copied, "files": count.files,
                              "bytes": count.bytes})  # fmt: skip
    else:
        click.echo(
            f"{what}: {count.attempts} attempts, {count.copied} of them copied now ({count.files} files,"
            f" {count.bytes / 1e6:.1f} MB)"
        )
