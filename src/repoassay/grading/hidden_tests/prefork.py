"""Prefork servers for hidden tests, one an environment, started when first needed and shared by every worker."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

from repoassay.grading.hidden_tests.base_code import base_code
from repoassay.grading.hidden_tests.imports import imports_of
from repoassay.grading.oracle.sandbox_code import observer_source
from repoassay.sandbox import Cache, WarmParent, open_sandbox
from repoassay.tasks import TaskFolder
from repoassay.types import FileEdit, Limits
from repoassay.workspace import bytecode_of

__all__ = ["INI", "PROGRAM", "WarmPool", "run_files"]

PROGRAM = Path(__file__).with_name("runner.py")
"""What runs inside: trusted code, hostile company."""
INI = "/run/pytest.ini"
"""The configuration of every run, where no repository can change it."""
_BESIDE = ("direct", "held_code", "pieced_code", "plain_fixtures", "surroundings")


def run_files() -> dict[str, FileEdit | None]:
    """What every run finds below /run beside its program."""
    return {
        INI: FileEdit(b"[pytest]\n"),
        "/run/observer.py": FileEdit(observer_source().encode()),
        **{f"/run/{name}.py": FileEdit(PROGRAM.with_name(f"{name}.py").read_bytes()) for name in _BESIDE},
    }


class WarmPool:
    """Keeps at most `most` parents; the one longest unused makes room.

    Args:
        cache: Whose environments and checkouts are used.
        slots: Jobs at a time in each parent.
        limits: What one job may take at most.
        most: Parents at a time.
    """

    def __init__(self, cache: Cache, *, slots: int, limits: Limits, most: int = 16) -> None:
        self._cache, self._slots, self._limits, self._most = cache, slots, limits, most
        self._parents: OrderedDict[Path, tuple[WarmParent, set[str]]] = OrderedDict()
        self._busy: dict[Path, int] = {}
        self._lock = threading.Lock()
        self._starting: dict[Path, threading.Lock] = {}
        self._bytecode: dict[tuple[Path, Path], Path] = {}

    def parent(
        self, folder: TaskFolder, base: Path, environment: Path, trial: Callable[[WarmParent], object]
    ) -> WarmParent:
        """A parent for the task's environment that has imported what its tests need, and holds what its jobs share.

        Args:
            folder: The task.
            base: Checkout of its base commit.
            environment: Its environment.
            trial: Runs the tests on the base alone, and returns what that told of itself.

        Raises:
            InfraFault: When it cannot be started.
        """
        with self._lock:
            starting = self._starting.setdefault(environment, threading.Lock())
        with starting:
            with self._lock:
                found = self._parents.get(environment)
                if found:
                    self._parents.move_to_end(environment)
            new = found is None or folder.task.id not in found[1]
            wanted = sorted(imports_of(folder, base, environment)) if new else []
            if found is None:
                started = WarmParent(environment, PROGRAM, self._cache, self._slots, wanted, self._limits, run_files())
                found = (started, set())
                with self._lock:
                    self._parents[environment] = found
                    surplus = [] if len(self._parents) <= self._most else [self._parents.popitem(last=False)[1][0]]
                for parent in surplus:
                    parent.retire()
            elif wanted:
                found[0].import_too(wanted)
            if new:
                code = base_code(folder, base, self.bytecode(base, environment), trial(found[0]))
                found[0].hold(folder.digest, code)
                found[1].add(folder.task.id)
            return found[0]

    def bytecode(self, base: Path, environment: Path) -> Path:
        """The checkout's byte code; made when it is not there yet.

        Raises:
            InfraFault: When it cannot be made.
        """
        found = self._bytecode.get((base, environment))
        if found is None:
            found = bytecode_of(base, self._cache, open_sandbox("namespaces", self._cache))
            self._bytecode[base, environment] = found
        return found

    def drop(self, environment: Path) -> None:
        """Forget a parent that failed, so that the next job gets a new one."""
        with self._lock:
            found = self._parents.pop(environment, None)
        if found:
            found[0].retire()

    def close(self) -> None:
        """End every parent."""
        with self._lock:
            parents = [parent for parent, _ in self._parents.values()]
            self._parents.clear()
        for parent in parents:
            parent.close()

    def __enter__(self) -> WarmPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
