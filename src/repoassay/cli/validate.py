"""`repoassay tasks validate`: proof that tasks can be trusted."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click

from repoassay.options import isolation_option, json_option, task_option, workers_option

if TYPE_CHECKING:
    from repoassay.api import DataCheck
    from repoassay.engine import Proof, TaskAssurance

__all__ = ["validate"]


@click.command()
@click.argument("suite")
@click.option(
    "--repeat",
    type=click.IntRange(1, 1000),
    default=1,
    show_default=True,
    metavar="N",
    help="How often each proof is run, to show that it is stable.",
)
@click.option(
    "--require-attested",
    type=click.FloatRange(0),
    default=0.0,
    metavar="BITS",
    help="Refuse tasks that change a repository and whose passes are attested with fewer bits; 0 only reports.",
)
@click.option(
    "--mutants",
    type=click.IntRange(0, 10_000),
    default=100,
    show_default=True,
    metavar="N",
    help="Outputs made wrong from the solution's that a deliverable task must refuse; more than N are sampled.",
)
@task_option
@workers_option
@isolation_option
@json_option
def validate(
    suite: str, repeat: int, require_attested: float, mutants: int, tasks: tuple[str, ...], workers: int,
    isolation: str, as_json: bool,
) -> None:  # fmt: skip
    """Prove that every task of SUITE can be trusted.

    Each must pass with its reference solution and fail with an untouched workspace, copied inputs, empty files,
    plausible garbage, constants and noise. What a deliverable's solution leaves is made wrong in every way of its kind
    (half done, of other colours, a record fewer, raw markup) and must be refused, and written otherwise and must be
    accepted; what survives is named, and the task does not hold. The tests of an edit task must behave on the base
    commit as stated. Data the suite keeps apart is checked by sha256. Of tasks that change a repository it is told how
    a pass is assured: how many tests are compared outside the process of the code under test, how many bits a forger
    would have to guess, and which tests to strengthen. Leaves with 1 when one proof does not hold or is not the same
    every time.

    \b
    Examples:
      repoassay tasks validate starter
      repoassay tasks validate ./my-tasks --task 'pdf-*' --repeat 5
      repoassay tasks validate ./my-tasks --require-attested 40
      repoassay tasks validate ./my-tasks --mutants 30
    """
    from repoassay.api import check_data, validate as prove

    proofs = prove(
        suite, tasks=tasks, repeat=repeat, require_attested=require_attested, mutants=mutants, workers=workers,
        isolation=isolation,
    )  # fmt: skip
    bad = _print_data(check_data(suite, tasks=tasks), as_json)
    seen = set()
    for proof in proofs:
        seen.add(proof.task)
        bad += not (proof.sound and proof.stable)
        _print(proof, repeat, as_json)
    if not as_json:
        click.echo(f"{len(seen)} tasks, {bad} proofs that do not hold.")
    sys.exit(1 if bad else 0)


def _print_data(found: DataCheck | None, as_json: bool) -> int:
    """Say what data is absent or changed, and return how many files are changed."""
    from repoassay.tasks import DataState

    if found is None:
        return 0
    wrong = found.wrong
    if as_json:
        facts = {
            "checked": found.files,
            **{str(s): [path for path in wrong if wrong[path] is s] for s in wrong.values()},
        }
        click.echo(json.dumps({"data": facts}))
    else:
        for path, state in wrong.items():
            click.echo(f"{'absent' if state is DataState.MISSING else 'changed':<8} {path}")
        right = found.files - len(wrong)
        click.echo(f"data: {found.files} files, {right} right, {len(wrong)} absent or changed")
    return sum(state is DataState.CHANGED for state in wrong.values())


def _print(proof: Proof, repeat: int, as_json: bool) -> None:
    from repoassay.mutants import battery_record
    from repoassay.text import printable

    if as_json:
        facts = {"task": proof.task, "proof": proof.name, "sound": proof.sound, "stable": proof.stable,
                 "outcomes": [outcome.value for outcome in proof.outcomes], "comment": proof.comment,
                 **({"assurance": _assurance(proof.assurance)} if proof.assurance else {}),
                 **({"mutants": battery_record(proof.battery)} if proof.battery else {})}  # fmt: skip
        click.echo(json.dumps(facts))
        return
    mark = click.style("✓", fg="green") if proof.sound and proof.stable else click.style("✗", fg="red")
    kinds = ", ".join(sorted({outcome.value for outcome in proof.outcomes}))
    times = f" x{repeat}" if repeat > 1 else ""
    comment = f"  {printable(proof.comment, 2000)}" if proof.comment else ""
    click.echo(f"{mark} {proof.task:<28} {proof.name:<10} {kinds}{times}{comment}")
    for test, why in proof.assurance.weak.items() if proof.assurance else ():
        click.echo(f"  strengthen {printable(test, 200)}: {printable(why, 200)}")


def _assurance(found: TaskAssurance) -> dict[str, object]:
    return {"bits": found.bits, "tests": found.tests, "attested": found.attested, "decisive": found.decisive,
            "sites": dict(found.sites), "weak": dict(found.weak), "why": found.why}  # fmt: skip
