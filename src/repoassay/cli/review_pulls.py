"""`repoassay review import-pr` and `export-pr`: pull requests of a forge in, and reviews of them out."""

from __future__ import annotations

import json
from pathlib import Path

import click

from repoassay.cli.judge_output import open_study
from repoassay.options import PATH

__all__ = ["export_reviews", "import_pulls"]

_DATABASE = click.option(
    "--database", required=True, metavar="URL", help="Where ratings lie: a file for SQLite or postgresql://..."
)


@click.command()
@click.argument("source", type=PATH)
@click.option("--study", "name", required=True, metavar="NAME", help="The study to make.")
@_DATABASE
@click.option("--rubric", default="mergeable", show_default=True, metavar="NAME|FILE", help="What raters are asked.")
@click.option("--repository", default="", metavar="OWNER/NAME", help="Of pull requests that do not say theirs.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, metavar="N", help="Of names and order.")
def import_pulls(source: Path, *, name: str, database: str, rubric: str, repository: str, seed: int) -> None:
    """Make a blinded study of the pull requests that the file or folder SOURCE exports from GitHub or GitLab.

    One that cannot be taken is named on standard error, and the others go in.
    """
    from contextlib import closing
    from datetime import UTC, datetime

    from pydantic import ValidationError

    from repoassay.errors import BadInput
    from repoassay.forges import items_of_pulls, read_export
    from repoassay.review import Study, create_study, open_database, read_rubric
    from repoassay.text import quote

    found = read_export(source, repository)
    problems = [*found.problems, *(f"{pull.name}: it has no diff." for pull in found.pulls if not pull.diff)]
    for problem in problems:
        click.echo(f"Passed over {problem}", err=True)
    items = items_of_pulls(found.pulls, seed)
    if not items:
        raise BadInput(f"No pull request of {quote(source)} can be reviewed.", "What is wrong with each stands above.")
    asked = read_rubric(rubric)
    try:
        study = Study(name=name, rubric=asked.digest, reference="never", seed=seed)
    except ValidationError:
        raise BadInput(f"{quote(name)} cannot name a study.", "Use letters, digits, dots and dashes.") from None
    with closing(open_database(database)) as place:
        create_study(place, study, asked, items, at=datetime.now(UTC), by="import-pr")
    click.echo(f"The study {name} has {len(items)} pull requests; {len(problems)} were passed over.")


@click.command()
@click.argument("study")
@_DATABASE
@click.option("--out", "target", required=True, type=PATH, metavar="FILE", help="JSON Lines, one review a line.")
def export_reviews(study: str, *, database: str, target: Path) -> None:
    """Write what people said of STUDY as requests that make a review on its forge, a line for each rated pull request.

    On GitHub `review` is the body of "create a review for a pull request". On GitLab `note`, `discussions` and, where
    most would merge it, `approval` are bodies of the requests of these names.
    """
    from repoassay.forges import review_requests

    with open_study(database) as place:
        lines = [json.dumps(request.document()) for request in review_requests(place, study)]
    target.write_text("".join(line + "\n" for line in lines), "utf-8")
    click.echo(f"{len(lines)} reviews are in {target}.")
