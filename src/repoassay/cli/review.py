"""`repoassay review`: people review what runs left behind."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

from repoassay.cli.default_group import DefaultGroup
from repoassay.completion import complete_runs
from repoassay.options import PATH

__all__ = ["review"]

_MODULES: dict[str, str] = {
    "figures": "repoassay.cli.review_figures:review_figures",
    "export": "repoassay.cli.review_export:export_study",
    "import": "repoassay.cli.review_import:import_study",
    "checkout": "repoassay.cli.review_checkout:checkout_item",
    "import-pr": "repoassay.cli.review_pulls:import_pulls",
    "export-pr": "repoassay.cli.review_pulls:export_reviews",
}
"""Commands beside `serve`, as module:attribute by name."""


@click.group(
    cls=DefaultGroup,
    default_command="serve",
    modules=_MODULES,
    show_default_options=True,
    without_arguments=True,
    subcommand_metavar="[RUN]... | COMMAND ...",
)
def review() -> None:
    """Let people review the submissions of RUNs: blind, by a rubric, from the keyboard.

    Starts the review application and opens it with the link of its owner, who makes studies of the runs and invites
    raters. The link is new at every start; invitations stay good. Needs the extra `review`.

    \b
    Examples:
      repoassay review runs/20260101-120000-starter-aider-ab12
      repoassay review runs/* --rubric my-rubric.toml --port 8800 --no-browser
      repoassay review --database postgresql://lead@db/reviews --host 0.0.0.0 --allow-host review.example.org
    """


@review.command("serve", hidden=True)
@click.argument("runs", nargs=-1, type=PATH, metavar="[RUN]...", shell_complete=complete_runs)
@click.option("--database", metavar="URL", envvar="REPOASSAY_REVIEW_DATABASE", show_envvar=True,
              help="Where ratings lie: postgresql://... or a file for SQLite; a file in the data folder when not "
              "given.")  # fmt: skip
@click.option("--rubric", "rubrics", multiple=True, metavar="FILE", help="Offer this rubric too; may be repeated.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="0, the default, takes a free one.")
@click.option("--allow-host", "allowed_hosts", multiple=True, metavar="NAME",
              help="Name raters reach this server by; needed where it listens beyond this machine.")  # fmt: skip
@click.option("--secure-cookies", is_flag=True, help="Cookies for HTTPS alone: behind a proxy that speaks it.")
@click.option(
    "--oidc",
    type=PATH,
    metavar="FILE",
    help="Ask the identity provider of this TOML file who came with an "
    "invitation; the client's secret is in REPOASSAY_OIDC_SECRET. Needs the extra `oidc`.",
)
@click.option("--browser/--no-browser", default=True, show_default=True, help="Whether to open the owner's page.")
def serve_reviews(
    runs: tuple[Path, ...], database: str | None, rubrics: tuple[str, ...], host: str, port: int,
    allowed_hosts: tuple[str, ...], secure_cookies: bool, oidc: Path | None, browser: bool,
) -> None:  # fmt: skip
    """Let people review the submissions of RUNs; what `review` does where no other command is named."""
    from repoassay.errors import MissingExtra

    try:
        from repoassay.server import address_of, hosts_for, listen, open_desk, serve_review
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        if package in {"anyio", "fastapi", "multipart", "pygments", "starlette", "uvicorn"}:
            raise MissingExtra(str(error.name), "review") from None
        raise
    desk, token = open_desk(database or "", runs, rubrics, hosts_for(host, allowed_hosts), secure=secure_cookies,
                            oidc=oidc)  # fmt: skip
    bound = listen(host, port)
    address = address_of(host, bound)

    def ready() -> None:
        link = f"{address}/review/join/{token}"
        click.echo(f"Reviewing on {address}/review/\nThe owner's link, for you alone: {link}", err=True)
        if browser:
            webbrowser.open(link)

    serve_review(desk, bound, ready)
    click.echo("Stopped.", err=True)
