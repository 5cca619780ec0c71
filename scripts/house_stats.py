"""Print how far the house is built: the figures of the redesign, before it, at its start, now, and their goals.

    python scripts/house_stats.py            the table; figures measured by reading the source
    python scripts/house_stats.py --run      also those measured by running a verdict: half a minute
    python scripts/house_stats.py --check    exit with 1, naming the figure, when one is worse than its limit
    python scripts/house_stats.py --update   write the better figures as limits; never a worse one
    python scripts/house_stats.py --list KEY the places behind a figure

What is measured, where, and the limits stand in house_stats.toml, the only file to edit when files move.
"""

from __future__ import annotations

import argparse
import ast
import gc
import re
import sys
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from house_probe import probe
from house_tree import Tree

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = Path(__file__).with_name("house_stats.toml")
RUNNING = ("imported_to_grade", "ran_for_submit", "ran_for_run", "ran_for_call")
"""Figures that are measured by running something."""
_SMALL = 75
gc.disable()  # thousands of syntax trees and no cycle: walking them would be most of the time


@cache
def settings() -> Mapping[str, Any]:
    """The settings file."""
    return tomllib.loads(SETTINGS.read_text("utf-8"))


@cache
def tree() -> Tree:
    """The package."""
    return Tree(ROOT / settings()["package"], settings()["outside"], settings()["guests"])


def lines_of_core() -> tuple[int, list[str]]:
    """Lines of .py files, task folders and guests apart."""
    rooms: dict[str, int] = {}
    for module in tree().modules.values():
        rooms[tree().room(module.name)] = rooms.get(tree().room(module.name), 0) + module.lines
    return tree().lines(), [f"{lines:6,} {room or '(top)'}" for room, lines in sorted(rooms.items())]


def past_faces() -> tuple[int, list[str]]:
    """Statements that import a module of another room instead of the room."""
    pairs, total = tree().past_faces()
    told = [f"{count:4} {here} -> {there}" for (here, there), count in sorted(pairs.items(), key=lambda item: -item[1])]
    return sum(pairs.values()), [f"of {total} imports between rooms", *told]


def repeated_classes() -> tuple[int, list[str]]:
    """Names of public classes that more than one module defines."""
    found = tree().repeated(ast.ClassDef)
    return len(found), [f"{name}: {', '.join(places)}" for name, places in found.items()]


def circles() -> tuple[int, list[str]]:
    """Groups of modules that import one another in a circle, imports inside functions included."""
    found = tree().circles()
    return len(found), [", ".join(group) for group in found]


def circles_at_import() -> tuple[int, list[str]]:
    """The same at import time alone."""
    found = tree().circles(deferred=False)
    return len(found), [", ".join(group) for group in found]


def implementations(job: str) -> tuple[int, list[str]]:
    """Files that match a signature of the job."""
    signature = re.compile("|".join(settings()["implementations"][job]), re.MULTILINE)
    found = tree().matching(signature.search)
    return len(found), found


def small_modules() -> tuple[int, list[str]]:
    """Modules below 75 lines with exactly one importer, registries apart."""
    found = tree().small(_SMALL, settings()["registries"])
    return len(found), found


def unversioned_records() -> tuple[int, list[str]]:
    """Kinds of persisted record without a schema version."""
    found = [kind for kind, places in settings()["records"].items() if not any(_versioned(*each) for each in places)]
    return len(found), found


def _versioned(file: str, pattern: str) -> bool:
    path = tree().package / file
    return path.is_file() and re.search(pattern, path.read_text("utf-8")) is not None


def closed_extensions() -> tuple[int, list[str]]:
    """Of six kinds of extension, those outsiders cannot bring; before there are entry points, agents come by TOML."""
    kinds = ("metrics", "agents", "sandboxes", "suites", "exporters", "readers")
    path = tree().package / settings()["plugins"]
    source = path.read_text("utf-8") if path.is_file() else ""
    closed = [kind for kind in kinds if not re.search(rf"\b{kind}\b", source) and not (kind == "agents" and not source)]
    return len(closed), closed


def python_lines() -> tuple[int, list[str]]:
    """Lines a Python user writes for one evaluated task: 2 with `repoassay.evaluate`, 25 without."""
    face = "evaluate" in tree().modules[""].source
    return (2 if face else 25), ["counted by hand; see the quick start in Python"]


def missing_answers() -> tuple[int, list[str]]:
    """Of the twenty questions in which file something is, those whose file is not there (yet)."""
    answers = re.findall(r"^\d+\. `([^`]+)`$", (ROOT / settings()["quiz"]).read_text("utf-8"), re.MULTILINE)
    missing = [file for file in answers if not (ROOT / file).is_file()]
    return len(missing), missing


def running(key: str) -> tuple[int, list[str]]:
    """Modules imported, or files whose code runs, for one verdict or one call to a model; the command line apart."""
    kind = {"ran_for_run": "run", "ran_for_call": "call"}.get(key, "submit")
    found = _probed(kind)["imported" if key == "imported_to_grade" else "ran"]
    if key == "ran_for_call":
        found = [file for file in found if file.startswith(tuple(settings()["model_proxy"]))]
    return len(found), found


@cache
def _probed(kind: str) -> dict[str, list[str]]:
    return probe(kind)


def measured(key: str) -> tuple[int, list[str]]:
    """A figure and the places behind it."""
    if key in RUNNING:
        return running(key)
    if key in settings()["implementations"]:
        return implementations(key)
    found: tuple[int, list[str]] = globals()[key]()
    return found


def figures(*, run: bool) -> dict[str, int]:
    """Every figure by its key; those measured by running only when asked for."""
    return {key: measured(key)[0] for key in settings()["figures"] if run or key not in RUNNING}


def print_table(now: Mapping[str, int]) -> None:
    """Print the table; `start` is where this work began."""
    rows = [("figure", "before", "start", "now", "goal")]
    for key, known in settings()["figures"].items():
        told = f"{now[key]:,}" if key in now else "(--run)"
        rows.append((known["title"], known["before"], f"{known['start']:,}", told, known["goal"]))
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    for row in rows:
        print("  ".join(cell.ljust(width) if not at else cell.rjust(width)
                        for at, (cell, width) in enumerate(zip(row, widths, strict=True))))  # fmt: skip


def check(now: Mapping[str, int]) -> int:
    """Compare with the limits; returns the exit code."""
    worse = [key for key, value in now.items() if value > settings()["figures"][key]["limit"]]
    for key in worse:
        known = settings()["figures"][key]
        print(
            f"house_stats: {known['title']}: {now[key]:,}, and no more than {known['limit']:,} are allowed. "
            f"See `python scripts/house_stats.py --list {key}`; make it better, or say in {SETTINGS.name} why not.",
            file=sys.stderr,
        )
    return 1 if worse else 0


def update(now: Mapping[str, int]) -> None:
    """Write the better figures as limits."""
    text = SETTINGS.read_text("utf-8")
    for key, value in now.items():
        if value < settings()["figures"][key]["limit"]:
            text = re.sub(rf"^({key} = .*\blimit = )\d+", rf"\g<1>{value}", text, flags=re.MULTILINE)
            print(f"{key}: {value:,}")
    SETTINGS.write_text(text, "utf-8")


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", action="store_true", help="measure also by running verdicts")
    parser.add_argument("--check", action="store_true", help="exit with 1 when a figure is worse than its limit")
    parser.add_argument("--update", action="store_true", help="write better figures as limits")
    parser.add_argument("--list", metavar="KEY", choices=list(settings()["figures"]), help="places behind a figure")
    chosen = parser.parse_args()
    if chosen.list:
        print("\n".join(measured(chosen.list)[1]))
        return 0
    now = figures(run=chosen.run)
    if chosen.update:
        update(now)
    if chosen.check:
        return check(now)
    if not chosen.update:
        print_table(now)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
