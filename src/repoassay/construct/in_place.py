"""A change's own tests as their maintainers run them: which files they are, and how pytest is to be called for them."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Protocol

from repoassay.construct.history import HistoryEntry
from repoassay.construct.recipe.project import Project
from repoassay.construct.recipe.test_tools import pytest_options
from repoassay.construct.select import CommitSplit, changed_paths, check_change, without_links
from repoassay.errors import BadInput
from repoassay.grading import TEST_FOLDERS
from repoassay.text import join_names

__all__ = ["MaintainersTests", "count_test_functions", "find_tests", "split_in_place"]

_DEFAULT = ("test_*.py", "*_test.py", "*_tests.py", "tests.py")
_LOOSE = "test*.py"
"""What unittest and nose look for; below folders of tests alone, since packages have a `testing.py`."""
_FOLDER = re.compile(r"(?:[a-z]+[_-])?tests?(?:[_-][a-z]+)?|testing|testsuite|unittests?|specs?", re.IGNORECASE)
_SETTINGS = frozenset({"conftest.py", "pytest.ini", ".pytest.ini", "tox.ini", "noxfile.py"})
"""Files that belong to tests wherever they lie."""
_MOST_READERS = 20
"""Files of tests that are run for data which they may read; among more of them those that do cannot be told."""
_COMPILED = (".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".pyx", ".pxd", ".pxi", ".rs", ".f", ".f90", ".go")


_EXAMPLE = re.compile(r"(docs?|docs?_src|documentation|examples?|samples?|demos?|snippets?|tutorials?)/.*\.py$")


class TestFiles(Protocol):
    """What tells tests from other files of a repository."""

    def is_test(self, path: str) -> bool:
        """Whether its runner would find tests in a file."""

    def inside(self, path: str) -> bool:
        """Whether a file lies in a folder of tests."""


@dataclass(frozen=True, slots=True)
class MaintainersTests:
    """What a repository calls its tests.

    Args:
        patterns: Globs over names of test files, or over paths where they have a slash.
        folders: Folders that hold tests and what belongs to them, each without a slash at its end.
        arguments: What pytest is called with besides files.
    """

    patterns: tuple[str, ...]
    folders: tuple[str, ...]
    arguments: tuple[str, ...]

    def is_test(self, path: str) -> bool:
        """Whether pytest would collect a file."""
        if not path.endswith(".py") or PurePosixPath(path).name == "conftest.py":
            return False
        return any(
            fnmatchcase(path, f"*{pattern}" if "/" in pattern else pattern)
            or ("/" not in pattern and fnmatchcase(PurePosixPath(path).name, pattern))
            for pattern in self.patterns
            if "test" in pattern or self.inside(path)
        )

    def inside(self, path: str) -> bool:
        """Whether a file lies in a folder of tests."""
        return any(path.startswith(f"{folder}/") for folder in self.folders)

    @property
    def support(self) -> tuple[str, ...]:
        """Patterns of the test set-up that its folders' names do not tell."""
        folders = (folder for folder in self.folders if not TEST_FOLDERS & set(PurePosixPath(folder).parts))
        return tuple(f"{folder}/*" for folder in folders)


def find_tests(project: Project) -> MaintainersTests:
    """Read off a tree and its settings of pytest what its tests are called and where they lie."""
    settings, _, _ = pytest_options(project)
    patterns = tuple(settings.get("python_files", "").split()) or _DEFAULT
    files = [path for path, entry in project.files.items() if entry.regular]
    globs = (*_DEFAULT, _LOOSE, *(pattern for pattern in patterns if "test" in pattern))
    named = {path for path in files if any(fnmatchcase(PurePosixPath(path).name, each) for each in globs)}
    folders = {
        str(parent)
        for path in named
        for parent in [*PurePosixPath(path).parents][:-1]
        if _FOLDER.fullmatch(parent.name)
    }
    paths = (str(PurePosixPath(project.root, each)) for each in settings.get("testpaths", "").split())
    folders |= {path for path in paths if "test" in PurePosixPath(path).name.lower()}
    outer = sorted(each for each in folders if not any(each.startswith(f"{other}/") for other in folders))
    return MaintainersTests(patterns, tuple(outer), _arguments(settings))


def _arguments(settings: Mapping[str, str]) -> tuple[str, ...]:
    """Files that the base cannot import keep no others from running; no coverage is measured, no process started."""
    options = settings.get("addopts", "")
    found = ["--continue-on-collection-errors"]
    if "--cov" in options:
        found.append("--no-cov")
    if re.search(r"(^|\s)(-n\s*\w+|--numprocesses|--dist)\b", options):
        found += ["-n", "0"]
    return tuple(found)


def split_in_place(
    base: Mapping[str, HistoryEntry], solution: Mapping[str, HistoryEntry], only: Collection[str],
    tests: TestFiles, content: Callable[[HistoryEntry], bytes],
) -> tuple[CommitSplit, tuple[str, ...]]:  # fmt: skip
    """Sort what differs between two trees, and return as well the paths that the test patch brings.

    New examples of the documentation that the tests run belong to the tests: nobody could write them as they expect.

    Raises:
        BadInput: When no task can be made of the change.
    """
    paths = changed_paths(base, solution, tuple(only))

    def of_tests(path: str) -> bool:
        return tests.is_test(path) or tests.inside(path) or PurePosixPath(path).name in _SETTINGS

    regular = [path for path in paths if all(tree[path].regular for tree in (base, solution) if path in tree)]
    code = [path for path in paths if not of_tests(path)]
    hidden = [path for path in regular if of_tests(path)]
    examples = [path for path in code if path in regular and path not in base and _EXAMPLE.match(path)]
    if examples:
        text = b"\n".join(content(solution[path]) for path in hidden if path in solution).decode(errors="replace")
        own = {path for path in examples if _speaks_of(text, path)}
        code, hidden = [path for path in code if path not in own], sorted({*hidden, *own})
    code, links = without_links(code, base, solution)
    check_change([*code, *hidden], code, base, solution)
    compiled = [path for path in code if path.endswith(_COMPILED)]
    if compiled:
        raise BadInput(
            f"The change touches what is compiled: {join_names(compiled, 3)}. A repository is built once, before it.",
            "Choose another commit, or leave these files out with --only.",
        )
    there = [path for path in hidden if path in solution]
    run = tuple(path for path in there if tests.is_test(path))
    # What pytest is told to collect may only import what was changed; a file that is named runs whatever its settings.
    run = run or tuple(path for path in there if _holds_tests(path, lambda path: content(solution[path])))
    run = run or _readers(there, solution, tests, content)
    support = tuple(path for path in hidden if path not in run)
    return CommitSplit(tuple(code), run, support, tuple(regular), links), tuple(hidden)


def _holds_tests(path: str, read: Callable[[str], bytes]) -> bool:
    """Whether a file of the tests is named as one of them usually is, or has functions that are."""
    name = PurePosixPath(path).name
    if not name.endswith(".py") or name in _SETTINGS:
        return False
    return (
        any(fnmatchcase(name, each) for each in _DEFAULT)
        or count_test_functions(read(path).decode(errors="replace")) > 0
    )


def _readers(
    changed: Collection[str], tree: Mapping[str, HistoryEntry], tests: TestFiles,
    content: Callable[[HistoryEntry], bytes],
) -> tuple[str, ...]:  # fmt: skip
    """Tests that may read the data which alone was changed: in the nearest folder above it, those that speak of it."""
    found: set[str] = set()
    run = [path for path, entry in tree.items() if entry.regular and tests.is_test(path)]
    for path in (PurePosixPath(each) for each in changed if PurePosixPath(each).name not in _SETTINGS):
        folder, near = next(
            (
                (folder, near)
                for folder in [*path.parents][:-1]
                if (near := [x for x in run if x.startswith(f"{folder}/")])
            ),
            (path, []),
        )
        inner = path.relative_to(folder).parts
        words = "|".join(map(re.escape, (path.stem, *inner, *((folder.name,) if len(inner) == 1 else ()))))
        texts = {each: content(tree[each]).decode(errors="replace") for each in near}
        telling = [each for each, text in texts.items() if re.search(rf"\b({words})\b", text)] or near
        found |= set(telling) if len(telling) <= _MOST_READERS else set()
    return tuple(sorted(found))


def _speaks_of(text: str, path: str) -> bool:
    """Whether tests import a file's module, or name its path."""
    module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    package, _, name = module.rpartition(".")
    imported = rf"from\s+{re.escape(package)}\s+import\s[^)]*?\b{re.escape(name)}\b"
    return path in text or re.search(rf"\b{re.escape(module)}\b|{imported}", text) is not None


def count_test_functions(source: str) -> int:
    """How many functions and methods of a file are tests by their names, however often each would run."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # data, or of a Python that is not this one
        return len(re.findall(r"^\s*(?:async\s+)?def test", source, re.MULTILINE))
    return _count(tree.body)


def _count(body: Iterable[ast.stmt]) -> int:
    found = 0
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found += node.name.startswith("test")
        elif isinstance(node, ast.ClassDef):
            found += _count(node.body)
    return found
