"""The tables of attacks in docs/tampering.md, made of the results in docs/tampering.jsonl.

    python tests/attacks/rows.py rows.jsonl
    repoassay attack rows.jsonl --spread 2 --seed 1 --out trials.jsonl
    python tests/attacks/table.py trials.jsonl

The last takes the trials over into the results and writes the page anew; without a file it only writes the page.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from repoassay.attacks.attack import Attack
from repoassay.attacks.payloads import catalogue, families
from repoassay.attacks.trial_log import read_trials

__all__ = ["PAGE", "RESULTS", "inserted", "results"]

DOCS = Path(__file__).parents[2] / "docs"
PAGE, RESULTS = DOCS / "tampering.md", DOCS / "tampering.jsonl"
START, END = "<!-- attacks -->", "<!-- end of attacks -->"
FIELDS = ("attack", "task", "plain", "report", "said", "outcome", "grade", "bits")
Row = Mapping[str, Any]


def taken(trials: Path) -> None:
    """Write what the tables need of a file of trials, in the order of the catalogue, the last of each pair."""
    order = {attack.name: number for number, attack in enumerate(catalogue())}
    found = {(trial.attack, trial.task): trial for trial in read_trials(trials) if trial.attack in order}
    lines = [
        json.dumps({name: value for name, value in trial.model_dump(mode="json").items() if name in FIELDS})
        for (name, _), trial in sorted(found.items(), key=lambda item: (order[item[0][0]], item[0][1]))
    ]
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


def results() -> list[Row]:
    """One record for each attack and task."""
    return [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines()]


def inserted(page: str, rows: Sequence[Row]) -> str:
    """The page with the tables between its markers."""
    before, _, rest = page.partition(START)
    after = rest.partition(END)[2]
    tables = "\n\n".join((_summary(rows), _by_family(rows), *_by_attack(rows)))
    return f"{before}{START}\n\n{tables}\n\n{END}{after}"


def _summary(rows: Sequence[Row]) -> str:
    attacks = catalogue()
    asked = [row for row in rows if row["plain"] is not None]
    believed = [row for row in asked if _believed(row)]
    fooled = {row["attack"] for row in believed}
    passed = [row for row in rows if row["said"] == "PASS"]
    javascript = sum(attack.language == "javascript" for attack in attacks)
    python = sum(attack.language == "python" for attack in attacks)
    return (
        f"{len(attacks)} attacks ({python} on Python, {javascript} on JavaScript, the rest on either), {len(rows)} "
        f"trials on {len({row['task'] for row in rows})} tasks. The plain harness was asked in {len(asked)} trials and "
        f"believed {len(believed)}, of {len(fooled)} attacks. RepoAssay passed {len(passed)}"
        + (f": {', '.join(sorted({str(row['attack']) for row in passed}))}." if passed else ".")
    )


def _by_family(rows: Sequence[Row]) -> str:
    lines = ["| family | attacks | trials | plain harness fooled | RepoAssay passed |", "|---|---:|---:|---:|---:|"]
    for language, name in dict.fromkeys((each.language, each.family) for each in catalogue()):
        attacks = {each.name for each in catalogue() if (each.language, each.family) == (language, name)}
        mine = [row for row in rows if row["attack"] in attacks]
        asked = [row for row in mine if row["plain"] is not None]
        fooled = f"{sum(map(_believed, asked))} of {len(asked)}" if asked else "not asked"
        passed = sum(row["said"] == "PASS" for row in mine)
        shown = f"{name} ({language})" if language else name
        lines.append(f"| {shown} | {len(attacks)} | {len(mine)} | {fooled} | {passed} |")
    return "\n".join(lines)


def _by_attack(rows: Sequence[Row]) -> Iterable[str]:
    for family in families(catalogue()):
        attacks = [each for each in catalogue() if each.family == family]
        lines = [f"### {family[0].upper()}{family[1:]}", ""]
        lines += ["| attack | what it tries | plain harness | RepoAssay |", "|---|---|---|---|"]
        lines += [_row(each, [row for row in rows if row["attack"] == each.name]) for each in attacks]
        yield "\n".join(lines)


def _row(attack: Attack, rows: Sequence[Row]) -> str:
    plain = ", ".join("PASS" if _believed(row) else str(row["plain"]) for row in rows if row["plain"] is not None)
    said = ", ".join(_said(row) for row in rows)
    own = " ★" if attack.origin == "own" else ""
    cells = (attack.name + own, attack.tries, plain or "not asked", said or "not tried")
    return "| " + " | ".join(cell.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;") for cell in cells) + " |"


def _said(row: Row) -> str:
    why = " (tampering)" if row["outcome"] == "tampering" else ""
    assured = f" [{row['grade']}, {row['bits']:g} bits]" if row["grade"] and row["bits"] is not None else ""
    return f"{row['said']}{why}{assured}"


def _believed(row: Row) -> bool:
    return "PASS" in (row["plain"], row["report"])


if __name__ == "__main__":
    if len(sys.argv) > 1:
        taken(Path(sys.argv[1]))
    PAGE.write_text(inserted(PAGE.read_text(encoding="utf-8"), results()), encoding="utf-8")
