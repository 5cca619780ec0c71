"""`repoassay judge`: a model as one more rater of a study, and how far it agrees with people."""

from __future__ import annotations

import sys
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from repoassay.cli.default_group import DefaultGroup
from repoassay.options import PATH, FiniteRange, executor_option, json_option

if TYPE_CHECKING:
    from repoassay.judges import JudgeRecord

__all__ = ["judge"]

_MOST_AT_NODES = 256
"""Calls at a time, whatever the nodes are; more would be threads that wait."""


@click.group(cls=DefaultGroup, default_command="run", modules={"calibrate": "repoassay.cli.judge_calibrate:calibrate"})
def judge() -> None:
    """Let a model rate the items of a study, beside people; `calibrate` holds it against them.

    \b
    Examples:
      repoassay judge reviews.sqlite --study s --model openai/gpt-4.1 --samples 3 --budget-usd 5
      repoassay judge reviews.sqlite --study s --model scripted/judge --dialogue answers.toml
      repoassay judge reviews.sqlite --study s --model vllm/judge --executor slurm://4 --workers 16
      repoassay judge calibrate reviews.sqlite --study s
    """


@judge.command("run")
@click.argument("database", metavar="STUDY_DB")
@click.option("--study", required=True, metavar="NAME", help="The study.")
@click.option("--model", required=True, metavar="PROVIDER/NAME", help="Model that judges, such as openai/gpt-4.1.")
@click.option(
    "--samples",
    type=click.IntRange(1, 100),
    default=3,
    show_default=True,
    metavar="K",
    help="How often each axis of each item is asked; the share of votes is the judge's confidence.",
)
@click.option("--axes", multiple=True, metavar="KEY,...", help="Only these axes; an item is rated when all are judged.")
@click.option("--signals", is_flag=True, help="Make a second pass that knows what signals found; both are kept.")
@click.option("--temperature", type=FiniteRange(0, 2), metavar="T", help="Sent to the model; else its default.")
@click.option("--with-description", is_flag=True, help="Show what the author says of the change; it sways judges.")
@click.option(
    "--max-diff",
    type=click.IntRange(1_000, 4_000_000),
    default=120_000,
    show_default=True,
    metavar="N",
    help="Characters of a diff shown; longer ones are cut file by file.",
)
@click.option(
    "--max-answer",
    type=click.IntRange(64, 200_000),
    default=8_000,
    show_default=True,
    metavar="N",
    help="Tokens an answer may have, reasoning included.",
)
@click.option("--prompt", type=PATH, metavar="FOLDER", help="Own system.md.j2 or user.md.j2 (docs/judges.md).")
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=4,
    show_default=True,
    metavar="N",
    help="Calls at a time, on each node of an executor; a scripted model is asked one by one.",
)
@executor_option
@click.option("--budget-usd", metavar="USD", help="Dollars this judge may spend, what it spent before included.")
@click.option("--yes", is_flag=True, help="Spend what it costs without being asked.")
@click.option("--dialogue", type=PATH, metavar="FILE", help="What the models scripted/... say.")
@click.option(
    "--model-upstream",
    "upstreams",
    multiple=True,
    type=PATH,
    metavar="FILE",
    help="TOML file that says where models are (docs/model-proxy.md); may be repeated.",
)
@click.option(
    "--prices",
    multiple=True,
    type=PATH,
    metavar="FILE",
    help="Price table put on top of the shipped one; may be repeated.",
)
@click.option("--journal", type=PATH, metavar="FILE", help="Where calls are accounted for; beside the database.")
@json_option
def run(
    database: str, *, study: str, model: str, samples: int, axes: tuple[str, ...], signals: bool,
    temperature: float | None, with_description: bool, max_answer: int, max_diff: int, yes: bool,
    prompt: Path | None, workers: int, executor: str, budget_usd: str | None, dialogue: Path | None,
    upstreams: tuple[Path, ...], prices: tuple[Path, ...],
    journal: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Ask a model about every axis of every item that it has not answered yet.

    Each answer must cite lines of the diff; one that cites what is not there is void. Answers are stored as they come:
    run it again to go on after an interrupt, a spent budget or a failure, or with more --samples.
    """
    from repoassay.cli.judge_output import judge_journal, open_study, print_step, show
    from repoassay.cli.run_options import several
    from repoassay.engine import number, open_judge_nodes
    from repoassay.judges import Parameters, judge_study, judgements_of, open_judge, state_of_study
    from repoassay.model_proxy import Prices, ScriptedUpstream, costs_nothing, find_upstream, known_upstreams
    from repoassay.review import adjudications_of, item_names, items_of, latest, ratings_of, read_rubric_of
    from repoassay.types import RatingPhase

    budget = Decimal(number("budget_usd", budget_usd)) if budget_usd else None
    parameters = Parameters(
        temperature=temperature, max_answer=max_answer, max_diff=max_diff, description=with_description
    )
    known: list[Any] = list(known_upstreams(upstreams).values())
    if dialogue is not None:
        known.append(ScriptedUpstream(dialogue))
    free = costs_nothing(find_upstream(model, known))
    with open_study(database) as found:
        count = len(item_names(found, study)) * samples * (len(several(axes)) or len(read_rubric_of(found, study).axes))
        _consent(model, count * (1 + signals), agreed=free or yes or budget is not None)
        seated = _seated(found, study, model, parameters, prompt)
        at = journal or judge_journal(database, seated)
        click.echo(f"Judge {seated.rater.name}, samples {samples}; calls are accounted for in {at}.", err=True)
        nodes = open_judge_nodes(
            seated, at, executor, upstreams=upstreams, prices=prices, budget=budget, workers=workers
        )
        here = open_judge(seated, known, at, prices=Prices.shipped(*prices), budget=budget)
        with here if executor == "local" else nodes as door:
            done = judge_study(
                found, seated, door.asker, samples=samples, axes=several(axes), signals=signals,
                workers=_threads(model, executor, workers), on_step=print_step, abandon=door.abandon,
            )  # fmt: skip
            spent = door.totals()
        samples_of = judgements_of(found, seated)
        state = state_of_study(
            items_of(found, study), latest(ratings_of(found, study, RatingPhase.BLIND)), samples_of,
            read_rubric_of(found, study), adjudications_of(found, study),
        )  # fmt: skip
    show(seated, done, spent, state, len({each.item for each in samples_of}), as_json=as_json)


def _threads(model: str, executor: str, workers: int) -> int:
    """Calls at a time; with nodes, so many that every one of them has some."""
    return 1 if model.startswith("scripted/") else workers if executor == "local" else _MOST_AT_NODES


def _consent(model: str, calls: int, *, agreed: bool) -> None:
    """Return when a model may be paid for.

    Raises:
        Interrupted: The user said no.
        BadInput: There is nobody to ask.
    """
    from repoassay.errors import BadInput, Interrupted

    if agreed:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise BadInput(
            f"Up to {calls} answers of {model} may cost money, and nobody is there to be asked.",
            "Limit it with --budget-usd, or agree beforehand with --yes.",
        )
    if not click.confirm(f"Ask {model} for up to {calls} answers?", err=True):
        raise Interrupted("Nothing was asked.")


def _seated(found: Any, study: str, model: str, parameters: Any, prompt: Path | None) -> JudgeRecord:
    from datetime import UTC, datetime

    from repoassay.errors import BadInput
    from repoassay.judges import Definition, bundled_templates, own_templates, seat
    from repoassay.review import read_rubric_of

    if len(model) > 180:
        raise BadInput("The model's name is longer than 180 characters.", "Check it.")
    system, user = bundled_templates() if prompt is None else own_templates(prompt)
    definition = Definition(
        model=model, rubric=read_rubric_of(found, study).digest, system=system, user=user,
        own_prompt=(system, user) != bundled_templates(), parameters=parameters,
    )  # fmt: skip
    return seat(found, study, definition, at=datetime.now(UTC))
