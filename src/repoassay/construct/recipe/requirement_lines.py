"""Lines of requirements: which package each names, and what of a file of them can be taken."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from repoassay.construct.recipe.project import Project
from repoassay.text import normalize_name

__all__ = ["RequirementLines", "pinned", "read_lines", "requirement_name", "sort_lines"]

_NAME = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[[^\]]*\]\s*)?(?=$|==|[<>!~;@ (#])")
_HERE = re.compile(r"(?:\S+\s*@\s*)?(?:file:)?\.{1,2}/?(?:\[([^\]]*)\])?(?:\s*;.*)?$")
_INSTALLED = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.]*)-([0-9][A-Za-z0-9_.!+]*)\.dist-info")
_LEGACY = re.compile(r"(?:[<>]=?|~=|!=|(?<!=)==(?!=))\s*(?!v?\d)[A-Za-z][\w.]*\s*,?")
"""A bound such as `>dev`, which every version was above: tools of today read no requirement that has one."""
_MOST_FILES = 100
_LONGEST = 2000


@dataclass
class RequirementLines:
    """What requirement files hold: packages by name and version, extras of the project itself, and what was left."""

    packages: list[str] = field(default_factory=list)
    extras: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.packages or self.extras or self.left)


def requirement_name(line: str) -> str:
    """The name of the package that a line asks for, as indexes compare names; empty where it names none."""
    found = _NAME.match(line.strip())
    return normalize_name(found[1]) if found else ""


def sort_lines(lines: Iterable[str], own: str = "") -> RequirementLines:
    """Tell packages from extras of the project itself, whose name is `own`, and from what cannot be dated.

    A place (a URL, a path, another index) has no date, and options change how all others are read: both are left.
    """
    found = RequirementLines()
    for raw in lines:
        line = re.sub(r"(^|\s)#.*$", "", raw[:_LONGEST]).split(" --hash")[0].strip().rstrip("\\").strip()
        editable = re.match(r"(?:-e|--editable)[ =]\s*(.*)", line)
        place = editable[1].strip("'\" ") if editable else line
        if not line or len(raw) > _LONGEST:
            continue
        if here := _HERE.fullmatch(place):
            found.extras += [each.strip() for each in (here[1] or "").split(",") if each.strip()]
        elif editable or line.startswith("-") or "://" in line or not (name := requirement_name(line)):
            found.left.append(line)
        elif name == own:
            inner = re.match(r"[^\[;]*\[([^\]]*)\]", line)
            found.extras += [each.strip() for each in (inner[1] if inner else "").split(",") if each.strip()]
        elif name not in {"python", "uv"}:
            requirement, mark, marker = line.partition(";")
            found.packages.append(_LEGACY.sub("", requirement).rstrip(", ") + mark + marker)
    return found


def read_lines(project: Project, path: str, own: str = "", files_read: set[str] | None = None) -> RequirementLines:
    """Read a file of requirements with the files it names; constraints are left, since they add no package.

    Each file is read once: a stranger's may name another a thousand times.
    """
    found, files_read = RequirementLines(), set() if files_read is None else files_read
    if path in files_read or len(files_read) > _MOST_FILES:
        return found
    files_read.add(path)
    text = re.sub(r"\\\r?\n", " ", project.text(path))
    for line in text.splitlines():
        other = re.match(r"\s*(?:-r|--requirement)[ =]\s*(\S+)", line)
        if other:
            place = posixpath.normpath(posixpath.join(posixpath.dirname(path), other[1]))
            inner = read_lines(project, place, own, files_read)
        else:
            inner = sort_lines([line], own)
        found.packages += inner.packages
        found.extras += inner.extras
        found.left += inner.left
    return found


def pinned(environment: Path, requirements: bytes) -> bytes | None:
    """Return requirements that name every installed version; what was asked for stands above as comments.

    None when something was installed from a place and not by version, which a version cannot stand for.
    """
    found: list[str] = []
    for folder in sorted(environment.glob("lib/python*/site-packages/*.dist-info")):
        name = _INSTALLED.fullmatch(folder.name)
        if name is None or (folder / "direct_url.json").exists() or "+" in name[2]:
            return None
        found.append(f"{name[1].replace('_', '-').lower()}=={name[2]}")
    comments = [f"# asked for: {line}" for line in requirements.decode(errors="replace").splitlines()]
    return "".join(f"{line}\n" for line in (*comments, *sorted(found))).encode()
