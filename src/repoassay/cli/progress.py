"""Showing a run as it goes: on a terminal a live table with tokens and dollars, plain lines anywhere else."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Self

import click

from repoassay.api import (
    AgentStarted,
    AttemptDropped,
    AttemptEvent,
    AttemptFinished,
    AttemptStarted,
    RunEvent,
    RunOpened,
    RunPlanned,
    RunResumed,
)
from repoassay.exits import tell_now
from repoassay.types import Outcome, Plan, Spending

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live as Screen

    from repoassay.engine import CostBound

__all__ = ["MARKS", "Live"]

MARKS = {Outcome.PASSED: ("✓", "green"), Outcome.INFRA_FAULT: ("!", "yellow"), Outcome.NOT_GRADABLE: ("?", "yellow")}
"""A sign and a colour for an outcome; everything else is a cross in red. Never colour alone."""
_MOST_ROWS = 16


_Place = tuple[str, str, int]
"""Task, agent and number of an attempt under way."""


class Live:
    """Prints one line for each finished attempt, above a table of those under way where there is a terminal.

    Args:
        agree: Shows a plan before it is carried out, and raises when it may not be.
    """

    def __init__(self, agree: Callable[[Plan, CostBound], None] = lambda plan, bound: None) -> None:
        self._agree = agree
        self.kept = 0
        """Attempts that a resumed run had finished before."""
        self.nothing_left = False
        """Whether a resumed run had nothing left to do."""
        self._total = 0
        self.made = 0
        """Attempts that ended."""
        self._passed = 0
        self._lock = threading.Lock()
        self._busy: dict[_Place, tuple[float, Callable[[], Spending | None]]] = {}
        self._spent: list[Spending] = []
        self._screen: Screen | None = None
        self._ending = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._screen is not None:
            self._screen.stop()

    def __call__(self, event: RunEvent) -> None:
        """Show an event."""
        match event:
            case RunPlanned():
                self._agree(event.plan, event.bound)
            case RunOpened():
                self._total = event.attempts
                click.echo(f"{event.attempts} attempts; run folder {event.path}", err=True)
                self._start()
            case RunResumed():
                self._resumed(event)
            case AttemptFinished():
                self._finished(event)
            case AttemptEvent():
                self._under_way(event)

    def announce(self, sentence: str) -> None:
        """Show at once what Ctrl-C does: in the table, which is drawn four times a second, or as a line."""
        self._ending = sentence
        if self._screen is None:
            tell_now(sentence)

    def _start(self) -> None:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live as Screen

            self._screen = Screen(
                console=Console(stderr=True), get_renderable=self._table, refresh_per_second=4, transient=True
            )
            self._screen.start()

    def _resumed(self, event: RunResumed) -> None:
        self.kept, self.nothing_left = event.kept, event.attempts == 0
        if self.nothing_left:
            return
        self._start()
        self._total = event.attempts
        note = f", {event.recovered} of them recovered" if event.recovered else ""
        self._print(f"{event.kept} finished attempts kept{note}; {event.attempts} to go.")
        for line in event.torn:
            self._print(f"journal.jsonl line {line} is torn (the run was killed while writing it) and was passed over.")

    def _under_way(self, event: AttemptEvent) -> None:
        place = (event.task, event.agent, event.number)
        with self._lock:
            if isinstance(event, AttemptStarted):
                self._busy[place] = (time.monotonic(), lambda: None)
                self._total += event.tries > 0
            elif isinstance(event, AgentStarted):
                self._busy[place] = (self._busy[place][0], event.spending)
            else:
                self._busy.pop(place, None)
        if isinstance(event, AttemptDropped):
            self._print(f"dropped {event.task} by {event.agent}; it will be made again on resume")

    def _finished(self, event: AttemptFinished) -> None:
        attempt, verdict = event.attempt, event.verdict
        with self._lock:
            self._busy.pop((event.task, event.agent, event.number), None)
            self.made += 1
            self._passed += verdict.outcome is Outcome.PASSED
            mark, colour = MARKS.get(verdict.outcome, ("✗", "red"))
            number = f" #{event.number}" if event.number > 1 else ""
            reason = f"  {verdict.comments[0]}" if verdict.comments and verdict.outcome is not Outcome.PASSED else ""
            line = (
                f"[{self.made:>{len(str(self._total))}}/{self._total}] {mark} {verdict.outcome.value:<12}"
                f" {event.task}{number} by {event.agent}  {(attempt.ended - attempt.started).total_seconds():.1f} s"
            )
            if attempt.spent is not None:
                from repoassay.report import dollars, tokens  # late: it brings tables and templates

                self._spent.append(attempt.spent)
                line += f"  {attempt.spent.calls} calls, {tokens(attempt.spent)} tokens, {dollars(attempt.spent)}"
            self._print(line, reason[:160].replace("\n", " "), colour)

    def _table(self) -> RenderableType:
        from rich.table import Table
        from rich.text import Text

        from repoassay.report import dollars, tokens

        with self._lock:
            busy, spent = dict(self._busy), list(self._spent)
        now = time.monotonic()
        table = Table(box=None, pad_edge=False, padding=(0, 1), show_footer=True)
        accounts = [spending() for _, spending in busy.values()]
        total = sum((*spent, *(account for account in accounts if account is not None)), Spending())
        metered = bool(spent or any(accounts))
        for name, foot in (
            ("under way", f"{self.made}/{self._total} finished, {self._passed} passed"),
            ("agent", ""),
            ("seconds", ""),
            ("calls", str(total.calls) if metered else ""),
            ("tokens", tokens(total) if metered else ""),
            ("dollars", dollars(total) if metered else ""),
        ):
            table.add_column(name, footer=Text(foot), justify="left" if name in ("under way", "agent") else "right")
        for (task, agent, attempt), (since, spending) in list(busy.items())[:_MOST_ROWS]:
            so_far = spending()
            figures = [str(so_far.calls), tokens(so_far), dollars(so_far)] if so_far else ["-", "-", "-"]
            number = f" #{attempt}" if attempt > 1 else ""
            table.add_row(Text(f"{task}{number}"), Text(agent), f"{now - since:.0f}", *figures)
        if len(busy) > _MOST_ROWS:
            table.add_row(f"... and {len(busy) - _MOST_ROWS} more")
        if self._ending:
            table.add_row(Text(self._ending, "bold yellow"))
        return table

    def _print(self, line: str, extra: str = "", colour: str = "") -> None:
        if self._screen is not None:
            from rich.text import Text

            self._screen.console.print(Text.assemble((line, colour), (extra, "dim")), soft_wrap=True)
        else:
            click.echo(line + extra, err=True)
