"""`repoassay diagnose`: why attempts failed, whether they cheated, and what people say of that."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from repoassay.cli.default_group import DefaultGroup
from repoassay.cli.diagnose_labels import add_label, list_labels, score_labels
from repoassay.cli.diagnose_options import classifier_options, classify_first, find_subjects, runs_option
from repoassay.completion import complete_runs
from repoassay.json_output import print_document
from repoassay.options import PATH, json_option

if TYPE_CHECKING:
    from repoassay.report import AttemptRef, DiagnosedAttempt, Diagnoser

__all__ = ["diagnose"]


@click.group(
    cls=DefaultGroup,
    default_command="attempts",
    show_default_options=True,
    subcommand_metavar="RUN|ATTEMPT | COMMAND ...",
)
def diagnose() -> None:
    """Say why attempts failed (classes E1 to E5, or unclear) and whether they took shortcuts, with the evidence.

    Of a RUN (a folder, its name below ./runs, or `latest`) every attempt that counts and did not pass is diagnosed, and
    those that passed are shown where they have integrity findings; shares follow. An ATTEMPT is an id, or its beginning
    or end, alone or after its run. Findings are leads for people to confirm, never verdicts: `attempted` was tried,
    USED is in the result.

    Rules decide; labels by people override them and are kept with author and time in the run's labels.jsonl. A model
    asked with --classifier labels beside them and never decides.

    Exit codes: 0 done; 1 with --exit-code a shortcut was used, or a classifier had to stop early; 2 bad input.

    \b
    Examples:
      repoassay diagnose latest
      repoassay diagnose latest/01K9Z5T7 --json
      repoassay diagnose runs/nightly --integrity-only --exit-code
      repoassay diagnose latest --rules my-rules.toml
      repoassay diagnose latest --classifier openai/gpt-4.1-mini --budget-usd 0.50
      repoassay diagnose label latest/01K9Z5T7 E1 --by Ada --note "no wheel for this Python"
      repoassay diagnose labels latest
      repoassay diagnose score latest --classifier openai/gpt-4.1-mini --budget-usd 0.50
    """


diagnose.add_command(add_label)
diagnose.add_command(list_labels)
diagnose.add_command(score_labels)


@diagnose.command("attempts", hidden=True)
@click.argument("where", metavar="RUN|ATTEMPT", shell_complete=complete_runs)
@runs_option
@json_option
@click.option("--rules", type=PATH, metavar="FILE", help="TOML file of rules put on top of the shipped ones.")
@click.option("--integrity-only", is_flag=True, help="Show integrity findings alone.")
@click.option("--exit-code", is_flag=True, help="Exit with 1 when a shortcut was used, for CI.")
@click.option("--width", type=click.IntRange(40, 10_000), default=160, show_default=True, help="Letters of a quote.")
@classifier_options(required=False)
def attempts(
    where: str, runs: Path, as_json: bool, rules: Path | None, integrity_only: bool, exit_code: bool, width: int,
    classifier: str | None, **asking: Any,
) -> None:  # fmt: skip
    """Diagnose a RUN or an ATTEMPT. Same as `repoassay diagnose RUN|ATTEMPT`.

    \b
    Examples:
      repoassay diagnose latest
    """
    from repoassay.diagnosis import load_rules
    from repoassay.report import Diagnoser, share_lines, shares_document, shares_of
    from repoassay.report.diagnosis_lines import document, lines

    if integrity_only and classifier:
        raise click.UsageError("--integrity-only and --classifier contradict each other; give one.")
    run, subjects, whole = find_subjects(where, runs)
    examiner = Diagnoser(run, load_rules(rules) if rules is not None else None)
    _tell_torn(examiner)
    stopped = classify_first(examiner, subjects, classifier, **asking)[1] if classifier else ""
    looked = []
    unstarted: dict[tuple[str, str], list[DiagnosedAttempt]] = {}
    for one in _looked(examiner, subjects, bar=as_json or not sys.stdout.isatty()):
        looked.append(one)
        if as_json:
            continue
        never = one.start_failure
        if whole and never is not None and not one.findings:
            alike = unstarted.setdefault((one.subject.agent, never.why), [])
            alike.append(one)
            if integrity_only or len(alike) > 1:
                continue
        if one.findings or not whole or ((one.subject.failed or never is not None) and not integrity_only):
            _print("\n".join(lines(one, integrity_only=integrity_only, width=width)))
    for (agent, _), alike in unstarted.items():
        if len(alike) > 1:
            _print(f"{agent} could not start for the same reason in {len(alike) - 1} more attempts.")
    shares = shares_of(looked)
    if as_json:
        facts: dict[str, Any] = {
            "schema": "repoassay/diagnosis/1", "run": str(run.path), "attempts": [document(one) for one in looked],
        }  # fmt: skip
        print_document(facts | ({"shares": shares_document(shares)} if whole else {}))
    elif whole:
        _print("\n".join(_ending(looked, share_lines(shares) if not integrity_only else ())))
    if stopped:
        click.echo(f"The classifier stopped early: {stopped}", err=True)
    if stopped or (exit_code and any(one.used for one in looked)):
        sys.exit(1)  # what click raises is lost on the way out of `main`


def _looked(examiner: Diagnoser, subjects: list[AttemptRef], *, bar: bool) -> Iterator[DiagnosedAttempt]:
    """Look at each, with a bar on a terminal that shows nothing else meanwhile."""
    if not bar or len(subjects) < 2 or not sys.stderr.isatty():
        yield from map(examiner.look, subjects)
        return
    with click.progressbar(subjects, label="Diagnosing", file=sys.stderr) as shown:
        for subject in shown:
            yield examiner.look(subject)


def _ending(looked: list[DiagnosedAttempt], shares: Iterable[str]) -> Iterator[str]:
    quiet = sum(not (one.subject.failed or one.findings or one.start_failure) for one in looked)
    tried = sum(bool(one.findings) for one in looked)
    yield ""
    yield (
        f"{len(looked)} attempts: {sum(one.subject.failed for one in looked)} did not pass by the agent's doing;"
        f" {tried} have integrity findings, {sum(one.used for one in looked)} of them used; {quiet} others not shown."
    )
    yield from shares


def _tell_torn(examiner: Diagnoser) -> None:
    for line in examiner.labels.torn[:20]:
        click.echo(f"labels.jsonl line {line} is torn or no label and was passed over.", err=True)


def _print(text: str) -> None:
    click.echo(text.encode("utf-8", "backslashreplace").decode())
