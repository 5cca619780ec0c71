"""Writes docs/compatibility.md: every format, and the tool of others that a test lets read or write it.

A test module says which by `PEERS = {"FORMAT": "PACKAGE"}` at its top; the version is the one that the tests install.

Where we are plugged into a tool, the module says `PLUG_IN = ("WHERE", "PACKAGE")`.

    python scripts/compatibility.py
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from repoassay.interchange import FormatEntry, format_entries

__all__ = ["PAGE", "page"]

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "compatibility.md"
_HEAD = """\
# Compatibility

What is read, written and run of other tools. `scripts/compatibility.py` writes this page out of the plug-ins and the
tests; `repoassay formats` lists the formats of your own installation, those of other packages too.

*Read* and *write* say what becomes of it: a run, or a suite of tasks. *Run* says that its tasks are run and judged
here. *Checked with* names the tool of others that a test lets read what we write, or whose files a test reads, and its
version; a dash means that our own samples of the format are read, and no tool of others looked.

| format | version | read | write | run | checked with |
|---|---|---|---|---|---|
"""
_READ = """
`otel`: Phoenix takes the traces in a test. Weave and Langfuse are services that no test runs; a test holds the names
of our attributes against those that the sources of their servers read (November 2026), as a collector gets them.
"""
_PLUGGED = """
## Plugged into other tools

Where our sandbox, tasks or agents are loaded by another tool ([how](integrations.md)), and the release in which a test
runs them: the tool itself, on tasks, with nothing of it replaced.

| where | tested in |
|---|---|
"""
_LOST = """
## What is lost

What a format cannot hold, or we do not take from it.

"""


def peers() -> Mapping[str, tuple[tuple[str, Path], ...]]:
    """Format -> the packages that tests check it with, and the test."""
    found: dict[str, list[tuple[str, Path]]] = {}
    for path in sorted((ROOT / "tests").rglob("*.py")):
        text = path.read_text("utf-8")
        for name, package in _declared(text) if "\nPEERS = {" in text else ():
            found.setdefault(name, []).append((package, path.relative_to(ROOT)))
    return {name: tuple(checks) for name, checks in found.items()}


def _declared(text: str) -> Iterator[tuple[str, str]]:
    for found in _values(text, "PEERS"):
        yield from found.items()


def _values(text: str, name: str) -> Iterator[Any]:
    """What a module gives this name at its top."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and any(isinstance(to, ast.Name) and to.id == name for to in node.targets):
            yield ast.literal_eval(node.value)


def plug_ins() -> Mapping[str, str]:
    """Where we are loaded by another tool -> its package."""
    found: dict[str, str] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        text = path.read_text("utf-8")
        found.update(_values(text, "PLUG_IN") if "\nPLUG_IN = (" in text else ())
    return dict(sorted(found.items()))


def versions() -> Mapping[str, str]:
    """Package -> the version that tests install."""
    lock = tomllib.loads((ROOT / "uv.lock").read_text("utf-8"))
    found = {package["name"]: str(package.get("version", "")) for package in lock["package"]}
    for listed in ("evals.txt", "requirements.txt"):
        text = (ROOT / "tests" / "peers" / listed).read_text("utf-8")
        found.update(re.findall(r"^([\w.-]+)==(\S+)$", text, re.MULTILINE))
    return found


def page() -> str:
    """The whole page."""
    entries = [entry for entry in format_entries() if entry.origin.startswith("repoassay")]
    checks, known = peers(), versions()
    rows = "".join(_row(entry, checks.get(entry.name, ()), known) for entry in entries)
    lost = "".join(f"* **{entry.name}** ({entry.title}): {' '.join(entry.lost)}\n" for entry in entries if entry.lost)
    plugged = "".join(f"| {where} | {package} {known[package]} |\n" for where, package in plug_ins().items())
    return _HEAD + rows + _READ + _PLUGGED + plugged + _LOST + lost


def _row(entry: FormatEntry, checks: tuple[tuple[str, Path], ...], known: Mapping[str, str]) -> str:
    tools = ", ".join(dict.fromkeys(f"{package} {known[package]}" for package, _ in checks)) or "-"
    run = "yes" if "suite" in entry.reads else ""
    cells = (f"`{entry.name}`", entry.version, entry.reads, entry.writes, run, tools)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
