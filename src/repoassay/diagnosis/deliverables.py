"""What was to be delivered, and what the attempt put where."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import cache
from pathlib import PurePosixPath

from repoassay.diagnosis.actions import Action
from repoassay.diagnosis.case import AttemptCase
from repoassay.diagnosis.shell import Simple

__all__ = ["beside_the_point", "is_expected", "missing", "name_of", "saved_in", "siblings", "written_by"]

_BESIDE = re.compile(
    r"(?:^|[._-])(?:logs?|tmp|temp|cache|debug|stderr|stdout|partial|readme|requirements)\d{0,6}(?:[._-]|$)",
    re.IGNORECASE,
)
_PROGRAM = (".py", ".sh", ".ipynb", ".pyc", ".log", ".cfg", ".toml", ".lock", ".pth", ".pt")
_SAVED = re.compile(r"[\"']([\w./ -]{1,200}\.[A-Za-z0-9]{1,5})[\"']")


def name_of(path: str) -> str:
    """The last part of a path, lower case."""
    return path.strip().replace("\\", "/").rstrip("/").rpartition("/")[2].lower()[:300]


@cache
def _patterns(expected: str) -> tuple[str, ...]:
    found = []
    for pattern in expected[:1000].split(" | "):
        head, brace, rest = pattern.strip().lower().rpartition("/")[2].partition("{")
        inner, closed, tail = rest.partition("}")
        found.extend([f"{head}{part}{tail}" for part in inner.split(",")] if brace and closed else [head])
    return tuple(found[:50])


def is_expected(path: str, case: AttemptCase) -> bool:
    """Whether a path has the name of a deliverable that was asked for."""
    name = name_of(path)
    return any(fnmatchcase(name, pattern) for entry in case.expected for pattern in _patterns(entry))


def missing(case: AttemptCase) -> bool | None:
    """Whether a deliverable is not there; None when nothing tells."""
    if case.left is not None and case.expected:
        names = [name_of(path) for path in case.left]
        return any(
            not any(fnmatchcase(name, part) for name in names for part in _patterns(entry)) for entry in case.expected
        )
    if case.outcome is not None and case.outcome.value == "no_output":
        return True
    return False if case.outcome is not None and case.outcome.value == "passed" else None


def beside_the_point(name: str) -> bool:
    """Whether a file's name says that it is a log, a temporary file or the like."""
    return _BESIDE.search(name) is not None


def siblings(case: AttemptCase) -> tuple[str, ...]:
    """Files left that no name asked for fits, but which look like a deliverable under another name or format."""
    stems = {PurePosixPath(part).stem for entry in case.expected for part in _patterns(entry)}
    ends = {PurePosixPath(part).suffix for entry in case.expected for part in _patterns(entry)}
    inputs = {name_of(path) for path in case.inputs}
    found: list[str] = []
    for path in (case.left or ())[:1000]:
        name = name_of(path)
        if is_expected(path, case) or name in inputs:
            continue
        like = PurePosixPath(name).suffix in ends or PurePosixPath(name).stem in stems
        if like and not _BESIDE.search(name):
            found.insert(0, path)
        elif not like and not _BESIDE.search(name) and not name.endswith(_PROGRAM) and "." in name:
            found.append(path)
    return tuple(found)


def written_by(action: Action) -> tuple[str, ...]:
    """Files an action's commands write by their arguments, redirections and copying, or its programs by their texts."""
    found = [written.path for written in action.authored if written.path and not written.deleted]
    for _, simple in action.commands:
        found.extend(simple.writes)
        found.extend(_targets(simple))
    return tuple(path for path in found if path)


def _targets(simple: Simple) -> list[str]:
    words = simple.words
    if simple.name in {"cp", "mv", "install", "ln"} and len(words) > 2:
        return [words[-1]]
    found = []
    for at, word in enumerate(words):
        option, equals, value = word.partition("=")
        if option in {
            "-o",
            "--output",
            "--out",
            "-O",
            "--output-file",
            "--outfile",
            "--save",
            "--output_path",
            "--dest",
            "--output_dir",
        }:
            found.append(value if equals else words[at + 1] if at + 1 < len(words) else "")
    return found


def saved_in(text: str) -> tuple[str, ...]:
    """File names in the quoted strings of a program."""
    return tuple(_SAVED.findall(text[:20_000])[:100])
