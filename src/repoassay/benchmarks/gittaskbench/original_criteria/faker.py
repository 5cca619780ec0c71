"""What GitTaskBench's own scripts decide for Faker_01 to Faker_03."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

from repoassay.benchmarks.gittaskbench.original_criteria.plain_text import FAILED, present, utf8
from repoassay.grading import Measurement, UnreadableOutput, metric

__all__ = ["gtb_faker_01", "gtb_faker_02", "gtb_faker_03"]


_LONGEST_FIELD = 131_072
"""What the `csv` module allows unless told otherwise."""


def _table(text: str) -> list[dict[str | None, str | list[str] | None]]:
    csv.field_size_limit(_LONGEST_FIELD)
    try:
        return [dict(row) for row in csv.DictReader(io.StringIO(text, newline=""))]
    except csv.Error as error:
        raise UnreadableOutput(f"the script cannot read it: {error}") from error


@metric("gtb_faker_01", unit="yes/no", span="{0, 1}", better="higher", source="GitTaskBench, test script of Faker_01")
def gtb_faker_01(of: Path) -> Measurement:
    """1 when there are 100 rows with a user name and an address; the script books whatever else as Process false."""
    rows = _table(utf8(present(of)))
    if len(rows) != 100:
        raise UnreadableOutput(f"the script books {len(rows)} instead of 100 rows as unreadable")
    for row in rows:
        name, mail = row.get("Username"), row.get("Email")
        if not isinstance(name, str) or not isinstance(mail, str) or not name.strip():
            raise UnreadableOutput("the script books a missing column or a blank user name as unreadable")
        if not re.match(r"^[\w.+-]+@[\w-]+\.[\w.-]+$", mail):
            raise UnreadableOutput("the script books a bad address as unreadable")
    return Measurement(1.0, "100 rows")


@metric("gtb_faker_02", unit="yes/no", span="{0, 1}", better="higher", source="GitTaskBench, test script of Faker_02")
def gtb_faker_02(of: Path) -> Measurement:
    """1 when there are 5 rows, no cell of three columns is blank, phones hold a digit and addresses 5 characters."""
    if of.suffix.lower() != ".csv":
        raise UnreadableOutput("the script takes .csv alone")
    rows = _table(utf8(present(of, filled=False)))
    if len(rows) != 5:
        return Measurement(0.0, f"{len(rows)} rows")
    for row in rows:
        if any(key is None or not isinstance(value, str) for key, value in row.items()):
            raise UnreadableOutput("the script crashes: a row has more or fewer fields than the header")
        folded = {str(key).lower().strip(): str(value).strip() for key, value in row.items()}
        name, address, phone = (folded.get(key, "") for key in ("company name", "address", "phone"))
        if not (name and address and phone) or name.isdigit() or len(address) < 5:
            return Measurement(0.0, "a cell is blank or not what it should be")
        if not any(sign.isdigit() for sign in phone):
            return Measurement(0.0, "a phone holds no digit")
    return Measurement(1.0, "5 rows")


@metric(
    "gtb_faker_03",
    unit="ratio",
    span="[0, 1]",
    better="lower",
    needs_reference=True,
    source="GitTaskBench, test script of Faker_03",
)
def gtb_faker_03(of: Path, against: Path) -> Measurement:
    """Jaccard index of both texts' lower-cased words; a text under 20 characters, or none at all, fails."""
    try:
        ours = utf8(present(of, filled=False))
    except UnreadableOutput as error:
        return Measurement(FAILED, f"the script books any file as readable; {error}")
    theirs = utf8(present(against))
    if len(ours.strip()) < 20 or ours == theirs:
        return Measurement(FAILED, "it is shorter than 20 characters, or unchanged")
    mine, other = (set(re.findall(r"\w+", text.lower())) for text in (ours, theirs))
    return Measurement(len(mine & other) / len(mine | other) if mine | other else 1.0)
