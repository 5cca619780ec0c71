"""A mined suite on disk: its suite.toml, and a README that says how it was made and what was refused."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

from repoassay.construct.mining.journal import MINE_LOG, CommitStatus, MinedCommit, refusals
from repoassay.construct.mining.rules import MiningRules
from repoassay.errors import BadInput
from repoassay.formats import toml_string
from repoassay.text import printable, quote

__all__ = ["begin_suite", "describe_suite", "describe_tasks"]

_README = "README.md"
_TASKS = "## Tasks"


def begin_suite(suite: Path) -> None:
    """Make the folder of a suite.

    Raises:
        BadInput: When it cannot be written, or holds what is no mined suite.
    """
    try:
        there = suite.is_dir() and any(suite.iterdir())
        if there and not (suite / MINE_LOG).is_file():
            raise BadInput(
                f"The folder {quote(suite)} holds something else than a mined suite.", "Choose another with --out."
            )
        (suite / "tasks").mkdir(parents=True, exist_ok=True)
        if not (suite / "suite.toml").exists():
            (suite / "suite.toml").write_text(_manifest(suite, ()), encoding="utf-8")
        (suite / MINE_LOG).touch()
    except OSError as error:
        raise BadInput(
            f"The suite {quote(suite)} cannot be written: {error.strerror}.", "Choose another with --out."
        ) from error


def describe_suite(suite: Path, rows: Sequence[MinedCommit], rules: MiningRules, tried_count: int, cpu: float) -> None:
    """Write suite.toml and README anew, after what the journal says."""
    (suite / "suite.toml").write_text(_manifest(suite, rows), encoding="utf-8")
    (suite / _README).write_text(_readme(suite, rows, rules, tried_count, cpu), encoding="utf-8")


def describe_tasks(suite: Path, rows: Sequence[MinedCommit]) -> None:
    """Write the README's section of tasks anew, after what the journal says."""
    text = (suite / _README).read_text(encoding="utf-8")
    (suite / _README).write_text(text.partition(f"\n{_TASKS}\n")[0] + "\n" + "\n".join(_tasks(rows)), encoding="utf-8")


def _manifest(suite: Path, rows: Sequence[MinedCommit]) -> str:
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", suite.resolve().name)[:64].lstrip("-._") or "mined"
    repositories = sorted({row.repository for row in rows})
    title = printable(f"Tasks mined from {', '.join(repositories) or 'commits'}", 120)
    day = datetime.datetime.now(datetime.UTC).date()
    return (
        f'schema = 1\n\n[suite]\nname = {toml_string(name)}\nversion = "{day:%Y.%m.%d}"\ntitle = {toml_string(title)}\n'
        f'description = "Commits as tasks, each proven; README.md says how, {MINE_LOG} what became of each."\n'
        'licence = "as each task says"\n'
    )


def _readme(suite: Path, rows: Sequence[MinedCommit], rules: MiningRules, tried_count: int, cpu: float) -> str:
    status = Counter(row.status for row in rows)
    tasks = [row for row in rows if row.status is CommitStatus.TASK]
    done = len(tasks) + status[CommitStatus.REFUSED] + status[CommitStatus.FAULT]
    lines = [f"# {printable(suite.resolve().name)}", "",
             "Made by `repoassay mine`. Each task is a commit: the repository as it was before, what was wanted, and"
             " the tests that came with the commit, hidden. A task is here only because its tests failed before the"
             " commit and passed after it in every run.", ""]  # fmt: skip
    lines += ["## From commits to tasks", "", "| repository | commits | kept by the rules | tried | tasks |",
              "|---|---|---|---|---|"]  # fmt: skip
    for name in sorted({row.repository for row in rows}):
        of = [row for row in rows if row.repository == name]
        kept = sum(row.status is not CommitStatus.PASSED_OVER for row in of)
        ended = [row for row in of if row.status in (CommitStatus.TASK, CommitStatus.REFUSED, CommitStatus.FAULT)]
        task_count = sum(row.status is CommitStatus.TASK for row in of)
        lines.append(f"| {name} | {len(of)} | {kept} | {len(ended)} | {task_count} |")
    lines += ["", f"{len(tasks)} of {done} tried became tasks" + (f" ({len(tasks) / done:.0%})." if done else ".")]
    if tried_count:
        rate = tried_count * 3600 / max(cpu, 1e-9)
        lines += [f"The last call tried {tried_count} in {cpu:.0f} CPU seconds ({rate:.0f} an hour)."]
    lines += ["", "Refused:", "", "| cause | commits |", "|---|---|"]
    lines += [f"| {cause} | {count} |" for cause, count in refusals(rows).items()] or ["| none | 0 |"]
    passed = Counter(row.cause for row in rows if row.status is CommitStatus.PASSED_OVER)
    lines += ["", "Passed over by the rules:", "", "| rule | commits |", "|---|---|"]
    lines += [f"| {cause} | {count} |" for cause, count in passed.most_common()] or ["| none | 0 |"]
    lines += ["", f"`{MINE_LOG}` has one line a commit with the reason.", "", "## Rules", ""]
    lines += [f"- {name}: `{value}`" for name, value in rules.model_dump().items()]
    lines += _reworded(rows)
    flaky = [(row, test) for row in rows for test in row.flaky]
    if flaky:
        lines += ["", "## Tests that flip", "", "They count for nothing in their tasks.", ""]
        lines += [f"- {row.commit[:12]}: `{printable(test, 200)}`" for row, test in flaky[:200]]
    return "\n".join([*lines, "", *_tasks(rows)])


def _tasks(rows: Sequence[MinedCommit]) -> list[str]:
    """The last section: each task with its days and how difficult it is."""
    tasks = [row for row in rows if row.status is CommitStatus.TASK]
    agents = sorted({rate.agent for row in tasks for rate in row.pass_rates})
    columns = ["task", "commit of", "released in", "instruction from", "size", "files", "lines", "tests"]
    columns += [f"passed by {printable(agent, 100)}" for agent in agents]
    lines = [_TASKS, "", f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for row in sorted(tasks, key=lambda row: (row.repository, row.day)):
        size = row.difficulty
        figures = (size.level, str(size.files), str(size.lines), str(size.tests)) if size else ("",) * 4
        rates = {rate.agent: str(rate) for rate in row.pass_rates}
        released = printable(row.released, 40) or "nothing yet"
        cells = [row.task, row.day, released, row.source, *figures, *(rates.get(agent, "") for agent in agents)]
        lines.append(f"| {' | '.join(cells)} |")
    return [
        *lines, "", "Whatever was trained on public code after a commit's day may know its solution; `[dates]` of each"
        " task.toml has the days.", "",
    ]  # fmt: skip


def _reworded(rows: Sequence[MinedCommit]) -> list[str]:
    """What models made of instructions, and what it cost."""
    rewritings = [row.rewriting for row in rows if row.rewriting]
    if not rewritings:
        return []
    models = ", ".join(sorted({printable(each.model, 100) for each in rewritings}))
    unknown = sum(each.dollars is None for each in rewritings)
    cost = f"{sum((each.dollars or Decimal(0) for each in rewritings), Decimal(0)):.4f} USD"
    return [
        "", "## Instructions in other words", "",
        f"{models}: {len(rewritings)} asked for, {sum(each.taken for each in rewritings)} taken, {cost}"
        + (f" and {unknown} calls of unknown price" if unknown else "") + ". The others kept their draft; why, and"
        f" each draft, is in `{MINE_LOG}`.",
    ]  # fmt: skip
