"""`repoassay resume`: the rest of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from repoassay.cli.grants import granting_options
from repoassay.completion import complete_runs
from repoassay.options import PATH, executor_option, json_option

__all__ = ["resume"]


@click.command()
@click.argument("run", type=PATH, shell_complete=complete_runs)
@click.option("--only", metavar="OUTCOME,...", help="Make attempts with these outcomes again, such as timed_out.")
@click.option("--budget-usd", metavar="USD", help="Dollars the whole run may spend, what was spent before included.")
@click.option(
    "--preflight/--no-preflight",
    "look_first",
    default=True,
    show_default=True,
    help="Start each agent once, and knock at its model's server, before the run goes on.",
)
@granting_options
@executor_option
@json_option
def resume(
    run: Path, only: str | None, budget_usd: str | None, look_first: bool, executor: str, as_json: bool, **named: Any
) -> None:
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
      repoassay resume latest --executor ray://10.0.0.1:6379
      repoassay resume ./received --suite ./their-tasks --agent-dir ./their-agent --yes
    """
    from repoassay.api import resume as resume_run
    from repoassay.cli.progress import Live
    from repoassay.cli.report import print_report
    from repoassay.engine import Stop
    from repoassay.options import let_import

    agents = [str(path) for path in named["agents"]]
    let_import(agents)
    with Live() as live:
        found = resume_run(
            run, agent=agents or None, only=_outcomes(only), budget_usd=budget_usd or None,
            isolation=named["isolation"], network=named["network"], suite=named["suite"],
            command=named["agent_command"], agent_folder=named["agent_dir"], prompt_template=named["template"],
            upstreams=named["upstreams"], dialogue=named["dialogue"], prices=named["prices"], spend=named["yes"],
            look_first=look_first, executor=executor,
            on_event=live, stop=Stop(patient=True, announce=live.announce),
        )  # fmt: skip
    if live.nothing_left:
        what = f"no attempt ended with {only}" if only else f"all {live.kept} attempts are finished"
        click.echo(f"Nothing is left to do: {what}. See them: repoassay report {run}", err=True)
    if as_json or not live.nothing_left:
        print_report(found, as_json=as_json, page=not live.nothing_left)


def _outcomes(only: str | None) -> list[str]:
    from repoassay.errors import BadInput
    from repoassay.types import Outcome

    names = [name.strip().replace("-", "_") for name in (only or "").split(",") if name.strip()]
    known = [outcome.value for outcome in Outcome]
    unknown = [name for name in names if name not in known]
    if unknown or (only is not None and not names):
        raise BadInput(f"There is no outcome {', '.join(unknown) or only!r}.", f"Name some of: {', '.join(known)}.")
    return names
