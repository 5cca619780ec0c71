"""`repoassay run`: an agent on a suite."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from repoassay.cli.run_options import model_options, named_commands, places_of, several
from repoassay.cli.run_shares import hand_over_run, tell_plan
from repoassay.cli.slurm import SlurmChoice, slurm_options
from repoassay.completion import complete_agents, complete_suites
from repoassay.options import (
    PATH,
    criteria_option,
    isolation_option,
    json_option,
    node_workers,
    shares_executor_option,
    task_option,
    workers_option,
)

if TYPE_CHECKING:
    from repoassay.engine import CostBound
    from repoassay.types import Plan

__all__ = ["run"]


@click.command()
@click.argument("suite", required=False, shell_complete=complete_suites)
@click.option(
    "--agent",
    "agents",
    multiple=True,
    metavar="NAME,...",
    shell_complete=complete_agents,
    help="Agents, see `repoassay agents list`; also reference, nothing, copycat, empty, garbage, constant, noise, "
    "vandal and command. May be repeated.",
)
@click.option(
    "--agent-command",
    "lines",
    multiple=True,
    metavar="LINE",
    help="Command line of the agent `command`, run by the shell. "
    "{instruction}, {instruction_file}, {workspace}, {task} and {agent} are filled in. May be repeated, with --name.",
)
@click.option("--name", "names", multiple=True, metavar="NAME", help="What reports call the agent of --agent-command.")
@click.option("--agent-dir", type=PATH, metavar="DIR", help="Folder the command sees read-only as {agent}.")
@click.option("--prompt-template", type=PATH, metavar="FILE", help="Instead of the prompt we put around instructions.")
@click.option(
    "--attempts",
    type=click.IntRange(1, 1000),
    default=1,
    show_default=True,
    metavar="K",
    help="How often each task is attempted.",
)
@click.option("--timeout", metavar="S", help="Seconds an attempt may take, instead of the task's own limit.")
@click.option("--prompts", type=PATH, metavar="DIR", help="Instead of SUITE: a folder of prompts, *.md and *.txt.")
@click.option("--repo", type=PATH, metavar="DIR", help="The repository the prompts are about.")
@click.option(
    "--repositories",
    type=click.Choice(["pinned", "released"]),
    default="pinned",
    show_default=True,
    help="Lay out the commit a task pins, or the release it names instead, from the package index.",
)
@click.option(
    "--preflight/--no-preflight",
    "look_first",
    default=True,
    show_default=True,
    help="Start each agent once, and knock at its model's server, before the run begins.",
)
@click.option("--plan-only", is_flag=True, help="Lay out the run folder and make no attempt; `resume` does.")
@model_options
@click.option("--out", type=PATH, default=Path("runs"), show_default=True, help="Folder that runs are kept in.")
@criteria_option
@task_option
@workers_option
@shares_executor_option
@slurm_options
@isolation_option
@json_option
def run(
    suite: str | None, agents: tuple[str, ...], lines: tuple[str, ...], names: tuple[str, ...],
    agent_dir: Path | None,
    prompt_template: Path | None, attempts: int,
    prompts: Path | None, repo: Path | None, repositories: str, look_first: bool,
    models: tuple[str, ...], sweeps: tuple[str, ...],
    upstreams: tuple[Path, ...], dialogue: Path | None, prices: tuple[Path, ...], network: str | None,
    concurrency: tuple[str, ...], retries: int, budget_usd: str | None, yes: bool, out: Path, criteria: str,
    tasks: tuple[str, ...], workers: int, executor: str, isolation: str, as_json: bool,
    plan_only: bool, slurm_shares: int, slurm_option: tuple[str, ...], slurm_dry_run: bool, **limits: Any,
) -> None:  # fmt: skip
    """Run agents on SUITE: a bundled suite's name, a folder of tasks, or one task folder.

    Every attempt works in a fresh workspace and is graded in a second one. Agents reach models through the model
    proxy alone, which counts tokens, calls and dollars. Ctrl-C once lets attempts under way finish, twice drops them;
    what is finished is kept, and `repoassay resume` continues.

    \b
    Examples:
      repoassay run starter --agent reference
      repoassay run starter --agent nothing --task 'pdf-*'
      repoassay run ./my-tasks --agent-command 'python {agent}/main.py {instruction_file}' --agent-dir . --name mine
      repoassay run starter --agent mini-swe-agent,aider --model openai/gpt-4.1,deepseek/deepseek-chat --budget-usd 20
      repoassay run starter --agent codex --model openai/gpt-5 --sweep max_iterations=30,70 --sweep timeout=120,600
      repoassay run starter --agent reference --executor ray://10.0.0.1:6379
      repoassay run starter --agent reference --attempts 20 --executor slurm --slurm-shares 40
      repoassay run --prompts ./prompts --repo ./checkout --agent aider --model ollama/qwen3
    """
    from repoassay.api import evaluate
    from repoassay.cli.consent import consent, show_plan
    from repoassay.cli.progress import Live
    from repoassay.cli.report import print_report
    from repoassay.engine import Grants, Stop, parse_sweeps, suite_of_prompts
    from repoassay.options import let_import

    if (suite is None) == (prompts is None) or (repo is None) != (prompts is None):
        raise click.UsageError("Name a SUITE, or give --prompts and --repo.")
    if not agents and not lines:
        raise click.UsageError("Name an agent with --agent, or give a command line with --agent-command.")
    found = suite_of_prompts(prompts, repo, out) if prompts is not None and repo is not None else suite
    assert found is not None
    chosen = list(dict.fromkeys([*several(agents), *(["command"] if lines else [])]))
    command = named_commands(lines, names)
    let_import(chosen)

    def agree(plan: Plan, bound: CostBound) -> None:
        show_plan(plan, bound)
        consent(bound, yes=yes)

    later = executor == "slurm"
    with Live(agree=agree) as live:
        new_run = evaluate(
            found, agent=chosen, command=command, agent_folder=agent_dir, prompt_template=prompt_template,
            model=several(models), tasks=tasks, attempts=attempts, limits=limits["timeout"],
            max_calls=limits["max_calls"], max_tokens=limits["max_tokens"], context_window=limits["context_window"],
            attempt_budget_usd=limits["attempt_budget_usd"], budget_usd=budget_usd or None,
            sweep=parse_sweeps(sweeps), workers=node_workers("local" if later else executor, workers),
            executor="local" if later else executor, plan_only=plan_only or later,
            out=out, network=network, isolation=isolation,
            criteria=criteria, retries=retries, concurrency=places_of(concurrency), upstreams=upstreams,
            dialogue=dialogue, prices=prices, released=repositories == "released", graded=prompts is None,
            look_first=look_first, on_event=live, stop=Stop(patient=True, announce=live.announce),
        )  # fmt: skip
    if later:
        choice = SlurmChoice(slurm_shares, slurm_option, slurm_dry_run)
        grants = Grants(isolation=isolation, network="open" if network == "open" else None)
        hand_over_run(new_run.path, choice, grants, look_first=look_first, workers=node_workers(executor, workers))
        return
    if plan_only:
        tell_plan(new_run.path, new_run.plan.size, as_json)
        return
    print_report(new_run, as_json=as_json)
    sys.stdout.flush()
