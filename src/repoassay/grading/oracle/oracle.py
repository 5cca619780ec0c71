"""The oracle of a bench: references of its tasks, each recorded once, and the judge that compares with them."""

from __future__ import annotations

import threading
from pathlib import Path

from repoassay.grading.oracle.judge import Judge
from repoassay.grading.oracle.reference import Reference, reference_of
from repoassay.tasks import TaskFolder
from repoassay.workspace import Cache, Sandbox

__all__ = ["Oracle"]


class Oracle:
    """Hands out references; safe for threads; to be closed when done.

    Args:
        cache: Where references are kept.
        sandbox: Where they are recorded.
    """

    def __init__(self, cache: Cache, sandbox: Sandbox) -> None:
        self._cache, self._sandbox = cache, sandbox
        self.judge = Judge(cache)
        self._known: dict[tuple[str, Path, Path], Reference] = {}
        self._lock = threading.Lock()

    def reference(self, folder: TaskFolder, base: Path, environment: Path) -> Reference | None:
        """The reference of a task; None for one that none can be recorded of: no solution, or tests of another runner.

        Raises:
            InfraFault: When its solution does not pass here, so that nobody can be judged.
        """
        tests = folder.task.grading.tests
        if tests is None or tests.runner != "pytest" or not (folder.solution / "changes.diff").is_file():
            return None
        if self._sandbox.name != "namespaces":  # the judge needs one, and without isolation nothing is assured anyway
            return None
        key = (folder.digest, base, environment)
        found = self._known.get(key)
        if found is None:
            found = reference_of(folder, base, environment, self._sandbox, self._cache, self.judge)
            with self._lock:
                self._known[key] = found
        return found

    def close(self) -> None:
        """End the judge."""
        self.judge.close()
