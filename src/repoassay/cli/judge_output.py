"""What the commands of `repoassay judge` share: the study they open, and what is printed."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from repoassay.json_output import print_document

if TYPE_CHECKING:
    from repoassay.judges import CalibrationState, JudgeRecord, JudgingResult, JudgingStep
    from repoassay.types import Spending

__all__ = ["cost_sentence", "judge_cost", "judge_journal", "open_study", "print_step", "show"]


def print_step(step: JudgingStep) -> None:
    """Print one line for a sample."""
    judgement = step.judgement
    width = len(str(step.of))
    head = f"[{step.number:>{width}}/{step.of}] {step.item} {step.axis} #{step.sample}: "
    if judgement is None:
        text, colour = f"failed. {step.failure}", "yellow"
    elif judgement.answer is None:
        text, colour = f"void. {judgement.void}", "yellow"
    else:
        text, colour = judgement.answer.state, ""
    flags = f" (flagged: {judgement.flags[0].kind})" if judgement is not None and judgement.flags else ""
    click.secho(head + text + flags, fg=colour or None, err=True)


def judge_cost(spending: Spending, changes: int) -> dict[str, Any]:
    """What a judge cost, and that by the changes it judged, as JSON has it."""
    dollars = spending.dollars
    each = None if dollars is None or not changes else str(round(dollars / changes, 6))
    return {"dollars": None if dollars is None else str(dollars), "changes": changes, "dollars_per_change": each}


def cost_sentence(cost: dict[str, Any]) -> str:
    """The same as a sentence."""
    if not cost["changes"]:
        return "No change was judged."
    if cost["dollars"] is None:
        return f"{cost['changes']} changes judged, at an unknown price."
    each = float(cost["dollars_per_change"])
    return f"{cost['changes']} changes judged for {float(cost['dollars']):.4f} USD, {each:.4f} USD each."


def show(
    seated: JudgeRecord, done: JudgingResult, spent: Spending, state: CalibrationState, changes: int, *, as_json: bool
) -> None:
    """Print what a run came to, with how far the judge has been held against people.

    Raises:
        Interrupted: When the user stopped it.
        RepoAssayError: When something is left that failed or was not paid for.
    """
    from repoassay.errors import Interrupted, RepoAssayError

    tokens = spent.usage.total
    dollars = "an unknown price" if spent.dollars is None else f"{spent.dollars:.4f} USD"
    if as_json:
        money = None if spent.dollars is None else str(spent.dollars)
        data = {"judge": seated.rater.name, "version": seated.definition.digest, **asdict(done)}
        data |= {"calls": spent.calls, "tokens": tokens, "dollars": money}
        data |= {"cost": judge_cost(spent, changes), "calibration": asdict(state)}
        print_document(data)
    else:
        for line in done.skipped:
            click.echo(f"Passed over {line}", err=True)
        click.echo(
            f"{done.stored} answers stored, {done.void} of them void; {done.kept_before} were there before; "
            f"{done.failed} failed, {done.left} left. {done.rated} ratings submitted. "
            f"{spent.calls} calls, {tokens:,} tokens, {dollars}."
        )
        click.echo(cost_sentence(judge_cost(spent, changes)))
        click.echo(f"This judge: {state.sentence.rstrip('.')}.")
    if done.interrupted:
        raise Interrupted("Interrupted.", "What was answered is kept; run it again to go on.")
    if done.stopped or done.failed:
        why = done.stopped or f"{done.failed} calls failed."
        raise RepoAssayError(why, "What was answered is kept; run it again to go on.")


def judge_journal(database: str, judge: JudgeRecord) -> Path:
    """Where a judge's calls are accounted for, beside its database; one on a server has them in the current folder."""
    name = f"judge-{judge.rater.id}.usage.jsonl"
    if "://" not in database:
        place = Path(database).expanduser()
        return place.with_name(f"{place.name}.judges") / name
    study = re.sub(r"[^A-Za-z0-9_.-]", "-", judge.rater.study)
    return Path("judges") / study / name


def open_study(database: str) -> Any:
    """Open a review database that is there; a context manager.

    Raises:
        BadInput: When there is none.
    """
    from contextlib import closing

    from repoassay.errors import BadInput
    from repoassay.review import open_database

    # Opening makes a database where there is none, which a mistyped name must not.
    if "://" not in database and not Path(database).expanduser().is_file():
        raise BadInput(f"There is no review database {database}.", "Give the file of a study, or its URL.")
    return closing(open_database(database))
