"""Known-bad changes made of good ones: a diff with one bundled fault put into it, and what that fault spoils.

A fault works on the text of a diff alone, so it needs no checkout, runs nothing, and knows any language as far as the
line it changes. Only what the change adds is ever altered: context and removed lines stay, and hunks say their new
lengths, so that nothing but the fault tells the change from a good one.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from repoassay.diffs import walk

__all__ = ["FAULTS", "FaultKind", "FaultyChange", "faulty_changes"]

_TEST = re.compile(r"(^|/)(tests?|__tests__|specs?)(/|$)|(^|/)test_[^/]*$|[._-](test|spec)s?\.\w+$|_test\.\w+$")
_PROSE = re.compile(r"\.(md|rst|txt|adoc)$|(^|/)(docs?|changelog\.d|newsfragments)/|(^|/)(CHANGE|HISTORY|NEWS)", re.I)
_CODE = re.compile(r"\.(py|js|ts|jsx|tsx|mjs|cjs|go|rs|java|kt|rb|php|c|h|cc|cpp|hpp|cs|swift|scala|r|jl)$", re.I)
_CONDITION = re.compile(r"^(\s*(?:if|elif|while)\s+)(?!not )([^:#]+?)(:\s*)$")
_BRACED = re.compile(r"^(\s*(?:\}\s*else\s+)?(?:if|while)\s*\()(.+)(\)\s*\{\s*)$")
_COMPARED = re.compile(r"(?<=[\w\])\s])(<=|>=|(?<![<>=-])<(?![<=])|(?<![<>=-])>(?![>=]))(?=[\s\w(\[-])")
_OTHER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_RAISED = re.compile(r"^(\s*)raise\s+\w.*[^(,\[{\\]$")
_ASSERTED = re.compile(r"^(\s*)assert\s+\S.*[^(,\[{\\]$")
_STATEMENT = re.compile(r"^(\s+)(\w+)(?:: [^=]+)? = [^=].*[^(,\[{\\]$")


@dataclass(frozen=True, slots=True)
class _Hunk:
    old: int
    new: int
    tail: str
    lines: tuple[str, ...]

    def text(self) -> list[str]:
        """The hunk with a head of the right lengths."""
        gone = sum(line[:1] in {" ", "-"} for line in self.lines)
        come = sum(line[:1] in {" ", "+"} for line in self.lines)
        places = " ".join((f"-{self.old},{gone}", f"+{self.new},{come}"))
        return [f"@@ {places} @@{self.tail}", *self.lines]

    @property
    def changes(self) -> bool:
        """Whether anything is left of it."""
        return any(line[:1] in {"+", "-"} for line in self.lines)


@dataclass(frozen=True, slots=True)
class _File:
    head: tuple[str, ...]
    path: str
    hunks: tuple[_Hunk, ...]

    @property
    def role(self) -> str:
        """`test`, `prose`, `code` or nothing."""
        for role, pattern in (("test", _TEST), ("prose", _PROSE), ("code", _CODE)):
            if pattern.search(self.path):
                return role
        return ""


@dataclass(frozen=True, slots=True)
class FaultyChange:
    """A change that must not be merged. `axis` names what of the rubric `mergeable` it spoils; `description` says how.

    `gross` means that whoever reads the change at all refuses it: an attention check.
    """

    fault: str
    axis: str
    gross: bool
    description: str
    diff: str


@dataclass(frozen=True, slots=True)
class FaultKind:
    """One kind of fault: `make` gives the files that it makes of a change, with what to tell, for every place."""

    name: str
    axis: str
    make: Callable[[tuple[_File, ...]], Iterator[tuple[tuple[_File, ...], str]]]
    gross: bool = False


def faulty_changes(diff: str, seed: int, *, gross: bool = False) -> tuple[FaultyChange, ...]:
    """Return one change for every kind of fault that can be put into a diff, in an order drawn by the seed.

    Args:
        diff: A known-good change, as a unified diff of git.
        seed: Chooses the place of each fault too.
        gross: Those for attention checks instead of the others.
    """
    files = _read(diff)
    draw = random.Random(f"faults:{seed}")  # noqa: S311 - a choice to be repeated, not a secret
    found = []
    for fault in FAULTS:
        places = (
            [(_write(change), description) for change, description in fault.make(files)] if fault.gross is gross else []
        )
        places = [
            (text, description) for text, description in places if text != _write(files) and (text or fault.gross)
        ]
        if places:
            text, description = draw.choice(places)
            found.append(FaultyChange(fault.name, fault.axis, fault.gross, description, text))
    draw.shuffle(found)
    return tuple(found)


def _read(diff: str) -> tuple[_File, ...]:
    heads: dict[int, list[str]] = {}
    hunks: dict[int, list[_Hunk]] = {}
    paths: dict[int, str] = {}
    for file, row in walk(diff):
        if file is None:
            continue
        mine = hunks.setdefault(file.number, [])
        paths[file.number] = file.path
        if row.sign == "@":
            tail = row.text.split("@@", 2)[-1]
            mine.append(_Hunk(row.old or 0, row.new or 0, tail, ()))
        elif row.sign:
            text = "\\ " + row.text if row.sign == "\\" else row.sign + row.text
            mine[-1] = replace(mine[-1], lines=(*mine[-1].lines, text))
        elif not mine:
            heads.setdefault(file.number, []).append(row.text)
    return tuple(_File(tuple(heads.get(number, ())), paths[number], tuple(hunks[number])) for number in paths)


def _write(files: tuple[_File, ...]) -> str:
    lines: list[str] = []
    for file in files:
        shift = 0
        kept = [hunk for hunk in file.hunks if hunk.changes]
        if file.hunks and not kept:
            continue
        lines += file.head
        for hunk in kept:
            added = "--- /dev/null" in file.head
            start = hunk.new if added or "+++ /dev/null" in file.head else max(hunk.old, 1) + shift
            lines += replace(hunk, new=start).text()
            shift += sum(line[:1] == "+" for line in hunk.lines) - sum(line[:1] == "-" for line in hunk.lines)
    return "\n".join(lines) + "\n" if lines else ""


def _without(role: str, description: str) -> Callable[[tuple[_File, ...]], Iterator[tuple[tuple[_File, ...], str]]]:
    def make(files: tuple[_File, ...]) -> Iterator[tuple[tuple[_File, ...], str]]:
        kept = tuple(file for file in files if file.role != role)
        if len(kept) < len(files) and any(file.role == "code" for file in kept):
            yield kept, description

    return make


def _only_prose(files: tuple[_File, ...]) -> Iterator[tuple[tuple[_File, ...], str]]:
    kept = tuple(file for file in files if file.role == "prose")
    if any(file.role == "code" for file in files):
        yield kept, "Nothing of what was asked is there: all code and tests are missing."


def _drop_hunk(files: tuple[_File, ...]) -> Iterator[tuple[tuple[_File, ...], str]]:
    """Leave out one hunk of the code, where another stays."""
    places = [(f, h) for f, file in enumerate(files) if file.role == "code" for h in range(len(file.hunks))]
    for f, h in places if len(places) > 1 else []:
        file = files[f]
        changed = replace(file, hunks=(*file.hunks[:h], *file.hunks[h + 1 :]))
        yield (*files[:f], changed, *files[f + 1 :]), f"A part of the change of {file.path} is missing."


def _of_lines(
    role: str, change: Callable[[str], list[str] | None], description: str, *, every: bool = False, python: bool = False
) -> Callable[[tuple[_File, ...]], Iterator[tuple[tuple[_File, ...], str]]]:
    """Change an added line, in files of a role: each in turn, or every one of a file at once; of Python
    alone where what is put in is Python."""

    def make(files: tuple[_File, ...]) -> Iterator[tuple[tuple[_File, ...], str]]:
        for f, file in enumerate(files):
            if file.role != role or (python and not file.path.endswith(".py")):
                continue
            places = [
                (h, n, variant)
                for h, hunk in enumerate(file.hunks)
                for n, line in enumerate(hunk.lines)
                if line[:1] == "+" and (variant := change(line[1:])) is not None
            ]
            for chosen in ([places] if places else []) if every else [[place] for place in places]:
                hunks = [list(hunk.lines) for hunk in file.hunks]
                for h, n, variant in reversed(chosen):
                    hunks[h][n : n + 1] = ["+" + line for line in variant]
                changed = tuple(replace(hunk, lines=tuple(now)) for hunk, now in zip(file.hunks, hunks, strict=True))
                line = file.hunks[chosen[0][0]].lines[chosen[0][1]][1:].strip()
                yield (
                    (*files[:f], replace(file, hunks=changed), *files[f + 1 :]),
                    f"{file.path}: {description} ({line[:120]})",
                )

    return make


def _inverted(line: str) -> list[str] | None:
    if fits := _CONDITION.match(line):
        return [f"{fits[1]}not ({fits[2]}){fits[3]}"]
    fits = _BRACED.match(line)
    return [f"{fits[1]}!({fits[2]}){fits[3]}"] if fits else None


def _off_by_one(line: str) -> list[str] | None:
    bare = line.strip()
    if not bare.startswith(("if ", "elif ", "while ", "return ", "if(", "while(", "for ")):
        return None
    fits = _COMPARED.search(line)
    return [line[: fits.start()] + _OTHER[fits[1]] + line[fits.end() :]] if fits else None


def _swallowed(line: str) -> list[str] | None:
    return [f"{fits[1]}pass"] if (fits := _RAISED.match(line)) else None


def _weakened(line: str) -> list[str] | None:
    return [f"{fits[1]}assert True"] if (fits := _ASSERTED.match(line)) else None


def _printed(line: str) -> list[str] | None:
    fits = _STATEMENT.match(line)
    return [line, f'{fits[1]}print("DEBUG {fits[2]}", {fits[2]})  # XXX remove'] if fits else None


def _commented_out(line: str) -> list[str] | None:
    fits = _STATEMENT.match(line)
    if not fits:
        return None
    pad = fits[1]
    return [f"{pad}# old version, kept in case it is needed again", f"{pad}# {line.strip()}",
            f"{pad}# if not {fits[2]}:", f"{pad}#     {fits[2]} = None", line]  # fmt: skip


FAULTS = (
    FaultKind("dropped_hunk", "core", _drop_hunk),
    FaultKind("inverted_condition", "core", _of_lines("code", _inverted, "a condition is inverted")),
    FaultKind("off_by_one", "core", _of_lines("code", _off_by_one, "a comparison is off by one")),
    FaultKind(
        "swallowed_exception", "core", _of_lines("code", _swallowed, "an error is swallowed, not raised", python=True)
    ),
    FaultKind("removed_tests", "testing", _without("test", "The tests of the change are missing.")),
    FaultKind(
        "vacuous_tests", "testing", _of_lines("test", _weakened, "tests that cannot fail", every=True, python=True)
    ),
    FaultKind("removed_documentation", "documentation", _without("prose", "The documentation is missing.")),
    FaultKind("debug_print", "quality", _of_lines("code", _printed, "a debug print was left in", python=True)),
    FaultKind(
        "commented_out", "quality", _of_lines("code", _commented_out, "commented-out code was left in", python=True)
    ),
    FaultKind("nothing_done", "core", _only_prose, gross=True),
)
"""The bundled library of faults."""
