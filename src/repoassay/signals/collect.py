"""All signals on one change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from repoassay.errors import RepoAssayError
from repoassay.sandbox import settle
from repoassay.signals.bench import ToolRunner
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
from repoassay.signals.relaxed_config import relaxed_settings
from repoassay.signals.ruff import ruff
from repoassay.signals.signal import Signal, SignalAxis, unknown_signal
from repoassay.signals.size import size
from repoassay.signals.stray_files import artefacts
from repoassay.signals.suite import suite_of_head
from repoassay.signals.suppressions import suppressions
from repoassay.signals.tests_on_base import existing_tests, tests_on_base
from repoassay.signals.tools import CannotRun
from repoassay.signals.vacuous_tests import tests_added, vacuous_tests, weakened_tests
from repoassay.signals.worktrees import Tree

__all__ = ["signals"]

_Kind = Callable[[Change, ToolRunner], list[Signal]]


def _tests(change: Change, bench: ToolRunner) -> list[Signal]:
    ids = (
        ("existing_tests", SignalAxis.CORE),
        ("diff_coverage", SignalAxis.TESTING),
        ("tests_on_base", SignalAxis.TESTING),
    )
    if not any(path.endswith(".py") for path in change.head.files):
        reason = "The repository holds no Python, and only pytest's tests are run."
        return [unknown_signal(id, axis, id.replace("_", " "), reason) for id, axis in ids]
    try:
        head = suite_of_head(change, bench)
    except CannotRun as why:
        return [unknown_signal(id, axis, id.replace("_", " "), str(why)) for id, axis in ids]
    return [*existing_tests(change, bench, head), *diff_coverage(change, head), *tests_on_base(change, bench, head)]


_KINDS: tuple[tuple[str, SignalAxis, _Kind], ...] = (
    ("tests", SignalAxis.TESTING, _tests),
    ("tests_added", SignalAxis.TESTING, tests_added),
    ("vacuous_tests", SignalAxis.TESTING, vacuous_tests),
    ("weakened_tests", SignalAxis.TESTING, weakened_tests),
    ("docstrings", SignalAxis.DOCUMENTATION, docstrings),
    ("guides", SignalAxis.DOCUMENTATION, guides),
    ("changelog", SignalAxis.DOCUMENTATION, changelog),
    ("ruff", SignalAxis.LINT, ruff),
    ("mypy", SignalAxis.LINT, mypy),
    ("eslint", SignalAxis.LINT, eslint),
    ("tsc", SignalAxis.LINT, tsc),
    ("formatting", SignalAxis.LINT, formatting),
    ("suppressions", SignalAxis.LINT, suppressions),
    ("loosened", SignalAxis.LINT, relaxed_settings),
    ("complexity", SignalAxis.QUALITY, complexity),
    ("duplication", SignalAxis.QUALITY, duplication),
    ("size", SignalAxis.QUALITY, size),
    ("artefacts", SignalAxis.QUALITY, artefacts),
    ("debug_prints", SignalAxis.QUALITY, debugging),
    ("dead_code", SignalAxis.QUALITY, dead_code),
)


def signals(base: Path, head: Path, diff: bytes, reference: bytes | None, bench: ToolRunner) -> tuple[Signal, ...]:
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
            each = [unknown_signal(name, axis, name.replace("_", " "), str(error))]
        except (RecursionError, MemoryError):
            reason = "A file of the change is nested too deeply to be read."
            each = [unknown_signal(name, axis, name.replace("_", " "), reason)]
        except (OSError, ValueError) as error:
            reason = f"Something of the change could not be read ({type(error).__name__}: {error})."
            each = [unknown_signal(name, axis, name.replace("_", " "), reason)]
        found += each
    if change.diff.cut:
        found = [each.model_copy(update={"notes": (*each.notes, change.diff.cut)[-20:]}) for each in found]
    return tuple(found)
