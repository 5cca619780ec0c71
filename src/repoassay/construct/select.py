"""What of a change is its solution and what its tests, and which files the tests need beside themselves."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from repoassay.construct.history import HistoryEntry
from repoassay.diffs import PatchError, safe_path
from repoassay.errors import BadInput
from repoassay.grading import NODE_SUFFIXES
from repoassay.text import join_names, printable, quote

__all__ = ["CommitSplit", "changed_paths", "check_change", "is_test", "nearby_tests", "split_change", "without_links"]

_LINK = "120000"
_FOLDERS = frozenset({"test", "tests"})
_MOST_FILES = 500
"""Changed files of one task: more is a release, not an edit."""
_MOST_BYTES = 32 * 2**20
_MOST_BESIDE = 2000
_NODE_TEST = re.compile(r"(test-.+|test|.+[-._]test|.+\.spec)\.[mc]?js")


@dataclass(frozen=True, slots=True)
class CommitSplit:
    """Paths that a change touches: the solution's, the tests that the later commit has, and other files of tests.

    `whole` are all of them that a patch can carry, as a pull request does; `links` those left out since none can.
    """

    solution: tuple[str, ...]
    tests: tuple[str, ...]
    support: tuple[str, ...]
    whole: tuple[str, ...] = ()
    links: tuple[str, ...] = ()


def is_test(path: str, runner: str = "pytest") -> bool:
    """Whether pytest or Django, or node's runner, would call a file a test by its name and place."""
    name = PurePosixPath(path).name
    if runner == "node":
        return bool(_NODE_TEST.fullmatch(name)) or (name.endswith(NODE_SUFFIXES) and _test_folder(path) is not None)
    return name.endswith(".py") and (name.startswith("test_") or name in ("tests.py",) or name.endswith("_test.py"))


def split_change(
    base: Mapping[str, HistoryEntry],
    solution: Mapping[str, HistoryEntry],
    only: Sequence[str] = (),
    runner: str = "pytest",
) -> CommitSplit:
    """Sort what differs between two trees.

    Args:
        base: The earlier tree.
        solution: The later one.
        only: Globs (`*` crosses folders) over paths; what matches none is left out. Empty for all.
        runner: Whose tests are recognized: `pytest` or `node`.

    Raises:
        BadInput: When there are too many files or bytes, or a path that no task can carry.
    """
    paths = changed_paths(base, solution, only)
    code = [path for path in paths if not (is_test(path, runner) or _test_folder(path))]
    ours = [path for path in paths if path not in set(code) and path in solution and solution[path].regular]
    code, links = without_links(code, base, solution)
    check_change((*code, *ours), code, base, solution)
    tests = tuple(path for path in ours if is_test(path, runner))
    whole = [path for path in paths if all(tree[path].regular for tree in (base, solution) if path in tree)]
    support = tuple(path for path in ours if not is_test(path, runner))
    return CommitSplit(tuple(code), tests, support, tuple(path for path in whole if _refusal(path) is None), links)


def changed_paths(
    base: Mapping[str, HistoryEntry], solution: Mapping[str, HistoryEntry], only: Sequence[str]
) -> list[str]:
    """Return paths that differ between two trees and match one of the globs `only`, if there are any.

    Raises:
        BadInput: When there are too many files or bytes.
    """
    paths = sorted(path for path in base.keys() | solution.keys() if base.get(path) != solution.get(path))
    paths = [path for path in paths if not only or any(fnmatchcase(path, glob) for glob in only)]
    size = sum(tree[path].size for tree in (base, solution) for path in paths if path in tree)
    if len(paths) > _MOST_FILES or size > _MOST_BYTES:
        raise BadInput(
            f"The change touches {len(paths)} files with {size} bytes; a task takes {_MOST_FILES} with {_MOST_BYTES}.",
            "Take commits nearer to each other, or choose files with --only.",
        )
    return paths


def without_links(
    code: Sequence[str], base: Mapping[str, HistoryEntry], solution: Mapping[str, HistoryEntry]
) -> tuple[list[str], tuple[str, ...]]:
    """Return what of the code is more than symbolic links, and those that were left out.

    Most lead from one page of the documentation to another, and whether the change works without them is proved. A
    change of nothing else, or of a file into a link, is kept as it is, so that it is refused.
    """
    links = tuple(path for path in code if all(tree[path].mode == _LINK for tree in (base, solution) if path in tree))
    rest = [path for path in code if path not in links]
    return (rest, links) if rest else ([*code], ())


def check_change(
    paths: Sequence[str],
    code: Sequence[str],
    base: Mapping[str, HistoryEntry],
    solution: Mapping[str, HistoryEntry],
) -> None:
    """Refuse paths that no task can carry, and links or submodules among those of the `code`.

    Raises:
        BadInput: With the path.
    """
    for path in paths:
        _check(path)
    strange = [path for path in code for tree in (base, solution) if path in tree and not tree[path].regular]
    if strange:
        raise BadInput(
            f"The change touches links or submodules, which no solution can: {join_names(dict.fromkeys(strange), 5)}.",
            "Leave them out with --only.",
        )


def nearby_tests(tests: Sequence[str], solution: Mapping[str, HistoryEntry]) -> tuple[str, ...]:
    """Return files that tests may read or import beside themselves: those of their test folder that are no tests.

    None where they come to more than a task should carry.
    """
    roots = {root for path in tests if (root := _test_folder(path))}
    near = [
        path for path, entry in solution.items()
        if entry.regular and not is_test(path) and any(path.startswith(f"{root}/") for root in roots)
    ]  # fmt: skip
    if len(near) > _MOST_BESIDE or sum(solution[path].size for path in near) > _MOST_BYTES:
        return ()
    return tuple(path for path in near if _refusal(path) is None)


def _test_folder(path: str) -> str | None:
    """The outermost folder of a path that is called `test` or `tests`."""
    parents = list(PurePosixPath(path).parents)[::-1]
    return next((str(parent) for parent in parents if parent.name in _FOLDERS), None)


def _refusal(path: str) -> str | None:
    try:
        safe_path(path.encode("utf-8", "surrogateescape"), 0)
    except PatchError as error:
        return str(error)
    return None


def _check(path: str) -> None:
    reason = _refusal(path)
    if reason is not None:
        raise BadInput(
            f"The change touches {quote(path)}, which no task can carry: {printable(reason)}.",
            "Leave it out with --only.",
        )
