"""New findings of eslint and tsc, which run where the project has them installed."""

from __future__ import annotations

import json
import re
from pathlib import PurePosixPath
from typing import Any

from repoassay.errors import Unavailable
from repoassay.sandbox import node_program
from repoassay.signals.bench import REPOSITORY, ToolRunner, TreeSide
from repoassay.signals.change import Change
from repoassay.signals.configuration import configured_checks, head_side
from repoassay.signals.findings import ToolFinding, compared
from repoassay.signals.signal import Signal
from repoassay.signals.tools import CannotRun, Tool

__all__ = ["eslint", "node_tool", "tsc"]

_TSC = re.compile(r"(.{1,1024}?)\((\d{1,8}),\d{1,8}\): error (TS\d+): (.*)")


def eslint(change: Change, bench: ToolRunner) -> list[Signal]:
    """Run eslint on base and head where the project configures it and has it installed."""

    def run() -> tuple[list[ToolFinding], list[ToolFinding], str]:
        if not configured_checks(change.base, "eslint"):
            raise CannotRun("The project does not configure eslint.")
        tool = node_tool(change, bench, "eslint", "bin/eslint.js")
        base = bench.remember(change.base, "eslint", lambda: _eslint(bench, TreeSide(change.base), tool, "the base"))
        return base, _eslint(bench, head_side(change), tool, "the head"), "eslint is the project's own."

    return compared("eslint", change, run)


def tsc(change: Change, bench: ToolRunner) -> list[Signal]:
    """Run tsc on base and head where the project has a tsconfig.json and typescript installed."""

    def run() -> tuple[list[ToolFinding], list[ToolFinding], str]:
        if not configured_checks(change.base, "tsc"):
            raise CannotRun("The project has no tsconfig.json.")
        tool = node_tool(change, bench, "typescript", "bin/tsc")
        base = bench.remember(change.base, "tsc", lambda: _tsc(bench, TreeSide(change.base), tool, "the base"))
        return base, _tsc(bench, head_side(change), tool, "the head"), "tsc is the project's own."

    return compared("tsc", change, run)


def node_tool(change: Change, bench: ToolRunner, package: str, program: str) -> Tool:
    """A program of an installed node package.

    Raises:
        CannotRun: When node or the package is not there. One that only the head brings does not count.
    """
    if any(each.path.startswith("node_modules/") for each in change.diff.files):
        raise CannotRun(f"The change touches node_modules, so that its {package} may not be the project's.")
    place = bench.node_modules / package / program if bench.node_modules else None
    installed = place.is_file() if place else change.base.has(f"node_modules/{package}/{program}")
    if not installed:
        raise CannotRun(f"The project's {package} is not installed: there is no node_modules/{package}/{program}.")
    try:
        return Tool((node_program(), f"{REPOSITORY}/node_modules/{package}/{program}"))
    except Unavailable as reason:
        raise CannotRun(str(reason)) from None


def _eslint(bench: ToolRunner, side: TreeSide, tool: Tool, which: str) -> list[ToolFinding]:
    # Code 1 says that there are findings, 2 that it could not run.
    done = bench.run(side, tool, "--format", "json", ".", what=f"eslint on {which}", codes=(0, 1))
    try:
        return [
            _eslint_finding(str(file["filePath"]), each)
            for file in json.loads(done.stdout) for each in file["messages"]
        ]  # fmt: skip
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise CannotRun(f"What eslint printed on {which} is not what it says it prints.") from None


def _eslint_finding(path: str, each: dict[str, Any]) -> ToolFinding:
    line = max(1, int(each.get("line") or 1))
    return ToolFinding(str(each["ruleId"] or ""), _relative(path), line, str(each["message"]))


def _tsc(bench: ToolRunner, side: TreeSide, tool: Tool, which: str) -> list[ToolFinding]:
    done = bench.run(
        side, tool, "--noEmit", "--incremental", "false", "--pretty", "false", what=f"tsc on {which}", codes=(0, 1, 2)
    )
    found = [_TSC.fullmatch(line) for line in done.stdout.decode("utf-8", "replace").splitlines()]
    return [ToolFinding(each[3], _relative(each[1]), max(1, int(each[2])), each[4]) for each in found if each]


def _relative(name: str) -> str:
    path = PurePosixPath(name)
    return str(path.relative_to(REPOSITORY) if path.is_relative_to(REPOSITORY) else path)
