"""`repoassay tasks`: what tasks there are, what one asks for, and whether they are sound."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from repoassay.cli.tasks_import import import_tasks
from repoassay.cli.tasks_lint import lint_tasks
from repoassay.cli.validate import validate
from repoassay.completion import complete_suites, complete_tasks
from repoassay.json_output import print_document
from repoassay.options import json_option

if TYPE_CHECKING:
    from repoassay.tasks import SuiteFolder, TaskFolder
    from repoassay.types import Criterion, HiddenTests, TaskStrength

__all__ = ["tasks"]


@click.group()
def tasks() -> None:
    """List, show, lint, import and validate tasks.

    \b
    Examples:
      repoassay tasks list
      repoassay tasks show starter photo-web-set
      repoassay tasks lint ./my-tasks
      repoassay tasks import rows.jsonl --out ./my-tasks
      repoassay tasks validate ./my-tasks
    """


tasks.add_command(import_tasks)
tasks.add_command(lint_tasks)
tasks.add_command(validate)


@tasks.command("list")
@click.argument("suite", required=False, shell_complete=complete_suites)
@json_option
def list_tasks(suite: str | None, as_json: bool) -> None:
    """List the tasks of SUITE (a bundled suite's name or a folder); of every suite known here when none is
    named.

    A table on a terminal; elsewhere one line a task with tabs between suite, id, kind, domain, value in US dollars
    and title.

    \b
    Examples:
      repoassay tasks list
      repoassay tasks list starter
      repoassay tasks list ./my-tasks --json
    """
    from repoassay.grading import names
    from repoassay.tasks import find_suite
    from repoassay.text import printable

    found = [find_suite(suite, metrics=names())] if suite else list(_every_suite())
    rows = [_row(each, task) for each in found for task in each.tasks]
    if as_json:
        print_document(rows)
    elif sys.stdout.isatty():
        _table(rows)
    else:
        for row in rows:
            click.echo("\t".join(printable(str(row[key] or ""), 200) for key in _COLUMNS))


def _every_suite() -> Iterator[SuiteFolder]:
    """Bundled suites, and those of plug-ins that can be read; the others are warned of."""
    from repoassay.errors import RepoAssayError
    from repoassay.grading import names
    from repoassay.plugins import warn
    from repoassay.tasks import bundled_suites, find_suite, named_suites

    for name in named_suites():
        try:
            yield find_suite(name, metrics=names())
        except RepoAssayError as error:
            if name in bundled_suites():
                raise
            warn(str(error))


_COLUMNS = ("suite", "id", "kind", "domain", "value", "title")


def _row(suite: SuiteFolder, folder: TaskFolder) -> dict[str, str | None]:
    task = folder.task
    return {
        "suite": suite.suite.name,
        "id": task.id,
        "kind": task.kind.value,
        "domain": task.domain,
        "value": f"{task.economics.value:.2f}" if task.economics else None,
        "title": task.title,
        "digest": folder.digest,
    }


def _table(rows: list[dict[str, str | None]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from repoassay.text import printable

    table = Table(box=None, pad_edge=False)
    for key in _COLUMNS:
        table.add_column("value, $" if key == "value" else key, justify="right" if key == "value" else "left",
                         overflow="fold", no_wrap=key == "id")  # fmt: skip
    for row in rows:
        table.add_row(*(Text(printable(row[key] or "", 200)) for key in _COLUMNS))
    console = Console()
    console.print(table)
    console.print(f"{len(rows)} tasks", highlight=False)


@tasks.command()
@click.argument("suite", shell_complete=complete_suites)
@click.argument("task", required=False, shell_complete=complete_tasks)
@json_option
def show(suite: str, task: str | None, as_json: bool) -> None:
    """Show everything about one task: TASK of SUITE, or the one in a task folder.

    \b
    Examples:
      repoassay tasks show starter photo-web-set
      repoassay tasks show ./my-tasks/csv-totals
      repoassay tasks show starter photo-web-set --json
    """
    from repoassay.errors import BadInput
    from repoassay.grading import names
    from repoassay.mutants import known_strengths
    from repoassay.records import cache_path
    from repoassay.tasks import find_suite, locate
    from repoassay.text import join_names, quote, suggest

    ids = [folder.name for folder in locate(suite).folders]
    if task is None and len(ids) != 1:
        raise BadInput(f"{quote(suite)} holds {len(ids)} tasks.", f"Name one of them: {join_names(ids, 200)}.")
    if task is not None and task not in ids:
        raise BadInput(f"{quote(suite)} has no task {quote(task)}.", suggest(task, ids))
    wanted = task or ids[0]
    # A glob that matches nothing but this id: its name is its folder's, which may hold any letter.
    exact = "".join(f"[{letter}]" if letter in "*?[" else letter for letter in wanted)
    found = find_suite(suite, metrics=names(), only=[exact])
    folder = found.tasks[0]
    strength = known_strengths(found, cache_path()).of(folder.digest)
    if as_json:
        facts = {**_facts(folder), "strength": strength.model_dump(mode="json") if strength else None}
        print_document(facts)
    else:
        for line in _page(folder, strength):
            click.echo(line)


def _facts(folder: TaskFolder) -> dict[str, Any]:
    return {
        "folder": str(folder.path),
        "digest": folder.digest,
        "instruction": folder.instruction,
        "task": folder.task.model_dump(mode="json"),
    }


def _page(folder: TaskFolder, strength: TaskStrength | None) -> Iterator[str]:
    """The task as lines to read; whatever it says is made fit to print."""
    from repoassay.text import block, printable
    from repoassay.types import Reading

    task = folder.task
    yield click.style(f"{task.id}: {printable(task.title)}", bold=True)
    yield ""
    for name, text in _entries(folder):
        yield f"{name + ':':<14}{printable(text, 400)}"
    published = task.grading.published
    for reading in Reading if published else (Reading.FAIR,):
        if published:
            yield f"-- {reading.value} criteria"
        for stage, criterion in task.grading.criteria(reading):
            yield f"{stage + ':':<14}{printable(_criterion_line(criterion), 400)}"
            if criterion.why:
                yield f"{'':<14}  {printable(criterion.why, 400)}"
    if published and published.differs:
        yield f"{'differs:':<14}{printable(published.differs, 1000)}"
    if task.grading.tests:
        yield from _tests(task.grading.tests)
    for number, step in enumerate(task.steps, 1):
        least = f", ends the attempt below a reward of {step.min_reward:g}" if step.min_reward is not None else ""
        limits = f"{step.name}, {step.seconds or task.limits.seconds:g} s{least}"
        yield f"{f'step {number}:':<14}{printable(limits, 400)}"
        yield from _tests(step.tests)
    yield from _strength(strength)
    yield ""
    yield block(folder.instruction.rstrip())


def _tests(tests: HiddenTests) -> Iterator[str]:
    from repoassay.text import printable

    for name, ids in (("must turn", tests.fail_to_pass), ("must stay", tests.pass_to_pass)):
        for test in ids:
            yield f"{name + ':':<14}{printable(test, 400)}"


def _strength(strength: TaskStrength | None) -> Iterator[str]:
    """How many wrong solutions the tests or criteria refuse, and what is to be written."""
    from repoassay.mutants import strength_line
    from repoassay.text import printable

    strength_text = strength_line(strength) if strength else "not measured here; `repoassay tasks validate` does"
    yield f"{'strength:':<14}{printable(strength_text, 400)}"
    for survivor in strength.survivors if strength else ():
        yield f"{'to test:':<14}{printable(survivor.wanted, 500)}"


def _criterion_line(criterion: Criterion) -> str:
    """A criterion as a line."""
    of = "the outputs" if criterion.of == "." else criterion.of.partition(" | ")[0]
    against = f" against {criterion.against}" if criterion.against else ""
    options = ", ".join(f"{key} = {json.dumps(value)}" for key, value in criterion.options.items())
    sentence = f"{criterion.metric} of {of}{against} {criterion.threshold}"
    return f"{sentence} ({options})" if options else sentence


def _entries(folder: TaskFolder) -> Iterator[tuple[str, str]]:
    """Name and value of everything that fits on a line; what was left empty is left out."""
    task, limits = folder.task, folder.task.limits
    yield "kind", task.kind.value
    yield "domain", " / ".join(part for part in (task.domain, task.subdomain, task.modality) if part)
    repository = [task.repository.source, task.repository.revision or "", task.repository.licence]
    yield "repository", ", ".join(part for part in (*repository, task.repository.homepage) if part)
    requirements = f", {task.environment.requirements}" if task.environment.requirements else ""
    yield "environment", f"Python {task.environment.python}{requirements}, path {' '.join(task.environment.path)}"
    if task.rules:
        yield "rules", task.rules
    for check in task.environment.checks:
        yield "check", check
    if task.inputs.files:
        yield "inputs", ", ".join(task.inputs.files)
    if folder.absent:
        yield "absent", ", ".join(folder.absent)
    if task.outputs.files:
        yield "outputs", f"{', '.join(task.outputs.files)} (at most {_bytes(task.outputs.max_bytes)})"
    yield (
        "limits",
        (
            f"{limits.seconds:g} s, memory {_bytes(limits.memory)}, disk {_bytes(limits.disk)}, "
            f"{limits.processes} processes, {_bytes(limits.output)} printed, network {task.network_policy}"
        ),
    )
    if task.steps:
        yield "reward", f"{task.grading.reward} of {len(task.steps)} steps"
    if task.economics:
        worth = task.economics
        yield "value", f"${worth.value:.2f} (${worth.low:.2f} to ${worth.high:.2f}; {worth.source})"
    for name, text in (("provenance", task.provenance), ("licence", task.licence)):
        if text:
            yield name, text
    yield "folder", str(folder.path)
    yield "digest", folder.digest


def _bytes(size: int) -> str:
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size >= factor:
            return f"{size / factor:.4g} {unit}"
    return f"{size} B"
