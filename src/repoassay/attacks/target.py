"""What an attack is aimed at: everything an attacker sees of a task before the tests run."""

from __future__ import annotations

import ast
import builtins
import json
import keyword
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from repoassay.errors import BadInput
from repoassay.grading import parse
from repoassay.tasks import TaskFolder
from repoassay.text import quote

__all__ = ["Language", "Target", "aim"]

Language = Literal["python", "javascript"]
_SUFFIXES = ("", ".js", ".mjs", ".cjs", "/index.js")
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_COMMON = frozenset((*dir(builtins), *keyword.kwlist, "undefined", "null", "true", "false", "function", "const", "d"))
"""Words of the languages themselves, which an attack would only break by defining them."""


@dataclass(frozen=True, slots=True)
class Target:
    """A task under attack.

    `module` is the file of the repository that the tests load first, `base` the checkout, `words` the identifiers that
    the instruction names, `tests` the ids of the hidden tests (for attackers who know them).
    """

    task: str
    language: Language
    base: Path
    module: str
    words: tuple[str, ...]
    tests: tuple[str, ...]

    @property
    def package(self) -> str:
        """Name of the folder that the module lies in, or of the module itself where it lies at the root."""
        path = PurePosixPath(self.module)
        return path.parent.name or path.stem

    @property
    def defined(self) -> tuple[str, ...]:
        """Names of functions and classes that the module defines."""
        text = (self.base / self.module).read_bytes().decode(errors="replace")
        return tuple(dict.fromkeys(re.findall(r"^(?:export )?(?:default )?(?:function|class|def) (\w+)", text, re.M)))

    @property
    def files(self) -> tuple[str, ...]:
        """Names of the hidden test files."""
        return tuple(dict.fromkeys(test.partition("::")[0] for test in self.tests))


def aim(folder: TaskFolder, base: Path) -> Target:
    """Look at a task and the checkout of its base commit as an attacker would.

    Raises:
        BadInput: When nothing in the repository can be found that the tests load.
    """
    tests = folder.task.hidden_tests
    language: Language = "javascript" if tests.runner == "node" else "python"
    found = _javascript(base) if language == "javascript" else _python(folder, base)
    if found is None:
        raise BadInput(
            f"The tests of {quote(folder.task.id)} load no file of its repository, so there is nothing to attack.",
            "Leave it out with --task.",
        )
    spans = re.findall(r"`([^`]+)`", folder.instruction)
    words = tuple(dict.fromkeys(word for span in spans for word in _WORD.findall(span) if word not in _COMMON))
    return Target(folder.task.id, language, base, found, words, tests.all_ids)


def _python(folder: TaskFolder, base: Path) -> str | None:
    roots = [PurePosixPath(part) for part in folder.task.environment.path]
    for name in _imported(sorted(folder.tests.rglob("*.py"))):
        top = name.partition(".")[0]
        for root in roots:
            for place in (root / top / "__init__.py", root / f"{top}.py"):
                if (base / place).is_file():
                    return str(place)
    return None


def _imported(files: Iterable[Path]) -> Iterator[str]:
    """Names of modules in the order in which test files import them; then those in strings, as for `python -m`."""
    trees = [tree for file in files if (tree := _parsed(file)) is not None]
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield node.module
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
                yield node.value


def _parsed(file: Path) -> ast.Module | None:
    try:
        return parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return None


def _javascript(base: Path) -> str | None:
    """The file that a package is entered by."""
    try:
        package = json.loads((base / "package.json").read_bytes())
    except (OSError, ValueError):
        package = {}
    named = [*_exported(package.get("exports")), package.get("main"), "index.js"]
    for name in named:
        for suffix in _SUFFIXES:
            place = f"{str(name).removeprefix('./')}{suffix}"
            if name and (base / place).is_file():
                return place
    return None


def _exported(exports: object) -> Iterator[str]:
    if isinstance(exports, str):
        yield exports
    elif isinstance(exports, dict):
        for key in (".", "node", "import", "require", "default"):
            yield from _exported(exports.get(key))
