"""Literals of the repository's modules that a test file imports: a forger reads them too."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from repoassay.errors import BadInput
from repoassay.grading.hidden_tests.parsing import parse
from repoassay.tasks import read_regular

__all__ = ["literals_of_imports"]

_FILES, _SIZE, _MANY = 12, 400_000, 1500


def literals_of_imports(tree: ast.Module, base: Path) -> list[Any]:
    """Tables of the modules that are imported, then their short texts and numbers."""
    tables: list[Any] = []
    small: dict[tuple[type, Any], None] = {}
    for file in list(dict.fromkeys(_files(tree, base)))[:_FILES]:
        try:
            module = parse(read_regular(file, _SIZE).decode("utf-8", "replace"))
        except (OSError, BadInput, SyntaxError, ValueError, RecursionError):
            continue
        for node in ast.walk(module):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str | int | float)
                and len(str(node.value)) < 80
            ):
                small[type(node.value), node.value] = None
            elif isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, _DISPLAYS):
                with contextlib.suppress(ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                    tables.append(ast.literal_eval(node.value))
    return [*tables[:_FILES], *(value for _, value in list(small)[:_MANY])]


_DISPLAYS = (ast.List, ast.Tuple, ast.Set, ast.Dict)


def _files(tree: ast.Module, base: Path) -> Iterator[Path]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules: list[tuple[str, tuple[str, ...]]] = [(alias.name, ()) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules = [(node.module, tuple(alias.name for alias in node.names))]
        else:
            continue
        for module, names in modules:
            for name in (module, *(f"{module}.{each}" for each in names)):
                yield from _places(base, name.replace(".", "/"))


def _places(base: Path, name: str) -> Iterator[Path]:
    for root in (base, base / "src"):
        for file in (root / f"{name}.py", root / name / "__init__.py"):
            if file.is_file():
                yield file
        if (root / name).is_dir() and "/" not in name:
            yield from sorted((root / name).glob("*.py"))[:_FILES]
