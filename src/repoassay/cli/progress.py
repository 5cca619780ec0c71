"""Showing a run as it goes: on a terminal a live table with tokens and dollars, plain lines anywhere else."""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING, Self

import click

from repoassay.model import Attempt, Outcome, Spending, Verdict
from repoassay.run.metered import Admitted
from repoassay.store.slots import Slot

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live as Screen

__all__ = ["MARKS", "Live"]

MARKS = {Outcome.PASSED: ("✓", "green"), Outcome.INFRA_FAULT: ("!", "yellow"), Outcome.NOT_GRADABLE: ("?", "yellow")}
"""A sign and a colour for an outcome; everything else is a cross in red. Never colour alone."""
_MOST_ROWS = 16


class Live:
    """Prints one line for each finished attempt, above a table of those under way where there is a terminal."""

    def __init__(self, total: int, quiet: bool = False) -> None:
        self._total, self._quiet = total, quiet
        self._done = 0
        self._passed = 0
        self._lock = threading.Lock()
        self._busy: dict[Slot, tuple[float, Admitted | None]] = {}
        self._spent: list[Spending] = []
        self._screen: Screen | None = None
        if not quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live as Screen

            self._screen = Screen(
                console=Console(stderr=True), get_renderable=self._table, refresh_per_second=4, transient=True
            )

    def __enter__(self) -> Self:
        if self._screen is not None:
            self._screen.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._screen is not None:
            self._screen.stop()

    def resuming(self, kept: int, recovered: int, torn: tuple[int, ...], left: int) -> None:
        """Say what a resumed run starts from."""
        self._total = left
        note = f", {recovered} of them recovered" if recovered else ""
        self._print(f"{kept} finished attempts kept{note}; {left} to go.")
        for line in torn:
            self._print(f"journal.jsonl line {line} is torn (the run was killed while writing it) and was passed over.")

    def started(self, slot: Slot) -> None:
        """An attempt began."""
        with self._lock:
            self._busy[slot] = (time.monotonic(), None)
            self._total += slot.tries > 0

    def admitted(self, slot: Slot, account: Admitted) -> None:
        """Its agent is about to start."""
        with self._lock:
            self._busy[slot] = (self._busy[slot][0], account)

    def finished(self, slot: Slot, attempt: Attempt, verdict: Verdict) -> None:
        """An attempt ended and is on disk."""
        with self._lock:
            self._busy.pop(slot, None)
            self._done += 1
            self._passed += verdict.outcome is Outcome.PASSED
            mark, colour = MARKS.get(verdict.outcome, ("✗", "red"))
            number = f" #{slot.number}" if slot.number > 1 else ""
            reason = f"  {verdict.comments[0]}" if verdict.comments and verdict.outcome is not Outcome.PASSED else ""
            line = (
                f"[{self._done:>{len(str(self._total))}}/{self._total}] {mark} {verdict.outcome.value:<12}"
                f" {slot.task}{number} by {slot.agent}  {(attempt.ended - attempt.started).total_seconds():.1f} s"
            )
            if attempt.spent is not None:
                from repoassay.report.figures import dollars, tokens  # late: it brings tables and templates

                self._spent.append(attempt.spent)
                line += f"  {attempt.spent.calls} calls, {tokens(attempt.spent)} tokens, {dollars(attempt.spent)}"
            self._print(line, reason[:160].replace("\n", " "), colour)

    def dropped(self, slot: Slot) -> None:
        """An attempt was given up; it will be made again on resume."""
        with self._lock:
            self._busy.pop(slot, None)
        self._print(f"dropped {slot.task} by {slot.agent}; it will be made again on resume")

    def _table(self) -> RenderableType:
        from rich.table import Table
        from rich.text import Text

        from repoassay.report.figures import dollars, tokens

        with self._lock:
            busy, spent = dict(self._busy), list(self._spent)
        now = time.monotonic()
        table = Table(box=None, pad_edge=False, padding=(0, 1), show_footer=True)
        accounts = [account.now() for _, account in busy.values() if account is not None]
        total = sum((*spent, *(account for account in accounts if account is not None)), Spending())
        metered = bool(spent or any(accounts))
        for name, foot in (
            ("under way", f"{self._done}/{self._total} finished, {self._passed} passed"),
            ("agent", ""),
            ("seconds", ""),
            ("calls", str(total.calls) if metered else ""),
            ("tokens", tokens(total) if metered else ""),
            ("dollars", dollars(total) if metered else ""),
        ):
            table.add_column(name, footer=Text(foot), justify="left" if name in ("under way", "agent") else "right")
        for slot, (since, account) in list(busy.items())[:_MOST_ROWS]:
            so_far = account.now() if account else None
            figures = [str(so_far.calls), tokens(so_far), dollars(so_far)] if so_far else ["-", "-", "-"]
            number = f" #{slot.number}" if slot.number > 1 else ""
            table.add_row(Text(f"{slot.task}{number}"), Text(slot.agent), f"{now - since:.0f}", *figures)
        if len(busy) > _MOST_ROWS:
            table.add_row(f"... and {len(busy) - _MOST_ROWS} more")
        return table

    def _print(self, line: str, extra: str = "", colour: str = "") -> None:
        if self._quiet:
            return
        if self._screen is not None:
            from rich.text import Text

            self._screen.console.print(Text.assemble((line, colour), (extra, "dim")), soft_wrap=True)
        else:
            click.echo(line + extra, err=True)
