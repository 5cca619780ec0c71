"""What a verdict on a state task says besides its tests: the share that passed, and whether anybody may be blamed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path, PurePosixPath

from repoassay.diffs import PatchError, apply_patch, read_patch
from repoassay.grading.in_place.support import SETTINGS, TEST_FOLDERS, replaces_module, starts_up
from repoassay.tasks import TaskFolder, read_regular
from repoassay.types import CriterionResult, FileEdit, Outcome, TestResult

__all__ = ["beside_artifacts", "blame_withheld", "outside_places", "reward_of", "start_up_files"]

_START_UP = SETTINGS | {".Rprofile", ".Renviron"}
"""Files by which R, and pytest in a script of tests, run other code or other tests than the script says."""
_SHARED = frozenset({"pyproject.toml", "setup.cfg", "tox.ini"})
"""Of these, files in which a project keeps much else."""
_MOST_BYTES = 64 * 2**20


def reward_of(
    folder: TaskFolder, tests: Sequence[TestResult], reward: float | None = None
) -> tuple[CriterionResult, ...]:
    """The fractional reward of a state task, beside its verdict.

    It is what a script of tests wrote, else the share of the tests that passed, 0 to 1.
    """
    if folder.task.state is None or not tests:
        return ()
    share = sum(test.outcome == "passed" for test in tests) / len(tests) if reward is None else reward
    return (
        CriterionResult(
            stage="result", metric="reward", of=".", value=round(share, 6), threshold=">= 1", passed=share >= 1
        ),
    )


def outside_places(folder: TaskFolder, paths: Iterable[str]) -> list[str]:
    """Changed paths that lie in none of a state task's places: tests, programs or environment of the machine."""
    if folder.task.state is None:
        return []
    places = [place.lstrip("/") for place in folder.task.state.places]
    return [name for name in paths if not any(name.startswith(f"{place}/") for place in places)]


def beside_artifacts(folder: TaskFolder, paths: Iterable[str]) -> list[str]:
    """Changed paths that do not cross to a state task's tests, since it names what does."""
    state = folder.task.state
    if state is None or not state.artifacts:
        return []
    crossing = [artifact.lstrip("/") for artifact in state.artifacts]
    return sorted(path for path in paths if not any(f"{path}/".startswith(f"{each}/") for each in crossing))


def start_up_files(folder: TaskFolder, base: Path, edits: Mapping[str, FileEdit | None]) -> list[str]:
    """Changed files that would decide how a script of tests runs, but for those that the task's solution changes.

    pytest, where a script starts it on files that lie among the agent's, reads settings and plug-ins from there.
    """
    tests = folder.task.grading.tests
    if folder.task.state is None or tests is None or tests.runner != "script":
        return []
    names = frozenset(file.name for file in folder.tests.rglob("*.*"))
    homes = (folder.task.state.work, *folder.task.state.places)
    found = [
        path
        for path, edit in edits.items()
        if starts_up(path)
        or (_stands_before(PurePosixPath(path), names, homes) and not _without_pytest(path, edit, base))
    ]
    return sorted(set(found) - _solved(folder.solution, folder.digest, base)) if found else []


def _stands_before(path: PurePosixPath, names: frozenset[str], homes: Collection[str]) -> bool:
    """Whether a file would be read before, or in place of, tests that a script lays among an agent's files.

    That is settings, `__init__.py` around tests, what lies in a folder with the name of a test's file (`names`), into
    which a copy of that file falls, and a package or an extension beside tests that Python takes in place of a module
    of theirs. `homes` are the folders in which an agent stands.
    """
    if path.name in _START_UP or not names.isdisjoint(path.parts[:-1]):
        return True
    package = path.name.partition(".")[0] == "__init__"
    around = path.parent.name in TEST_FOLDERS or f"/{path.parent}" in homes
    beside = path.parent.parent if package else path.parent
    return (package and around) or (beside.name in TEST_FOLDERS and replaces_module(path, names))


def _without_pytest(path: str, edit: FileEdit | None, base: Path) -> bool:
    """Whether a new file holds settings of a project alone: none of pytest, nor an escape that could spell its name."""
    if PurePosixPath(path).name not in _SHARED or edit is None or (base / path).exists():
        return False
    return b"pytest" not in edit.content and b"\\" not in edit.content


@lru_cache(maxsize=64)
def _solved(solution: Path, digest: str, base: Path) -> frozenset[str]:
    """Paths that a task's solution changes."""
    del digest  # other contents, other paths
    try:
        return frozenset(apply_patch(read_patch(read_regular(solution / "changes.diff", _MOST_BYTES)), base).edits)
    except (OSError, PatchError):
        return frozenset()


def blame_withheld(folder: TaskFolder, outcome: Outcome) -> str:
    """Why what a state task's tests say is nobody's failure; empty where it may be the submission's."""
    if folder.task.state is None or outcome not in (Outcome.FAILED, Outcome.TIMED_OUT, Outcome.TAMPERING):
        return ""
    if (folder.solution / "changes.diff").is_file():  # seen to pass here, or there is no verdict at all
        return ""
    return (
        f"The task {folder.task.id} is unproven, so that nobody is judged by tests that fail: no solution of it was"
        " seen to pass. Import it with --prove and a solution/solve.sh."
    )
