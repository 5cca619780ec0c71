"""`repoassay agents`: which agents there are, whether they run here, and trying them out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from repoassay.cli.agent_check_lines import print_check
from repoassay.cli.agents_new import new_agent
from repoassay.completion import complete_agents
from repoassay.json_output import print_document, print_record
from repoassay.options import PATH, FiniteRange, isolation_option, json_option

if TYPE_CHECKING:
    from repoassay.engine import Checked

__all__ = ["agents"]


@click.group()
def agents() -> None:
    """List, install and check the agents that ask a model.

    An agent is a small TOML file; NAME is one that comes with us or the path of your own.

    \b
    Examples:
      repoassay agents list
      repoassay agents install mini-swe-agent
      repoassay agents check claude-code
      repoassay agents check ./my-agent.toml
      repoassay agents new ./my-agent
    """


agents.add_command(new_agent)


@agents.command("list")
@json_option
def list_agents(as_json: bool) -> None:
    """List agents with what they speak and whether they can run here; installs nothing.

    \b
    Examples:
      repoassay agents list
      repoassay agents list --json
    """
    from repoassay import plugins
    from repoassay.agents import agent_titles, availability, builtin_specs, read_spec
    from repoassay.sandbox import Cache

    cache = Cache(makes=False)
    rows: list[dict[str, Any]] = []
    for path in builtin_specs().values():
        spec = read_spec(path)
        found = availability(spec, cache)
        rows.append(
            {
                "name": spec.name, "version": spec.version, "dialect": spec.dialect, "install": spec.install.kind,
                "megabytes": spec.install.megabytes, "state": found.state, "why": found.why, "remedy": found.remedy,
                "status": spec.status, "notes": list(spec.notes), "title": spec.title,
            }
        )  # fmt: skip
    known = {row["name"] for row in rows}
    plain = [
        {"name": name, "title": title, "state": "built in"}
        for name, title in agent_titles().items()
        if name not in known
    ]
    plain += [
        {"name": name, "title": f"of {' and '.join(plugin.origin for plugin in found)}", "state": "plug-in"}
        for name, found in plugins.installed_plugins("repoassay.agents").items()
        if name not in known and name not in agent_titles()
    ]
    if as_json:
        print_document(rows + plain)
        return
    if sys.stdout.isatty():
        heads = f"{'agent':<16}{'version':<10}{'dialect':<11}{'comes':<6}{'size':>7}  {'state':<10}what it is"
        click.secho(heads, bold=True)
    for row in rows:
        state = {"installed": "green", "available": "yellow"}.get(row["state"], "red")
        size = f"{row['megabytes']} MB" if row["megabytes"] else ""
        click.echo(
            f"{row['name']:<16}{row['version']:<10}{row['dialect']:<11}{row['install']:<6}{size:>7}  "
            + click.style(f"{row['state']:<10}", fg=state)
            + row["title"]
        )
        doubts = "" if row["status"].startswith("verified") else row["status"]
        for text in (f"{row['why']} {row['remedy']}".strip(), doubts):
            if text:
                click.echo(f"{'':<16}{text}")
    for row in plain:
        click.echo(f"{row['name']:<52}{row['state']:<10}{row['title']}")


@agents.command()
@click.argument("name", shell_complete=complete_agents)
@isolation_option
def install(name: str, isolation: str) -> None:
    """Install NAME into the cache, once; attempts never install anything.

    \b
    Examples:
      repoassay agents install codex
      repoassay agents install ./my-agent.toml
    """
    from repoassay.agents import find_modelled, obtain
    from repoassay.sandbox import Cache, open_sandbox

    cache = Cache()
    agent = find_modelled(name)
    found = obtain(agent.spec, cache, open_sandbox(isolation, cache))
    click.echo(f"{agent.name} is installed: {len(found.packages)} packages in {found.tree}")


@agents.command()
@click.argument("name", shell_complete=complete_agents)
@click.option("--kind", type=click.Choice(["both", "deliverable", "edit"]), default="both", show_default=True,
              help="Which of the two tasks.")  # fmt: skip
@click.option("--timeout", type=FiniteRange(1), default=300, show_default=True, metavar="S",
              help="Seconds a task may take.")  # fmt: skip
@click.option("--upstream-dialect", type=click.Choice(["chat", "messages", "responses", "gemini"]),
              help="The one dialect of the scripted model; agents of another go through a translation.")  # fmt: skip
@click.option("--out", type=PATH, metavar="DIR", help="Keep transcripts, journals and submissions there.")
@json_option
def check(name: str, kind: str, timeout: float, upstream_dialect: str | None, out: Path | None, as_json: bool) -> None:
    """Let NAME solve two starter tasks by a scripted model, and hold its own account against the model proxy's.

    It works in the sandbox with its network cut but for the model proxy. Costs nothing. Leaves with 1 when a task
    does not pass or the model proxy's tokens are not those the model sent.

    \b
    Examples:
      repoassay agents check mini-swe-agent
      repoassay agents check ./my-agent.toml --kind edit --out ./checked
      repoassay agents check claude-code --upstream-dialect chat
    """
    from repoassay.agents import find_modelled
    from repoassay.engine import check_agent
    from repoassay.errors import BadInput
    from repoassay.sandbox import Cache, open_sandbox, temporary_folder

    cache = Cache()
    sandbox = open_sandbox("namespaces", cache)
    agent = find_modelled(name)
    if out is not None and out.exists() and any(out.iterdir()):
        raise BadInput(f"{out} is not empty.", "Choose another --out.")
    agent.prepare(cache, sandbox)
    sound = True
    with temporary_folder("check") as scratch:
        place = (out or Path(scratch)).absolute()
        only = "" if kind == "both" else kind
        spoken = upstream_dialect or ""
        for checked in check_agent(agent, cache, sandbox, place, seconds=timeout, only=only, dialect=spoken):
            sound = sound and checked.sound
            if as_json:
                print_record("check", _facts(agent.name, checked))
            else:
                print_check(agent.name, checked)
    sys.exit(0 if sound else 1)


def _facts(name: str, checked: Checked) -> dict[str, Any]:
    own = checked.trajectory.own
    return {
        "agent": name,
        "version": checked.trajectory.version,
        "task": checked.task,
        "outcome": checked.verdict.outcome.value,
        "comments": list(checked.verdict.comments),
        "sound": checked.sound,
        "left": list(checked.left),
        "exit": checked.exit.model_dump(mode="json"),
        "seconds": round(checked.seconds, 1),
        "steps": len(checked.trajectory.steps),
        "ending": checked.trajectory.ending,
        "problems": list(checked.trajectory.problems),
        "calls": checked.totals.calls,
        "refused": checked.totals.refused,
        "gateway": checked.totals.usage.model_dump(),
        "sent": checked.sent.model_dump(),
        "own": own.model_dump(mode="json"),
        "figures": checked.figures,
    }
