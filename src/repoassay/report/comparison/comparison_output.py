"""A comparison as text, Markdown, JSON and for the page. Every text of a run is bounded and made harmless first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from repoassay.report.comparison.gate import Ruling
from repoassay.report.comparison.pairs import Measure, OutcomeChange, TaskPair
from repoassay.report.comparison.versus import Comparison, CostDifference, MergeableDifference, Versus
from repoassay.report.figures import figure, percent
from repoassay.stats import Interval, Proportion, Rate, Significance, p_text
from repoassay.text import one_line

__all__ = ["SCHEMA", "ComparedSection", "as_markdown", "as_text", "compared_sections", "comparison_document"]

SCHEMA = 1
_SIGNS = {OutcomeChange.FIXED: "+", OutcomeChange.BROKEN: "-", OutcomeChange.SAME: "=", OutcomeChange.UNKNOWN: "?"}
_MOST_TASKS = 200
_WORDS = {Measure.RESULT: "TPR (tasks passed)", Measure.PROCESS: "ECR (tasks executed)"}


@dataclass(frozen=True, slots=True)
class ComparedSection:
    """What the page says of two systems: facts, and of each task that changed its name, how, both rates, a remark."""

    first: str
    second: str
    facts: tuple[str, ...]
    changed: tuple[tuple[str, OutcomeChange, str, str], ...]
    more: int
    left_out: tuple[str, ...]


def compared_sections(comparison: Comparison) -> tuple[ComparedSection, ...]:
    """For the page, each pair of systems; tasks that broke come first."""
    sections = []
    for versus in comparison.versus:
        order = (OutcomeChange.BROKEN, OutcomeChange.FIXED, OutcomeChange.UNKNOWN)
        changed = sorted(
            (pair for pair in versus.pairs if pair.change in order), key=lambda pair: order.index(pair.change)
        )
        lines = tuple(
            (pair.task, pair.change, _both(pair), "" if pair.change is OutcomeChange.FIXED else pair.comment)
            for pair in changed[:_MOST_TASKS]
        )
        sections.append(
            ComparedSection(
                versus.first.label, versus.second.label, tuple(_facts(comparison, versus)), lines,
                len(changed) - len(lines), tuple(_omitted_lines(versus)),
            )
        )  # fmt: skip
    return tuple(sections)


def as_text(comparison: Comparison, rulings: Sequence[Ruling] | None = None) -> str:
    """For a terminal."""
    lines: list[str] = []
    for versus in comparison.versus:
        lines += [f"{_name(versus.first.label)} -> {_name(versus.second.label)}", ""]
        lines += [f"  {line}" for line in _facts(comparison, versus)]
        shown = [pair for pair in versus.pairs if pair.change is not OutcomeChange.SAME]
        if shown:
            lines += ["", "  What changed:"]
            width = max(len(_name(pair.task)) for pair in shown[:_MOST_TASKS])
            lines += [f"    {_line(pair, width)}" for pair in shown[:_MOST_TASKS]]
            lines += _rest(len(shown))
        lines += [f"  Left out: {note}" for note in _omitted_lines(versus)]
        lines.append("")
    return "\n".join([*lines, *_rulings(rulings)]).rstrip() + "\n"


def _line(pair: TaskPair, width: int) -> str:
    comment = f"  {one_line(pair.comment, 120)}" if pair.change is not OutcomeChange.FIXED and pair.comment else ""
    return f"{_SIGNS[pair.change]} {_name(pair.task):<{width}}  {pair.change:<7}  {_both(pair)}{comment}".rstrip()


def as_markdown(comparison: Comparison, rulings: Sequence[Ruling] | None = None) -> str:
    """For a pull request or a wiki."""
    lines: list[str] = []
    for versus in comparison.versus:
        lines += [f"## {_md(versus.first.label)} → {_md(versus.second.label)}", ""]
        lines += [f"- {_md(line, 600)}" for line in _facts(comparison, versus)]
        lines += ["", "| task | change | before → after |", "| --- | --- | --- |"]
        order = sorted(versus.pairs, key=lambda pair: pair.change is OutcomeChange.SAME)
        lines += [f"| {_md(pair.task)} | {pair.change} | {_both(pair)} |" for pair in order[:_MOST_TASKS]]
        lines.append("")
        lines += [line.strip() for line in _rest(len(order))]
        lines += [f"Left out: {_md(note, 600)}" for note in _omitted_lines(versus)]
        lines.append("")
    return "\n".join([*lines, *(_md(line, 1000) for line in _rulings(rulings))]).rstrip() + "\n"


def comparison_document(comparison: Comparison, rulings: Sequence[Ruling] | None = None) -> dict[str, Any]:
    """For programs; shares are between 0 and 1, differences second minus first."""
    return {
        "schema": SCHEMA,
        "measure": comparison.measure.value,
        "level": comparison.level,
        "systems": [{"label": side.label, "run": side.run, "agent": side.agent} for side in comparison.sides],
        "comparisons": [_document(versus) for versus in comparison.versus],
        "regression": None
        if rulings is None
        else [
            {"first": one.versus.first.label, "second": one.versus.second.label, "reasons": one.reasons}
            for one in rulings
            if one.reasons
        ],
    }


def _document(versus: Versus) -> dict[str, object]:
    return {
        "first": versus.first.label,
        "second": versus.second.label,
        "tasks": len(versus.pairs),
        "judged": versus.judged,
        "changes": {change.value: versus.count(change) for change in OutcomeChange},
        "rates": [_rate(rate) for rate in versus.rates],
        "difference": versus.difference,
        "interval": asdict(versus.interval),
        "test": asdict(versus.test),
        "permutation": asdict(versus.permutation),
        "p_adjusted": versus.adjusted,
        "costs": [asdict(cost) for cost in versus.costs],
        "visible_difference": asdict(versus.visible),
        "mergeable": None if versus.mergeable is None else _people(versus.mergeable),
        "pairs": [
            {
                "task": pair.task,
                "change": pair.change.value,
                "first": _rate(pair.first),
                "second": _rate(pair.second),
                "tokens": pair.tokens,
                "dollars": None if pair.dollars is None else str(pair.dollars),
                "seconds": pair.seconds,
            }
            for pair in versus.pairs
        ],
        "left_out": [asdict(item) for item in versus.left_out],
    }


def _people(found: MergeableDifference) -> dict[str, object]:
    return {
        "rates": [
            {
                "successes": one.people.successes,
                "n": one.people.n,
                "interval": asdict(one.people_interval),
                "tests": {
                    "successes": one.tests.successes, "n": one.tests.n, "interval": asdict(one.tests_interval)
                },
            }
            for one in found.rates
        ],
        **asdict(found.difference),
        "p_adjusted": found.adjusted,
    }  # fmt: skip


def _rate(rate: Rate) -> dict[str, int]:
    return {"successes": rate.successes, "n": rate.n, "unknown": rate.unknown}


def _facts(comparison: Comparison, versus: Versus) -> Iterator[str]:
    word = _WORDS[comparison.measure]
    for side, rate in zip((versus.first, versus.second), versus.rates, strict=True):
        both = f"all {figure(rate.over_all)}, judged {figure(rate.over_judged)}"
        yield f"{word} of {_name(side.label)}: {both}"
    changes = ", ".join(f"{versus.count(change)} {change}" for change in OutcomeChange)
    yield f"Of {_counted(len(versus.pairs))} in common: {changes}."
    if versus.difference is None:
        yield "No task has an answer on both sides; there is no difference to tell."
    else:
        points = _points(versus.interval)
        yield (
            f"Difference {100 * versus.difference:+.1f} points {points} over {_counted(versus.judged)}"
            f" ({versus.interval.method}{f'; {versus.interval.note}' if versus.interval.note else ''})."
        )
    yield _test(comparison, versus.test)
    if len(comparison.versus) > 1 and versus.adjusted is not None:
        yield f"After Holm's correction for {len(comparison.versus)} comparisons: {p_text(versus.adjusted)}."
    if versus.mergeable is not None:
        yield from _merged(comparison, versus, versus.mergeable)
    for cost in versus.costs:
        yield _cost(cost)
    visible = versus.visible
    seen = visible.undefined if visible.value is None else f"a difference of {100 * visible.value:.1f} points"
    note = f"; {visible.note}" if visible.note else ""
    head = (
        f"With {_counted(visible.n)} this comparison could see {seen}"
        if visible.value is not None
        else f"Power: {seen}"
    )
    yield f"{head} ({visible.method}{note})."


def _merged(comparison: Comparison, versus: Versus, found: MergeableDifference) -> Iterator[str]:
    """What people said, beside what tests said of the same attempts."""
    for side, one in zip((versus.first, versus.second), found.rates, strict=True):
        if one.n:
            tests, people = _with_ends(one.tests, one.tests_interval), _with_ends(one.people, one.people_interval)
            yield f"Mergeable, of {_name(side.label)}: {people}; tests passed on the same attempts: {tests}."
        else:
            yield f"Mergeable, of {_name(side.label)}: none of its attempts here was reviewed."
    gap = found.difference
    if gap.difference is None:
        yield "No task was reviewed on both sides; there is no difference in mergeable to tell."
        return
    yield (
        f"Difference in mergeable {100 * gap.difference:+.1f} points {_points(gap.interval)} over"
        f" {_counted(gap.tasks)} ({gap.interval.method}{f'; {gap.interval.note}' if gap.interval.note else ''})."
    )
    yield f"Mergeable: {_test(comparison, gap.test)}"
    if len(comparison.versus) > 1 and found.adjusted is not None:
        yield f"Mergeable, after Holm's correction: {p_text(found.adjusted)}."


def _with_ends(share: Proportion, ends: Interval) -> str:
    span = "" if ends.low is None or ends.high is None else f" [{100 * ends.low:.1f}, {100 * ends.high:.1f}]"
    return f"{share.successes}/{share.n} {percent(share.value)}{span}"


def _test(comparison: Comparison, test: Significance) -> str:
    if test.p_value is None:
        return f"No test: {test.undefined}."
    word = "a difference" if test.p_value < comparison.level else "no difference beyond chance"
    return f"{p_text(test.p_value)}, {word} at level {comparison.level:g} ({test.method})."


def _cost(cost: CostDifference) -> str:
    unknown = f", {_counted(cost.unknown)} unknown" if cost.unknown else ""
    if cost.mean is None:
        return f"Difference in {cost.unit} a task: unknown{unknown}."
    digits = {"tokens": ",.0f", "dollars": ",.4f", "seconds": ",.2f"}[cost.unit]
    mean = f"{cost.mean:+{digits}}"
    interval = cost.interval
    if interval.low is None or interval.high is None:
        span = f"no interval: {interval.undefined}"
    else:
        span = f"[{interval.low:+{digits}}, {interval.high:+{digits}}], {interval.method}"
    return f"Difference in {cost.unit} a task: {mean} ({span}; n = {interval.n}{unknown})."


def _points(interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return f"(no interval: {interval.undefined})"
    return f"[{100 * interval.low:+.1f}, {100 * interval.high:+.1f}]"


def _omitted_lines(versus: Versus) -> Iterator[str]:
    for item in versus.left_out[:_MOST_TASKS]:
        yield f"{_name(item.task)}: {one_line(item.reason)}."
    if len(versus.left_out) > _MOST_TASKS:
        yield f"and {len(versus.left_out) - _MOST_TASKS} more."


def _rulings(rulings: Sequence[Ruling] | None) -> list[str]:
    if rulings is None:
        return []
    found = [
        f"Regression, {_name(one.versus.first.label)} -> {_name(one.versus.second.label)}: {reason}"
        for one in rulings
        for reason in one.reasons
    ]
    return found or ["No regression."]


def _rest(count: int) -> list[str]:
    return [f"    and {count - _MOST_TASKS} more; --json has all"] if count > _MOST_TASKS else []


def _both(pair: TaskPair) -> str:
    return " -> ".join(
        f"{rate.successes}/{rate.judged}" if rate.judged else "unknown" for rate in (pair.first, pair.second)
    )


def _counted(tasks: int) -> str:
    return f"{tasks} task{'' if tasks == 1 else 's'}"


def _name(text: str) -> str:
    return one_line(text, 100)


def _md(text: str, most: int = 100) -> str:
    """Plain text inside Markdown: what would be markup is escaped."""
    safe = one_line(text, most)
    return "".join(f"\\{letter}" if letter in "\\`*_[]|~#!" else letter for letter in safe).replace("<", "&lt;")
