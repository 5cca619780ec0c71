"""`repoassay resume`: the rest of a run."""

from __future__ import annotations

from pathlib import Path

import click

from repoassay.cli.options import PATH, json_option

__all__ = ["resume"]


@click.command()
@click.argument("run", type=PATH)
@json_option
def resume(run: Path, as_json: bool) -> None:
    """Continue RUN (a run folder, or `latest`) where it stopped.

    Finished attempts are kept and never made again. Attempts that were under way, and those a fault of ours spoiled,
    are made as new attempts; the old ones stay on disk.

    \b
    Examples:
      repoassay resume latest
      repoassay resume runs/20260101-120000-starter-reference-ab12
    """
    from repoassay.cli.progress import Live
    from repoassay.cli.report import print_report
    from repoassay.run import resume as resume_run
    from repoassay.run.execute import locate
    from repoassay.store import RunFolder

    folder = RunFolder(locate(run))
    with Live(folder.plan.size) as live:
        found = resume_run(folder, live)
    if found.left == 0:
        click.echo(f"Nothing is left to do: all {found.kept} attempts are finished.", err=True)
    print_report(folder, as_json=as_json)
