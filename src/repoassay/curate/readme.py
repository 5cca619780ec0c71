"""What a README tells to run: shell commands and Python examples, read out of its code blocks and never run here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["ReadmeCommand", "find_readme", "readme_commands"]

_FENCE = re.compile(r"^ {0,3}(```+|~~~+)\s*\{?\.?([A-Za-z0-9_+-]*)[^`]*$")
_DIRECTIVE = re.compile(r"^(\s*)\.\. (?:code-block|code|sourcecode|highlight)::\s*([A-Za-z0-9_+-]*)\s*$")
_LITERAL = re.compile(r"^(\s*)(?!\.\. ).*::\s*$")
_SHELL = frozenset(
    {"sh", "bash", "shell", "console", "zsh", "shell-session", "terminal", "commandline", "shellsession"}
)
_PYTHON = frozenset({"python", "py", "python3", "pycon", "ipython", "pycon3"})
_INSTALL = re.compile(
    r"^(?:sudo |python3? -m |py -m |uv |\$ )*(?:pip3?|pipx|conda|mamba|apt|apt-get|brew|uv|poetry|pdm|npm|dnf|yum|port"
    r"|git|cd|source|virtualenv|easy_install|tox|nox|make|docker|export|hatch|rye|pixi|pre-commit|mkdir|curl|wget)\b"
)
"""What sets a machine up rather than uses the package; the package is installed already."""
_MOST = 60


@dataclass(frozen=True, slots=True)
class ReadmeCommand:
    """A shell command, or a Python example, with its line in the README."""

    kind: str
    text: str
    line: int


def find_readme(names: Mapping[str, object]) -> str | None:
    """The path of a tree's README, the one with a suffix where there are several; None where it has none."""
    found = [
        name for name in names if "/" not in name and re.match(r"(?i)readme(\.(md|rst|txt|markdown|textile))?$", name)
    ]
    return min(found, key=lambda name: ("." not in name, len(name), name)) if found else None


def readme_commands(text: str) -> tuple[ReadmeCommand, ...]:
    """Return what a README tells to run, in its order, without what sets a machine up."""
    found: list[ReadmeCommand] = []
    for language, line, body in _blocks(text.splitlines()):
        found += _commands(language, line, body)
    return tuple(found[:_MOST])


def _blocks(lines: list[str]) -> list[tuple[str, int, list[str]]]:
    """Language, line of the first line (from 1), and lines of each code block: fenced, or a directive's."""
    found: list[tuple[str, int, list[str]]] = []
    place = 0
    while place < len(lines):
        fence = _FENCE.match(lines[place])
        directive = _DIRECTIVE.match(lines[place]) or _LITERAL.match(lines[place])
        place += 1
        if fence:
            start = place
            while place < len(lines) and not lines[place].strip().startswith(fence[1]):
                place += 1
            found.append((fence[2].lower(), start + 1, lines[start:place]))
            place += 1
        elif directive:
            start, body, place = _indented(lines, place, len(directive[1]))
            language = directive[2].lower() if directive.re is _DIRECTIVE else ""
            if body:
                found.append((language, start + 1, body))
    return found


def _indented(lines: list[str], place: int, indent: int) -> tuple[int, list[str], int]:
    """The block that is indented deeper: where it starts, its lines without indentation, and where it ends."""
    while place < len(lines) and (not lines[place].strip() or lines[place].lstrip().startswith(":")):
        place += 1
    start, body = place, []
    while place < len(lines) and (not lines[place].strip() or len(lines[place]) - len(lines[place].lstrip()) > indent):
        body.append(lines[place])
        place += 1
    depth = min((len(line) - len(line.lstrip()) for line in body if line.strip()), default=0)
    return start, [line[depth:] for line in body], place


def _commands(language: str, line: int, body: list[str]) -> list[ReadmeCommand]:
    text = "\n".join(body)
    if not text.strip():
        return []
    if any(each.lstrip().startswith(">>> ") for each in body):
        return [ReadmeCommand("doctest", text, line)]
    if language in _PYTHON or (not language and re.search(r"^(?:import|from) \w", text, re.MULTILINE)):
        return [ReadmeCommand("python", text, line)]
    prompted = any(each.lstrip().startswith("$ ") for each in body)
    if language in _SHELL or prompted:
        return _shell(body, line, prompted=prompted)
    return []


def _shell(body: list[str], line: int, *, prompted: bool) -> list[ReadmeCommand]:
    found: list[ReadmeCommand] = []
    held = ""
    for offset, each in enumerate(body):
        text = each.strip()
        if prompted and not held:
            if not text.startswith("$ "):
                continue  # what a command printed
            text = text[2:].strip()
        if not held and (not text or text.startswith("#")):
            continue
        held += text.removesuffix("\\")
        if text.endswith(("\\", "|", "&&", "||")):
            held += " "
            continue
        if not _INSTALL.match(held):
            found.append(ReadmeCommand("shell", held, line + offset))
        held = ""
    return found
