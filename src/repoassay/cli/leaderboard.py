"""`repoassay leaderboard`: a site of runs, and the folders in which they are handed in."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from repoassay.cli.default_group import DefaultGroup
from repoassay.completion import complete_runs
from repoassay.json_output import print_document
from repoassay.options import PATH, isolation_option, json_option, workers_option

__all__ = ["leaderboard"]


@click.group(cls=DefaultGroup, default_command="build")
def leaderboard() -> None:
    """Build a static leaderboard of RUNS (run folders and submission folders), or make and check submissions.

    A run folder named like a command is given as ./pack.

    \b
    Examples:
      repoassay leaderboard runs/* --out site
      repoassay leaderboard pack latest --out handed-in --contact me@example.org --declare-all
      repoassay leaderboard validate handed-in
      repoassay leaderboard handed-in runs/mine --out site
    """


@leaderboard.command()
@click.argument("runs", type=PATH, nargs=-1, required=True, shell_complete=complete_runs)
@click.option("--out", type=PATH, required=True, metavar="DIR", help="Where the site goes; an earlier one is replaced.")
@click.option("--cut-off", "cut_offs", multiple=True, metavar="MODEL=DATE",
              help="A model's cut-off date: its rates before and after it; may be repeated.")  # fmt: skip
@click.option("--reviews", default="", metavar="DATABASE",
              help="What people would merge, beside what passed: the database of `repoassay review`.")  # fmt: skip
@click.option(
    "--study", default="", metavar="NAME", help="Which study of --reviews, where several ask whether to merge."
)
def build(runs: tuple[Path, ...], out: Path, cut_offs: tuple[str, ...], reviews: str, study: str) -> None:
    """Build a static site of RUNS: run folders, `latest`, and submission folders, which are validated first.

    \b
    Examples:
      repoassay leaderboard runs/* --out site
      repoassay leaderboard build latest --out site --cut-off openai/gpt-4.1=2024-06-01
      repoassay leaderboard build latest --out site --reviews reviews.sqlite
    """
    from repoassay.engine import locate
    from repoassay.report import build_site, named_reviews, read_cut_offs, rows_of

    reviewed = named_reviews(reviews, study)
    page = build_site(rows_of([locate(run) for run in runs], read_cut_offs(cut_offs)), out, reviews=reviewed)
    click.echo(str(page))


@leaderboard.command()
@click.argument("run", type=PATH, shell_complete=complete_runs)
@click.option("--out", type=PATH, required=True, metavar="DIR", help="The submission folder to make.")
@click.option("--contact", required=True, metavar="TEXT", help="Whom to ask, such as an address.")
@click.option("--organisation", default="", metavar="TEXT", help="Who stands behind it.")
@click.option("--agent", metavar="NAME", help="Which agent, where the run has several.")
@click.option("--with-files", is_flag=True, help="Hand in what the agent left too, so that it can be graded again.")
@click.option("--no-test-knowledge", is_flag=True, help="Declare that the system was not made with the hidden tests.")
@click.option("--every-attempt", is_flag=True, help="Declare that no attempt was left out or chosen.")
@click.option("--no-human-help", is_flag=True, help="Declare that nobody helped the agent.")
@click.option("--declare-all", is_flag=True, help="Declare all three.")
def pack(
    run: Path, out: Path, contact: str, organisation: str, agent: str | None, with_files: bool,
    no_test_knowledge: bool, every_attempt: bool, no_human_help: bool, declare_all: bool,
) -> None:  # fmt: skip
    """Make a submission folder of one agent of RUN, and validate it.

    It holds the plan without paths of this machine, the journal, attempts, verdicts and accounts of model calls; no
    transcript, no log, no body of a call. What looks like a key is refused.

    \b
    Examples:
      repoassay leaderboard pack latest --out handed-in --contact me@example.org --declare-all
      repoassay leaderboard pack runs/x --agent aider --with-files --out handed-in --contact me@example.org
    """
    from repoassay.engine import locate
    from repoassay.records import RunFolder
    from repoassay.report import Declarations, pack as make

    folder = RunFolder(locate(run))
    declared = Declarations(
        no_test_knowledge=no_test_knowledge or declare_all,
        every_attempt=every_attempt or declare_all,
        no_human_help=no_human_help or declare_all,
        one_attempt=folder.plan.attempts == 1,
    )
    entry = make(
        folder, out, contact=contact, declared=declared, agent=agent, organisation=organisation, with_files=with_files
    )
    click.echo(f"{out}: {entry.system}")


@leaderboard.command()
@click.argument("folder", type=PATH)
@click.option("--regrade", is_flag=True, help="Grade what the agent left again and compare the verdicts.")
@click.option("--suite", metavar="SUITE", help="Suite to grade with.  [default: the plan's, by name]")
@workers_option
@isolation_option
@json_option
def validate(folder: Path, regrade: bool, suite: str | None, workers: int, isolation: str, as_json: bool) -> None:
    """Work out every figure of the submission FOLDER again, and refuse what does not follow from its attempts.

    Exit codes: 0 sound; 1 refused, one sentence a reason; 2 no such folder, or --regrade is not possible.

    \b
    Examples:
      repoassay leaderboard validate handed-in
      repoassay leaderboard validate handed-in --regrade --suite starter
    """
    from repoassay.report.leaderboard import regrade as grade_again, validate as check

    found = check(folder)
    refusals = list(found.refusals)
    if regrade and found.sound and found.plan is not None:
        refusals += grade_again(found, suite or found.plan.suite, isolation=isolation, workers=workers)
    if as_json:
        reasons = [{"file": one.file, "what": one.what} for one in refusals]
        print_document({"sound": not refusals, "refusals": reasons, "notes": found.notes})
    else:
        for one in refusals:
            click.echo(f"refused: {one}")
        for note in found.notes:
            click.echo(f"note: {note}")
        if not refusals:
            click.echo(f"{folder} is sound: every figure follows from its {len(found.rows)} attempts.")
    if refusals:
        sys.exit(1)
