"""The command `repoassay`: finds a verb, and turns every known error into a sentence and an exit code.

Exit codes: 0 done; 1 done, with a negative answer or a fault of ours; 2 bad input; 3 this machine lacks something;
70 an error nobody foresaw, with its traceback in a file; 130 interrupted; 143 ended by SIGTERM.
"""

from __future__ import annotations

import functools
import importlib
import os

import click

from repoassay.cli.variables import check_variables
from repoassay.exits import exit_with

__all__ = ["cli", "main"]

_VERBS: dict[str, tuple[str, str]] = {
    "run": ("repoassay.cli.run", "Run an agent on a suite of tasks."),
    "resume": ("repoassay.cli.resume", "Continue a run that was stopped or killed."),
    "report": ("repoassay.cli.report", "Show what a run came to, as table, JSON and HTML."),
    "view": ("repoassay.cli.view", "Look at all runs below a folder in a browser; follow those at work."),
    "compare": ("repoassay.cli.compare", "Compare systems on the same tasks; fail on a regression."),
    "leaderboard": ("repoassay.cli.leaderboard", "Build a site of runs; pack and validate submissions."),
    "import": ("repoassay.cli.import_verb:import_verb", "Read runs of other tools."),
    "store": ("repoassay.cli.store", "Copy runs to an object store or a shared folder, and back."),
    "export": ("repoassay.cli.export", "Write a run or a suite as a file of another format."),
    "formats": ("repoassay.cli.formats", "List the formats of other tools that are read and written."),
    "show": ("repoassay.cli.show", "Tell the story of an attempt: steps, tokens, cost, verdict."),
    "diagnose": ("repoassay.cli.diagnose", "Say why attempts failed and whether they cheated; label them."),
    "signals": ("repoassay.cli.signals", "Measure the changes a run left: tests, lint, documents, size, for review."),
    "grade": ("repoassay.cli.grade", "Grade outputs that were made elsewhere."),
    "submit": ("repoassay.cli.submit", "Grade patches in the submission environment."),
    "attack": ("repoassay.cli.attack", "Attack verdicts: what a forger would get on a suite."),
    "serve": ("repoassay.cli.serve", "Serve the submission environment over HTTP."),
    "sandbox": ("repoassay.cli.sandbox", "Offer this machine's sandboxes to other machines."),
    "mcp": ("repoassay.cli.mcp", "Serve tasks and verdicts to an agent or an editor (MCP)."),
    "judge": ("repoassay.cli.judge", "Let a model rate a study beside people, and hold it against them."),
    "review": ("repoassay.cli.review", "Let people review what runs left behind: would they merge it?"),
    "fetch": ("repoassay.cli.fetch", "Get the data of a suite and check it."),
    "construct": ("repoassay.cli.construct", "Make tasks of commits, with proof."),
    "mine": ("repoassay.cli.mine", "Make a suite of what repositories' histories hold, each task with proof."),
    "curate": ("repoassay.cli.curate", "Make suites of deliverable tasks: select, verify, draft, prove, renew."),
    "agents": ("repoassay.cli.agents", "List, install and check agents that ask a model."),
    "models": ("repoassay.cli.models", "Say what models cost, and renew the table of prices."),
    "tasks": ("repoassay.cli.tasks", "List, show, lint, import and validate tasks."),
    "metrics": ("repoassay.cli.metrics", "List the metrics criteria can use."),
    "stats": ("repoassay.cli.stats", "Say what a repository or a suite is made of."),
    "cache": ("repoassay.cli.cache", "Show or prune what is kept to make workspaces quick."),
    "schema": ("repoassay.cli.schema", "Print the JSON schema of what a command prints with --json."),
    "completion": ("repoassay.cli.completion", "Let a shell complete commands, suites, tasks, agents and runs."),
    "doctor": ("repoassay.cli.doctor", "Say what this machine offers, what degrades, and the remedy."),
}


_SECTIONS = {
    "You have an agent": ("run", "resume", "agents", "models"),
    "You have outputs, patches or predictions": ("grade", "submit", "serve", "mcp"),
    "You have runs": ("view", "report", "compare", "show", "diagnose", "signals", "leaderboard"),
    "You have files of other tools": ("import", "export", "formats"),
    "You have people, or models, who review": ("review", "judge"),
    "You have tasks, or repositories to make them of": (
        "tasks", "metrics", "stats", "construct", "mine", "curate", "fetch", "attack",
    ),
    "About this machine and this program": ("doctor", "sandbox", "cache", "schema", "completion"),
}  # fmt: skip
"""Headings of the help; a verb that stands under none of them comes under one of its own."""
_GROUP = "repoassay.commands"


class _Verbs(click.Group):
    """Imports a verb only when it is used, so that start-up stays fast; plug-ins are looked at for unknown ones."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*_VERBS, *_offered()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _VERBS:
            return _offered().get(cmd_name)
        module, _, function = _VERBS[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), function or cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if not ctx.resilient_parsing and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            from repoassay.text import quote, suggest

            near = suggest(args[0], self.list_commands(ctx), list_known=False)
            ctx.fail(f"There is no command {quote(args[0])}. {near}".rstrip())
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        other = {"Other": tuple(_VERBS.keys() - {name for names in _SECTIONS.values() for name in names})}
        width = max(map(len, _VERBS))
        for title, names in (_SECTIONS | other).items():
            rows = [(name.ljust(width), _VERBS[name][1]) for name in names if name in _VERBS]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)
        if offered := _offered():
            with formatter.section("Commands of benchmarks and plug-ins"):
                formatter.write_dl([(name, command.get_short_help_str(80)) for name, command in offered.items()])


@functools.cache
def _offered() -> dict[str, click.Command]:
    """Commands that benchmarks and plug-ins bring, by name; what is no command is passed over."""
    from repoassay import plugins

    found = {}
    for plugin, command in plugins.load_all(_GROUP):
        if plugin.name in _VERBS or not isinstance(command, click.Command):
            plugins.warn(f"The {plugin.title} is passed over: it is no click command with a name of its own.")
        else:
            found[plugin.name] = command
    return found


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        import repoassay

        click.echo(f"repoassay {repoassay.__version__}")
        ctx.exit()


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version,
              help="Show the version and exit.")  # fmt: skip
def cli() -> None:
    """Judge code agents on real repository work: does it work, would a maintainer merge it, is it worth its price?

    \b
    Examples:
      repoassay doctor
      repoassay run starter --agent reference
      repoassay run starter --agent command --agent-command 'my-agent {instruction}'
      repoassay report latest
    """
    check_variables()
    if os.environ.get("NO_COLOR"):
        click.get_current_context().color = False


def main() -> None:
    """Run the command line and leave with its exit code."""
    exit_with("repoassay", lambda: cli.main(standalone_mode=False))
