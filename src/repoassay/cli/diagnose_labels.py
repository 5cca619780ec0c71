"""`repoassay diagnose label`, `labels` and `score`: what people say of attempts, and who agrees with them."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from repoassay.cli.diagnose_options import classifier_options, classify_first, find_run, find_subjects, runs_option
from repoassay.completion import complete_runs
from repoassay.errors import BadInput
from repoassay.json_output import print_document
from repoassay.options import json_option

if TYPE_CHECKING:
    from repoassay.diagnosis import Label, Score

__all__ = ["add_label", "list_labels", "score_labels"]


@click.command("label")
@click.argument("attempt", shell_complete=complete_runs)
@click.argument("value", metavar="CLASS")
@click.option("--by", "author", required=True, metavar="NAME", help="Who says so.")
@click.option("--note", default="", metavar="TEXT", help="Why, in a person's words.")
@click.option("--subclass", metavar="NAME", help="Subclass, such as missing_package (docs/diagnosis.md).")
@click.option("--also", multiple=True, metavar="CLASS", help="A further class it shows; may be repeated.")
@runs_option
def add_label(
    attempt: str, value: str, author: str, note: str, subclass: str | None, also: tuple[str, ...], runs: Path
) -> None:
    """Label ATTEMPT with CLASS: E1 to E5 in any spelling, none, or unclear. It holds instead of what the rules say.

    Labels are added to the run's labels.jsonl with author and time and never changed; a correction is a further label.

    \b
    Examples:
      repoassay diagnose label latest/01K9Z5T7 E3 --by Ada
      repoassay diagnose label 01K9Z5T7 "E-1" --subclass missing_wheel --by Ada --note "no wheel for this Python"
      repoassay diagnose label 01K9Z5T7 unclear --by Grace
    """
    from repoassay.diagnosis import label_book
    from repoassay.report import label_line

    run, subjects, whole = find_subjects(attempt, runs)
    if whole:
        raise BadInput(f"{attempt!r} is a run.", "Name one attempt, as RUN/ATTEMPT.")
    label = _label(subjects[0].attempt, value, author, note, subclass, also)
    label_book(run.path).append(label)
    click.echo(f"{subjects[0].attempt}: {label_line(label)}")


def _label(attempt: str, value: str, author: str, note: str, subclass: str | None, also: tuple[str, ...]) -> Label:
    from pydantic import ValidationError

    from repoassay.diagnosis import Label, Subclass, label_from_text, parse_class

    # What the command line holds beside UTF-8 comes as lone surrogates, which no file of ours can hold.
    value, author, note = (text.encode("utf-8", "backslashreplace").decode() for text in (value, author.strip(), note))
    if not author:
        raise BadInput("The label has no author.", "Say who gives it with --by NAME.")
    if subclass is not None and subclass not in {one.value for one in Subclass}:
        raise BadInput(
            f"There is no subclass {subclass!r}.", f"Choose one of: {', '.join(one.value for one in Subclass)}."
        )
    try:
        plain = label_from_text(value, attempt=attempt, author=author, at=datetime.now(UTC), note=note)
        further = [parse_class(one).code for one in also]
        return Label.model_validate(plain.model_dump() | {"subclass": subclass, "also": further})
    except ValidationError as error:
        first = error.errors()[0]
        place = f"{first['loc'][0]}: " if first["loc"] else ""
        raise BadInput(f"The label cannot be kept: {place}{first['msg']}.") from error
    except ValueError as error:
        raise BadInput(f"The label of {attempt}: {error}.") from error


@click.command("labels")
@click.argument("run", shell_complete=complete_runs)
@runs_option
@json_option
def list_labels(run: str, runs: Path, as_json: bool) -> None:
    """List every label of RUN in the order they were given.

    \b
    Examples:
      repoassay diagnose labels latest
      repoassay diagnose labels runs/nightly --json > labels.json
    """
    from repoassay.diagnosis import label_book
    from repoassay.report import label_line, plain_value
    from repoassay.text import one_line

    folder = find_run(run, runs)
    if folder is None:
        raise BadInput(f"There is no run {run!r}.", "Name a run folder, or `latest`.")
    found = label_book(folder.path).read()
    for line in found.torn[:20]:
        click.echo(f"labels.jsonl line {line} is torn or no label and was passed over.", err=True)
    if as_json:
        print_document([plain_value(label.model_dump(mode="json")) for label in found.items])
        return
    for label in found.items:
        click.echo(f"{one_line(label.attempt, 60)}  {label_line(label)}")
    if not found.items:
        click.echo("No attempt of this run is labelled.", err=True)


@click.command("score")
@click.argument("run", shell_complete=complete_runs)
@runs_option
@json_option
@classifier_options(required=True)
def score_labels(run: str, runs: Path, as_json: bool, classifier: str | None, **asking: Any) -> None:
    """Compare with people's labels of RUN what the rules say, or with --classifier what a model says.

    Prints the confusion table with recall, precision and their 95% Wilson intervals, and every attempt that differs. Of
    several labels by people the latest counts. An answer of the model that was refused counts as unclear.

    \b
    Examples:
      repoassay diagnose score latest
      repoassay diagnose score latest --classifier openai/gpt-4.1-mini --budget-usd 0.50
    """
    from repoassay.report import Diagnoser, people_said, score_model, score_rules

    folder, subjects, whole = find_subjects(run, runs)
    by_people = people_said(folder)
    labelled = [one for one in subjects if one.attempt in by_people]
    if not whole or not labelled:
        what = f"No attempt of {folder.path} that counts is labelled by a person." if whole else f"{run!r} is no run."
        raise BadInput(what, "Label some with `repoassay diagnose label`, and name their run.")
    examiner = Diagnoser(folder)
    refused, stopped = classify_first(examiner, labelled, classifier, **asking) if classifier else (frozenset(), "")
    looked = [examiner.look(one) for one in labelled]
    found = score_model(examiner, looked, classifier, refused) if classifier else score_rules(looked)
    _print_score(found, classifier or "the rules", as_json=as_json)
    if stopped:
        click.echo(f"The classifier stopped early: {stopped}", err=True)
        sys.exit(1)  # what click raises is lost on the way out of `main`


def _print_score(found: Score, who: str, *, as_json: bool) -> None:
    from repoassay.diagnosis import confusion_text
    from repoassay.text import one_line

    if as_json:
        table = {f"{true} {answer}": count for (true, answer), count in found.table.items() if count}
        low, high = found.agreement.low, found.agreement.high
        document = {
            "schema": "repoassay/diagnosis-score/1", "who": who, "n": found.n, "right": found.right,
            "agreement": {"share": found.share, "low": low, "high": high, "interval": "95% Wilson score"},
            "table": table, "wrong": [dict(zip(("attempt", "true", "said"), one, strict=True)) for one in found.wrong],
        }  # fmt: skip
        print_document(document)
        return
    click.echo(f"People's labels (true) against {one_line(who, 100)} (said):\n")
    click.echo(confusion_text(found))
    for attempt, true, answer in found.wrong[:50]:
        click.echo(f"  {attempt}: {true} by people, {answer} by {one_line(who, 100)}")
