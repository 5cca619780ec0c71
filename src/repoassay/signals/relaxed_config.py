"""Whether a change alters the rules it is judged by: configuration of checkers, and how."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from repoassay.signals.bench import ToolRunner
from repoassay.signals.change import Change
from repoassay.signals.configuration import SECTIONS, is_configuration, settings
from repoassay.signals.diffs import FileChange
from repoassay.signals.signal import Signal, SignalAxis, SignalEvidence, at_line, at_path, judged

__all__ = ["relaxed_settings"]

_ID, _TITLE = "loosened", "Changed configuration of linters, formatters, type checkers or coverage"
_EXEMPTS = re.compile(r"ignore|exclude|omit|disable|allow|unfixable|skip|per-file", re.IGNORECASE)
_ADDS = re.compile(r"select|enable|strict|include|files|fail.under", re.IGNORECASE)


def relaxed_settings(change: Change, bench: ToolRunner) -> list[Signal]:
    """Find changed settings of checkers; those that only ask for more are no finding."""
    evidence = []
    for each in change.diff.files:
        if is_configuration(each.path):
            evidence += list(_altered(change, each))
    return [judged(_ID, SignalAxis.LINT, _TITLE, evidence, threshold="any setting that does not plainly ask for more")]


def _altered(change: Change, each: FileChange) -> Iterator[SignalEvidence]:
    name = PurePosixPath(each.path).name
    sections = [(tool, place.partition(":")[2]) for tool, places in SECTIONS.items() for place in places
                if place.partition(":")[0] == name]  # fmt: skip
    if each.new is None:
        yield at_path(each.path, "The change deletes this configuration.")
        return
    if any(not section for _, section in sections) or not sections:
        if each.old is None:
            yield at_path(each.path, "The change adds this configuration; the base has none here.")
        elif name.endswith(".toml"):
            yield from _settings(change, each, "", settings(change.base, each.old), settings(change.head, each.new))
        else:
            yield _first(each, f"The change alters {name}.")
        return
    before = settings(change.base, each.old) if each.old else {}
    after = settings(change.head, each.new)
    if before and not after:
        yield at_path(each.path, "The change leaves this file so that it cannot be read.")
        return
    for tool, section in sections:
        if before.get(section) != after.get(section):
            yield from _settings(change, each, f"{tool}: ", before.get(section), after.get(section))


def _settings(change: Change, each: FileChange, prefix: str, before: Any, after: Any) -> Iterator[SignalEvidence]:
    old, new = dict(_flat(before)), dict(_flat(after))
    for key in [*old, *(key for key in new if key not in old)]:
        if old.get(key) != new.get(key) and not _stricter(key, old.get(key), new.get(key)):
            line = _line_of(change, each, key)
            text = f"{prefix}{key} was {_brief(old.get(key))} and is {_brief(new.get(key))}."
            yield (
                at_line(each.path, line, change.head.line(each.path, line), text) if line else at_path(each.path, text)
            )


def _flat(value: Any, key: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and depth < 8:
        for name, inner in list(value.items())[:500]:
            yield from _flat(inner, f"{key}.{name}" if key else str(name), depth + 1)
    elif value is not None:
        yield key, value


def _stricter(key: str, before: Any, after: Any) -> bool:
    """Whether a setting plainly asks for more than it did."""
    exempts = _EXEMPTS.search(key) is not None
    if exempts and isinstance(before, list) and (after is None or isinstance(after, list)):
        return all(item in before for item in after or [])
    if not exempts and _ADDS.search(key) and isinstance(after, list) and isinstance(before, list):
        return all(item in after for item in before)
    return not exempts and after is True and before in (None, False) and not key.endswith("allow")


def _line_of(change: Change, each: FileChange, key: str) -> int | None:
    """The added line nearest to a setting: one that names it, else the first added."""
    last = key.rpartition(".")[2]
    named = [line for line, text in each.added.items() if last in text]
    return min(named or each.added, default=None)


def _first(each: FileChange, text: str) -> SignalEvidence:
    line = each.first
    return at_line(each.path, line, each.added[line], text) if line else at_path(each.path, text)


def _brief(value: Any) -> str:
    text = "absent" if value is None else repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."
