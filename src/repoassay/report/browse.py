"""Attempts as compact data for the page: whole in the page where they are few, else in files beside it.

A page opened from a file may not fetch files, but may run scripts that lie beside it; so each part is a script that
hands over one array, as plain JSON in which nothing can end the script or be taken for markup.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from repoassay.report.figures import cost
from repoassay.report.outcomes import OUTCOMES, UNFINISHED, OutcomeLabel
from repoassay.report.results import ResultRow
from repoassay.text import one_line
from repoassay.types import Outcome

__all__ = ["MOST_INSIDE", "PART", "BrowseNames", "escaped_json", "kinds", "names_of", "packed", "parts"]

MOST_INSIDE = 2_000
"""More attempts than this lie in files beside the page."""
PART = 5_000
"""Attempts in one file."""
_ANSWER = {True: 1, False: 0, None: None}


@dataclass(frozen=True, slots=True)
class BrowseNames:
    """What packed rows name by number: runs, agents, tasks with their domains, and outcomes."""

    runs: tuple[str, ...]
    agents: tuple[str, ...]
    tasks: tuple[tuple[str, str], ...]

    def document(self) -> dict[str, object]:
        """For the page's script."""
        return {
            "runs": self.runs,
            "agents": self.agents,
            "tasks": self.tasks,
            "outcomes": [[kind.name, kind.sign, kind.word] for kind in kinds()],
        }


def kinds() -> list[OutcomeLabel]:
    """Outcomes in the order in which packed rows number them; the last is none yet."""
    return [*OUTCOMES.values(), UNFINISHED]


def names_of(rows: Sequence[ResultRow]) -> BrowseNames:
    """Every name in the rows, once, made harmless to read."""
    return BrowseNames(
        tuple(one_line(name, 120) for name in dict.fromkeys(row.run.title for row in rows)),
        tuple(one_line(name, 160) for name in dict.fromkeys(row.agent for row in rows)),
        tuple((one_line(task, 120), one_line(domain, 80)) for task, domain in dict.fromkeys(map(_task, rows))),
    )


def _task(row: ResultRow) -> tuple[str, str]:
    return row.task, row.domain


def packed(rows: Sequence[ResultRow], linked: Collection[str] = ()) -> Iterator[list[object]]:
    """Each row as run, agent, task, number, outcome, process, result, seconds, tokens, dollars, id, comment, linked.

    The first three and outcome are numbers of names; process and result 1, 0 or null; what is unknown is null, and
    tokens and dollars that are known in part are text. The last is 1 where the attempt has a page of its own.
    """
    runs = {name: number for number, name in enumerate(dict.fromkeys(row.run.title for row in rows))}
    agents = {name: number for number, name in enumerate(dict.fromkeys(row.agent for row in rows))}
    tasks = {name: number for number, name in enumerate(dict.fromkeys(map(_task, rows)))}
    numbers: dict[Outcome | None, int] = {outcome: number for number, outcome in enumerate(OUTCOMES)}
    numbers[None] = len(numbers)
    for row in rows:
        yield [
            runs[row.run.title],
            agents[row.agent],
            tasks[_task(row)],
            row.number,
            numbers[row.outcome],
            _ANSWER[row.process],
            _ANSWER[row.result],
            None if row.seconds is None else round(row.seconds, 2),
            f"{row.tokens:,}+" if row.tokens_partly else row.tokens,
            _dollars(row),
            row.attempt,
            one_line(row.comment, 160) if row.comment else "",
            int(row.attempt in linked),
        ]


def _dollars(row: ResultRow) -> float | str | None:
    if row.calls is None:
        return None
    return cost(row.dollars, row.dollars_known) if row.dollars is None else round(float(row.dollars), 6)


def parts(rows: Sequence[ResultRow], linked: Collection[str] = ()) -> Iterator[tuple[str, str]]:
    """File names and scripts, `PART` rows each."""
    held: list[list[object]] = []
    number = 0
    for one in packed(rows, linked):
        held.append(one)
        if len(held) == PART:
            yield _part(number, held)
            held, number = [], number + 1
    if held:
        yield _part(number, held)


def _part(number: int, held: list[list[object]]) -> tuple[str, str]:
    return f"attempts-{number:04d}.js", f"repoassay.add({number},{escaped_json(held)});\n"


def escaped_json(value: object) -> str:
    """ASCII JSON that is safe within a script and within HTML."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
