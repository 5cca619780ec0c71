"""`repoassay run`: an agent on a suite."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from repoassay.cli.options import PATH, criteria_option, isolation_option, json_option, task_option, workers_option
from repoassay.cli.run_options import limits_of, metering_of, model_options, several

if TYPE_CHECKING:
    from repoassay.model import AgentEntry
    from repoassay.suites import SuiteFolder

__all__ = ["run"]


@click.command()
@click.argument("suite", required=False)
@click.option(
    "--agent",
    "agents",
    multiple=True,
    required=True,
    metavar="NAME,...",
    help="Agents, see `repoassay agents list`; also reference, nothing, copycat, empty, garbage, constant, noise, "
    "vandal and command. May be repeated.",
)
@click.option(
    "--agent-command",
    metavar="LINE",
    help="Command line of the agent `command`, run by the shell. "
    "{instruction}, {instruction_file}, {workspace}, {task} and {agent} are filled in.",
)
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
@model_options
@click.option("--out", type=PATH, default=Path("runs"), show_default=True, help="Folder that runs are kept in.")
@criteria_option
@task_option
@workers_option
@isolation_option
@json_option
def run(
    suite: str | None, agents: tuple[str, ...], agent_command: str | None, agent_dir: Path | None,
    prompt_template: Path | None, attempts: int,
    prompts: Path | None, repo: Path | None, repositories: str, models: tuple[str, ...], sweeps: tuple[str, ...],
    upstreams: tuple[Path, ...], dialogue: Path | None, prices: tuple[Path, ...], network: str | None,
    concurrency: tuple[str, ...], retries: int, budget_usd: str | None, yes: bool, out: Path, criteria: str,
    tasks: tuple[str, ...], workers: int, isolation: str, as_json: bool, **limits: Any,
) -> None:  # fmt: skip
    """Run agents on SUITE: a bundled suite's name, a folder of tasks, or one task folder.

    Every attempt works in a fresh workspace and is graded in a second one. Agents reach models through the gateway
    alone, which counts tokens, calls and dollars. Ctrl-C once lets attempts under way finish, twice drops them; what is
    finished is kept, and `repoassay resume` continues.

    \b
    Examples:
      repoassay run starter --agent reference
      repoassay run starter --agent nothing --task 'pdf-*'
      repoassay run ./my-tasks --agent command --agent-command 'my-agent --prompt {instruction}' --attempts 3
      repoassay run starter --agent mini-swe-agent,aider --model openai/gpt-4.1,deepseek/deepseek-chat --budget-usd 20
      repoassay run starter --agent codex --model openai/gpt-5 --sweep max_iterations=30,70 --sweep timeout=120,600
      repoassay run --prompts ./prompts --repo ./checkout --agent aider --model ollama/qwen3
    """
    from repoassay.cli.consent import consent, show_plan
    from repoassay.cli.progress import Live
    from repoassay.cli.report import print_report
    from repoassay.grading.preflight import check_packages
    from repoassay.model import Reading
    from repoassay.run import Settings, execute, make_plan, open_run
    from repoassay.run.bound import bound_of
    from repoassay.run.execute import check, held, prepare
    from repoassay.run.matrix import parse_sweeps, spread
    from repoassay.run.slots import all_slots
    from repoassay.workspace import Cache, open_sandbox

    chosen = _chosen(several(agents), agent_command, agent_dir, prompt_template)
    entries = spread(chosen, several(models), limits_of(limits), parse_sweeps(sweeps))
    reading = Reading(criteria)
    found = _suite(suite, prompts, repo, tasks, out)
    found = found.released() if repositories == "released" else found
    check_packages(found.tasks, reading)
    metering = metering_of(
        upstreams=upstreams, dialogue=dialogue, prices=prices, network=network, concurrency=concurrency,
        retries=retries, budget_usd=budget_usd,
    )  # fmt: skip
    settings = Settings(
        agents=entries, attempts=attempts, workers=workers, isolation=isolation, reading=reading, metering=metering,
        graded=prompts is None, released=repositories == "released",
    )  # fmt: skip
    plan = make_plan(found, settings)
    sandbox = open_sandbox(isolation)  # refuse before a run folder is made
    chosen_agents = check(plan, found, sandbox)
    bound = bound_of(plan)
    show_plan(plan, bound)
    consent(bound, yes=yes)
    prepare(chosen_agents.values(), Cache(), sandbox)
    folder = open_run(plan, out)
    click.echo(f"{plan.size} attempts; run folder {folder.path}", err=True)
    with held(folder), Live(plan.size) as live:
        execute(folder, found, all_slots(folder), live)
    print_report(folder, as_json=as_json)
    sys.stdout.flush()


def _suite(
    suite: str | None, prompts: Path | None, repo: Path | None, tasks: tuple[str, ...], out: Path
) -> SuiteFolder:
    from repoassay.grading.registry import names
    from repoassay.run.prompts import suite_of_prompts
    from repoassay.suites import find_suite

    if (suite is None) == (prompts is None) or (repo is None) != (prompts is None):
        raise click.UsageError("Name a SUITE, or give --prompts and --repo.")
    if prompts is not None and repo is not None:
        made = suite_of_prompts(prompts, repo, out)
        return find_suite(made.path, only=tasks) if tasks else made
    assert suite is not None
    found = find_suite(suite, metrics=names(), only=tasks)
    found.need_data()
    return found


def _chosen(names: list[str], command: str | None, folder: Path | None, template: Path | None) -> dict[str, AgentEntry]:
    """Entries by the names reports show."""
    from repoassay.agents.find import agent_kind, find_agent
    from repoassay.agents.modelled import ModelledAgent
    from repoassay.model import AgentEntry
    from repoassay.plugins import plugin_version
    from repoassay.run.models import named_file

    found = {}
    for name in names:
        kind, options = name, {}
        if name == "command":
            options = {"command": command or "", **({"folder": str(folder.absolute())} if folder else {})}
        elif Path(name).suffix == ".toml":
            file = named_file(Path(name))
            kind, options = file.path, {"sha256": file.sha256}
        if template is not None and "template" in agent_kind(kind).options:
            options |= {"template": named_file(template).path, "template_sha256": named_file(template).sha256}
        agent = find_agent(kind, options)
        if version := plugin_version("repoassay.agents", name):
            options["version"] = version
        if isinstance(agent, ModelledAgent):
            options["version"] = agent.spec.version
        found[agent.name if Path(name).suffix == ".toml" else name] = AgentEntry(kind=kind, options=options)
    return found
