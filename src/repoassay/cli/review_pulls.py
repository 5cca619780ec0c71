"""`repoassay review import-pr` and `export-pr`: pull requests of a forge in, and reviews of them out."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from repoassay.cli.judge_output import open_study
from repoassay.options import PATH

if TYPE_CHECKING:
    from repoassay.db import Database
    from repoassay.forges import ExportRead, ForgeAddress, PullQuery, ReviewRequest
    from repoassay.review import Item

__all__ = ["export_reviews", "import_pulls"]

PullState = Literal["open", "closed", "merged", "all"]
_DATABASE = click.option(
    "--database", required=True, metavar="URL", help="Where ratings lie: a file for SQLite or postgresql://..."
)


_API = click.option(
    "--api", default="", metavar="URL", help="Address of the forge's API, where it is not the public one."
)
_TOKEN = click.option(
    "--token-variable", default="", metavar="NAME",
    help="Environment variable with the token. [default: GITHUB_TOKEN or GITLAB_TOKEN]",
)  # fmt: skip


@click.command()
@click.argument("source", type=PATH, required=False)
@click.option(
    "--from", "forge", default="", metavar="FORGE:OWNER/REPO", help="Ask the API of github or gitlab instead."
)
@click.option(
    "--state", type=click.Choice(["open", "closed", "merged", "all"]), default="merged", show_default=True,
    help="With --from: which.",
)  # fmt: skip
@click.option("--since", type=click.DateTime(["%Y-%m-%d"]), metavar="DATE", help="With --from: opened on it or later.")
@click.option(
    "--max", "most", type=click.IntRange(1, 10_000), default=100, show_default=True, metavar="N",
    help="With --from: at most, the newest first.",
)  # fmt: skip
@click.option("--keep", type=PATH, metavar="FILE", help="With --from: write what was fetched, as an export.")
@_API
@_TOKEN
@click.option("--study", "name", required=True, metavar="NAME", help="The study to make.")
@_DATABASE
@click.option("--rubric", default="mergeable", show_default=True, metavar="NAME|FILE", help="What raters are asked.")
@click.option("--repository", default="", metavar="OWNER/NAME", help="Of pull requests that do not say theirs.")
@click.option("--repo", "clone", type=PATH, metavar="FOLDER", help="A clone: context that expands, and reverts.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, metavar="N", help="Of names and order.")
def import_pulls(
    source: Path | None, *, forge: str, state: PullState, since: datetime | None, most: int, keep: Path | None,
    api: str, token_variable: str, name: str, database: str, rubric: str, repository: str, clone: Path | None,
    seed: int,
) -> None:  # fmt: skip
    """Make a blinded study of pull requests of GitHub or GitLab.

    They are those that the file or folder SOURCE exports, or that the forge's API gives with --from. One that cannot be
    taken is named on standard error, and the others go in.
    """
    from contextlib import closing, nullcontext
    from datetime import UTC

    from pydantic import ValidationError

    from repoassay.errors import BadInput
    from repoassay.forges import PullQuery, forge_address, items_of_pulls, landed_commits, opened_clone, read_export
    from repoassay.review import Study, create_study, open_database, read_rubric
    from repoassay.text import quote

    if (source is None) != bool(forge):
        raise BadInput("Pull requests come from one place.", "Give a file or folder, or --from github:OWNER/REPO.")
    questions = read_rubric(rubric)
    try:
        study = Study(name=name, rubric=questions.digest, reference="never", seed=seed)
    except ValidationError:
        raise BadInput(f"{quote(name)} cannot name a study.", "Use letters, digits, dots and dashes.") from None
    if source is not None:
        found = read_export(source, repository)
    else:
        query = PullQuery(state, None if since is None else since.date(), most)
        found = _fetched(forge_address(forge, api, token_variable), query, keep)
    problems = [*found.problems, *(f"{pull.name}: it has no diff." for pull in found.pulls if not pull.diff)]
    for problem in problems:
        click.echo(f"Passed over {problem}", err=True)
    with nullcontext() if clone is None else opened_clone(clone) as ours:
        items = items_of_pulls(found.pulls, seed, () if ours is None else landed_commits(ours))
        if ours is not None:
            items = _with_context(items, found, ours, database)
    if not items:
        where = quote(source or forge)
        raise BadInput(f"No pull request of {where} can be reviewed.", "What is wrong with each stands above.")
    with closing(open_database(database)) as place:
        create_study(place, study, questions, items, at=datetime.now(UTC), by="import-pr")
    click.echo(f"The study {name} has {len(items)} pull requests; {len(problems)} were passed over.")


def _with_context(items: list[Item], found: ExportRead, clone: Path, database: str) -> list[Item]:
    """Keep what the changed files were, so that raters can expand what is around a change."""
    from repoassay.forges import lay_files_before
    from repoassay.sandbox import temporary_folder
    from repoassay.server import blobs_beside, file_versions

    pulls, blobs, count = {(pull.repository, pull.number): pull for pull in found.pulls}, blobs_beside(database), 0
    items_with_files = []
    for item in items:
        forge = item.hidden.evidence["forge"]
        with temporary_folder("before") as folder:
            count += lay_files_before(clone, pulls[forge["repository"], forge["number"]], Path(folder))
            versions = file_versions(Path(folder), item.payload.diff, blobs)
        items_with_files.append(
            item.model_copy(update={"payload": item.payload.model_copy(update={"versions": versions})})
        )
    click.echo(f"{count} files as they were before are kept from the clone.", err=True)
    return items_with_files


def _fetched(address: ForgeAddress, query: PullQuery, keep: Path | None) -> ExportRead:
    """Ask the forge for pull requests and for the issues that they close."""
    from repoassay.forges import ForgeClient, fetch_issue, fetch_pulls, read_objects

    client = ForgeClient(address, lambda line: click.echo(line, err=True))
    documents = list(fetch_pulls(client, query))
    closed = {pull.issue for pull in read_objects(documents, repository=address.repository).pulls}
    numbers = sorted(number for number in closed if number is not None)
    issues = [found for number in numbers if (found := fetch_issue(client, number))]
    if keep is not None:
        keep.write_text(json.dumps({"pulls": documents, "issues": issues}), "utf-8")
    return read_objects(documents, issues, address.repository)


@click.command()
@click.argument("study")
@_DATABASE
@click.option("--out", "target", type=PATH, metavar="FILE", help="JSON Lines, one review a line.")
@click.option("--outcomes", type=PATH, metavar="FILE", help="JSON Lines: what became of each, merged or reverted.")
@click.option(
    "--post", "forge", default="", metavar="FORGE:OWNER/REPO", help="Show what would be posted to this repository."
)
@click.option("--yes", is_flag=True, help="With --post: post it.")
@click.option("--comment-only", is_flag=True, help="Say verdicts in words alone: approve nothing, request no changes.")
@_API
@_TOKEN
def export_reviews(
    study: str, *, database: str, target: Path | None, outcomes: Path | None, forge: str, yes: bool,
    comment_only: bool, api: str, token_variable: str,
) -> None:  # fmt: skip
    """Write what people said of STUDY as requests that make a review on its forge, a line for each rated pull request.

    On GitHub `review` is the body of "create a review for a pull request". On GitLab `note`, `discussions` and, where
    most would merge it, `approval` are bodies of the requests of these names.

    With --post and --yes they are sent. What was posted is kept: run again, it posts what is missing and nothing twice.
    """
    from repoassay.errors import BadInput
    from repoassay.forges import forge_address, forge_items, review_requests

    if target is None and outcomes is None and not forge:
        raise BadInput("Reviews go nowhere.", "Give --out FILE, or --post github:OWNER/REPO.")
    with open_study(database) as place:
        requests = list(review_requests(place, study, comment_only=comment_only))
        if target is not None:
            target.write_text("".join(json.dumps(each.document()) + "\n" for each in requests), "utf-8")
            click.echo(f"{len(requests)} reviews are in {target}.")
        if outcomes is not None:
            kept = [{"item": item.id} | item.hidden.evidence["forge"] for item in forge_items(place, study)]
            outcomes.write_text("".join(json.dumps(each) + "\n" for each in kept), "utf-8")
            click.echo(f"What became of {len(kept)} pull requests is in {outcomes}.")
        if forge:
            _post(place, study, requests, forge_address(forge, api, token_variable), yes=yes)


def _post(place: Database, study: str, requests: list[ReviewRequest], address: ForgeAddress, *, yes: bool) -> None:
    """Show the plan of what is posted, and carry it out where that was agreed to."""
    from repoassay.errors import BadInput
    from repoassay.forges import ForgeClient, PostState, plan_posts, post_planned

    planned = plan_posts(place, study, requests, address)
    if not planned:
        raise BadInput(
            f"No rated pull request of the study {study} is one of {address.forge}:{address.repository}.",
            "Name the repository that its pull requests are of.",
        )
    for post in planned:
        event, count = post.body.get("event", ""), len(post.body.get("comments", ()))
        review = f" {event} with {count} comments" if event else ""
        click.echo(f"{address.repository}, pull request {post.number}: {post.kind}{review}: {post.state}")
    left = sum(post.state in {PostState.NEW, PostState.BEGUN} for post in planned)
    if not yes:
        click.echo(f"{left} requests would be posted to {address.api}; nothing was. Post them with --yes.")
        return
    if left and not address.token:
        raise BadInput(f"There is no token in {address.variable}.", "Set it, or name another with --token-variable.")
    client = ForgeClient(address, lambda line: click.echo(line, err=True))
    done, refused = post_planned(place, study, planned, client, lambda line: click.echo(line, err=True))
    click.echo(f"{done} requests were posted, {refused} refused.")
    if refused:
        raise SystemExit(1)
