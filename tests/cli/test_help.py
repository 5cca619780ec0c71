"""The help of every verb, to the letter: whoever changes an option changes a file here, on purpose.

To write the files anew: REPOASSAY_GOLDEN=write pytest tests/cli/test_help.py
"""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from goldens import GOLDEN, WRITING, assert_text
from repoassay.benchmarks.gittaskbench.cli.main import cli as gittaskbench
from repoassay.cli.main import cli

HELP = GOLDEN / "help"
WIDTH = 100


def commands(command: click.Command, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the words of a command and of everything below it."""
    yield words
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from commands(below, (*words, name))


PROGRAMS = {"repoassay": cli, "gittaskbench": gittaskbench}


def forget_help_options(command: click.Command) -> None:
    """Click keeps the help option that a command was first invoked with, in another test without its program's -h."""
    command._help_option = None
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            forget_help_options(below)


ALL = [words for name, program in PROGRAMS.items() for words in commands(program, (name,))]


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_help_is_as_recorded(words: tuple[str, ...]) -> None:
    forget_help_options(PROGRAMS[words[0]])
    done = CliRunner().invoke(PROGRAMS[words[0]], [*words[1:], "--help"], prog_name=words[0], terminal_width=WIDTH)
    assert done.exit_code == 0, done.output
    assert_text(HELP / f"{'-'.join(words)}.txt", done.output)


def test_no_recording_is_left_of_a_verb_that_is_gone() -> None:
    named = {f"{'-'.join(words)}.txt" for words in ALL}
    recorded = {path.name for path in HELP.iterdir()}
    if WRITING:
        for name in recorded - named:
            (HELP / name).unlink()
        return
    assert recorded == named


@pytest.mark.parametrize("given", ["nan", "-NaN", "inf"])
def test_a_limit_that_is_no_number_is_refused_by_every_command(given: str) -> None:
    """No comparison holds for it, so that it would stand for no limit at all."""
    found = 0
    for name, *words in ALL:
        command: click.Command | None = PROGRAMS[name]
        for word in words:
            assert isinstance(command, click.Group)
            command = command.get_command(click.Context(command), word)
        assert command is not None
        for parameter in command.params:
            if isinstance(parameter.type, click.types.FloatParamType):
                found += 1
                with pytest.raises(click.BadParameter):
                    parameter.type.convert(given, parameter, None)  # type: ignore[arg-type]  # text, as on a command line
    assert found > 10
