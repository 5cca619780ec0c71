"""All signals on one change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from repoassay.errors import RepoAssayError
from repoassay.sandbox import settle
from repoassay.signals.bench import Bench
from repoassay.signals.change import Change
from repoassay.signals.complexity import complexity
from repoassay.signals.dead_code import dead_code
from repoassay.signals.debugging import debugging
from repoassay.signals.diff_coverage import diff_coverage
from repoassay.signals.diffs import read_diff
from repoassay.signals.docstrings import docstrings
from repoassay.signals.documents import changelog, guides
from repoassay.signals.duplication import duplication
from repoassay.signals.formatting import formatting
from repoassay.signals.mypy import mypy
from repoassay.signals.node_checks import eslint, tsc
from repoassay.signals.relaxed_config import loosened
from repoassay.signals.ruff import ruff
from repoassay.signals.signal import Axis, Signal, unknown
from repoassay.signals.size import size
from repoassay.signals.stray_files import artefacts
from repoassay.signals.suite import suite_of_head
from repoassay.signals.suppressions import suppressions
from repoassay.signals.tests_on_base import existing_tests, tests_on_base
from repoassay.signals.tools import CannotRun
from repoassay.signals.vacuous_tests import tests_added, vacuous_tests, weakened_tests
from repoassay.signals.worktrees import Tree

__all__ = ["signals"]

_Kind = Callable[[Change, Bench], list[Signal]]


def _tests(change: Change, bench: Bench) -> list[Signal]:
    ids = (("existing_tests", Axis.CORE), ("diff_coverage", Axis.TESTING), ("tests_on_base", Axis.TESTING))
    if not any(path.endswith(".py") for path in change.head.files):
        reason = "The repository holds no Python, and only pytest's tests are run."
        return [unknown(id, axis, id.replace("_", " "), reason) for id, axis in ids]
    try:
        head = suite_of_head(change, bench)
    except CannotRun as why:
        return [unknown(id, axis, id.replace("_", " "), str(why)) for id, axis in ids]
    return [*existing_tests(change, bench, head), *diff_coverage(change, head), *tests_on_base(change, bench, head)]


_KINDS: tuple[tuple[str, Axis, _Kind], ...] = (
    ("tests", Axis.TESTING, _tests),
    ("tests_added", Axis.TESTING, tests_added),
    ("vacuous_tests", Axis.TESTING, vacuous_tests),
    ("weakened_tests", Axis.TESTING, weakened_tests),
    ("docstrings", Axis.DOCUMENTATION, docstrings),
    ("guides", Axis.DOCUMENTATION, guides),
    ("changelog", Axis.DOCUMENTATION, changelog),
    ("ruff", Axis.LINT, ruff),
    ("mypy", Axis.LINT, mypy),
    ("eslint", Axis.LINT, eslint),
    ("tsc", Axis.LINT, tsc),
    ("formatting", Axis.LINT, formatting),
    ("suppressions", Axis.LINT, suppressions),
    ("loosened", Axis.LINT, loosened),
    ("complexity", Axis.QUALITY, complexity),
    ("duplication", Axis.QUALITY, duplication),
    ("size", Axis.QUALITY, size),
    ("artefacts", Axis.QUALITY, artefacts),
    ("debug_prints", Axis.QUALITY, debugging),
    ("dead_code", Axis.QUALITY, dead_code),
)


def signals(base: Path, head: Path, diff: bytes, reference: bytes | None, bench: Bench) -> tuple[Signal, ...]:
    """Compute every signal on a change.

    Args:
        base: The base's worktree on this machine, as `workspace.checkout` makes it; not written to.
        head: The head's worktree, hostile: nothing of it runs outside the sandbox. It is given the modes and the owner
            of the base's, so that the project's tests may write in either.
        diff: From base to head, as git writes it; at most 16 MiB are read.
        reference: The diff of a change known to be good; None where there is none.
        bench: Sandbox, environment and limits. Use one bench for all submissions of a task.

    Returns:
        The signals in a fixed order, at least one of each kind. None of them is an answer: a rater decides.
    """
    settle(head)
    change = Change(Tree(base), Tree(head), read_diff(diff), read_diff(reference) if reference is not None else None)
    found: list[Signal] = []
    for name, axis, kind in _KINDS:
        try:
            each = kind(change, bench)
        except RepoAssayError as error:
            each = [unknown(name, axis, name.replace("_", " "), str(error))]
        except (RecursionError, MemoryError):
            reason = "A file of the change is nested too deeply to be read."
            each = [unknown(name, axis, name.replace("_", " "), reason)]
        except (OSError, ValueError) as error:
            reason = f"Something of the change could not be read ({type(error).__name__}: {error})."
            each = [unknown(name, axis, name.replace("_", " "), reason)]
        found += each
    if change.diff.cut:
        found = [each.model_copy(update={"notes": (*each.notes, change.diff.cut)[-20:]}) for each in found]
    return tuple(found)
