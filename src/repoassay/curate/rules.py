"""Rules of selection as data: `stars >= 50`, `last_commit within 5y`, `licence in [MIT]`, `weights = none|bundled`.

A rule is decided by one fact of a repository. A fact that is unknown decides nothing, and so never passes.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from repoassay.curate.evidence import read_toml
from repoassay.errors import BadInput
from repoassay.text import join_names, quote, suggest

__all__ = ["DEFAULT_RULES", "FACTS", "SelectionRule", "Value", "parse_rule", "read_selection_rules"]

Value = int | float | str | datetime.date | None
"""What is known of a repository; None is unknown."""
FACTS = {
    "name": "what the repository is called",
    "language": "the language of most of its code, by bytes of files with a known suffix",
    "stars": "as the metadata file says",
    "archived": "yes or no, as the metadata file says",
    "last_commit": "day of the newest commit; of a source distribution the day of its upload",
    "commits": "commits of its history",
    "licence": "SPDX identifier by its metadata or the text of its LICENSE",
    "readme.commands": "shell commands and Python examples in its README",
    "tests": "files of tests",
    "weights": "none, bundled, or needed and not there",
    "compiled": "none, or the language of sources that need a compiler",
    "size": "bytes of all files",
    "files": "Python files",
    "code_lines": "lines of code in Python files",
    "overlap": "none, or the published suites that have tasks of it",
}
"""RepositoryFact -> what it is; the names that rules may use."""
DEFAULT_RULES = (
    "language = python", "stars >= 50", "last_commit within 5y",
    "licence in [MIT, BSD-2-Clause, BSD-3-Clause, Apache-2.0, ISC, MPL-2.0, PSF-2.0, Unlicense]",
    "readme.commands >= 1", "weights = none|bundled", "size <= 500 MB", "overlap with published suites = none",
)  # fmt: skip
"""What GitTaskBench's authors asked of a repository, as far as a program can see it."""
_ALIASES = {"overlap with published suites": "overlap", "license": "licence", "lines": "code_lines"}
_RULE = re.compile(r"\s*([a-z][a-z_. ]*?)\s*(>=|<=|!=|=|<|>|\bwithin\b|\bin\b)\s*(.+?)\s*")
_SPAN = re.compile(r"(\d{1,4})\s*(d|w|m|y)")
_NUMBER = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)\s*(B|kB|KB|MB|GB|KiB|MiB|GiB)?")
_UNITS = {"": 1, "B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_DAYS = {"d": 1, "w": 7, "m": 30.4375, "y": 365.25}


@dataclass(frozen=True, slots=True)
class SelectionRule:
    """One rule: its text, the fact it looks at, how, and what is wanted of it."""

    text: str
    fact: str
    sign: str
    wanted: tuple[str, ...]

    def holds(self, value: Value, today: datetime.date) -> bool | None:
        """Whether it holds for a value; None where the value is unknown."""
        if value is None:
            return None
        if self.sign == "within":
            return isinstance(value, datetime.date) and value >= today - _span(self.wanted[0])
        if self.sign in ("=", "!=", "in"):
            among = str(value).casefold() in {each.casefold() for each in self.wanted}
            if not among and isinstance(value, (int, float)):
                among = any(value == number for each in self.wanted if (number := _number(each)) is not None)
            return among != (self.sign == "!=")
        limit = _number(self.wanted[0])
        if limit is None or not isinstance(value, (int, float)):
            return False
        return {">=": value >= limit, "<=": value <= limit, ">": value > limit, "<": value < limit}[self.sign]


def read_selection_rules(path: Path) -> tuple[SelectionRule, ...]:
    """Read the rules of a TOML file: `rules = ["stars >= 50", ...]`.

    Raises:
        BadInput: When it cannot be read, has none, or one is not understood.
    """
    data = read_toml(path, "The file of rules", "Write one: rules = [" + quote(DEFAULT_RULES[1]) + "].")
    found = data.get("rules")
    if not isinstance(found, list) or not found or not all(isinstance(each, str) for each in found):
        raise BadInput(
            f"The file of rules {path} has no list `rules` of texts.", 'Write rules = ["language = python", ...].'
        )
    return tuple(parse_rule(each) for each in found)


def parse_rule(text: str) -> SelectionRule:
    """Read one rule.

    Raises:
        BadInput: When it is none, or looks at what is no fact.
    """
    found = _RULE.fullmatch(text)
    if found is None:
        raise BadInput(f"The rule {quote(text)} is not understood.", "Write FACT SIGN VALUE, such as stars >= 50.")
    name = " ".join(found[1].split())
    fact = _ALIASES.get(name, name)
    if fact not in FACTS:
        raise BadInput(f"The rule {quote(text)} looks at {quote(name)}, which is no fact.", suggest(name, FACTS))
    sign, value = found[2], found[3]
    _check(text, sign, value)
    return SelectionRule(" ".join(text.split()), fact, sign, _wanted_values(sign, value))


def _wanted_values(sign: str, value: str) -> tuple[str, ...]:
    if sign == "in":
        return tuple(each.strip().strip("\"'") for each in value.strip("[]").split(",") if each.strip())
    if sign in ("=", "!="):
        return tuple(each.strip().strip("\"'") for each in value.split("|"))
    return (value,)


def _check(text: str, sign: str, value: str) -> None:
    if sign == "in" and not (value.startswith("[") and value.endswith("]") and value.strip("[] ")):
        raise BadInput(f"The rule {quote(text)} has no list in brackets.", "Write licence in [MIT, ISC].")
    if sign == "within" and not _SPAN.fullmatch(value):
        raise BadInput(f"The rule {quote(text)} has no span of time.", "Write 90d, 12w, 6m or 5y.")
    if sign in (">=", "<=", "<", ">") and _number(value) is None:
        units = join_names([unit for unit in _UNITS if unit], 10)
        raise BadInput(f"The rule {quote(text)} has no number.", f"Write one, perhaps with a unit: {units}.")


def _span(text: str) -> datetime.timedelta:
    found = _SPAN.fullmatch(text)
    assert found is not None  # checked when it was read
    return datetime.timedelta(days=int(found[1]) * _DAYS[found[2]])


def _number(text: str) -> float | None:
    found = _NUMBER.fullmatch(text.strip())
    return None if found is None else float(found[1]) * _UNITS[found[2] or ""]


def first_refusal(results: Sequence[tuple[SelectionRule, bool | None]]) -> str:
    """The first rule that does not hold, and whether its fact is unknown; empty where all hold."""
    for rule, held in results:
        if not held:
            return f"{rule.text}: {'unknown' if held is None else 'does not hold'}"
    return ""
