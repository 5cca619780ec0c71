"""`repoassay run` and `resume` divided among many processes: shares handed to Slurm, made, and brought together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from repoassay.cli.slurm import SlurmChoice, check_ended, hand_over, slurm_options
from repoassay.errors import BadInput
from repoassay.json_output import print_record

if TYPE_CHECKING:
    from repoassay.engine import Grants

__all__ = ["check_sharing", "collect_run", "hand_over_run", "share_options", "tell_plan", "tell_share"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


def share_options(function: _Function) -> _Function:
    """`--share` and `--collect` of `resume`, and the options of Slurm."""
    function = slurm_options(function)
    function = click.option(
        "--collect", is_flag=True, help="Take the attempts that shares have made into the run, and make none."
    )(function)
    return click.option(
        "--share", metavar="I/N", help="Make only the I-th (from 0) of N shares of what is left; see --collect."
    )(function)


def check_sharing(executor: str, share: str | None, collect: bool) -> None:
    """Look at what cannot be wanted at once.

    Raises:
        BadInput: Two of these are.
    """
    options = [name for name, value in (("--share", share), ("--collect", collect)) if value]
    options += ["--executor"] if executor != "local" else []
    if len(options) > 1:
        raise BadInput(
            f"{options[0]} and {options[1]} exclude each other.", "A share is made by the process it is given."
        )


def hand_over_run(
    run: Path, choice: SlurmChoice, grants: Grants, *, only: Sequence[str] = (), budget_usd: str | None = None,
    look_first: bool = True, workers: int | None = None,
) -> None:  # fmt: skip
    """Divide what a run has left to do, and submit a job for its shares.

    Raises:
        BadInput: Jobs or other processes are at work on it, its plan asks for what was not granted, what is left of its
            budget is too little, or Slurm refuses.
        Unavailable: There is no Slurm here.
    """
    from repoassay.engine import divide_run, grant_words, number
    from repoassay.records import RunFolder, WorkShare
    from repoassay.types import Outcome

    folder, parts = RunFolder(run.absolute()), run.absolute() / "parts"
    if not choice.dry_run:
        check_ended(parts)
    budget = Decimal(number("budget_usd", budget_usd)) if budget_usd else None
    left = divide_run(folder, choice.shares, [Outcome(each) for each in only], budget, grants)
    count = len(left.slots)
    if not count:
        click.echo(f"Nothing is left to do: all {left.kept} attempts are finished. See them: repoassay report {run}",
                   err=True)  # fmt: skip
        return
    share = ["resume", str(folder.path), *grant_words(folder.plan)]
    share += [f"--only={','.join(only)}"] if only else []
    share += [f"--budget-usd={budget_usd}"] if budget_usd else []
    share += [] if look_first else ["--no-preflight"]
    share += [f"--workers={workers}"] if workers else []
    share.append("--executor=local")
    indices = [index for index in range(choice.shares) if WorkShare(index, choice.shares).span(count)]
    collect = ["resume", str(folder.path), "--collect", "--executor=local"]
    again = f"repoassay resume {run} --executor slurm"
    hand_over(parts, share, collect, indices, choice, again)


def collect_run(run: Path, as_json: bool) -> int:
    """Take what shares have made into the run; returns 1 when something is left."""
    from repoassay.engine import collect_shares
    from repoassay.records import RunFolder

    found = collect_shares(RunFolder(run))
    if as_json:
        print_record("collection", {
            "collected": found.collected, "finished": found.finished, "left": found.left,
            "shares_at_work": found.at_work,
        })  # fmt: skip
    else:
        busy = f"; {found.at_work} shares are at work" if found.at_work else ""
        more = f"Go on with: repoassay resume {run}" if found.left else f"See them: repoassay report {run}"
        done = f"{found.finished} attempts finished, {found.collected} of them collected now"
        click.echo(f"{done}; {found.left} left{busy}")
        click.echo(more, err=True)
    return 1 if found.left else 0


def tell_plan(run: Path, attempts: int, as_json: bool) -> None:
    """Say where a run was laid out of which no attempt was made."""
    if as_json:
        print_record("planned", {"folder": str(run), "attempts": attempts})
    else:
        click.echo(f"Nothing was run. Make the attempts with: repoassay resume {run} (shares: --share 0/N and so on)")


def tell_share(run: Path, share: str, attempts_made: int, attempts_kept: int, as_json: bool) -> None:
    """Say what a share came to that is whole."""
    if as_json:
        print_record("share", {"share": share, "made": attempts_made, "kept": attempts_kept})
    else:
        summary = f"Share {share}: {attempts_made} attempts made, {attempts_kept} before."
        click.echo(f"{summary} Collect: repoassay resume {run} --collect")
