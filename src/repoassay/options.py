"""Options more than one verb has."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from repoassay.completion import complete_tasks
from repoassay.json_output import JsonFlag
from repoassay.sandbox import usable_cores

__all__ = [
    "KINDS_OF_ISOLATION",
    "FiniteRange",
    "Isolation",
    "assurance_options",
    "criteria_option",
    "executor_option",
    "isolation_option",
    "json_option",
    "let_import",
    "node_workers",
    "shares_executor_option",
    "supply_options",
    "task_option",
    "workers_option",
]

_Function = TypeVar("_Function", bound=Callable[..., Any])
if TYPE_CHECKING:  # generic since click 8.2
    _Choice = click.Choice[str]
    _TextType = click.ParamType[str]
else:
    _Choice = click.Choice
    _TextType = click.ParamType


KINDS_OF_ISOLATION = ("namespaces", "bubblewrap", "podman", "docker", "apptainer", "kubernetes", "http", "none")
"""As `repoassay.sandbox.ISOLATIONS`, which would take time to import."""


class FiniteRange(click.FloatRange):
    """A range of numbers without NaN, for which no comparison holds and so no limit would, and infinities."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number; fails for anything else."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r} is no finite number.", param, ctx)
        return number


class Isolation(_Choice):
    """A bundled kind of isolation, or a plug-in's by name or dotted path."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Look at plug-ins only where the value is none of the bundled kinds."""
        if value not in self.choices:
            from repoassay.sandbox import is_isolation

            if is_isolation(value):
                return value
        return super().convert(value, param, ctx)


def assurance_options(function: _Function) -> _Function:
    """`--feedback` and `--require-attested`."""
    function = click.option(
        "--require-attested", type=FiniteRange(0), default=0.0, metavar="BITS",
        help="Take a pass only when a forger would have had to guess so many bits.  [default: take doubted ones too]",
    )(function)  # fmt: skip
    return click.option(
        "--feedback", type=click.Choice(["verdict", "counts", "tests", "full"]), default="verdict", show_default=True,
        help="How much of a verdict submitters are told; what they know counts against later passes.",
    )(function)  # fmt: skip


def criteria_option(function: _Function) -> _Function:
    """`--criteria`."""
    return click.option(
        "--criteria", default="fair", show_default=True, type=click.Choice(["fair", "published"]),
        help="Which criteria decide: as the task states them, or as a published benchmark's own scripts compute them.",
    )(function)  # fmt: skip


class ExecutorName(_TextType):
    """An executor's name, with its address where it has one; `slurm` alone means shares where a command has them."""

    name = "executor"

    def __init__(self, *, shares: bool = False) -> None:
        self._shares = shares

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Refuse what no executor is called, and what cannot do the command's work, before anything is begun."""
        from repoassay.executors import find_executor, is_executor

        if value != "local" and not is_executor(value):
            self.fail(f"{value!r} is none of local, ray, ray://HOST:PORT, slurm, slurm://NODES.", param, ctx)
        if value != "local" and not (self._shares and value == "slurm"):
            find_executor(value)
        return value


def executor_option(function: _Function) -> _Function:
    """`--executor` of commands that wait for their nodes."""
    return _executor_option(
        ExecutorName(), "local, or ray[://HOST:PORT] or slurm[://NODES] for the nodes of a cluster."
    )(function)


def shares_executor_option(function: _Function) -> _Function:
    """`--executor` of commands whose work has shares too."""
    choices = (
        "local, ray[://HOST:PORT] or slurm://NODES for the nodes of a cluster, or slurm for an array job of shares."
    )
    return _executor_option(ExecutorName(shares=True), choices)(function)


def _executor_option(kind: ExecutorName, choices: str) -> Callable[[_Function], _Function]:
    return click.option(
        "--executor", default="local", show_default=True, type=kind, metavar="NAME[://ADDRESS]",
        envvar="REPOASSAY_EXECUTOR", help=f"Where work is done: {choices}",
    )  # fmt: skip


def node_workers(executor: str, workers: int) -> int | None:
    """Jobs at a time on each node: as `--workers` says, else one a core, which of other machines only they know."""
    context = click.get_current_context()
    is_set = context.get_parameter_source("workers") is not click.core.ParameterSource.DEFAULT
    return workers if is_set or executor == "local" else None


def isolation_option(function: _Function) -> _Function:
    """`--isolation`."""
    return click.option(
        "--isolation", default="namespaces", show_default=True, type=Isolation(KINDS_OF_ISOLATION),
        envvar="REPOASSAY_ISOLATION",
        help="How agents and tests are kept from this machine. 'none' protects nothing: they run as you.",
    )(function)  # fmt: skip


def json_option(function: _Function) -> _Function:
    """`--json`."""
    return click.option(
        "--json", "as_json", cls=JsonFlag, is_flag=True, is_eager=True, help="Print JSON for programs instead of text."
    )(function)


def supply_options(function: _Function) -> _Function:
    """`--mirror`, `--mirrors` and `--environments`: what lies on this disk for rows."""
    function = click.option(
        "--environments", type=PATH, metavar="FOLDER",
        help="Frozen environments of rows: ID.yml, as SWE-bench's own repository has them.",
    )(function)  # fmt: skip
    function = click.option(
        "--mirrors", "mirrors_folder", type=PATH, metavar="FOLDER",
        help="Take repositories from FOLDER: OWNER--NAME.bundle, OWNER+NAME or OWNER/NAME.",
    )(function)  # fmt: skip
    return click.option(
        "--mirror", "mirrors", multiple=True, metavar="URL=PATH",
        help="Take this repository from PATH, a folder or a git bundle.",
    )(function)  # fmt: skip


def task_option(function: _Function) -> _Function:
    """`--task`."""
    return click.option(
        "--task", "tasks", multiple=True, metavar="GLOB", help="Only tasks whose id matches; may be repeated.",
        shell_complete=complete_tasks,
    )(function)  # fmt: skip


def workers_option(function: _Function) -> _Function:
    """`--workers`."""
    return click.option(
        "--workers", type=click.IntRange(1, 256), default=min(usable_cores(), 256), show_default=True, metavar="N",
        help="How many workspaces at a time.",
    )(function)  # fmt: skip


def let_import(agents: Sequence[str]) -> None:
    """Let agents that are named as Python code, `module:name`, lie in the current folder, as `python -m` does."""
    if any(":" in agent for agent in agents):
        sys.path.insert(0, str(Path.cwd()))


PATH = click.Path(path_type=Path)
"""A path, not yet looked at: rooms report what is wrong with it."""
