"""New findings of ruff."""

from __future__ import annotations

import json
from pathlib import PurePosixPath

from repoassay.signals.bench import REPOSITORY, ToolRunner, TreeSide
from repoassay.signals.change import Change
from repoassay.signals.configuration import configured_checks, head_side
from repoassay.signals.findings import ToolFinding, compared
from repoassay.signals.signal import Signal
from repoassay.signals.tools import CannotRun, binary

__all__ = ["ruff"]

# Only the base lies in a git repository, so that .gitignore would hide files of the base alone.
_OPTIONS = ("check", "--no-cache", "--no-respect-gitignore", "--exit-zero", "--quiet", "--output-format", "json")


def ruff(change: Change, bench: ToolRunner) -> list[Signal]:
    """Run `ruff check` on base and head where the project configures ruff."""

    def run() -> tuple[list[ToolFinding], list[ToolFinding], str]:
        if not configured_checks(change.base, "ruff"):
            raise CannotRun("The project does not configure ruff, and its defaults are not this project's rules.")
        base = bench.remember(change.base, "ruff", lambda: _check(bench, TreeSide(change.base), "the base"))
        return base, _check(bench, head_side(change), "the head"), binary("ruff", bench.environment).note

    return compared("ruff", change, run)


def _check(bench: ToolRunner, side: TreeSide, which: str) -> list[ToolFinding]:
    tool = binary("ruff", bench.environment)
    done = bench.run(
        side, tool, *_OPTIONS, ".",
        what=f"ruff on {which}",
    )  # fmt: skip
    try:
        return [_finding(each) for each in json.loads(done.stdout)]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise CannotRun(f"What ruff printed on {which} is not what it says it prints.") from None


def _finding(each: dict[str, object]) -> ToolFinding:
    location = each["location"]
    assert isinstance(location, dict)
    path = PurePosixPath(str(each["filename"]))
    name = path.relative_to(REPOSITORY) if path.is_relative_to(REPOSITORY) else path
    return ToolFinding(str(each["code"] or "syntax"), str(name), max(1, int(location["row"])), str(each["message"]))
