"""`repoassay view`: look at all runs below a folder in a browser."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

from repoassay.options import PATH

__all__ = ["view"]


@click.command()
@click.argument("folder", type=PATH, default=Path("runs"), metavar="[FOLDER]")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="0, the default, takes a free one.")
@click.option("--browser/--no-browser", default=True, show_default=True, help="Whether to open the page.")
def view(folder: Path, port: int, browser: bool) -> None:
    """Look at all runs below FOLDER (./runs where none is named) in a browser.

    Runs at work are followed: how far they are, and what each agent prints and asks. Runs are filtered, two or more
    compared by choosing them, and every attempt opened with its steps. Nothing is changed, and only this machine can
    reach the page.

    \b
    Examples:
      repoassay view
      repoassay view runs/20260101-120000-starter-aider-ab12
      repoassay view ~/experiments --port 8765 --no-browser
    """
    from repoassay.errors import BadInput
    from repoassay.server import listen, serve_view

    if not folder.is_dir():
        raise BadInput(f"{folder} is no folder.", "Name one with runs below it; `repoassay run` makes ./runs.")
    bound = listen("127.0.0.1", port)
    address = f"http://127.0.0.1:{bound.getsockname()[1]}/"

    def ready() -> None:
        click.echo(f"Viewing {folder} on {address}\nCtrl-C ends it.", err=True)
        if browser:
            webbrowser.open(address)

    serve_view(folder, bound, ready)
    click.echo("Stopped.", err=True)
