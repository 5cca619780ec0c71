"""Success of each agent with intervals that know of tasks, and pass@k (after METR's and RES-Q's rates)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from repoassay.report.results import ResultRow
from repoassay.report.strength_lines import strength_sentence, strengths_of
from repoassay.report.tables.groups import group_rows, label_of, named_runs
from repoassay.report.tables.value import Cell, ColumnUnit, Estimate, Table, TableColumn
from repoassay.stats import clustered_counts, clustered_mean, pass_at_k, pass_hat_k

__all__ = ["pass_rates", "success"]


def success(rows: Sequence[ResultRow]) -> Table:
    """Mean success of each entry with a task-clustered interval, over judged attempts, and pass@k beside it."""
    several = named_runs(rows)
    entries = group_rows(rows, lambda row: (row.run.title if several else "", row.agent))
    most = min((row.run.attempts for row in rows), default=1)
    table_rows = [_row(run, members, most) for (run, _), members in entries.items()]
    return Table(
        name="success",
        title="Success with intervals over tasks",
        after="METR August 2025",
        columns=(
            TableColumn("run", "Run"),
            TableColumn("agent", "Agent"),
            TableColumn("tasks", "Tasks", ColumnUnit.COUNT),
            TableColumn("n", "Judged attempts", ColumnUnit.COUNT),
            TableColumn("success", "Success", ColumnUnit.ESTIMATE),
            TableColumn("error", "Standard error", ColumnUnit.SHARE, 1),
            TableColumn("naive", "as if independent", ColumnUnit.SHARE, 1),
            TableColumn("pass_1", "pass@1", ColumnUnit.ESTIMATE),
            TableColumn("pass_k", f"pass@{most}", ColumnUnit.ESTIMATE),
            TableColumn("all_k", f"pass^{most}", ColumnUnit.ESTIMATE),
            TableColumn("undefined", "Why there is no interval"),
        ),
        rows=tuple(table_rows),
        notes=(
            "Success is the mean of Result over judged attempts. Its 95% interval takes tasks as the sample (Korn and"
            " Graubard: Clopper and Pearson's of as many independent attempts as tasks are worth, by Student's t with"
            " C-1 degrees of freedom of C tasks): attempts at one task are not independent. The standard error is"
            " clustered by task, with C/(C-1).",
            "pass@k is the unbiased estimate that any of k attempts passes, pass^k that all do. Intervals are Wilson's"
            " of one attempt a task, else as that of success. Tasks with fewer than k judged attempts are left out.",
            *_strengths(rows),
        ),
    ).without_empty("run", "undefined", *(["pass_k", "all_k"] if most == 1 else []))


def _strengths(rows: Sequence[ResultRow]) -> Iterator[str]:
    """A sentence for each run on the tests behind its rates, where something is known of them."""
    for (title, path), members in group_rows(rows, lambda row: (row.run.title, row.run.path)).items():
        digests = {row.planned.digest for row in members}
        if sentence := strength_sentence(strengths_of(path, digests), len(digests)):
            yield f"{title}: {sentence}" if named_runs(rows) else sentence


def _row(run: str, rows: Sequence[ResultRow], most: int) -> tuple[Cell, ...]:
    tasks = group_rows([row for row in rows if row.result is not None], lambda row: row.task)
    found = clustered_mean([[float(bool(row.result)) for row in members] for members in tasks.values()])
    counts = [(len(members), sum(bool(row.result) for row in members)) for members in tasks.values()]
    ends = clustered_counts((hits, n) for n, hits in counts)
    whole = Estimate(found.value, ends.low, ends.high, found.tasks, ends.undefined)
    several = [_estimate(counts, most, any_of) for any_of in (True, False)] if most > 1 else [None, None]
    return (
        run, rows[0].agent, found.tasks, found.n, whole, found.error, found.naive_error,
        _estimate(counts, 1, True), *several, found.undefined,
    )  # fmt: skip


def _estimate(counts: Sequence[tuple[int, int]], k: int, any_of: bool) -> Estimate:
    found = (pass_at_k if any_of else pass_hat_k)(counts, k)
    return Estimate(found.value, found.interval.low, found.interval.high, found.tasks, found.undefined)


def pass_rates(rows: Sequence[ResultRow]) -> dict[str, Estimate]:
    """pass@1 of each framework with its model, over all its runs together."""
    found = {}
    for label, members in group_rows(rows, label_of).items():
        tasks = group_rows([row for row in members if row.result is not None], lambda row: (row.run.suite, row.task))
        counts = [(len(group), sum(bool(row.result) for row in group)) for group in tasks.values()]
        found[label] = _estimate(counts, 1, True)
    return found
