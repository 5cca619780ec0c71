"""Where everything in a plot lies. The template draws; nothing here writes markup.

Places along x are percentages of whatever width the reader has, so that text keeps its size on a phone; places along y
are pixels.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from repoassay.report.figures import figure, seconds, share
from repoassay.report.outcomes import OUTCOMES, UNFINISHED, Shown, shown
from repoassay.report.summary import AgentSummary, Row, Summary
from repoassay.stats import Proportion
from repoassay.text import one_line

__all__ = ["Bar", "Dot", "Line", "Plot", "plots"]

_LABEL = 26
"""Characters of a label; beside it stands the figure, also on a phone."""
_MOST_LINES = 40


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar or a segment: from x, this wide (percent), `tall` pixels, its class, what it says, and text inside."""

    x: float
    width: float
    tall: int
    kind: str
    says: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Dot:
    """A value at x (percent), filled or hollow, with the ends of its interval where it has one."""

    x: float
    kind: str
    filled: bool
    says: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """One row of a plot at y: label on the left, figure on the right, and below them bars or dots on a track."""

    y: int
    label: str
    figure: str
    bars: tuple[Bar, ...] = ()
    dots: tuple[Dot, ...] = ()


@dataclass(frozen=True, slots=True)
class Plot:
    """One plot. `ticks` are (x percent, text); `legend` is (class, sign, word); `note` says what was left out."""

    name: str
    title: str
    description: str
    height: int
    lines: tuple[Line, ...]
    ticks: tuple[tuple[float, str], ...] = ()
    legend: tuple[tuple[str, str, str], ...] = ()
    note: str = ""


def plots(summary: Summary) -> list[Plot]:
    """The plots of a run that have something to show."""
    found = [_rates(summary), _outcomes(summary), _domains(summary), _seconds(summary)]
    return [plot for plot in found if plot.lines]


_PERCENT = ((0.0, "0%"), (25.0, "25%"), (50.0, "50%"), (75.0, "75%"), (100.0, "100%"))
_ROW = 46


def _plot(name: str, title: str, lines: Sequence[Line], row: int, **more: object) -> Plot:
    left_out = len(lines) - _MOST_LINES
    note = f"{left_out} more are left out here; the table of attempts has them." if left_out > 0 else ""
    kept = tuple(lines[:_MOST_LINES])
    axis = 24 if more.get("ticks") else 0
    says = "; ".join(f"{line.label}: {line.figure}" for line in kept)
    return Plot(
        name=name, title=title, description=f"{says}. {note}".strip(), height=len(kept) * row + axis, lines=kept,
        note=note, **more,  # type: ignore[arg-type] # ticks and legend as the callers below give them
    )  # fmt: skip


def _short(text: str, most: int) -> str:
    """A label of at most `most` characters, cut in the middle: names of one family differ at their ends."""
    line = one_line(text)
    return line if len(line) <= most else f"{line[: most // 2]}…{line[len(line) - (most - 1 - most // 2) :]}"


def _rates(summary: Summary) -> Plot:
    wanted = []
    for agent in summary.agents:
        for word, rate in (("ECR", agent.process), ("TPR", agent.result)):
            name = f"{_short(agent.name, _LABEL - 12)} {word}" if len(summary.agents) > 1 else word
            if rate.unknown:
                wanted.append((f"{name}, all", word.lower(), rate.over_all, True))
                wanted.append((f"{name}, judged", word.lower(), rate.over_judged, False))
            else:
                wanted.append((name, word.lower(), rate.over_all, True))
    lines = [
        Line(number * _ROW, label, share(rate), dots=tuple(_rate_dots(rate, kind, filled)))
        for number, (label, kind, rate, filled) in enumerate(wanted)
    ]
    legend = (("ecr", "", "ECR, process"), ("tpr", "", "TPR, result"), ("hollow", "", "hollow: over judged alone"))
    return _plot("rates", "Rates with 95% Wilson interval", lines, _ROW, ticks=_PERCENT, legend=legend)


def _rate_dots(rate: Proportion, kind: str, filled: bool) -> Iterable[Dot]:
    interval = rate.interval
    if rate.value is not None and interval.low is not None and interval.high is not None:
        yield Dot(100 * rate.value, kind, filled, figure(rate), 100 * interval.low, 100 * interval.high)


def _outcomes(summary: Summary) -> Plot:
    lines = [
        Line(number * 54, _short(agent.name, _LABEL), f"n = {agent.planned} planned", bars=tuple(_segments(agent)))
        for number, agent in enumerate(summary.agents)
        if agent.planned
    ]
    used = {bar.kind for line in lines for bar in line.bars}
    legend = tuple((kind.name, kind.sign, kind.word) for kind in (*OUTCOMES.values(), UNFINISHED) if kind.name in used)
    described = "; ".join(f"{line.label}: {', '.join(bar.says for bar in line.bars)}" for line in lines[:_MOST_LINES])
    plot = _plot("outcomes", "Outcomes", lines, 54, legend=legend)
    return Plot(plot.name, plot.title, described + ".", plot.height, plot.lines, (), legend, plot.note)


def _segments(agent: AgentSummary) -> Iterable[Bar]:
    counts: list[tuple[Shown, int]] = [(shown(outcome), count) for outcome, count in agent.outcomes.items()]
    counts.append((UNFINISHED, agent.unfinished))
    x = 0.0
    for kind, count in counts:
        width = 100 * count / agent.planned
        if count:
            yield Bar(x, width, 24, kind.name, f"{count} {kind.word}", str(count) if width >= 6 else "")
        x += width


def _domains(summary: Summary) -> Plot:
    lines: list[Line] = []
    for group in zip(*(agent.domains for agent in summary.agents), strict=True):
        for agent, row in zip(summary.agents, group, strict=True):
            both = f"{_short(row.domain, _LABEL // 2 - 1)}, {_short(agent.name, _LABEL // 2 - 1)}"
            label = both if len(summary.agents) > 1 else _short(row.domain, _LABEL)
            process, result = row.process.over_all, row.result.over_all
            words = f"ECR {process.successes}/{process.n}, TPR {result.successes}/{result.n}"
            bars = (
                Bar(0, 100 * (process.value or 0), 6, "ecr", f"ECR {figure(process)}"),
                Bar(0, 100 * (result.value or 0), 10, "tpr", f"TPR {figure(result)}"),
            )
            lines.append(Line(len(lines) * 48, label, words, bars=bars))
    legend = (("ecr", "", "ECR over all"), ("tpr", "", "TPR over all"))
    return _plot("domains", "By domain", lines, 48, ticks=_PERCENT, legend=legend)


def _seconds(summary: Summary) -> Plot:
    by_task: dict[str, list[tuple[float, Row]]] = defaultdict(list)
    for row in summary.rows:
        if row.counts and row.seconds is not None:
            by_task[row.attempt.task].append((row.seconds, row))
    longest = max((value for found in by_task.values() for value, _ in found), default=0.0) or 1.0
    medians = {task: statistics.median(value for value, _ in found) for task, found in by_task.items()}
    lines = []
    for number, task in enumerate(sorted(medians, key=lambda task: (-medians[task], task))):
        found = by_task[task]
        words = f"{seconds(medians[task])}, n = {len(found)}"
        dots = tuple(_second_dot(value, row, longest) for value, row in found[:50])
        lines.append(Line(number * 40, _short(task, _LABEL), words, dots=dots))
    ticks = ((0.0, "0"), (50.0, seconds(longest / 2)), (100.0, seconds(longest)))
    legend = (("passed", "", "passed"), ("hollow", "", "hollow: not passed, coloured by outcome"))
    return _plot("seconds", "Median agent wall time by task", lines, 40, ticks=ticks, legend=legend)


def _second_dot(value: float, row: Row, longest: float) -> Dot:
    kind = shown(row.verdict.outcome)
    says = f"{one_line(row.attempt.agent, 64)} attempt {row.attempt.number}: {kind.word}, {seconds(value)}"
    return Dot(100 * value / longest, kind.name, kind.name == "passed", says)
