"""`repoassay agents new`: a folder for an agent of one's own, written and tried."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from repoassay.options import PATH

if TYPE_CHECKING:
    from repoassay.agents import AgentSpec, NewAgent

__all__ = ["new_agent"]


@click.command("new")
@click.argument("folder", type=PATH)
@click.option("--command", metavar="LINE", help="Its command line; {prompt}, {prompt_file}, {agent}, {model}, "
              "{chat_url} and others are filled in (docs/agents.md).")  # fmt: skip
@click.option("--bring", metavar="WHAT", default=None, help="What it is made of, shown as {agent}: a folder, a file, a "
              "wheel, sources with pyproject.toml or package.json, name==1.2 (PyPI) or name@1.2 (npm).")  # fmt: skip
@click.option("--dialect", type=click.Choice(["chat", "responses", "messages", "gemini", "none"]),
              help="What it speaks to its model; none asks no model.  [default: chat]")  # fmt: skip
@click.option("--endpoint", metavar="URL", default=None, help="Base URL of a server of models of yours.")
@click.option("--key-env", metavar="VAR", default="", help="Environment variable with the server's key.")
@click.option("--name", metavar="NAME", default="", help="What reports call it.  [default: the folder's name]")
@click.option("--tools/--no-tools", default=True, help="Whether it calls tools, for the model of the try.")
@click.option(
    "--try/--no-try", "with_try", default=True, help="Whether it is tried on a small task, by a scripted model."
)
def new_agent(
    folder: Path, command: str | None, bring: str | None, dialect: str | None, endpoint: str | None, key_env: str,
    name: str, tools: bool, with_try: bool,
) -> None:  # fmt: skip
    """Make FOLDER an agent of yours: its TOML file, a README, and a first verdict by a scripted model, for nothing.

    What is not given is asked for on a terminal. Leaves with 1 when it could not start or did not pass.

    \b
    Examples:
      repoassay agents new ./my-agent
      repoassay agents new ./my-agent --bring ./src --command 'python {agent}/main.py {prompt_file}'
      repoassay agents new ./aid --bring ra-aid==0.30.2 --command 'ra-aid -m {prompt}' --endpoint http://127.0.0.1:8000/v1
    """
    from repoassay.agents import NewAgent, write_agent_folder

    asks = sys.stdin.isatty() and sys.stderr.isatty()
    if command is None:
        if not asks:
            raise click.UsageError("Say how it is started with --command LINE.")
        bring, command, dialect, endpoint = _ask(bring, dialect, endpoint)
    if endpoint and not key_env and asks:
        key_env = click.prompt("Variable with its key (empty: none)", default="", show_default=False, err=True)
    new = NewAgent(
        command=command, name=name or folder.absolute().name.lower(), bring=bring or "", key_env=key_env, tools=tools,
        dialect="" if dialect == "none" else dialect or "chat", endpoint=endpoint or "",
    )  # fmt: skip
    if with_try:  # what cannot be tried leaves nothing behind
        from repoassay.model_proxy import check_extra

        check_extra()
    spec = write_agent_folder(folder, new)
    click.echo(f"{folder / 'agent.toml'} is written.", err=True)
    sound = _try(spec) if with_try else True
    click.echo(f"Next: {_next(folder, new)}", err=True)
    sys.exit(0 if sound else 1)


def _ask(bring: str | None, dialect: str | None, endpoint: str | None) -> tuple[str, str, str, str]:
    """What is missing, asked for."""
    if bring is None:
        bring = click.prompt("What is it made of (a folder, file or package; empty: nothing to bring)", default="",
                             show_default=False, err=True)  # fmt: skip
    command = click.prompt("Its command line ({prompt} or {prompt_file}, and {agent} for what it brings)", err=True)
    if dialect is None:
        kinds = click.Choice(["chat", "responses", "messages", "gemini", "none"])
        dialect = click.prompt("What it speaks to its model", type=kinds, default="chat", err=True)
    if endpoint is None and dialect != "none":
        endpoint = click.prompt("Base URL of your own server of models (empty: a known provider)", default="",
                                show_default=False, err=True)  # fmt: skip
    return bring, command, dialect or "", endpoint or ""


def _try(spec: AgentSpec) -> bool:
    """Try it on one check task and print what came of it; whether it passed."""
    from repoassay.agents import ModelledAgent
    from repoassay.cli.agent_check_lines import print_check
    from repoassay.engine import check_agent
    from repoassay.sandbox import Cache, open_sandbox, temporary_folder

    cache = Cache()
    sandbox = open_sandbox("namespaces", cache)
    agent = ModelledAgent(spec)
    agent.prepare(cache, sandbox)
    passed = False
    with temporary_folder("new") as place:
        for checked in check_agent(agent, cache, sandbox, Path(place), seconds=60, only="deliverable"):
            print_check(agent.name, checked)
            passed = checked.verdict.outcome.value == "passed"
            if checked.totals.calls and agent.spec.tools and not checked.left:
                click.echo("If it calls no tools but runs what stands in the model's text, add --no-tools.", err=True)
    return passed


def _next(folder: Path, new: NewAgent) -> str:
    at = str(folder) if "/" in str(folder) else f"./{folder}"
    line = f"repoassay run SUITE --agent {at}"
    if new.endpoint:
        return f"{line} --model {new.name.replace('.', '-')}/MODEL --model-upstream {at}/models.toml"
    return f"{line} --model PROVIDER/MODEL" if new.dialect else line
