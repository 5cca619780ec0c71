"""`repoassay review import`: a study out of its tidy table."""

from __future__ import annotations

from pathlib import Path

import click

from repoassay.options import PATH

__all__ = ["import_study"]


@click.command("import")
@click.argument("table", type=PATH)
@click.option("--database", metavar="URL", required=True,
              help="Where the study goes: a file, made if absent, or postgresql://...")  # fmt: skip
@click.option("--study", "name", default="", metavar="NAME", help="What to call it.  [default: as the table says]")
@click.option("--rubric", "rubric_name", default="mergeable", show_default=True, metavar="NAME|FILE",
              help="What a table from elsewhere answers; one of `review export` says itself.")  # fmt: skip
def import_study(table: Path, database: str, name: str, rubric_name: str) -> None:
    """Make a study of TABLE, which `review export` wrote as CSV, JSON Lines or Parquet; its export is TABLE again.

    A table from elsewhere needs the columns `item`, `task`, `rater`, `axis` and `answer`; the codebook of an export
    says what the others are. The study is closed: what raters were shown is in no table.

    \b
    Examples:
      repoassay review import maintainers.parquet --database copy.sqlite
      repoassay review import answers.csv --database copy.sqlite --study pilot --rubric my-rubric.toml
    """
    from contextlib import closing
    from datetime import UTC, datetime

    from repoassay.review import keep_records, open_database, read_rubric, read_tidy_rows, records_of_table

    now = datetime.now(UTC)
    records = records_of_table(read_tidy_rows(table), rubric=read_rubric(rubric_name), name=name, now=now)
    with closing(open_database(database)) as place:
        keep_records(place, records, at=now, actor="import")
    click.echo(
        f"The study {records.study.name} has {len(records.items):,} items, {len(records.ratings):,} ratings and "
        f"{len(records.comments):,} comments of {len(records.raters):,} raters."
    )
