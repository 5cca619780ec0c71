"""Command lines of one's own, with the instruction where people put it."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from repoassay.agents import find_modelled
from repoassay.agents.command import CommandAgent
from repoassay.errors import BadInput

TEXT = '# Do it\n\nIt\'s "here": `id`, $HOME and \\n.'


def told(line: str) -> str:
    agent = CommandAgent(line)
    values = {"instruction": shlex.quote(TEXT), "task": "a-task", "workspace": "/w"}
    line = agent._fill(values)  # the whole command wants a workspace
    return subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("printf '<%s>' {instruction}", f"<{TEXT}>"),
        ("printf '<%s>' \"{instruction}\" {task}", f"<{TEXT}><a-task>"),
        ("printf '<%s>' '{instruction}'", f"<{TEXT}>"),
        ('printf \'<%s>\' "It \\" is: {instruction} {workspace}"', f'<It " is: {TEXT} /w>'),
        ("printf '<%s>' \"$(printf %s {instruction})\"", f"<{TEXT}>"),
        ('printf \'<%s>\' "$(printf %s "{instruction}")"', f"<{TEXT}>"),
        ('X="$(echo "y")"; printf \'<%s>\' "$X{instruction}"', f"<y{TEXT}>"),
    ],
)
def test_an_instruction_is_one_word_within_whatever_quotes(line: str, said: str) -> None:
    assert told(line) == said


@pytest.mark.parametrize("line", ["sh -c 'agent {instruction}'", "bash -lc 'agent \"{instruction}\"' x"])
def test_a_shell_within_the_shell_never_reads_the_instruction(line: str) -> None:
    with pytest.raises(BadInput, match="among other words in single quotes"):
        CommandAgent(line)


@pytest.mark.parametrize("line", ['agent "`cat {instruction}`"', 'agent "$(a $(b) "{instruction}")"'])
def test_where_quotes_cannot_be_told_apart_a_line_is_refused(line: str) -> None:
    with pytest.raises(BadInput, match="command substitution"):
        CommandAgent(line)


def test_a_folder_of_that_name_is_named_in_place_of_a_likeness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "agent.toml").touch()
    with pytest.raises(BadInput, match=r"write \./mine\."):
        find_modelled("mine")
