"""The oracle of a bench: references of its tasks, each recorded once, and the judge that compares with them."""

from __future__ import annotations

import threading
from pathlib import Path

from repoassay.grading.oracle.judge import OracleJudge
from repoassay.grading.oracle.language import JavaScript, Language, Python
from repoassay.grading.oracle.reference import Reference, reference_of
from repoassay.sandbox import Cache, Sandbox
from repoassay.tasks import TaskFolder

__all__ = ["Oracle"]


class Oracle:
    """Hands out references; safe for threads; to be closed when done.

    Args:
        cache: Where references are kept.
        sandbox: Where they are recorded.
    """

    def __init__(self, cache: Cache, sandbox: Sandbox) -> None:
        self._cache, self._sandbox = cache, sandbox
        self._judge = OracleJudge(cache)
        self._python, self._javascript = Python(self._judge), JavaScript(sandbox)
        self._known: dict[tuple[str, Path, Path], Reference] = {}
        self._lock = threading.Lock()

    def reference(self, folder: TaskFolder, base: Path, environment: Path) -> Reference | None:
        """The reference of a task; None for one that has no solution, or without isolation.

        Raises:
            InfraFault: When its solution does not pass here, so that nobody can be judged.
        """
        if folder.task.grading.tests is None or not (folder.solution / "changes.diff").is_file():
            return None
        if self._sandbox.name != "namespaces":  # the judge needs one, and without isolation nothing is assured anyway
            return None
        key = (folder.digest, base, environment)
        found = self._known.get(key)
        if found is None:
            language = self.language(folder)
            found = reference_of(folder, base, environment, self._sandbox, self._cache, language)
            with self._lock:
                self._known[key] = found
        return found

    def language(self, folder: TaskFolder) -> Language:
        """What a task's tests are written in."""
        tests = folder.task.grading.tests
        return self._javascript if tests is not None and tests.runner == "node" else self._python

    def close(self) -> None:
        """End the judge."""
        self._judge.close()
