"""`repoassay schema`: the JSON schema of what a verb prints with `--json`."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from pathlib import Path

import click

from repoassay.json_output import envelope_schema

__all__ = ["schema", "stated_schemas"]


@click.command()
@click.argument("verb", nargs=-1, metavar="[COMMAND...]")
def schema(verb: tuple[str, ...]) -> None:
    """Print the JSON schema of what COMMAND prints with --json; without one, list the commands that have one.

    \b
    Examples:
      repoassay schema
      repoassay schema tasks list
    """
    from repoassay.errors import BadInput
    from repoassay.text import quote, suggest

    found = {command: path for command, path in stated_schemas() if path.is_file()}
    name = " ".join(verb)
    if not name:
        for command, path in found.items():
            click.echo(f"{command:<24} {json.loads(path.read_text('utf-8'))['description']}")
    elif name in found:
        click.echo(json.dumps(envelope_schema(name, found[name]), indent=2))
    else:
        raise BadInput(f"{quote(name)} is no command that prints JSON.", suggest(name, [*found]))


def stated_schemas() -> Iterator[tuple[str, Path]]:
    """Every verb with `--json`, by what is typed after the program's name, and the file that states its data."""
    from repoassay.cli.main import cli

    for name, command in _commands(cli, ""):
        if any("--json" in each.opts for each in command.params) and command.callback is not None:
            folder = Path(inspect.getfile(inspect.unwrap(command.callback))).parent
            yield name, folder / "schemas" / f"{name.replace(' ', '-')}.json"


def _commands(group: click.Group, before: str) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _commands(command, f"{before}{name} ")
        elif command is not None:
            yield f"{before}{name}", command
