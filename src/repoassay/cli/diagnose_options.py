"""What the verbs below `repoassay diagnose` share: which attempts are meant, and asking a model about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from repoassay.options import PATH

if TYPE_CHECKING:
    from repoassay.records import RunFolder
    from repoassay.report import AttemptRef, Diagnoser, LabelRequest

__all__ = ["classifier_options", "classify_first", "find_run", "find_subjects", "runs_option"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


def runs_option(function: _Function) -> _Function:
    """`--runs`."""
    return click.option(
        "--runs", type=PATH, default=Path("runs"), show_default=True, help="Folder that runs are kept in."
    )(function)


def classifier_options(*, required: bool) -> Callable[[_Function], _Function]:
    """`--classifier` and what says where it is and what it may cost; `required` only words the help."""
    purpose = "Ask this model about every failed attempt it has not labelled yet."
    if required:
        purpose = "Score this model's labels, asking it for those it has not given yet.  [default: score the rules]"
    options = [
        click.option("--classifier", metavar="PROVIDER/NAME", help=purpose),
        click.option("--budget-usd", metavar="USD", help="Dollars the classifier may spend now."),
        click.option("--model-upstream", "upstreams", multiple=True, type=PATH, metavar="FILE",
                     help="TOML file that says where models are (docs/model-proxy.md); may be repeated."),
        click.option("--dialogue", type=PATH, metavar="FILE", help="What the models scripted/... say."),
        click.option("--prices", multiple=True, type=PATH, metavar="FILE",
                     help="Price table put on top of the shipped one; may be repeated."),
        click.option("--yes", is_flag=True, help="Let the classifier spend what it may cost without a limit."),
    ]  # fmt: skip

    def apply(function: _Function) -> _Function:
        for option in reversed(options):
            function = option(function)
        return function

    return apply


def find_run(where: str, runs: Path) -> RunFolder | None:
    """The run of a folder, of a name below `runs`, or `latest` there; None where it is none of these."""
    from repoassay.records import RunFolder

    if where == "latest":
        found = sorted(path.parent for path in runs.glob("*/run.json"))
        return RunFolder(found[-1]) if found else None
    for place in (Path(where), runs / where):
        if where and (place / "run.json").is_file():
            return RunFolder(place)
    return None


def find_subjects(where: str, runs: Path) -> tuple[RunFolder, list[AttemptRef], bool]:
    """The run meant, the attempts meant, and whether the whole run is.

    Raises:
        BadInput: When nothing is called that, or it cannot be read back.
    """
    from repoassay.report import find_attempts, subject_of, subjects_of

    run = find_run(where, runs)
    if run is not None:
        return run, subjects_of(run), True
    run, attempt = find_attempts(where, runs)[0]
    return run, [subject_of(run, attempt)], False


def classify_first(
    examiner: Diagnoser, subjects: Sequence[AttemptRef], model: str, *, budget_usd: str | None,
    upstreams: tuple[Path, ...], dialogue: Path | None, prices: tuple[Path, ...], yes: bool,
) -> tuple[frozenset[str], str]:  # fmt: skip
    """Ask a model about failed attempts, telling each answer on standard error.

    Returns:
        The attempts whose answer was refused, and why it stopped early (empty when it did not).

    Raises:
        BadInput: When it cannot be asked, or may cost money without a limit.
        Interrupted: When the user stopped it; what was answered is kept.
    """
    from repoassay.api import metering_of
    from repoassay.errors import Interrupted
    from repoassay.report import label_by_model
    from repoassay.text import one_line

    metering = metering_of(
        upstreams=upstreams, dialogue=dialogue, prices=prices, network=None, concurrency=None, retries=0,
        budget_usd=budget_usd,
    )  # fmt: skip
    try:
        done = label_by_model(examiner, subjects, model, metering, limited=yes, on_label=_tell)
    except KeyboardInterrupt:
        raise Interrupted("Interrupted; the labels given so far are kept.", "Run it again for the others.") from None
    cost = "unknown dollars" if done.dollars is None else f"{done.dollars:.4f} dollars"
    click.echo(
        f"{one_line(model, 100)}: {done.kept} labels, {done.before} from before, {len(done.refused)} answers refused,"
        f" {done.failed} calls failed, {done.untold} without steps, {done.left} not asked; {done.calls} calls, {cost}.",
        err=True,
    )
    return frozenset(done.refused), done.stopped


def _tell(request: LabelRequest) -> None:
    from repoassay.text import one_line

    answer = request.answer.value if request.answer is not None else f"no label: {one_line(request.problem, 200)}"
    click.echo(
        f"[{request.number}/{request.of}] {request.subject.attempt} {one_line(request.subject.task, 80)}: {answer}",
        err=True,
    )
