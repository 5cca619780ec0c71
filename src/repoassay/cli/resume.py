"""`repoassay resume`: the rest of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from repoassay.cli.grants import granting_options
from repoassay.cli.run_shares import check_sharing, collect_run, hand_over_run, share_options, tell_share
from repoassay.cli.slurm import SlurmChoice
from repoassay.completion import complete_runs
from repoassay.options import PATH, json_option, shares_executor_option

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
@click.option("--workers", type=click.IntRange(1, 256), metavar="N",
              help="How many workspaces at a time.  [default: as planned; one a core on nodes]")  # fmt: skip
@granting_options
@share_options
@shares_executor_option
@json_option
def resume(
    run: Path, only: str | None, budget_usd: str | None, look_first: bool, workers: int | None, executor: str,
    as_json: bool, share: str | None, collect: bool, slurm_shares: int, slurm_option: tuple[str, ...],
    slurm_dry_run: bool, **named: Any,
) -> None:  # fmt: skip
    """Continue RUN (a run folder, or `latest`) where it stopped.

    Finished attempts are kept and never made again. Attempts that were under way, and those a fault of ours spoiled,
    are made as new attempts; the old ones stay on disk. What was spent before counts against the run's budget.

    With --share it makes one share of what is left, beside processes that make the others, on any machine that reaches
    the folder; --collect takes what they made into the run, at any time. --executor slurm has an array job do both.

    What the plan may not have by itself is repeated here by name: isolation none and an open network always; files,
    folders and money of a run that was not planned on this machine.

    \b
    Examples:
      repoassay resume latest
      repoassay resume runs/20260101-120000-starter-reference-ab12
      repoassay resume latest --only infra_fault,timed_out
      repoassay resume latest --budget-usd 50
      repoassay resume latest --executor ray://10.0.0.1:6379
      repoassay resume latest --executor slurm --slurm-shares 40
      repoassay resume latest --share 0/40
      repoassay resume latest --collect
      repoassay resume ./received --suite ./their-tasks --agent-dir ./their-agent --yes
    """
    from repoassay.api import resume as resume_run
    from repoassay.cli.progress import Live
    from repoassay.cli.report import print_report
    from repoassay.engine import Grants, Stop, locate
    from repoassay.options import let_import

    check_sharing(executor, share, collect)
    if collect:
        raise SystemExit(collect_run(locate(run), as_json))
    if executor == "slurm":
        choice = SlurmChoice(slurm_shares, slurm_option, slurm_dry_run)
        hand_over_run(
            locate(run), choice, Grants(**named), only=_outcomes(only), budget_usd=budget_usd, look_first=look_first,
            workers=workers,
        )  # fmt: skip
        return
    agents = [str(path) for path in named["agents"]]
    let_import(agents)
    with Live() as live:
        found = resume_run(
            run, agent=agents or None, only=_outcomes(only), budget_usd=budget_usd or None,
            isolation=named["isolation"], network=named["network"], suite=named["suite"],
            command=named["agent_command"], agent_folder=named["agent_dir"], prompt_template=named["template"],
            upstreams=named["upstreams"], dialogue=named["dialogue"], prices=named["prices"], spend=named["yes"],
            look_first=look_first, executor=executor, workers=workers, share=share,
            on_event=live, stop=Stop(patient=True, announce=live.announce),
        )  # fmt: skip
    if share is not None:
        tell_share(run, share, live.made, live.kept, as_json)
        return
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
