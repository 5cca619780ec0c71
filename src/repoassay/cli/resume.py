"""`repoassay resume`: the rest of a run."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from repoassay.cli.grants import granting_options
from repoassay.cli.options import PATH, json_option

if TYPE_CHECKING:
    from repoassay.model import Outcome

__all__ = ["resume"]


@click.command()
@click.argument("run", type=PATH)
@click.option("--only", metavar="OUTCOME,...", help="Make attempts with these outcomes again, such as timed_out.")
@click.option("--budget-usd", metavar="USD", help="Dollars the whole run may spend, what was spent before included.")
@granting_options
@json_option
def resume(run: Path, only: str | None, budget_usd: str | None, as_json: bool, **named: Any) -> None:
    """Continue RUN (a run folder, or `latest`) where it stopped.

    Finished attempts are kept and never made again. Attempts that were under way, and those a fault of ours spoiled,
    are made as new attempts; the old ones stay on disk. What was spent before counts against the run's budget.

    What the plan may not have by itself is repeated here by name: isolation none and an open network always; files,
    folders and money of a run that was not planned on this machine.

    \b
    Examples:
      repoassay resume latest
      repoassay resume runs/20260101-120000-starter-reference-ab12
      repoassay resume latest --only infra_fault,timed_out
      repoassay resume latest --budget-usd 50
      repoassay resume ./received --suite ./their-tasks --agent-dir ./their-agent --yes
    """
    from repoassay.cli.progress import Live
    from repoassay.cli.report import print_report
    from repoassay.run import resume as resume_run
    from repoassay.run.granted import Grants
    from repoassay.run.matrix import number
    from repoassay.run.slots import locate
    from repoassay.store import RunFolder

    folder = RunFolder(locate(run))
    outcomes = _outcomes(only)
    money = Decimal(number("budget_usd", budget_usd)) if budget_usd else None
    with Live(folder.plan.size) as live:
        found = resume_run(folder, live, outcomes, money, Grants(**named))
    if found.left == 0:
        what = f"no attempt ended with {only}" if only else f"all {found.kept} attempts are finished"
        click.echo(f"Nothing is left to do: {what}.", err=True)
    print_report(folder, as_json=as_json)


def _outcomes(only: str | None) -> list[Outcome]:
    from repoassay.errors import BadInput
    from repoassay.model import Outcome

    names = [name.strip().replace("-", "_") for name in (only or "").split(",") if name.strip()]
    known = [outcome.value for outcome in Outcome]
    unknown = [name for name in names if name not in known]
    if unknown or (only is not None and not names):
        raise BadInput(f"There is no outcome {', '.join(unknown) or only!r}.", f"Name some of: {', '.join(known)}.")
    return [Outcome(name) for name in names]
