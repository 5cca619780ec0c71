"""What `repoassay construct` tells: progress on standard error, and what became of a task."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from repoassay.json_output import print_document

if TYPE_CHECKING:
    from repoassay.construct import Constructed, ProofCase, TaskRequest

__all__ = ["Telling", "given_text", "print_json", "print_made"]


def given_text(text: str) -> str:
    """Text, or with @ before it the file that holds it."""
    from repoassay.errors import BadInput
    from repoassay.tasks import read_regular
    from repoassay.text import quote

    if not text.startswith("@"):
        return text
    try:
        return read_regular(Path(text[1:]), 256 * 2**10).decode()
    except OSError as error:
        raise BadInput(f"The file {quote(text[1:])} cannot be read: {error.strerror}.", "Correct the name.") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"The file {quote(text[1:])} is not UTF-8.", "Save it as UTF-8.") from error


class Telling:
    """Says on standard error what is being done; with a spinner and a count of runs where there is a terminal."""

    def __init__(self, *, quiet: bool) -> None:
        from rich.console import Console

        self._quiet, self._runs, self._text = quiet, 0, ""
        console = Console(stderr=True)
        self._status = console.status("") if console.is_terminal and not quiet else None

    def __enter__(self) -> Telling:
        if self._status:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status:
            self._status.stop()

    def step(self, text: str) -> None:
        """Say what is being done now."""
        self._text = text
        if self._status:
            self._status.update(text)
        elif not self._quiet:
            click.echo(f"{text} ...", err=True)

    def say(self, text: str) -> None:
        """Say something that stays, whatever is done next."""
        if not self._quiet:
            click.echo(text, err=True)

    def done(self) -> None:
        """Count a finished run."""
        self._runs += 1
        if self._status:
            self._status.update(f"{self._text}: {self._runs} runs done")


def print_made(result: Constructed, out: Path) -> None:
    """Print every test's counts, what was dropped and why, and where the task is."""
    from repoassay.construct import ProofFinding

    width = max((len(_short(case.id)) for case in result.proven.cases), default=4)
    if result.proven.cases:
        click.echo(f"{'test':<{width}}  {'base':<16}  {'solution':<16}  as")
    for case in result.proven.cases:
        click.echo(
            f"{_short(case.id):<{width}}  {_side(case.base):<16}  {_side(case.solution):<16}  {_WORDS[case.role]}"
        )
    for case in result.proven.cases:
        _explain(case)
    for sentence in result.derivation:
        click.echo(f"environment: {_short(sentence)}", err=True)
    for warning in result.warnings:
        click.echo(f"note: {warning}", err=True)
    for file, why in result.proven.unread.items():
        if result.finding is ProofFinding.SOUND:
            click.echo(f"note: {_short(file)} was left out: no test of it could be run. {_short(why[-200:])}", err=True)
    if result.folder:
        click.echo(f"✓ {result.id} is sound and is in {result.folder}. Prove it again: repoassay tasks validate {out}")
        return
    click.echo(f"✗ {result.id} is refused as {result.finding.value}; nothing was written.")
    for reason in result.reasons:
        click.echo(f"  {reason}")


_WORDS = {
    "fail_to_pass": "must pass",
    "pass_to_pass": "guard",
    "flaky": "dropped: flaky",
    "fails": "dropped: fails with the solution",
    "breaks": "broken by the solution",
    "skipped": "dropped: skipped with the solution",
}


def _short(text: str) -> str:
    from repoassay.text import printable

    return printable(text)


def _side(outcomes: tuple[str, ...]) -> str:
    from repoassay.construct import flip_rate

    passed = sum(outcome == "passed" for outcome in outcomes)
    rate = flip_rate(outcomes)
    return f"{passed}/{len(outcomes)} pass" + (f", flips {rate:.0%}" if rate else "")


def _explain(case: ProofCase) -> None:
    """Why a test that was dropped or broken first did not pass with the solution."""
    from repoassay.construct import ProofRole
    from repoassay.text import block

    if case.role in (ProofRole.MUST_PASS, ProofRole.GUARD, ProofRole.SKIPPED):
        return
    message = case.solution_message or case.base_message
    click.echo(f"\n{_short(case.id)}, first failure:")
    click.echo("".join(f"  {line}\n" for line in block(message.strip()).splitlines()[-12:]), nl=False)


def print_json(result: Constructed, request: TaskRequest) -> None:
    """Print the same as JSON."""
    from repoassay.construct import facts

    tests = [{**facts(case), "message": (case.solution_message or case.base_message)} for case in result.proven.cases]
    answer = {
        "id": result.id,
        "finding": result.finding.value,
        "folder": str(result.folder) if result.folder else None,
        "repository": request.repository,
        "base": result.base,
        "solution": result.solution,
        "tests": tests,
        "unread": dict(result.proven.unread),
        "reasons": list(result.reasons),
        "warnings": list(result.warnings),
        "environment": list(result.derivation),
        "lost": dict(zip(("tests", "of"), result.proven.lost, strict=True)),
    }
    print_document(answer)
