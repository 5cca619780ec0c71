"""Rules as data: patterns of lines of output, shipped in `rules.toml` and extended or replaced by a user's file."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from repoassay.diagnosis.classes import SUBCLASSES, ErrorClass, Subclass
from repoassay.diagnosis.purpose import CommandKind
from repoassay.diagnosis.words import words
from repoassay.errors import BadInput

__all__ = ["HINTS", "DiagnosisRule", "builtin_rules", "load_rules"]

_LARGEST = 2**20
_MOST = 1000
# A repeated group that holds a repetition can take exponential time; such a pattern is refused, not run.
HINTS = (
    "no ",
    *sorted(
        words(
            "err fail not n't cannot conflict incompat impossible unsat require could kill terminat abort segmentation "
            "bus fault signal sig dump exit return interrupt ^c timed timeout memory alloc space many quota network "
            "connect resolv undefined glibc missing usage option argument invalid attempted deprecat wheel unable "
            "absent compiled array_api dtype descriptor cuda cudnn nccl module package except unknown e: \u00d7 died "
            "crash unexpected illegal floating java denied exceed deadline cancel took still shared load lookup "
            "environment warn thread requests etimedout enotfound broken incomplete"
        )
    ),
)
"""A line with none of these in it (in lower case) is nothing a shipped rule is for: most lines, cheaply told."""
_NESTED = re.compile(r"\([^()]*[*+}][^()]*\)(?:[*+]|\{\d*,)")


@dataclass(frozen=True, slots=True)
class DiagnosisRule:
    """One pattern: see the head of `rules.toml`."""

    id: str
    pattern: re.Pattern[str]
    scope: frozenset[CommandKind]
    code: ErrorClass
    subclass: Subclass | None
    weight: float
    shipped: bool = False


@cache
def builtin_rules() -> tuple[DiagnosisRule, ...]:
    """The rules that are shipped."""
    text = files("repoassay.diagnosis").joinpath("rules.toml").read_text("utf-8")
    return tuple(replace(rule, shipped=True) for rule in _rules(text, "rules.toml"))


def load_rules(path: Path) -> tuple[DiagnosisRule, ...]:
    """The shipped rules with those of a user's file: the same id replaces, a new one is added.

    Raises:
        BadInput: When the file cannot be read or a rule in it is wrong.
    """
    try:
        if path.stat().st_size > _LARGEST:
            raise BadInput(f"{path} is larger than {_LARGEST} bytes; give a smaller file of rules")
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read as text; name a TOML file of rules") from error
    merged = {rule.id: rule for rule in (*builtin_rules(), *_rules(text, str(path)))}
    return tuple(merged.values())


def _rules(text: str, name: str) -> tuple[DiagnosisRule, ...]:
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{name} is not TOML ({error}); correct it") from error
    entries = document.get("rule", [])
    if set(document) - {"rule"} or not isinstance(entries, list) or len(entries) > _MOST:
        raise BadInput(f"{name} has something other than at most {_MOST} [[rule]] tables; remove it")
    return tuple(_rule(entry, f"{name}, rule {number}") for number, entry in enumerate(entries, 1))


def _rule(entry: Any, where: str) -> DiagnosisRule:
    known = {"id", "pattern", "scope", "class", "subclass", "weight"}
    if not isinstance(entry, dict) or set(entry) - known or not {"id", "pattern", "class"} <= set(entry):
        raise BadInput(f"{where} needs id, pattern and class, and has no other keys than {', '.join(sorted(known))}")
    try:
        code = ErrorClass(entry["class"])
        subclass = Subclass(entry["subclass"]) if "subclass" in entry else None
        weight = float(entry.get("weight", 0.7))
        scope = frozenset(CommandKind(part) for part in entry.get("scope", ["install", "execute", "verify", "network"]))
        pattern = re.compile(str(entry["pattern"]), re.IGNORECASE)
    except (ValueError, TypeError, re.error) as error:
        raise BadInput(f"{where} is wrong: {error}; correct it") from error
    if len(pattern.pattern) > 4000 or _NESTED.search(pattern.pattern):
        raise BadInput(
            f"{where} is too long or repeats a group that repeats, which may never end; simplify the pattern"
        )
    if subclass is not None and subclass not in SUBCLASSES[code]:
        raise BadInput(f"{where} has subclass {subclass.value}, which is none of {code.value}; correct it")
    if not 0 < weight <= 1:
        raise BadInput(f"{where} has a weight that is not between 0 and 1; correct it")
    return DiagnosisRule(str(entry["id"]), pattern, scope, code, subclass, weight)
