"""The terminal table, against a golden file and against what a hostile run may try.

Regenerate the golden files with: REPOASSAY_GOLDEN=write pytest tests/report
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from repoassay.records import RunFolder
from repoassay.report import print_table, summarise
from repoassay.report.table import MOST_ROWS
from repoassay.types import Attempt, Outcome

MakeRun = Callable[..., RunFolder]
Put = Callable[..., Attempt]
GOLDEN = Path(__file__).parent / "golden" / "table.txt"


def printed(run: RunFolder, width: int = 80, encoding: str = "utf-8") -> str:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding)
    print_table(summarise(run), Console(file=file, width=width))
    file.flush()
    return "".join(f"{line.rstrip()}\n" for line in raw.getvalue().decode(encoding).splitlines())


def test_the_whole_table(varied: RunFolder) -> None:
    found = printed(varied)
    if os.environ.get("REPOASSAY_GOLDEN") == "write":
        GOLDEN.write_text(found, encoding="utf-8")
    assert found == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [80, 100, 200])
def test_it_keeps_to_the_width_and_is_plain_where_there_is_no_terminal(varied: RunFolder, width: int) -> None:
    found = printed(varied, width)
    assert max(map(len, found.splitlines())) <= width
    assert "\x1b" not in found and "\u202e" not in found and "\x00" not in found
    assert "4/7 57.1% [25.0, 84.2]" in found
    assert "6/8 75.0% [40.9, 92.9]" in found


def test_a_terminal_gets_no_escapes_from_agents(varied: RunFolder) -> None:
    file = io.StringIO()
    print_table(summarise(varied), Console(file=file, width=100, force_terminal=True, color_system="standard"))
    assert "^[[31m" in file.getvalue()  # the agent's, made visible; ours are real
    assert "[bold]&amp;" in file.getvalue()


def test_output_that_is_not_unicode_still_says_everything(varied: RunFolder) -> None:
    found = printed(varied, encoding="ascii")
    assert "+ passed" in found and "% infra fault" in found


def test_one_agent_has_no_agent_column(make_run: MakeRun, put: Put) -> None:
    run = make_run(tasks=2, attempts=2, agents=("solo",))
    put(run, "task-01", agent="solo", number=2)
    found = printed(run)
    assert "4 attempts of 2 tasks" in found
    assert "task-01 #2" in found
    assert found.count("solo") == 3  # head line, rates and counts


def test_names_that_are_too_long_do_not_break_it(make_run: MakeRun, put: Put) -> None:
    run = make_run(tasks=1, agents=("a" * 300, "[red]x"), domains=("d" * 500 + "\u202e",))
    put(run, "task-01", Outcome.FAILED, agent="[red]x", comments=("word " * 4000,))
    found = printed(run)
    assert "[red]x" in found
    assert max(map(len, found.splitlines())) <= 80


def test_a_long_run_lists_what_did_not_pass_and_says_so(make_run: MakeRun, put: Put, quick: None) -> None:
    run = make_run(tasks=MOST_ROWS + 1)
    for number in range(1, MOST_ROWS + 2):
        put(run, f"task-{number:02d}", Outcome.FAILED if number == 7 else Outcome.PASSED, log=None)
    found = printed(run)
    assert f"({MOST_ROWS} of {MOST_ROWS + 1} left out; --json has all)" in found
    assert found.count("task-") == 1 and "task-07" in found


def test_an_empty_plan_prints(make_run: MakeRun) -> None:
    assert "0/0 undefined" in printed(make_run(tasks=0))
    assert "isolation" in printed(make_run(agents=(), name="nobody"))


@pytest.mark.parametrize("width", [40, 60, 71])
def test_a_narrow_terminal_keeps_names_whole(varied: RunFolder, width: int) -> None:
    found = printed(varied, width)
    assert max(map(len, found.splitlines())) <= width
    rates, _, rest = found.partition("By domain")
    rates = rates.partition("Rates over")[2]
    assert all(agent.name in rates.split() for agent in summarise(varied).agents)
    assert "ECR judged" not in rest
