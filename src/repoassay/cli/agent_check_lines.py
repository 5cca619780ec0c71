"""What came of one task of an agent's check, as lines for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from repoassay.engine import Checked

__all__ = ["print_check"]


def _why(checked: Checked) -> list[tuple[str, str]]:
    """What tells why a task of the check did not pass."""
    from repoassay.agents import last_lines, start_failure

    log = (checked.folder / "log.txt").read_text("utf-8", "replace")
    failure = start_failure(checked.exit, log) if not checked.totals.calls else None
    return [
        ("verdict", "; ".join(checked.verdict.comments)),
        *([("no start", f"{failure.why}. {failure.remedy}")] if failure else []),
        *(("it printed", line) for line in last_lines(log)),
    ]


def print_check(name: str, checked: Checked) -> None:
    """What came of one task of a check, for people."""
    from repoassay.text import printable

    passed = checked.verdict.outcome.value == "passed"
    usage = checked.totals.usage
    exact = "equal to what the model sent" if usage == checked.sent else f"but the model sent {checked.sent}"
    code = f"code {checked.exit.code}" if checked.exit.code is not None else f"signal {checked.exit.signal}"
    kinds: dict[str, int] = {}
    for step in checked.trajectory.steps:
        kinds[step.source.value] = kinds.get(step.source.value, 0) + 1
    kind_counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    click.echo(
        click.style(f"{name} on {checked.task}: {checked.verdict.outcome.value}", fg="green" if passed else "red")
    )
    ended = f"{checked.exit.ended.value}, {code}, {checked.seconds:.1f} s"
    rows = [
        ("ended", "; ".join(filter(None, (ended, checked.trajectory.ending)))),
        ("left", ", ".join(checked.left[:10]) or "nothing"),
        ("gateway", f"{checked.totals.calls} calls, {usage.input:,} tokens in ({usage.cached:,} cached), "
                    f"{usage.output:,} out, {exact}"),
        ("its figures", checked.figures),
        ("transcript", f"{len(checked.trajectory.steps)} steps ({kind_counts})" if kind_counts else "no steps"),
        *(("problem", problem) for problem in checked.trajectory.problems),
    ]  # fmt: skip
    if not passed:
        rows += _why(checked)
    for label, text in rows:
        click.echo(f"  {label:<12} {printable(text, 600)}")
