"""A summary as tables for a terminal; plain text wherever it is not one.

Every text that came from an agent or a task folder is passed as `Text`, never as markup.
"""

from __future__ import annotations

from collections.abc import Iterable

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from repoassay.records import AttemptStatus
from repoassay.report.figures import dollars, figure, moment, seconds, share, tokens
from repoassay.report.money import sentence
from repoassay.report.outcomes import UNFINISHED, OutcomeLabel, outcome_label
from repoassay.report.summary import AgentSummary, Summary, SummaryRow
from repoassay.text import one_line
from repoassay.types import Outcome

__all__ = ["MOST_ROWS", "print_table", "tables"]

MOST_ROWS = 200
"""More attempts than this are not all listed on a terminal: those that passed are left out first."""
_NARROW = 72
"""Columns below which a table has to leave something out."""
_RATES, _FIGURE, _LEGIBLE = 64, 11, 20
"""Columns that the rates of an agent take, that a figure takes, and that a name must be left to be read."""


def print_table(summary: Summary, console: Console) -> None:
    """Print the head line, a row an agent, domains, and every attempt."""
    if console.encoding.lower().startswith("utf"):
        console.print(tables(summary, width=console.width))
        return
    with console.capture() as captured:
        console.print(tables(summary, unicode=False, width=console.width))
    console.file.write(captured.get().encode(console.encoding, "backslashreplace").decode(console.encoding))


def tables(summary: Summary, *, unicode: bool = True, width: int = 160) -> RenderableType:
    """Everything `print_table` prints, for so many columns. Without `unicode` signs are ASCII."""
    kept, left_out = _bounded(summary.rows)
    listed = f" ({left_out} of {len(summary.rows)} left out; --json has all)" if left_out else ""
    return Group(
        _head(summary),
        _title(
            f"Rates over {summary.scope}, 95% {'Wilson interval' if summary.plan.attempts == 1 else 'interval by task'}"
        ),
        _agents(summary, width),
        *([Text(f"\n{one_line(strength, 2000)}")] if (strength := summary.strength_sentence) else []),
        *_outcome_lines(summary),
        _title("By domain"),
        _domains(summary, width),
        _title(f"Attempts{listed}"),
        _attempts(summary, kept, unicode) if _fits(summary, width) else _attempt_lines(summary, kept, unicode),
        "",
        *(Text(line) for line in _notes(summary)),
    )


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)
    for name in columns:
        table.add_column(name, overflow="fold")
    return table


def _title(text: str) -> Text:
    """Above its table and not part of it: a table's own title wraps at the table's width."""
    return Text(f"\n{text}", style="bold")


def _head(summary: Summary) -> Text:
    plan = summary.plan
    agents = ", ".join(plan.agents)
    line = f"{plan.suite} {plan.suite_version} | {agents} | {moment(plan.created)} | isolation {plan.isolation}"
    return Text(one_line(line, 400), style="bold")


def _agents(summary: Summary, width: int) -> RenderableType:
    """A row an agent; where the names would be squeezed beside the rates, each on a line above its own."""
    names = [one_line(agent.name, 64) for agent in summary.agents]
    if width - _RATES >= min(max(map(len, names), default=0), _LEGIBLE):
        table = _rates("agent")
        for name, agent in zip(names, summary.agents, strict=True):
            table.add_row(Text(name), *_rate_cells(agent))
        return table
    parts: list[RenderableType] = [_rates()]
    for name, agent in zip(names, summary.agents, strict=True):
        table = _rates()
        table.show_header = False
        table.add_row(*_rate_cells(agent))
        parts += [Text(name, style="bold"), table]
    return Group(*parts)


def _rates(*names: str) -> Table:
    table = _table(*names, "over", "ECR", "TPR")
    for column, width in zip(table.columns[-3:], (6, 27, 27), strict=True):
        column.no_wrap, column.min_width = True, 0 if names else width
    return table


def _rate_cells(agent: AgentSummary) -> tuple[str, str, str]:
    return (
        "all\njudged",
        f"{figure(agent.process.over_all)}\n{figure(agent.process.over_judged)}",
        f"{figure(agent.result.over_all)}\n{figure(agent.result.over_judged)}",
    )


def _outcome_lines(summary: Summary) -> Iterable[Text]:
    for agent in summary.agents:
        counts = [f"{count} {outcome_label(outcome).word}" for outcome, count in agent.outcomes.items() if count]
        if agent.unfinished:
            counts.append(f"{agent.unfinished} unfinished")
        wall = agent.wall
        timed = (
            f" Agent wall time {seconds(wall.total)}, median {seconds(wall.median)}, n = {wall.n}." if wall.n else ""
        )
        name = one_line(agent.name, 64)
        spent = f" {one_line(sentence(agent.spent), 400)}." if agent.spent else ""
        yield Text(f"\n{name}: {', '.join(counts) or 'nothing planned'}{_doing(agent)}.{timed}{spent}")


def _doing(agent: AgentSummary) -> str:
    count = agent.not_passed
    doing = ", ".join(f"{number} {whose.value}" for whose, number in count.items() if number)
    return f"; not passed, by whose doing: {doing}" if doing else ""


def _domains(summary: Summary, width: int) -> Table:
    """Rates by domain; where it is narrow only those over all attempts."""
    several = len(summary.agents) > 1
    agent_column = ["agent"] if several else []
    narrow = width < _NARROW
    rates = ["ECR all", "TPR all"] if narrow else ["ECR all", "ECR judged", "TPR all", "TPR judged"]
    table = _table("domain", *agent_column, *rates)
    for column in table.columns[-len(rates) :]:
        column.no_wrap = True
    for group in zip(*(agent.domains for agent in summary.agents), strict=True):  # the same domains for every agent
        for number, (agent, row) in enumerate(zip(summary.agents, group, strict=True)):
            table.add_row(
                Text(one_line(row.domain, 64) if number == 0 else ""),
                *([Text(one_line(agent.name, 64))] if several else []),
                *(
                    share(rate)
                    for both in (row.process, row.result)
                    for rate in ((both.over_all,) if narrow else (both.over_all, both.over_judged))
                ),
            )
    return table


def _attempts(summary: Summary, kept: Iterable[SummaryRow], unicode: bool) -> Table:
    several = len(summary.agents) > 1
    metered = summary.spending.total is not None
    money = ["tokens", "cost"] if metered else []
    table = _table("outcome", "task", *(["agent"] if several else []), "seconds", *money, "comment")
    table.columns[0].no_wrap = True
    for column in table.columns[-2 - len(money) : -1]:
        column.justify = "right"
    for row in kept:
        attempt = row.found
        cells = [Text(_numbered(attempt.task, attempt.number, summary))]
        cells += [Text(one_line(attempt.agent, 64))] if several else []
        wall = Text("-" if row.seconds is None else f"{row.seconds:.1f}")
        spent = [Text(tokens(attempt.spent)), Text(dollars(attempt.spent))] if metered else []
        table.add_row(_outcome(outcome_label(row.found.outcome), unicode), *cells, wall, *spent, _comment(row))
    for gap in summary.unfinished[:MOST_ROWS]:
        cells = [Text(_numbered(gap.task.id, gap.number, summary))]
        cells += [Text(one_line(gap.agent, 64))] if several else []
        table.add_row(_outcome(UNFINISHED, unicode), *cells, *[Text("-")] * (1 + len(money)), Text("not finished"))
    return table


def _fits(summary: Summary, width: int) -> bool:
    """Whether a row an attempt leaves room for its names and some of its comment."""
    several = len(summary.agents) > 1
    name = max((len(one_line(agent.name, 64)) for agent in summary.agents), default=0) if several else 0
    task = max((len(_numbered(row.found.task, 1, summary)) for row in summary.rows), default=0)
    money = 2 * _FIGURE if summary.spending.total is not None else 0
    return width >= 2 * _FIGURE + task + name + money + _LEGIBLE or (not several and width >= _NARROW)


def _attempt_lines(summary: Summary, kept: Iterable[SummaryRow], unicode: bool) -> RenderableType:
    """What `_attempts` tells, with the agent and the comment on lines of their own."""
    several = len(summary.agents) > 1
    lines: list[RenderableType] = []
    for row in kept:
        attempt = row.found
        spent = f"  {tokens(attempt.spent)} tokens {dollars(attempt.spent)}" if attempt.spent else ""
        wall = "" if row.seconds is None else f"  {row.seconds:.1f} s"
        label = outcome_label(row.found.outcome)
        lines.append(
            Text.assemble(
                _outcome(label, unicode), f"  {_numbered(attempt.task, attempt.number, summary)}{wall}{spent}"
            )
        )
        lines += [Text(f"    by {one_line(attempt.agent, 64)}")] if several else []
        lines += [Text.assemble("    ", comment)] if (comment := _comment(row)) else []
    for gap in summary.unfinished[:MOST_ROWS]:
        name = f" by {one_line(gap.agent, 64)}" if several else ""
        lines.append(
            Text.assemble(_outcome(UNFINISHED, unicode), f"  {_numbered(gap.task.id, gap.number, summary)}{name}")
        )
    return Group(*lines)


def _bounded(rows: tuple[SummaryRow, ...]) -> tuple[list[SummaryRow], int]:
    if len(rows) <= MOST_ROWS:
        return list(rows), 0
    kept = [row for row in rows if row.found.outcome is not Outcome.PASSED][:MOST_ROWS]
    return kept, len(rows) - len(kept)


def _numbered(task: str, number: int, summary: Summary) -> str:
    return one_line(task if summary.plan.attempts == 1 else f"{task} #{number}", 80)


def _outcome(kind: OutcomeLabel, unicode: bool) -> Text:
    return Text(f"{kind.sign if unicode else kind.ascii} {kind.word}", style=kind.style)


def _comment(row: SummaryRow) -> Text:
    first = one_line(row.found.comment, 160) if row.found.comment else ""
    prefix = {
        AttemptStatus.COUNTS: "",
        AttemptStatus.SUPERSEDED: "(superseded by a retry) ",
        AttemptStatus.OUTSIDE_PLAN: "(outside the plan, not counted) ",
    }[row.place.standing]
    return Text.assemble((prefix, "dim"), first)


def _notes(summary: Summary) -> Iterable[str]:
    yield (
        "all: every planned attempt, unknown ones in the denominator; judged: those with a known answer."
        " Unknown is never false."
    )
    if summary.plan.origin is not None:
        yield one_line(summary.plan.origin.sentence, 1000)
    if kinds := list(summary.isolations.items()):
        named = "; ".join(f"{one_line(name, 100)} ({count})" for name, count in kinds[:5])
        yield f"Verdicts were given under the isolation: {named}{'; and others' if kinds[5:] else ''}."
    spending = summary.spending
    if spending.total is not None:
        aside = [("superseded or outside the plan", spending.aside), ("never finished", spending.unfinished)]
        parts = [f"{dollars(part)} and {tokens(part)} tokens on attempts {name}" for name, part in aside if part]
        yield f"Spent in all: {one_line(sentence(spending.total), 400)}{''.join(f'; {part}' for part in parts)}."
    if len(summary.unfinished):
        shown_too = f"; the first {MOST_ROWS} are listed" if len(summary.unfinished) > MOST_ROWS else ""
        yield f"Unfinished: {len(summary.unfinished)} of {summary.plan.size} planned attempts{shown_too}."
    if summary.torn:
        lines = ", ".join(map(str, summary.torn[:20]))
        yield f"journal.jsonl: torn and passed over: line {lines}."
    moved = sum(row.moved for row in summary.rows)
    if moved:
        yield f"{moved} attempts name another task digest than the plan; their figures may not be comparable."
