"""What a prefork server may import beforehand: packages of the environment that tests and repository name.

Read from source, never learnt from a run, so that nothing a submission does decides what is imported.
"""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from repoassay.grading.hidden_tests.parsing import parse
from repoassay.tasks import TaskFolder
from repoassay.types import FileEdit

__all__ = ["covers_imports", "imports_of"]

_MOST_FILES = 400
_MOST_BYTES = 2**20
_NEVER = frozenset({"conftest", "sitecustomize", "usercustomize", "setuptools", "pip", "pkg_resources", "antigravity"})


def imports_of(folder: TaskFolder, base: Path, environment: Path) -> list[str]:
    """Names of top-level packages in the environment that the task's tests or its repository import, sorted.

    A name that the repository itself could answer to is left out: its own code is what is under test.
    """
    roots = [base / part for part in folder.task.environment.path]
    sources = [*sorted(folder.tests.rglob("*.py")), *_some(roots)]
    named = {name.partition(".")[0] for path in sources for name in _imports(path)}
    installed = _installed(environment)
    own = {item.stem for root in roots if root.is_dir() for item in root.iterdir()}
    return sorted((named & installed) - own - _NEVER)


def covers_imports(edits: Mapping[str, FileEdit | None], base: Path, environment: Path) -> bool:
    """Whether a patch adds a module, anywhere, of the name of one that could have been imported beforehand.

    That one would be found in the place of the patch's own, which comes first where its folder is on the import path.
    """
    new = {_module_name(PurePosixPath(path)) for path, edit in edits.items() if edit and not (base / path).exists()}
    return bool(new & sys.stdlib_module_names) or bool(new - {""} and new & _installed(environment))


def _module_name(path: PurePosixPath) -> str:
    stem = path.name.partition(".")[0]
    return (path.parent.name if stem == "__init__" else stem) if path.suffix in (".py", ".so", ".pyc") else ""


def _some(roots: Iterable[Path]) -> list[Path]:
    found: list[Path] = []
    for root in roots:
        found += [path for path in sorted(root.rglob("*.py"))[:_MOST_FILES] if ".git" not in path.parts]
    return found[:_MOST_FILES]


def _imports(path: Path) -> Iterator[str]:
    try:
        if path.is_symlink() or path.stat().st_size > _MOST_BYTES:
            return
        tree = parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


@functools.cache
def _installed(environment: Path) -> frozenset[str]:
    names = set()
    for place in environment.glob("lib/python*/site-packages"):
        for item in place.iterdir():
            if item.suffix in (".py", ".so") or (item.is_dir() and (item / "__init__.py").is_file()):
                names.add(item.name.partition(".")[0])
    return frozenset(names)
