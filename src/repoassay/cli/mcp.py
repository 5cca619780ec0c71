"""`repoassay mcp`: tasks, submissions and verdicts for agents and editors that speak the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from repoassay.completion import complete_suites
from repoassay.options import PATH, isolation_option

if TYPE_CHECKING:
    from repoassay.types import Feedback

__all__ = ["mcp"]


@click.command()
@click.option("--suite", "suites", multiple=True, metavar="SUITE", shell_complete=complete_suites,
              help="A bundled suite or a folder of tasks, to list, show and submit to; may be repeated.")  # fmt: skip
@click.option("--runs", type=PATH, metavar="FOLDER", help="Runs below FOLDER, to list, show and read verdicts of.")
@click.option("--feedback", type=click.Choice(["verdict", "counts", "tests", "full"]), default="verdict",
              show_default=True, help="How much of a verdict is told; it counts against later passes.")  # fmt: skip
@click.option("--most-patches", type=click.IntRange(0, 10**6), default=200, show_default=True, metavar="N",
              help="Patches that are judged before the server is started again.")  # fmt: skip
@click.option("--workers", type=click.IntRange(1, 256), default=1, show_default=True, metavar="N",
              help="Patches that are judged at a time.")  # fmt: skip
@isolation_option
def mcp(
    suites: tuple[str, ...], runs: Path | None, feedback: Feedback, most_patches: int, workers: int, isolation: str
) -> None:
    """Serve tasks, submissions and verdicts to one agent or editor, over standard input and output.

    The client starts this command itself and speaks the Model Context Protocol with it. It reaches the suites and the
    folder of runs that are named here and nothing else, and is never told of hidden tests or solutions, but for what
    --feedback grants. Needs the extra `mcp`.

    \b
    Examples:
      repoassay mcp --suite ./my-suite
      repoassay mcp --suite starter --runs runs --feedback counts
    """
    from repoassay.integrations import ToolDesk, serve_mcp

    with ToolDesk(
        suites, runs, workers=workers, isolation=isolation, feedback=feedback, most_patches=most_patches
    ) as desk:
        serve_mcp(desk)
