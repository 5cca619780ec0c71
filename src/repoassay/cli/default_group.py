"""A command group whose first word may be left out, and whose other commands are imported when they are named."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click

__all__ = ["DefaultGroup"]


class DefaultGroup(click.Group):
    """A group that means one of its commands where the first argument names none.

    Args:
        default_command: The command that is meant, such as `build` in `leaderboard RUN... --out site`.
        modules: Where commands in files of their own stand, as `module:attribute` by name.
        show_default_options: Whether the help lists the options of the default command as the group's own.
        without_arguments: Whether the default is also meant where there are no arguments at all.
    """

    def __init__(
        self, *args: Any, default_command: str, modules: Mapping[str, str] | None = None,
        show_default_options: bool = False, without_arguments: bool = False, **settings: Any,
    ) -> None:  # fmt: skip
        super().__init__(*args, **settings)
        self._default, self._modules, self._shows = default_command, dict(modules or {}), show_default_options
        self._alone = without_arguments

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, those not imported yet included."""
        return [*self.commands, *self._modules]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, imported now where it stands in a file of its own."""
        if cmd_name in self._modules:
            module, _, name = self._modules[cmd_name].partition(":")
            command: click.Command = getattr(importlib.import_module(module), name)
            return command
        return super().get_command(ctx, cmd_name)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the default before arguments that name no command and ask for no help."""
        known = {*self.list_commands(ctx), *ctx.help_option_names}
        if args[0] not in known if args else self._alone:
            args = [self._default, *args]
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options of the default command as the group's, where that is wanted."""
        if not self._shows:
            super().format_options(ctx, formatter)
            return
        whole = self.commands[self._default]
        options = [each for each in whole.get_params(ctx) if isinstance(each, click.Option)]
        with formatter.section("Options"):
            formatter.write_dl([record for each in options if (record := each.get_help_record(ctx))])
        self.format_commands(ctx, formatter)
