"""Reading worktrees that somebody hostile may have written: no links followed, sizes and counts bounded."""

from __future__ import annotations

import ast
import functools
import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from repoassay.grading import parse
from repoassay.survey import is_test_support
from repoassay.tasks import read_regular, real_folder

__all__ = ["JAVASCRIPT", "Tree", "is_document", "is_source"]

_MAX_FILE = 2**20
_MAX_FILES = 20_000
_SKIPPED = frozenset({
    ".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".nox", ".mypy_cache", ".ruff_cache",
    ".pytest_cache", ".eggs", "dist", "build",
})  # fmt: skip
JAVASCRIPT = frozenset({".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"})
_SOURCE = JAVASCRIPT | {".py", ".pyi", ".go", ".rs", ".java", ".c", ".cc", ".cpp", ".h", ".hpp", ".rb", ".php", ".kt",
                        ".swift", ".scala", ".cs", ".lua", ".vue"}  # fmt: skip
_DOCUMENTS = frozenset({".md", ".rst", ".txt", ".adoc", ".ipynb"})


class Tree:
    """A worktree on this machine. Paths are relative, with forward slashes."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._texts: dict[str, str | None] = {}

    def bytes(self, path: str, limit: int = _MAX_FILE) -> bytes | None:
        """A file's content; None where there is none, it is no plain file reached through plain folders, or large."""
        parts = path.split("/")
        if not path or any(part in ("", ".", "..") or "\0" in part for part in parts):
            return None
        place = self.root
        try:
            for part in parts[:-1]:
                place = place / part
                if not real_folder(place):
                    return None
            return read_regular(place / parts[-1], limit)
        except (OSError, ValueError):
            return None

    def text(self, path: str) -> str | None:
        """A file's text; None as for `bytes`, and for binary content."""
        if path not in self._texts:
            if len(self._texts) > 2_000:
                self._texts.clear()
            data = self.bytes(path)
            self._texts[path] = None if data is None or b"\0" in data else data.decode("utf-8", "replace")
        return self._texts[path]

    def line(self, path: str, number: int) -> str:
        """One line of a file, empty where there is none. Lines end as git and compilers count them."""
        lines = (self.text(path) or "").split("\n")
        return lines[number - 1].rstrip("\r") if 0 < number <= len(lines) else ""

    def python(self, path: str) -> ast.Module | None:
        """The syntax tree of a Python file; None where it has none."""
        text = self.text(path)
        if text is None:
            return None
        try:
            return parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError, SystemError):
            return None

    @functools.cached_property
    def files(self) -> tuple[str, ...]:
        """Plain files, sorted, at most 20,000; what tools install or leave is left out."""
        return tuple(sorted(self._walk()))

    def has(self, path: str) -> bool:
        """Whether a plain file lies there."""
        return self.bytes(path, 64 * _MAX_FILE) is not None

    def _walk(self) -> Iterator[str]:
        left = _MAX_FILES
        for folder, folders, files in os.walk(self.root, followlinks=False):
            folders[:] = [name for name in folders if name not in _SKIPPED and not name.endswith(".egg-info")]
            below = PurePosixPath(Path(folder).relative_to(self.root)).as_posix()
            for name in files:
                if not left:
                    return
                if not os.path.islink(os.path.join(folder, name)):  # noqa: PTH114, PTH118 - twenty thousand times
                    left -= 1
                    yield name if below == "." else f"{below}/{name}"


def is_source(path: str) -> bool:
    """Whether a file is program code that is not a test's."""
    return PurePosixPath(path).suffix in _SOURCE and not is_test_support(path)


def is_document(path: str) -> bool:
    """Whether a file is a text for readers: a guide, a README."""
    pure = PurePosixPath(path)
    folders = {part.lower() for part in pure.parts[:-1]}
    named = pure.suffix.lower() in _DOCUMENTS or (not pure.suffix and pure.stem.isupper())
    return named and not is_test_support(path) and (bool(folders & {"docs", "doc", "documentation", "website"})
        or len(pure.parts) == 1 or pure.stem.lower().startswith("readme"))  # fmt: skip
