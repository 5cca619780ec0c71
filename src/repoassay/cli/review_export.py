"""`repoassay review export`: a study as one tidy table, for analyses elsewhere."""

from __future__ import annotations

from pathlib import Path

import click

from repoassay.options import PATH

__all__ = ["export_study"]


@click.command("export")
@click.argument("study")
@click.option("--database", metavar="URL", required=True, help="Where ratings lie: a file, or postgresql://...")
@click.option("--out", "folder", type=PATH, required=True, metavar="FOLDER", help="Folder to write; made if absent.")
@click.option("--format", "formats", metavar="NAME,...",
              help="Of parquet, csv and jsonl.  [default: all, Parquet where pyarrow is installed]")  # fmt: skip
def export_study(study: str, database: str, folder: Path, formats: str | None) -> None:
    """Write all answers, comments and controls of STUDY as one table, with a codebook that says what is in it.

    Beside it lie analyse.py and analyse.R, which print the figures of `review figures --json` from the CSV file alone.
    For leads: the table says who made each submission.
    """
    from contextlib import closing

    from repoassay.errors import BadInput
    from repoassay.review import TIDY_FORMATS, arrow_installed, open_database, study_records, write_tidy_folder
    from repoassay.text import quote, suggest

    wanted = [each.strip() for each in formats.split(",")] if formats else list(TIDY_FORMATS)
    for each in wanted:
        if each not in TIDY_FORMATS:
            raise BadInput(f"There is no format {quote(each)} of tables.", suggest(each, TIDY_FORMATS))
    if not formats and not arrow_installed():
        wanted.remove("parquet")
        click.echo("No Parquet file: pyarrow is not installed, which the extra `datasets` brings.", err=True)
    if "://" not in database and not Path(database).is_file():
        raise BadInput(f"There is no review database {quote(database)}.", "Name the one that the study is in.")
    kinds = list(dict.fromkeys(wanted))
    with closing(open_database(database)) as place:
        rows = write_tidy_folder(study_records(place, study), folder, kinds)
    click.echo(f"{rows:,} rows of {study}: {', '.join(f'{study}.{each}' for each in kinds)}")
