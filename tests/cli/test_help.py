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
ALL = [words for name, program in PROGRAMS.items() for words in commands(program, (name,))]


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_help_is_as_recorded(words: tuple[str, ...]) -> None:
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
