"""`repoassay mine --difficulty`: how often an agent passes the tasks that were mined."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from repoassay.api import Run

__all__ = ["check_difficulty", "difficulty_options", "measure_difficulty"]

_Function = TypeVar("_Function", bound=Callable[..., Any])
_RUNS = "difficulty"
"""Folder of a suite with the runs that measured it."""


def difficulty_options(function: _Function) -> _Function:
    """`--difficulty`, `--model` and `--attempts`."""
    for option in reversed([
        click.option("--difficulty", metavar="AGENT", help="Let an agent try each task, and keep how often it passes."),
        click.option("--model", metavar="PROVIDER/NAME", help="The model that this agent asks."),
        click.option("--attempts", type=click.IntRange(1, 1000), default=3, show_default=True, metavar="K",
                     help="How often it tries each task."),
    ]):  # fmt: skip
        function = option(function)
    return function


def check_difficulty(options: Mapping[str, Any]) -> None:
    """Refuse what cannot be measured before hours of mining.

    Raises:
        BadInput: There is no such agent, or its model costs and has no budget.
    """
    from repoassay.agents import agent_kind, import_agent
    from repoassay.cli.asked_model import asked_budget
    from repoassay.errors import BadInput
    from repoassay.plugins import is_dotted

    if not options["difficulty"]:
        if options["model"]:
            raise BadInput("Nobody asks the model of --model.", "Name its agent with --difficulty, or use --rewrite.")
        return
    if is_dotted(options["difficulty"]):
        import_agent(options["difficulty"])
    else:
        agent_kind(options["difficulty"])
    if options["model"]:
        asked_budget(options["model"], options)


def measure_difficulty(
    suite: Path, options: Mapping[str, Any], *, spent_dollars: Decimal, workers: int, isolation: str
) -> None:
    """Run the agent on each task that it was not tried on; what is finished is kept, however it ends.

    Args:
        suite: The mined suite.
        options: Options of the command line.
        spent_dollars: Dollars of the budget that are gone.
        workers: Workspaces at a time.
        isolation: How the agent is kept from this machine.

    Raises:
        Interrupted: By Ctrl-C.
        RepoAssayError: When the budget is spent before all is done.
    """
    from repoassay.api import evaluate
    from repoassay.cli.asked_model import asked_budget
    from repoassay.construct import unrated_tasks
    from repoassay.errors import BadInput, RepoAssayError

    agent = " with ".join(filter(None, (options["difficulty"], options["model"])))
    tasks = unrated_tasks(suite, agent)
    if not tasks:
        return
    click.echo(f"Difficulty: {len(tasks)} tasks, {options['attempts']} attempts each by {agent}.", err=True)
    budget = asked_budget(options["model"], options)[1] if options["model"] else None
    left = None if budget is None else budget - spent_dollars
    if left is not None and left <= 0:
        raise BadInput("Nothing is left of the budget for measuring the difficulty.", "Raise --budget-usd.")
    try:
        run = evaluate(
            str(suite.absolute()), agent=options["difficulty"], model=options["model"] or None, tasks=tasks,
            attempts=options["attempts"], out=suite / _RUNS, budget_usd=left,
            upstreams=options["upstreams"], dialogue=options["dialogue"], prices=options["prices"], workers=workers,
            isolation=isolation,
        )  # fmt: skip
    except RepoAssayError as error:
        if error.run is not None:
            _note(suite, agent, error.run, options["attempts"])
        raise
    _note(suite, agent, run, options["attempts"])


def _note(suite: Path, agent: str, run: Run, attempts: int) -> None:
    """Keep the rates of tasks whose attempts are all finished."""
    from repoassay.construct import AgentPassRate, note_pass_rates

    done: dict[str, list[bool | None]] = {}
    for each in run.attempts:
        if each.counted:
            done.setdefault(each.task, []).append(each.verdict.result)
    rates = {}
    for task, results in done.items():
        judged = [result for result in results if result is not None]
        if len(results) >= attempts and judged:
            rates[task] = AgentPassRate(agent=agent, passed=sum(judged), judged=len(judged), run=run.path.name)
    note_pass_rates(suite, rates)
    passed = sum(rate.passed for rate in rates.values())
    whole = sum(rate.judged for rate in rates.values())
    click.echo(f"{agent} passed {passed} of {whole} attempts, told by task in {suite}/README.md.", err=True)
