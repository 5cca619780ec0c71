"""`repoassay tasks validate`: proof that tasks can be trusted."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from repoassay.completion import complete_suites
from repoassay.json_output import print_record
from repoassay.options import FiniteRange, isolation_option, json_option, task_option, workers_option

if TYPE_CHECKING:
    from repoassay.api import DataCheck
    from repoassay.engine import Proof, TaskAssurance

__all__ = ["validate"]


@click.command()
@click.argument("suite", shell_complete=complete_suites)
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
    type=FiniteRange(0),
    default=0.0,
    metavar="BITS",
    help="Refuse tasks that change a repository and whose passes are attested with fewer bits; 0 only reports.",
)
@click.option(
    "--mutants",
    type=click.IntRange(0, 10_000),
    metavar="N",
    help="Wrong answers tried of each task, drawn when there are more; 0 tries none.  [default: 100 outputs of a"
    " deliverable; of solutions what the suite says, else 20, begun within 2 minutes a task]",
)
@click.option(
    "--require-strength",
    type=FiniteRange(0, 1),
    default=0.0,
    metavar="SHARE",
    help="Refuse tasks whose hidden tests kill a smaller share of the mutants, such as 0.8; 0 only reports.",
)
@click.option(
    "--save-strength",
    is_flag=True,
    help="Write strength.json beside the suite's suite.toml, so that its users and reports of runs see the figures.",
)
@task_option
@workers_option
@isolation_option
@json_option
def validate(
    suite: str, repeat: int, require_attested: float, mutants: int | None, require_strength: float, save_strength: bool,
    tasks: tuple[str, ...], workers: int, isolation: str, as_json: bool,
) -> None:  # fmt: skip
    """Prove that every task of SUITE can be trusted.

    Each must pass with its reference solution and fail with an untouched workspace, copied inputs, empty files,
    plausible garbage, constants and noise. What a deliverable's solution leaves is made wrong in every way of its kind
    (half done, of other colours, a record fewer, raw markup) and must be refused, and written otherwise and must be
    accepted; what survives is named, and the task does not hold. The tests of an edit task must behave on the base
    commit as stated. Data the suite keeps apart is checked by sha256. Of tasks that change a repository it is told how
    a pass is assured: how many tests are compared outside the process of the code under test, how many bits a forger
    would have to guess, and which tests to strengthen. Their solutions are mutated where they change something (an
    operator, a branch, a statement, a block or a file left out), and the share of mutants that the hidden tests kill is
    the task's strength; a mutant that runs out of time is killed, one that a fault of ours spoils is not counted.
    Survivors are the tests to write. What was tried is kept, so that it is not tried again. Leaves with 1 when one
    proof does not hold or is not the same
    every time.

    \b
    Examples:
      repoassay tasks validate starter
      repoassay tasks validate ./my-tasks --task 'pdf-*' --repeat 5
      repoassay tasks validate ./my-tasks --require-attested 40
      repoassay tasks validate ./my-tasks --mutants 100 --require-strength 0.8
    """
    from repoassay.api import check_data, validate as prove

    proofs = prove(
        suite, tasks=tasks, repeat=repeat, require_attested=require_attested, mutants=mutants,
        require_strength=require_strength, workers=workers, isolation=isolation, progress=_progress,
    )  # fmt: skip
    bad = _print_data(check_data(suite, tasks=tasks), as_json)
    seen = set()
    for proof in proofs:
        seen.add(proof.task)
        bad += not (proof.sound and proof.stable)
        _print(proof, repeat, as_json)
    _print_strengths(suite, tasks, save_strength, as_json)
    if not as_json:
        click.echo(f"{len(seen)} tasks, {bad} proofs that do not hold.")
    sys.exit(1 if bad else 0)


def _progress(task: str, done: int, total: int) -> None:
    """One line that is written over, on a terminal alone."""
    if sys.stderr.isatty():
        text = f"mutants of {task}: {done} of {total}" if done < total else ""
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()


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
        print_record("data", facts)
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
                 **({"strength": _strength(proof)} if proof.strength else {}),
                 **({"mutants": battery_record(proof.battery)} if proof.battery else {})}  # fmt: skip
        print_record("proof", facts)
        return
    mark = click.style("✓", fg="green") if proof.sound and proof.stable else click.style("✗", fg="red")
    kinds = ", ".join(sorted({outcome.value for outcome in proof.outcomes}))
    times = f" x{repeat}" if repeat > 1 else ""
    comment = f"  {printable(proof.comment, 2000)}" if proof.comment else ""
    click.echo(f"{mark} {proof.task:<28} {proof.name:<10} {kinds}{times}{comment}")
    for test, why in proof.assurance.weak.items() if proof.assurance else ():
        click.echo(f"  strengthen {printable(test, 200)}: {printable(why, 200)}")
    for survivor in proof.strength.survivors if proof.strength else ():
        click.echo(f"  write a test: {printable(survivor.wanted, 500)}")


def _assurance(found: TaskAssurance) -> dict[str, object]:
    return {"bits": found.bits, "tests": found.tests, "attested": found.attested, "decisive": found.decisive,
            "sites": dict(found.sites), "weak": dict(found.weak), "why": found.why}  # fmt: skip


def _print_strengths(suite: str, tasks: tuple[str, ...], save: bool, as_json: bool) -> None:
    """Say what the suite's strengths come to, and write them beside it where this is asked."""
    from repoassay.api import suite_strength
    from repoassay.text import join_names

    found = suite_strength(suite, tasks=tasks, save=save)
    if found.median is None or as_json:  # every proof of strength has its own figures there
        return
    weak = f": {join_names([task.task for task in found.weak], 20)}" if found.weak else ""
    click.echo(f"strength: median {found.median:.0%} over {len(found.known)} tasks, {len(found.weak)} weak (below"
               f" {found.tolerance:.0%}){weak}")  # fmt: skip


def _strength(proof: Proof) -> dict[str, object]:
    from repoassay.stats import wilson

    found = proof.strength
    assert found is not None
    interval = wilson(found.killed, found.counted)
    return {"share": found.share, "low": interval.low, "high": interval.high, "killed": found.killed,
            "counted": found.counted, "drawn": found.drawn, "timed_out": found.timed_out, "faults": found.faults,
            "weak": proof.weak, "why": found.why,
            "survivors": [{**trial.model_dump(include={"name", "path", "line", "was", "now"}), "test": trial.wanted}
                          for trial in found.survivors]}  # fmt: skip
