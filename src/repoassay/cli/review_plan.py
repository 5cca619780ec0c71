"""`repoassay review plan`: a study's plan shown, frozen and amended, and items taken out of its figures or back in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from repoassay.cli.default_group import DefaultGroup
from repoassay.json_output import JsonFlag, print_document
from repoassay.options import PATH
from repoassay.text import printable

if TYPE_CHECKING:
    from repoassay.db import Database

__all__ = ["plan"]

_DATABASE = click.option(
    "--database", required=True, metavar="URL", envvar="REPOASSAY_REVIEW_DATABASE", show_envvar=True,
    help="Where ratings lie: a file of SQLite, or postgresql://...",
)  # fmt: skip
_REASON = click.option("--reason", required=True, metavar="TEXT", help="Why; it is kept with the date.")
_ACTOR = "command line"


@click.group("plan", cls=DefaultGroup, default_command="show", subcommand_metavar="STUDY | COMMAND ...")
def plan() -> None:
    """Show the plan of a STUDY, freeze or amend it, and take items out of its figures or back in.

    A study named like a command is shown with `plan show STUDY`.

    \b
    Examples:
      repoassay review plan maintainers --database reviews.sqlite
      repoassay review plan freeze maintainers --database reviews.sqlite
      repoassay review plan exclude maintainers s12 --reason "the diff was cut off" --database reviews.sqlite
    """


@plan.command("show")
@click.argument("study")
@_DATABASE
@click.option("--json", "as_json", cls=JsonFlag, is_flag=True, is_eager=True, help="Print JSON.")
def show_study_plan(study: str, database: str, as_json: bool) -> None:
    """Print the plan of a STUDY with its hash, amendments, and the log of what is in and out."""
    from repoassay.errors import BadInput
    from repoassay.review import amendments_of, inclusions_of, plan_of

    with _opened(database) as opened:
        found = plan_of(opened, study)
        amended, log = amendments_of(opened, study), inclusions_of(opened, study)
    if found is None:
        raise BadInput(f"There is no study {printable(study)!r} with a plan.", "Save one: repoassay review plan save.")
    if as_json:
        print_document({
            "study": study,
            "plan_hash": found.digest,
            "frozen": None if found.frozen is None else found.frozen.isoformat(),
            "plan": found.plan.model_dump(mode="json", by_alias=True),
            "amendments": [
                {"at": one.at.isoformat(), "author": one.author, "change": one.change, "reason": one.reason}
                for one in amended
            ],
            "inclusions": [
                {
                    "at": None if one.at is None else one.at.isoformat(), "actor": one.actor, "item": one.item,
                    "attempt": one.attempt, "task": one.task, "included": one.included, "reason": one.reason,
                }
                for one in log
            ],
        })  # fmt: skip
        return
    click.echo(f"Plan {found.digest}, {f'frozen {found.frozen.isoformat()}' if found.frozen else 'not frozen'}")
    for key, value in found.plan.model_dump(mode="json", by_alias=True).items():
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        click.echo(printable(f"{key}: {text}", 4000))
    for each in amended:
        click.echo(printable(f"amended {each.at:%Y-%m-%d} by {each.author}: {each.change} ({each.reason})", 4000))
    for line in log:
        word = "in" if line.included else "out"
        click.echo(printable(f"{word} {line.at:%Y-%m-%d} {line.item or line.attempt}: {line.reason}", 2000))


@plan.command("save")
@click.argument("study")
@click.argument("file", type=PATH)
@_DATABASE
def save_study_plan(study: str, file: Path, database: str) -> None:
    """Keep FILE (TOML) as the plan of a STUDY that nobody has rated yet; keys left out are filled in from its items."""
    from datetime import UTC, datetime

    from repoassay.errors import BadInput
    from repoassay.review import complete_plan, items_of, plan_from_toml, read_rubric_of, save_plan, study_of

    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{file} cannot be read as text.", "Name a TOML file.") from error
    with _opened(database) as opened:
        answers = plan_from_toml(text, file.name)
        whole = complete_plan(study_of(opened, study), read_rubric_of(opened, study), items_of(opened, study), answers)
        click.echo(save_plan(opened, study, whole, at=datetime.now(UTC), actor=_ACTOR))


@plan.command("freeze")
@click.argument("study")
@_DATABASE
def freeze_study_plan(study: str, database: str) -> None:
    """Let the plan of a STUDY change no more, and print its hash; the first rating does it by itself."""
    from datetime import UTC, datetime

    from repoassay.review import freeze_plan

    with _opened(database) as opened:
        click.echo(freeze_plan(opened, study, at=datetime.now(UTC), actor=_ACTOR))


@plan.command("amend")
@click.argument("study")
@click.option("--author", required=True, metavar="NAME", help="Who decided it.")
@click.option("--change", required=True, metavar="TEXT", help="What is done otherwise than planned.")
@_REASON
@_DATABASE
def amend_study_plan(study: str, author: str, change: str, reason: str, database: str) -> None:
    """Add a dated amendment to the frozen plan of a STUDY, which itself stays as it is."""
    from datetime import UTC, datetime

    from repoassay.review import amend_plan

    with _opened(database) as opened:
        amendment = amend_plan(
            opened, study, author=author, change=change, reason=reason, at=datetime.now(UTC), actor=_ACTOR
        )  # fmt: skip
    click.echo(f"Amended {amendment.at.isoformat()}")


@plan.command("exclude")
@click.argument("study")
@click.argument("item")
@_REASON
@_DATABASE
def exclude_item(study: str, item: str, reason: str, database: str) -> None:
    """Take an ITEM out of the figures of a STUDY from now on; its ratings stay, and so does the line in the log."""
    _decide(database, study, item, reason, included=False)


@plan.command("include")
@click.argument("study")
@click.argument("item")
@_REASON
@_DATABASE
def include_item(study: str, item: str, reason: str, database: str) -> None:
    """Take an ITEM that was out back into the figures of a STUDY."""
    _decide(database, study, item, reason, included=True)


def _decide(database: str, study: str, item: str, reason: str, *, included: bool) -> None:
    from datetime import UTC, datetime

    from repoassay.review import decide_item

    with _opened(database) as opened:
        decide_item(opened, study, item, included=included, reason=reason, at=datetime.now(UTC), actor=_ACTOR)
    click.echo(printable(f"{item} is {'in' if included else 'out of'} the figures.", 300))


@contextmanager
def _opened(database: str) -> Iterator[Database]:
    from repoassay.errors import BadInput
    from repoassay.review import open_database

    if "://" not in database and not Path(database).is_file():
        raise BadInput(f"{database} is not a file.", "Name the database of `repoassay review`.")
    opened = open_database(database)
    try:
        yield opened
    finally:
        opened.close()
