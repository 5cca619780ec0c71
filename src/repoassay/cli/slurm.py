"""`--executor slurm`: a command's shares as an array job, for clusters where one process cannot hold them all."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from repoassay.json_output import print_record

__all__ = ["SlurmChoice", "check_ended", "command_options", "hand_over", "slurm_options"]

_Function = TypeVar("_Function", bound=Callable[..., Any])
_IDS = "jobs"
_SLURM = frozenset(
    {"executor", "slurm_shares", "slurm_option", "slurm_dry_run", "as_json", "junit", "share", "collect"}
)


@dataclass(frozen=True, slots=True)
class SlurmChoice:
    """How a job is submitted: the number of shares, further options of sbatch, and whether only scripts are written."""

    shares: int
    options: tuple[str, ...] = ()
    dry_run: bool = False


def slurm_options(function: _Function) -> _Function:
    """`--slurm-shares`, `--slurm-option` and `--slurm-dry-run`."""
    function = click.option(
        "--slurm-dry-run", is_flag=True, help="Write the job scripts of --executor slurm and submit nothing."
    )(function)
    function = click.option(
        "--slurm-option", multiple=True, metavar="OPTION",
        help="Given to sbatch, such as --slurm-option=--partition=long. May be repeated.",
    )(function)  # fmt: skip
    return click.option(
        "--slurm-shares", type=click.IntRange(1, 99_999), default=16, show_default=True, metavar="N",
        help="Tasks of the array job of --executor slurm.",
    )(function)  # fmt: skip


def command_options(context: click.Context, omit: Collection[str] = _SLURM) -> list[str]:
    """The options that a command was called with, as it would be called again; arguments come first."""
    sources = (click.core.ParameterSource.COMMANDLINE, click.core.ParameterSource.ENVIRONMENT)
    words: list[str] = []
    for parameter in context.command.params:
        name = parameter.name or ""
        if name in omit or context.get_parameter_source(name) not in sources:
            continue
        value = context.params[name]
        if isinstance(parameter, click.Argument):
            words.insert(0, str(value))
        elif isinstance(parameter, click.Option) and parameter.is_flag:
            words += [parameter.opts[0] if value else parameter.secondary_opts[0]]
        else:
            words += [f"{parameter.opts[0]}={each}" for each in (value if parameter.multiple else (value,))]
    return words


def hand_over(
    folder: Path, share: Sequence[str], collect: Sequence[str], indices: Sequence[int], choice: SlurmChoice,
    again: str = "the command",
) -> None:  # fmt: skip
    """Submit the shares that have something left to do, and say how to go on.

    Args:
        folder: Where scripts, logs and ids of jobs lie.
        share: Arguments of `repoassay` for one share.
        collect: Arguments of `repoassay` that bring together what shares recorded.
        indices: Shares to make.
        choice: How to submit them.
        again: What to repeat when both have ended.

    Raises:
        BadInput: Slurm refuses.
        Unavailable: There is no Slurm here.
    """
    from repoassay.workspace import ArrayJob, submit_array, write_scripts

    job = ArrayJob(share, collect, choice.shares, indices, folder.absolute(), Path.cwd(), choice.options)
    if choice.dry_run:
        scripts = write_scripts(job)
        _tell({"shares": len(indices), "jobs": [], "script": str(scripts[0]), "collect_script": str(scripts[1])}, [
            f"Written, and not submitted: {scripts[0]}",
            f"Submit it with: sbatch --array={job.array} {scripts[0]}",
            f"and when it has ended: bash {scripts[1]}",
        ])  # fmt: skip
        return
    ids = submit_array(job)
    (folder / _IDS).write_text("\n".join(ids) + "\n", encoding="ascii")
    _tell({"shares": len(indices), "jobs": list(ids), "script": str(folder / "share.sh"),
           "collect_script": str(folder / "collect.sh")}, [
        f"Job {ids[0]}: {len(indices)} of {choice.shares} shares; job {ids[1]} then collects. Scripts, logs: {folder}",
        f"Repeat {again} when both have ended: it makes what is missing, and nothing else.",
    ])  # fmt: skip


def check_ended(folder: Path) -> None:
    """Make sure that no job of an earlier call is at work, of those noted in a folder.

    Raises:
        BadInput: One is.
        Unavailable: There is no Slurm here.
    """
    from repoassay.errors import BadInput
    from repoassay.workspace import jobs_at_work

    try:
        ids = (folder / _IDS).read_text(encoding="ascii").split()
    except FileNotFoundError:
        return
    busy = jobs_at_work([each for each in ids if each.isdecimal()])
    if busy:
        raise BadInput(
            f"Jobs of an earlier call are still at work: {', '.join(busy)}.",
            f"Wait for them (squeue), or end them: scancel {' '.join(busy)}",
        )


def _tell(record: dict[str, object], lines: Sequence[str]) -> None:
    if click.get_current_context().params.get("as_json"):
        print_record("job", record)
    else:
        click.echo("\n".join(lines))
