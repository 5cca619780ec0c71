"""Alpha by repository and its Pareto curve (after GitTaskBench, Table 10 and Figure 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from repoassay import economics
from repoassay.economics import AlphaRow, Group, ParetoCurve, Quality, Success, bootstrap, by_result, pareto
from repoassay.report.results import ResultRow
from repoassay.report.tables.groups import group_rows, named_runs
from repoassay.report.tables.value import Cell, ColumnUnit, Table, TableColumn

__all__ = [
    "Repositories",
    "agent_alpha",
    "alpha_rows",
    "cumulated",
    "curves",
    "quality_notes",
    "repositories",
    "repository_alpha",
]

Repositories = Mapping[tuple[str, str], Mapping[str, Group]]
"""Groups of attempts by repository, of each run (empty where it need not be told) and agent."""

ALPHA_NOTE = (
    "Alpha (GitTaskBench Equation 1) is the mean over attempts of T x MV x Q - C in US dollars: T is whether the task"
    " was executed, strict alpha takes whether it was passed; MV is the market value, Q the quality, C the cost."
    " Attempts of which a figure is unknown are left out and counted."
)


def alpha_rows(
    rows: Sequence[ResultRow], quality: Mapping[str, Quality] | None = None
) -> dict[tuple[str, str], list[AlphaRow]]:
    """Finished attempts as the economics room takes them, by run (empty where it need not be told) and agent.

    Args:
        rows: Rows of runs.
        quality: Reviewed quality by attempt id; where there is none, quality is 1 or 0 by Result.
    """
    several = named_runs(rows)
    reviewed = quality or {}
    groups = group_rows(
        (row for row in rows if row.finished), lambda row: (row.run.title if several else "", row.agent)
    )
    return {key: [_alpha_row(row, reviewed) for row in members] for key, members in groups.items()}


def _alpha_row(row: ResultRow, reviewed: Mapping[str, Quality]) -> AlphaRow:
    executed = True if row.result and row.process is False else row.process
    return AlphaRow(
        task=row.task,
        executed=executed,
        passed=row.result,
        value=row.value,
        quality=reviewed.get(row.attempt) or by_result(row.result),
        cost=row.dollars,
        keys={"repository": row.repository or "(not kept)", "domain": row.domain, "suite": row.run.suite},
    )


def repositories(attempts: Mapping[tuple[str, str], Sequence[AlphaRow]]) -> Repositories:
    """Alpha of each agent on each repository."""
    return {key: economics.group_by(rows, "repository") for key, rows in attempts.items()}


def repository_alpha(found: Repositories, notes: Sequence[str] = ()) -> Table:
    """Alpha and strict alpha of each agent on each repository, repositories by name; `notes` are `quality_notes`."""
    groups = {(name, *key): group for key, parts in found.items() for name, group in parts.items()}
    return Table(
        name="alpha_by_repository",
        title="Alpha by repository",
        after="GitTaskBench Table 10",
        columns=(
            TableColumn("repository", "Repository"),
            TableColumn("run", "Run"),
            TableColumn("agent", "Agent"),
            TableColumn("n", "Attempts", ColumnUnit.COUNT),
            TableColumn("counted", "Counted", ColumnUnit.COUNT),
            TableColumn("alpha", "Alpha", ColumnUnit.DOLLARS, 3),
            TableColumn("strict", "Strict alpha", ColumnUnit.DOLLARS, 3),
            TableColumn("cost", "Known cost", ColumnUnit.DOLLARS, 4),
        ),
        rows=tuple(_of_repository(key, groups[key]) for key in sorted(groups)),
        notes=(ALPHA_NOTE, *notes),
    ).without_empty("run")


def _of_repository(key: tuple[str, str, str], group: Group) -> tuple[Cell, ...]:
    return (*key, group.alpha.n, group.alpha.counted, group.alpha.mean, group.strict.mean, group.cost)


def agent_alpha(attempts: Mapping[tuple[str, str], Sequence[AlphaRow]], notes: Sequence[str] = ()) -> Table:
    """Alpha of each agent over all attempts, with what money decisions need."""
    rows = []
    for (run, agent), members in attempts.items():
        group = economics.group(agent, members)
        solved = economics.cost_per_solved(members)
        interval = bootstrap(members, Success.EXECUTED, resamples=1000)
        rows.append(
            (
                run,
                agent,
                group.alpha.n,
                group.alpha.counted,
                group.alpha.mean,
                interval.low,
                interval.high,
                group.strict.mean,
                solved.dollars,
                economics.value_per_dollar(members).ratio,
                economics.break_even(members).per_attempt,
            )
        )
    return Table(
        name="alpha",
        title="Alpha and what decides",
        after="",
        columns=(
            TableColumn("run", "Run"),
            TableColumn("agent", "Agent"),
            TableColumn("n", "Attempts", ColumnUnit.COUNT),
            TableColumn("counted", "Counted", ColumnUnit.COUNT),
            TableColumn("alpha", "Alpha", ColumnUnit.DOLLARS, 3),
            TableColumn("alpha_low", "from", ColumnUnit.DOLLARS, 3),
            TableColumn("alpha_high", "to", ColumnUnit.DOLLARS, 3),
            TableColumn("strict", "Strict alpha", ColumnUnit.DOLLARS, 3),
            TableColumn("per_solved", "Cost per solved task", ColumnUnit.DOLLARS, 4),
            TableColumn("per_dollar", "Value per dollar", ColumnUnit.NUMBER, 2),
            TableColumn("break_even", "Break-even cost", ColumnUnit.DOLLARS, 4),
        ),
        rows=tuple(rows),
        notes=(
            ALPHA_NOTE,
            "From and to: 95% percentile bootstrap over tasks, 1000 resamples, seed 0; a dash where it would lie."
            " Break-even is the mean cost of an attempt at which alpha is 0.",
            *notes,
        ),
    ).without_empty("run")


def curves(repositories: Repositories) -> dict[tuple[str, str], ParetoCurve]:
    """The Pareto curve of each agent over its repositories' alphas; repositories without a counted attempt are out."""
    found = {}
    for key, parts in repositories.items():
        means = {name: group.alpha.mean for name, group in parts.items()}
        known = {name: mean for name, mean in means.items() if mean is not None}
        if known:
            found[key] = pareto(known)
    return found


def cumulated(found: Mapping[tuple[str, str], ParetoCurve]) -> Table:
    """The Pareto curves as a table, repositories from the largest alpha down."""
    return Table(
        name="alpha_pareto",
        title="Cumulative alpha over repositories",
        after="GitTaskBench Figure 6",
        columns=(
            TableColumn("run", "Run"),
            TableColumn("agent", "Agent"),
            TableColumn("rank", "Rank", ColumnUnit.COUNT),
            TableColumn("repository", "Repository"),
            TableColumn("alpha", "Alpha", ColumnUnit.DOLLARS, 3),
            TableColumn("cumulative", "Cumulative", ColumnUnit.DOLLARS, 3),
            TableColumn("share", "Share of the net", ColumnUnit.SHARE, 1),
        ),
        rows=tuple(
            (*key, rank, point.name, point.alpha, point.cumulative, point.share)
            for key, curve in found.items()
            for rank, point in enumerate(curve.points, start=1)
        ),
        notes=(
            "Repositories weigh alike. Where some lose money the sum rises above the net and comes back, so shares"
            " exceed 100% on the way; there are none where the net is not above 0.",
        ),
    ).without_empty("run")


def quality_notes(attempts: Mapping[tuple[str, str], Sequence[AlphaRow]]) -> list[str]:
    """What to know of the qualities and market values behind alpha."""
    all_rows = [row for rows in attempts.values() for row in rows]
    unreviewed = sum(row.quality is None or not row.quality.ratings for row in all_rows)
    valueless = len({row.task for row in all_rows if row.value is None})
    notes = []
    if unreviewed:
        notes.append(
            f"Quality is by Result (1 where passed, 0 where not) for {unreviewed} of {len(all_rows)} attempts that"
            " nobody reviewed; there alpha and strict alpha are the same."
        )
    if valueless:
        notes.append(f"{valueless} tasks state no market value; their attempts count where T or Q is 0.")
    return notes
