"""`repoassay completion`: what lets a shell complete commands, options and names."""

from __future__ import annotations

import click

__all__ = ["completion"]


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print what lets SHELL complete commands, options, suites, tasks, agents and runs.

    \b
    Examples:
      eval "$(repoassay completion bash)"             # this shell; put it into ~/.bashrc for every one
      eval "$(repoassay completion zsh)"              # into ~/.zshrc, after compinit
      repoassay completion fish > ~/.config/fish/completions/repoassay.fish
    """
    from click.shell_completion import get_completion_class

    from repoassay.cli.main import cli

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(cli, {}, "repoassay", "_REPOASSAY_COMPLETE").source())
