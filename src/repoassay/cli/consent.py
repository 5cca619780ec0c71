"""The plan of a run shown before money is spent, and the question whether it may be."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from repoassay.errors import BadInput, Interrupted

if TYPE_CHECKING:
    from repoassay.engine import CostBound
    from repoassay.types import Plan

__all__ = ["consent", "show_plan"]

_MOST = 40


def show_plan(plan: Plan, bound: CostBound) -> None:
    """Say on standard error how many attempts there will be, of what, and what they may cost."""
    tasks = "1 task" if len(plan.tasks) == 1 else f"{len(plan.tasks)} tasks"
    entries = f", {len(plan.agents)} entries" if len(plan.agents) > 1 else ""
    click.echo(f"Plan: {plan.size} attempts: {tasks}{entries}, {plan.attempts} each.", err=True)
    if len(plan.agents) > 1:
        for name in list(plan.agents)[:_MOST]:
            click.echo(f"  {name}", err=True)
        if len(plan.agents) > _MOST:
            click.echo(f"  ... and {len(plan.agents) - _MOST} more", err=True)
    if any(entry.model for entry in plan.agents.values()):
        most = "unknown" if bound.dollars is None else f"{bound.dollars:.2f} USD"
        click.echo(f"Cost at most: {most} ({bound.why}).", err=True)


def consent(bound: CostBound, *, yes: bool) -> None:
    """Return when the plan may be carried out.

    What costs nothing is never asked about. On a terminal the user is asked; without one, limits in dollars that the
    user gave are an answer.

    Raises:
        Interrupted: The user said no.
        BadInput: There is nobody to ask, and no limit in dollars.
    """
    if bound.free or yes:
        return
    if sys.stdin.isatty() and sys.stderr.isatty():
        if not click.confirm("Go ahead?", err=True):
            raise Interrupted("Nothing was run.")
        return
    if not bound.limited:
        raise BadInput(
            "This run may cost money, and nobody is there to be asked.",
            "Limit it with --budget-usd, or agree beforehand with --yes.",
        )
