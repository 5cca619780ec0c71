"""Counting a whole repository: which files are read, how hostile ones are held off, and the sums."""

from __future__ import annotations

import gc
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from repoassay.errors import BadInput
from repoassay.survey.edges import count_edges
from repoassay.survey.git_files import GitFiles, is_stored_link
from repoassay.survey.measures import Measures, SurveyProblem
from repoassay.survey.source import UnreadableSource, code_lines, count_tokens, line_count, read_source
from repoassay.survey.syntax import Import, read_syntax
from repoassay.text import printable, quote

__all__ = ["SKIPPED_FOLDERS", "Survey", "survey_repository"]

SKIPPED_FOLDERS = frozenset({".git", "__pycache__"})
"""Folders that are not looked into, wherever they lie. Virtual environments and vendored code are."""
MAX_TOKENS = 1_000_000
"""Tokens of a file that is parsed: a tree takes some hundred bytes a token."""
_MAX_ENTRIES = 1_000_000


@dataclass(frozen=True, slots=True)
class Survey:
    """The measures of a repository, and every file and folder that could not be counted in full, by path."""

    measures: Measures
    problems: tuple[SurveyProblem, ...]


def survey_repository(folder: Path, *, model_tokens: Callable[[str], int] | None = None) -> Survey:
    """Count what the Python code of a repository is made of; nothing of it is run.

    Links are not followed, except that `folder` itself may be one; nor are those stored as text counted, or what git
    ignores in a working tree. Time is linear in the size of the repository.

    Args:
        folder: The repository's files.
        model_tokens: Counts tokens of a language model in a text (`model_token_counter`); None leaves them out.

    Raises:
        BadInput: When it is no folder, cannot be read, or holds more than a million files and folders.
    """
    listing = _list(folder)
    counts = _Counts(model_tokens)
    with _undisturbed():
        for path in sorted(listing.sources):
            counts.add(folder, path)
    measures = Measures(
        files=len(listing.sources),
        lines=counts.lines,
        code_lines=counts.code_lines,
        classes=counts.classes,
        functions=counts.functions,
        imports=sum(map(len, counts.imports.values())),
        internal_imports=count_edges(counts.imports, listing.sources),
        calls=counts.calls,
        tokens=counts.tokens,
        model_tokens=None if model_tokens is None else counts.model_tokens,
        python_bytes=sum(listing.sources.values()),
        bytes=listing.size,
    )
    return Survey(measures, tuple(sorted((*listing.problems, *counts.problems), key=lambda problem: problem.path)))


class _Counts:
    """Sums over the files added so far."""

    def __init__(self, model_tokens: Callable[[str], int] | None) -> None:
        self._model_tokens = model_tokens
        self.lines = self.code_lines = self.tokens = self.model_tokens = self.classes = self.functions = self.calls = 0
        self.imports: dict[str, tuple[Import, ...]] = {}
        self.problems: list[SurveyProblem] = []

    def add(self, folder: Path, path: str) -> None:
        """Count one file; one that cannot be counted in full becomes a problem."""
        try:
            text = read_source(folder / path)
        except UnreadableSource as error:
            self.problems.append(SurveyProblem(path, "skipped", str(error)))
            return
        tokens = count_tokens(text)
        self.lines += line_count(text)
        self.code_lines += code_lines(text)
        self.tokens += tokens
        self.model_tokens += self._model_tokens(text) if self._model_tokens else 0
        if tokens > MAX_TOKENS:
            self.problems.append(SurveyProblem(path, "unparsed", f"it has more than {MAX_TOKENS} tokens"))
            return
        try:
            syntax = read_syntax(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as error:
            self.problems.append(SurveyProblem(path, "unparsed", _reason(error)))
            return
        self.classes += syntax.classes
        self.functions += syntax.functions
        self.calls += syntax.calls
        self.imports[path] = syntax.imports


def _reason(error: Exception) -> str:
    if isinstance(error, SyntaxError):
        place = f" (line {error.lineno})" if error.lineno else ""
        return f"{printable(error.msg)}{place}"
    if isinstance(error, RecursionError | MemoryError):
        return "it is nested too deep"
    return printable(str(error))


@contextmanager
def _undisturbed() -> Iterator[None]:
    """No warnings of other people's code, and no search for cycles: a tree has none, and is most of what is alive."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        if collecting:
            gc.enable()


@dataclass(slots=True)
class _Listing:
    """.py files (relative path -> bytes), bytes of all files, and folders that could not be listed."""

    sources: dict[str, int]
    size: int
    problems: list[SurveyProblem]


def _list(folder: Path) -> _Listing:
    _check(folder)
    listing, git = _Listing({}, 0, []), GitFiles.of(folder)
    pending, entries = [""], 0
    while pending:
        below = pending.pop()
        git.enter(below)
        try:
            with os.scandir(folder / below) as found:
                for entry in found:
                    entries += 1
                    if entries > _MAX_ENTRIES:
                        raise BadInput(
                            f"{quote(folder)} holds more than {_MAX_ENTRIES} files and folders.",
                            "Name the part of it that is the repository.",
                        )
                    path = f"{below}{entry.name}"
                    if entry.is_dir(follow_symlinks=False):
                        if entry.name not in SKIPPED_FOLDERS and not git.leaves_out(path, is_folder=True):
                            pending.append(f"{path}/")
                    elif entry.is_file(follow_symlinks=False) and not git.leaves_out(path):
                        size = entry.stat(follow_symlinks=False).st_size
                        listing.size += size
                        if entry.name.endswith(".py") and not is_stored_link(folder, path, size):
                            listing.sources[path] = size
        except OSError as error:
            if not below:
                raise BadInput(f"{quote(folder)} cannot be read: {error.strerror}.") from error
            listing.problems.append(SurveyProblem(below, "skipped", f"it cannot be listed: {error.strerror}"))
    return listing


def _check(folder: Path) -> None:
    try:
        if folder.is_dir():
            return
        exists = folder.exists()
    except (OSError, ValueError):  # a name too long, or with a NUL
        exists = False
    if exists:
        raise BadInput(
            f"{quote(folder)} is a file, not a folder.", "Name a folder; unpack a source distribution first."
        )
    raise BadInput(f"There is no folder {quote(folder)}.", "Name the folder that holds the repository's files.")
