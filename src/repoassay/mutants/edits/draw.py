"""Mutants of one task's solution, drawn by a seed: files left out, blocks put back, operators applied.

What is drawn is the same every time, and the first of many are the same as few. Coarse ones come first and are at most
half; of the others each changed line gives one before any gives a second.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from repoassay.mutants.edits.changed_blocks import ChangedBlock, changed_blocks, changed_lines, put_back
from repoassay.mutants.edits.javascript_operators import (
    SUFFIXES,
    count_errors,
    javascript_meaning,
    javascript_replacements,
)
from repoassay.mutants.edits.mutant import Mutant, Replacement, line_at
from repoassay.mutants.edits.python_meaning import python_meaning
from repoassay.mutants.edits.python_operators import python_replacements
from repoassay.survey import is_test_support
from repoassay.types import FileEdit, MutantKind

__all__ = ["SolutionFile", "draw", "solution_files"]

_LARGEST = 2**20
"""Bytes of a file that is mutated."""
_PROSE = frozenset({".md", ".rst", ".txt", ".adoc", ".pyi", ".lock", ".po", ".pot"})
_SETTINGS = frozenset({".toml", ".cfg", ".ini", ".yml", ".yaml"})
"""Of files in the root: settings of the project's tools."""
_PROSE_FOLDERS = frozenset({"doc", "docs", "changelog.d", "newsfragments", ".github"})


@dataclass(frozen=True, slots=True)
class SolutionFile:
    """A file that a solution changes and tests should notice: its text on the base, empty where there is none."""

    path: str
    before: bytes
    after: bytes | None

    @property
    def in_python(self) -> bool:
        """Whether it is read as Python."""
        return self.path.endswith(".py")

    @property
    def in_javascript(self) -> bool:
        """Whether it is read as JavaScript or TypeScript."""
        return PurePosixPath(self.path).suffix in SUFFIXES

    def replacements(self) -> list[Replacement]:
        """What mutation operators make of it."""
        if self.after is None or len(self.after) > _LARGEST:
            return []
        lines = changed_lines(self.before, self.after)
        if self.in_python:
            return python_replacements(self.after, lines)
        return javascript_replacements(self.after, lines) if self.in_javascript else []

    def only_imports(self, block: ChangedBlock) -> bool:
        """Whether a block holds Python's imports alone, and not those by which a package exports names."""
        lines = [*(self.after or b"").splitlines()[block.start : block.end], *block.was]
        own = self.in_python and PurePosixPath(self.path).name != "__init__.py"
        return own and all(line.startswith((b"import ", b"from ")) for line in lines if line.strip())

    def meaning(self, content: bytes | None) -> object:
        """What a text of this file does, as far as that is cheaply known; None for what cannot be read."""
        if content is None:
            return ""
        if self.in_python:
            return python_meaning(content)
        if self.in_javascript:
            # What does not read as well as the solution does is a typing error and no wrong solution.
            worse = count_errors(content) > count_errors(self.after or self.before)
            return None if worse else javascript_meaning(content)
        return b"".join(content.split())


def solution_files(
    edits: Mapping[str, FileEdit | None], base: Path, of_tests: Callable[[str], bool] | None = None
) -> list[SolutionFile]:
    """The files of a solution that its tests should notice: neither prose nor tests.

    Args:
        edits: The solution, by path in the repository.
        base: Checkout of the base commit.
        of_tests: Says which paths belong to the tests' set-up; by default those that are called so.
    """
    found = []
    for path, edit in sorted(edits.items()):
        before = base / path
        old = before.read_bytes() if before.is_file() and not before.is_symlink() else b""
        after = edit.content if edit else None
        if _is_prose(path, after or old) or (of_tests or is_test_support)(path):
            continue
        if max(len(old), len(after or b"")) <= _LARGEST and b"\0" not in old + (after or b""):
            found.append(SolutionFile(path, old, after))
    return found


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A mutant that is not made yet; `change` is None where the file's whole change is left out."""

    name: str
    kind: MutantKind
    source: SolutionFile
    line: int
    change: Replacement | ChangedBlock | None

    def text(self) -> bytes | None:
        """The file as the mutant has it; None where it is not there."""
        after = self.source.after
        if self.change is None or after is None:
            return self.source.before or None
        return put_back(after, self.change) if isinstance(self.change, ChangedBlock) else self.change.of(after)

    def made(self, edits: Mapping[str, FileEdit | None], text: bytes | None) -> Mutant:
        """The mutant."""
        path, after = self.source.path, self.source.after
        was = now = ""
        if isinstance(self.change, ChangedBlock) and after is not None:
            was = _first(after.splitlines()[self.change.start : self.change.end])
            now = _first(self.change.was)
        elif isinstance(self.change, Replacement) and after is not None and text is not None:
            was, now = line_at(after, self.change.start), line_at(text, self.change.start)
            if self.change.text in (b"", b"pass", b";"):
                left_out = b" ".join(after[self.change.start : self.change.end].split())
                was, now = line_at(left_out, 0).rstrip(", "), ""
        others = {name: edit for name, edit in edits.items() if name != path}
        old = edits[path]
        if self.change is not None and text is not None:
            others[path] = FileEdit(text, executable=bool(old and old.executable))
        return Mutant(self.name, self.kind, path, self.line, was, now, others)


def draw(edits: Mapping[str, FileEdit | None], sources: Sequence[SolutionFile], count: int, seed: int) -> list[Mutant]:
    """At most `count` mutants that can be read and are not known to do the same as the solution or the base."""
    coarse = _ordered([*_files(sources), *_blocks(sources)], seed)
    fine = _spread(_ordered(list(_operators(sources)), seed))
    first = max(count - len(fine), -(-count // 2))
    known = {(source.path, source.meaning(source.after)) for source in sources}
    if len(sources) == 1:  # the base fails anyway
        known |= {(source.path, source.meaning(source.before)) for source in sources}
    drawn: list[Mutant] = []
    for candidate in (*coarse[:first], *fine, *coarse[first:]):
        if len(drawn) == count:
            break
        text = candidate.text()
        meaning = (candidate.source.path, candidate.source.meaning(text))
        if meaning[1] is not None and meaning not in known:
            known.add(meaning)
            drawn.append(candidate.made(edits, text))
    return drawn


def _files(sources: Sequence[SolutionFile]) -> Iterator[_Candidate]:
    """The solution without its change of each file, where there are several."""
    for source in sources if len(sources) > 1 else ():
        yield _Candidate(f"file:{source.path}", MutantKind.FILE, source, 1, None)


def _blocks(sources: Sequence[SolutionFile]) -> Iterator[_Candidate]:
    """The solution with one block of lines as on the base, where there are several in a file."""
    for source in sources:
        hunks = changed_blocks(source.before, source.after) if source.after is not None and source.before else []
        for hunk in hunks if len(hunks) > 1 else ():
            if source.only_imports(hunk):
                continue  # missed by any test that needs them
            yield _Candidate(f"hunk:{source.path}:{hunk.start + 1}", MutantKind.HUNK, source, hunk.start + 1, hunk)


def _operators(sources: Sequence[SolutionFile]) -> Iterator[_Candidate]:
    """The solution with each replacement."""
    for source in sources:
        counts: Counter[str] = Counter()
        for one in source.replacements():
            assert source.after is not None
            line = source.after.count(b"\n", 0, one.start) + 1
            name = f"{one.kind.value}:{source.path}:{line}"
            counts[name] += 1
            yield _Candidate(f"{name}:{counts[name]}", one.kind, source, line, one)


def _ordered(candidates: list[_Candidate], seed: int) -> list[_Candidate]:
    """In an order that chance gives, and that does not depend on how many there are."""
    return sorted(candidates, key=lambda each: hashlib.sha256(f"{seed}\0{each.name}".encode()).digest())


def _spread(candidates: list[_Candidate]) -> list[_Candidate]:
    """The first of every line before the second of any."""
    taken: Counter[tuple[str, int]] = Counter()
    ranks = []
    for each in candidates:
        taken[each.source.path, each.line] += 1
        ranks.append(taken[each.source.path, each.line])
    return [each for _, each in sorted(zip(ranks, candidates, strict=True), key=lambda pair: pair[0])]


def _first(lines: Sequence[bytes]) -> str:
    """The first line that says something."""
    return line_at(next((line for line in lines if line.strip()), b""), 0)


def _is_prose(path: str, text: bytes) -> bool:
    *folders, name = PurePosixPath(path).parts
    suffix = PurePosixPath(name).suffix.lower()
    if not folders and suffix in _SETTINGS:
        return True
    return suffix in _PROSE or not (suffix or text.startswith(b"#!")) or bool(folders and folders[0] in _PROSE_FOLDERS)
