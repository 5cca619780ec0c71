"""`repoassay export`: a run or a suite as a file of another program's format."""

from __future__ import annotations

from pathlib import Path

import click

from repoassay.completion import complete_runs
from repoassay.json_output import print_document
from repoassay.options import PATH, json_option
from repoassay.text import printable

__all__ = ["export"]


@click.command()
@click.argument("source", metavar="[RUN|SUITE]", required=False, shell_complete=complete_runs)
@click.option("--as", "kind", metavar="FORMAT", help="A format of `--list`, or a dotted path package.module:Name.")
@click.option("--out", type=PATH, metavar="FILE", help="The file to write; replaced where it exists.")
@click.option("--to", "destination", metavar="WHERE", help="Send it instead: a collector's URL, a tracker's store.")
@click.option("--runs", type=PATH, default=Path("runs"), show_default=True, help="Folder that runs are kept in.")
@click.option("--list", "listing", is_flag=True, help="List the formats, those of plug-ins too.")
@json_option
def export(
    source: str | None, kind: str | None, out: Path | None, destination: str | None, runs: Path, listing: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Write RUN (a run folder, `latest`, or one attempt as `show` takes it) or SUITE as one file, or send it.

    \b
    Examples:
      repoassay export --list
      repoassay export latest --as csv --out attempts.csv
      repoassay export latest/01K9Z5T7 --as atif --out trajectory.json
      repoassay export ./my-suite --as harbor --out ./harbor-tasks
      repoassay export latest --as otel --to http://127.0.0.1:4318
    """
    from repoassay.report import export_file, export_to, exporter_titles, find_source

    if listing:
        titles = exporter_titles()
        if as_json:
            print_document(titles)
        else:
            click.echo("\n".join(f"{k:<16} {v}" for k, v in titles.items()))
        return
    if source is None or kind is None or (out is None) == (destination is None):
        raise click.UsageError("Name a RUN or SUITE, and give --as FORMAT and --out FILE, or --to WHERE.")
    if destination is not None:
        sent = export_to(find_source(source, runs), kind, destination)
        if as_json:
            print_document({"sent": sent})
        else:
            click.echo(f"Sent: {sent}", err=True)
        return
    assert out is not None
    left_out = export_file(find_source(source, runs), kind, out)
    if as_json:
        print_document({"file": str(out), "left_out": left_out})
    else:
        click.echo("\n".join([f"Written: {out}", *(f"  left out {printable(each)}" for each in left_out)]), err=True)
