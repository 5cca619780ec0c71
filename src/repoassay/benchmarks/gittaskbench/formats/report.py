"""Evaluation reports: a results folder counted, as text in the published form, and such text read back."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from repoassay.benchmarks.gittaskbench.formats.results import Results
from repoassay.errors import BadInput
from repoassay.records import write_once
from repoassay.tasks import read_regular
from repoassay.text import printable

__all__ = ["PublishedReport", "read_report", "render_report", "write_report"]

_MAX_FILE = 16 * 2**20
_MOST_SKIPPED = 500
_TOTAL = re.compile(r"^Total number of tasks: (\d{1,9})$")
_RATE = re.compile(r"^(Process|Result) Success Rate: (\d{1,3}\.\d{1,9})%$")
_HEADING = re.compile(r"^## (.+?)(?: \((\d{1,9})\))?$")


def render_report(results: Results, at: datetime) -> str:
    """Return the report on a results folder as Markdown text.

    Rates are per cent with two decimals: first over all tasks of the suite, then over those with a known verdict.
    Sections without entries are left out.

    Args:
        results: What was read.
        at: When, as the report says; with a time zone.
    """
    total = len(results.tasks)
    process = [len(results.process(value)) for value in (True, False, None)]
    result = [len(results.result(value)) for value in (True, False, None)]
    lines = [
        "# GitTaskBench Evaluation Report",
        f"Generated on: {at:%Y-%m-%d %H:%M:%S %Z}".rstrip(),
        f"Results directory: {printable(str(results.folder), 1000)}",
        "",
        "## Total Tasks",
        f"Total number of tasks: {total}",
        f"Recorded: {len(results.records)}, Missing: {len(results.missing)}",
        "",
        "## Summary Statistics",
        f"Process - True: {process[0]}, False: {process[1]}{_unknown(process[2])}",
        f"Result - True: {result[0]}, False: {result[1]}{_unknown(result[2])}",
        "",
        "## Success Rates",
        f"Process Success Rate: {_rate(process[0], total)}",
        f"Result Success Rate: {_rate(result[0], total)}",
        f"These are {process[0]} and {result[0]} of all {total} tasks; a missing task counts as no success.",
        f"Process Success Rate over recorded tasks: {_of(process)}",
        f"Result Success Rate over recorded tasks: {_of(result)}",
        "",
    ]
    for heading, names in (
        ("Process Success Tasks", results.process(True)),
        ("Result Success Tasks", results.result(True)),
        ("Process Failed Tasks", results.process(False)),
        ("Result Failed Tasks", results.result(False)),
        ("Process Unknown Tasks", results.process(None)),
        ("Result Unknown Tasks", results.result(None)),
        ("Missing Tasks", results.missing),
    ):
        lines += _section(heading, names)
    items = [f"{printable(item.name)}: {item.reason}" for item in results.skipped[:_MOST_SKIPPED]]
    more = len(results.skipped) - len(items)
    lines += _section("Skipped Files", [*items, *([f"and {more} more"] if more else [])], len(results.skipped))
    return "\n".join(lines)


def _unknown(count: int) -> str:
    return f", Unknown: {count}" if count else ""


def _rate(count: int, total: int) -> str:
    return f"{100 * count / total:.2f}%" if total else "none"


def _of(counts: list[int]) -> str:
    """True among those that are true or false."""
    judged = counts[0] + counts[1]
    return f"{_rate(counts[0], judged)} ({counts[0]} of {judged})"


def _section(heading: str, items: tuple[str, ...] | list[str], count: int | None = None) -> list[str]:
    if not items:
        return []
    return [f"## {heading} ({len(items) if count is None else count})", *(f"- {item}" for item in items), ""]


def write_report(text: str, path: Path, *, exactly: bool) -> Path:
    """Write a report to a new file; give its path.

    Args:
        text: The report.
        path: Where.
        exactly: Refuse when the file exists; otherwise choose a name with a number that is free.

    Raises:
        BadInput: When it cannot be written there, or exists.
    """
    for number in range(1, 2 if exactly else 1000):
        place = path if number == 1 else path.with_stem(f"{path.stem}_{number}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _unwritable(path, error) from error
        try:
            write_once(place, text.encode())
        except FileExistsError:
            continue
        except OSError as error:
            raise _unwritable(place, error) from error
        return place
    raise BadInput(
        f"{printable(str(path), 500)} already exists.", "Reports are never overwritten; choose another name."
    )


def _unwritable(path: Path, error: OSError) -> BadInput:
    return BadInput(
        f"The report cannot be written to {printable(str(path), 500)}: {error.strerror}.", "Choose another place."
    )


@dataclass(frozen=True, slots=True)
class PublishedReport:
    """What an evaluation report says.

    Task lists stand in the report's order. Rates are per cent over all tasks, as printed.
    """

    total: int
    process_rate: float
    result_rate: float
    process_success: tuple[str, ...]
    result_success: tuple[str, ...]
    process_failed: tuple[str, ...]
    result_failed: tuple[str, ...]


def read_report(path: Path) -> PublishedReport:
    """Read an evaluation report, a published one or ours.

    Raises:
        BadInput: When it cannot be read, or a list has not as many entries as its heading says.
    """
    try:
        lines = read_regular(path, _MAX_FILE).decode("utf-8-sig", errors="replace").splitlines()
    except OSError as error:
        raise BadInput(f"The report {printable(str(path), 500)} cannot be read: {error.strerror}.") from error
    total: int | None = None
    rates: dict[str, float] = {}
    lists: dict[str, list[str]] = {}
    announced: dict[str, int] = {}
    heading = ""
    for line in map(str.strip, lines):
        if match := _HEADING.match(line):
            heading = match[1]
            lists.setdefault(heading, [])
            if match[2] is not None:
                announced[heading] = int(match[2])
        elif line.startswith("- "):
            lists.setdefault(heading, []).append(line[2:])
        elif match := _TOTAL.match(line):
            total = int(match[1])
        elif match := _RATE.match(line):
            rates[match[1]] = float(match[2])
    if total is None or len(rates) != 2:
        raise BadInput(
            f"{printable(str(path), 500)} is no evaluation report of GitTaskBench: it lacks the total or the rates.",
            "Name a file that `gittaskbench eval` wrote.",
        )
    names = ("Process Success Tasks", "Result Success Tasks", "Process Failed Tasks", "Result Failed Tasks")
    for name in names:
        if len(lists.get(name, [])) != announced.get(name, 0):
            raise BadInput(
                f"{printable(str(path), 500)}: {name} has {len(lists.get(name, []))} entries, but its heading says "
                f"{announced.get(name, 0)}.",
                "The report is cut short or was edited; evaluate again.",
            )
    process_success, result_success, process_failed, result_failed = (tuple(lists.get(name, [])) for name in names)
    return PublishedReport(
        total, rates["Process"], rates["Result"], process_success, result_success, process_failed, result_failed
    )
