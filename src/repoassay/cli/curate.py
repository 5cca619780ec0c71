"""`repoassay curate`: suites of deliverable tasks out of repositories, chosen by rules and renewed by quarter."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from repoassay.cli.curate_options import curate_model_options, curation_bench, curation_day, open_asker, step_printer
from repoassay.cli.curate_release import curate_audit, curate_check, curate_link, curate_release
from repoassay.completion import complete_suites
from repoassay.json_output import print_document, print_record
from repoassay.options import PATH, isolation_option, json_option, task_option

if TYPE_CHECKING:
    from repoassay.curate import CuratedProof, SelectionResult

__all__ = ["curate"]


@click.group()
def curate() -> None:
    """Make a suite of deliverable tasks out of repositories; each stage leaves a file of evidence.

    `select` holds rules against candidates, `verify` runs what their users would run, `draft` makes a task with
    measured thresholds, `prove` proves the suite, `release` makes a quarter of it, `audit` sees whether it grew old,
    `link` compares quarters. A stage does not do again what nothing has changed of.

    \b
    Examples:
      repoassay curate select --rules rules.toml --candidates downloads/ --metadata facts.toml --out pool
      repoassay curate verify pool/srt
      repoassay curate draft pool/srt --by human --out suite
      repoassay curate prove suite
    """


@curate.command("select")
@click.option("--rules", "rules_file", type=PATH, metavar="FILE", help="Rules as data.  [default: GitTaskBench's]")
@click.option("--candidates", type=PATH, required=True, metavar="FOLDER|LIST",
              help="Git repositories, bundles, source distributions; or a file with a path or URL a line.")  # fmt: skip
@click.option("--metadata", type=PATH, metavar="FILE", help="TOML: what is known of each beside, such as stars.")
@click.option("--out", "pool", type=PATH, required=True, metavar="POOL", help="The pool; a folder a repository.")
@click.option("--today", metavar="DAY", help="The day `within` counts from, YYYY-MM-DD.  [default: today]")
@click.option(
    "--published",
    "suites_file",
    type=PATH,
    metavar="FILE",
    help='Further published suites: suite = ["repository", ...].',
)
@click.option("--again", is_flag=True, help="Look at candidates again of which nothing has changed.")
@json_option
def curate_select(
    rules_file: Path | None, candidates: Path, metadata: Path | None, pool: Path, today: str | None,
    suites_file: Path | None, again: bool, as_json: bool,
) -> None:  # fmt: skip
    """Hold rules against candidates, and pin the chosen in POOL.

    Writes POOL/NAME/selection.toml with each rule, the value found and its source. A fact that nobody states, as stars
    without a metadata file, is unknown, and a rule about it does not hold. Nothing of a candidate is run.

    \b
    Examples:
      repoassay curate select --candidates downloads/ --out pool
      repoassay curate select --rules rules.toml --candidates list.txt --metadata facts.toml --out pool --json
    """
    from repoassay.curate import (
        DEFAULT_RULES,
        find_candidates,
        known_suites,
        parse_rule,
        read_selection_rules,
        select_repositories,
    )

    rules = read_selection_rules(rules_file) if rules_file else tuple(map(parse_rule, DEFAULT_RULES))
    suites = {**known_suites(), **_published(suites_file)}
    found = select_repositories(
        find_candidates(candidates, metadata), rules, pool, today=curation_day(today), suites=suites, again=again,
        on_result=lambda each: None if as_json else _print_selected(each),
    )  # fmt: skip
    if as_json:
        print_document([
            {"name": each.name, "selected": each.chosen, "why": each.why, "folder": str(each.folder), "kept": each.kept}
            for each in found
        ])  # fmt: skip
    else:
        click.echo(f"{sum(each.chosen for each in found)} of {len(found)} candidates selected.")


def _published(path: Path | None) -> dict[str, list[str]]:
    from repoassay.curate import read_toml
    from repoassay.errors import BadInput

    data = read_toml(path, "The file of published suites", "Check its name.") if path else {}
    for name, repositories in data.items():
        if not isinstance(repositories, list) or not all(isinstance(each, str) for each in repositories):
            raise BadInput(f"{path}: {name} is no list of names.", f'Write {name} = ["repository", ...].')
    return data


def _print_selected(found: SelectionResult) -> None:
    from repoassay.text import printable

    mark = click.style("✓", fg="green") if found.chosen else click.style("✗", fg="red")
    click.echo(f"{mark} {found.name:<24} {printable(found.why, 200)}".rstrip())


@curate.command("verify")
@click.argument("repositories", type=PATH, nargs=-1, required=True, metavar="POOL/NAME...")
@click.option("--times", type=click.IntRange(1, 100), default=2, show_default=True, metavar="N",
              help="Runs of README and tests.")  # fmt: skip
@click.option("--minors", type=click.IntRange(1, 5), default=1, show_default=True, metavar="N",
              help="Release lines of Python it is tried on; the likeliest decides, the others are told.")  # fmt: skip
@click.option("--again", is_flag=True, help="Run again though nothing has changed.")
@isolation_option
@json_option
def curate_verify(
    repositories: tuple[Path, ...], times: int, minors: int, again: bool, isolation: str, as_json: bool
) -> None:
    """See by running that a selected repository is complete: installed as of its day, README and tests, network off.

    Writes POOL/NAME/completeness.toml: each command with exit code, seconds, bytes and the class of what stopped it,
    and the verdict with its reason. Leaves with 1 when one is incomplete.

    \b
    Examples:
      repoassay curate verify pool/srt
      repoassay curate verify pool/* --times 3 --json
    """
    from repoassay.curate import open_pooled, verify_pooled
    from repoassay.text import printable

    cache, sandbox = curation_bench(isolation)
    found = [
        verify_pooled(
            open_pooled(path),
            cache,
            sandbox,
            times=times,
            again=again,
            minors=minors,
            step=step_printer(as_json, path.name),
        )
        for path in repositories
        if not _unselected(path, as_json)
    ]
    for each in found:
        if not as_json:
            word = "complete" if each.complete else "incomplete"
            click.echo(f"{each.name}: {word} {printable(each.why, 400)}".rstrip())
            for line, why in list(each.pythons.items())[1:]:
                click.echo(f"  on Python {line}: {printable(why, 300) or 'complete as well'}")
    if as_json:
        print_document([
            {"name": each.name, "complete": each.complete, "why": each.why, "seconds": each.seconds,
             "evidence": str(each.path), "kept": each.kept, "pythons": dict(each.pythons)} for each in found
        ])  # fmt: skip
    sys.exit(0 if all(each.complete for each in found) else 1)


def _unselected(path: Path, as_json: bool) -> bool:
    """Whether a folder of the pool was not selected, which is said."""
    from repoassay.curate import was_selected

    if was_selected(path):
        return False
    click.echo(f"{path.name}: not selected, passed over", err=as_json)
    return True


@curate.command("draft")
@click.argument("repository", type=PATH, metavar="POOL/NAME")
@click.option(
    "--by", "author", type=click.Choice(["human", "model"]), default="human", show_default=True, help="Who drafts."
)
@click.option("--draft", "folder", type=PATH, metavar="DIR", help="Folder of the draft.  [default: POOL/NAME/draft]")
@click.option(
    "--out", "suite", type=PATH, default=Path("suite"), show_default=True, metavar="SUITE", help="Where the task goes."
)
@curate_model_options
@isolation_option
@json_option
def curate_draft(
    repository: Path, author: str, folder: Path | None, suite: Path, isolation: str, as_json: bool, **model: Any
) -> None:
    """Make a deliverable task of a draft, or write a template of one where there is none.

    A draft is draft.toml, a reference program, inputs, and at least five outputs to accept and eight to refuse, given
    as programs or as variants of the reference. Thresholds are measured from them. A draft is refused, with exit code
    1, when an output to refuse misses the worst one to accept by less than 20 % in every criterion. Evidence:
    POOL/NAME/thresholds/ID.toml.

    \b
    Examples:
      repoassay curate draft pool/srt --by human
      repoassay curate draft pool/srt --draft my-drafts/srt --out suite
      repoassay curate draft pool/srt --by model --model scripted/drafter --dialogue answers.toml --out suite
    """
    from repoassay.curate import DRAFT, draft_by_model, draft_task, open_pooled, write_template
    from repoassay.text import printable

    pooled = open_pooled(repository)
    place = folder or repository / "draft"
    cache, sandbox = curation_bench(isolation)
    if author == "model":
        with open_asker(model, pooled.path / "model-calls.jsonl", f"curate-{pooled.name}") as ask:
            draft_by_model(pooled, place, ask)
    elif not (place / DRAFT).exists():
        path = write_template(pooled, place)
        if as_json:
            print_document({"template": str(path)})
        else:
            click.echo(f"{path} is a template: fill it in, and run again.")
        return
    who = str(model["model"]) if author == "model" else "human"
    task = draft_task(pooled, place, suite, cache, sandbox, author=who, step=step_printer(as_json, pooled.name))
    if as_json:
        print_document({
            "task": task.id, "admitted": task.folder is not None, "folder": str(task.folder) if task.folder else None,
            "reasons": task.reasons, "notes": task.notes, "margin": task.margin, "evidence": str(task.evidence),
        })  # fmt: skip
    elif task.folder:
        click.echo(f"{task.folder}: admitted, smallest margin {task.margin:.0%}")
        for note in task.notes:
            click.echo(f"  {printable(note, 300)}")
    else:
        click.echo(f"{task.id}: refused")
        for reason in task.reasons:
            click.echo(f"  {printable(reason, 400)}")
    sys.exit(0 if task.folder else 1)


@curate.command("prove")
@click.argument("suite", metavar="SUITE", shell_complete=complete_suites)
@click.option("--times", type=click.IntRange(1, 100), default=3, show_default=True, metavar="N",
              help="Runs of the solution and of each bundled bad agent.")  # fmt: skip
@click.option("--again", is_flag=True, help="Prove again what nothing has changed of.")
@task_option
@isolation_option
@json_option
def curate_prove(suite: str, times: int, again: bool, tasks: tuple[str, ...], isolation: str, as_json: bool) -> None:
    """Prove a suite: each solution passes N times, each bundled bad agent fails, each output kept is judged as it must.

    Writes SUITE/proofs/ID.toml, which `release` asks for. Leaves with 1 when a proof does not hold.

    \b
    Examples:
      repoassay curate prove suite
      repoassay curate prove suite --times 5 --task 'srt-*' --json
    """
    from repoassay.curate import prove_suite
    from repoassay.grading import names
    from repoassay.tasks import find_suite

    found = find_suite(suite, metrics=names(), only=tasks)
    cache, sandbox = curation_bench(isolation)
    results = prove_suite(
        found, cache, sandbox, times=times, again=again, on_result=lambda each: _print_proof(each, as_json)
    )
    if not as_json:
        click.echo(f"{sum(each.proven for each in results)} of {len(results)} tasks proven.")
    sys.exit(0 if all(each.proven for each in results) else 1)


def _print_proof(found: CuratedProof, as_json: bool) -> None:
    from repoassay.text import printable

    if as_json:
        print_record("proof", {
            "task": found.task, "proven": found.proven, "reasons": found.reasons, "accepting": found.accepting,
            "refusing": found.refusing, "evidence": str(found.path), "kept": found.kept,
        })  # fmt: skip
        return
    mark = click.style("✓", fg="green") if found.proven else click.style("✗", fg="red")
    click.echo(f"{mark} {found.task:<28} {found.accepting} outputs accepted, {found.refusing} refused")
    for reason in found.reasons:
        click.echo(f"    {printable(reason, 400)}")


for _renewal in (curate_audit, curate_release, curate_check, curate_link):
    curate.add_command(_renewal)
