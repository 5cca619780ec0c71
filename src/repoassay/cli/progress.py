"""Showing a run as it goes: a live bar on a terminal, plain lines anywhere else."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Self

import click

from repoassay.model import Outcome, Verdict
from repoassay.run.execute import Slot

if TYPE_CHECKING:
    from rich.progress import Progress

__all__ = ["MARKS", "Live"]

MARKS = {Outcome.PASSED: ("✓", "green"), Outcome.INFRA_FAULT: ("!", "yellow"), Outcome.NOT_GRADABLE: ("?", "yellow")}
"""A sign and a colour for an outcome; everything else is a cross in red. Never colour alone."""


class Live:
    """Prints one line for each finished attempt, above a bar where there is a terminal."""

    def __init__(self, total: int, quiet: bool = False) -> None:
        self._total, self._quiet = total, quiet
        self._done = 0
        self._passed = 0
        self._lock = threading.Lock()
        self._bar: Progress | None = None
        if not quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
            from rich.progress import Progress as Bar

            self._bar = Bar(
                BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"),
                console=Console(stderr=True), transient=True,
            )  # fmt: skip
            self._task = self._bar.add_task("laying out workspaces", total=total)

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def resuming(self, kept: int, recovered: int, torn: tuple[int, ...], left: int) -> None:
        """Say what a resumed run starts from."""
        self._total = left
        if self._bar is not None:
            self._bar.update(self._task, total=left)
        note = f", {recovered} of them recovered" if recovered else ""
        self._print(f"{kept} finished attempts kept{note}; {left} to go.")
        for line in torn:
            self._print(f"journal.jsonl line {line} is torn (the run was killed while writing it) and was passed over.")

    def started(self, slot: Slot) -> None:
        """An attempt began."""
        if self._bar is not None:
            self._bar.update(self._task, description=f"{slot.task} by {slot.agent}")

    def finished(self, slot: Slot, verdict: Verdict, seconds: float) -> None:
        """An attempt ended and is on disk."""
        with self._lock:
            self._done += 1
            self._passed += verdict.outcome is Outcome.PASSED
            mark, colour = MARKS.get(verdict.outcome, ("✗", "red"))
            number = f" #{slot.number}" if slot.number > 1 else ""
            reason = f"  {verdict.comments[0]}" if verdict.comments and verdict.outcome is not Outcome.PASSED else ""
            line = (
                f"[{self._done:>{len(str(self._total))}}/{self._total}] {mark} {verdict.outcome.value:<12}"
                f" {slot.task}{number} by {slot.agent}  {seconds:.1f} s"
            )
            self._print(line, reason[:160].replace("\n", " "), colour)
            if self._bar is not None:
                self._bar.update(self._task, completed=self._done, description=f"{self._passed} passed")

    def dropped(self, slot: Slot) -> None:
        """An attempt was given up; it will be made again on resume."""
        self._print(f"dropped {slot.task} by {slot.agent}; it will be made again on resume")

    def _print(self, line: str, extra: str = "", colour: str = "") -> None:
        if self._quiet:
            return
        if self._bar is not None:
            from rich.text import Text

            self._bar.console.print(Text.assemble((line, colour), (extra, "dim")), soft_wrap=True)
        else:
            click.echo(line + extra, err=True)
