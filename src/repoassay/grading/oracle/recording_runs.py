"""Runs of a task's tests on its solution and on its base, which a reference is recorded from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from repoassay.diffs import PatchError, apply_patch, read_patch
from repoassay.errors import InfraFault
from repoassay.grading.hidden_tests.results import ChannelReport
from repoassay.grading.hidden_tests.run import run_hidden
from repoassay.grading.in_place.run import functions, run_in_place
from repoassay.grading.in_place.support import setup_of, source_of
from repoassay.sandbox import Sandbox
from repoassay.tasks import TaskFolder, read_regular
from repoassay.types import Ended, FileEdit, HiddenTests

__all__ = ["SEEDS", "RecordingRuns"]

SEEDS = ("1", "2", "3")
"""Hash seeds; runs with the last have another temporary folder as well."""
_MAX_DIFF = 256 * 2**20
_TIMES_LIMIT = 4.0
"""All runs in place of a recording together may take so many times the limit of one."""


class RecordingRuns:
    """One task's tests, run as often as a recording asks for.

    Attributes:
        folder: The task, with a time limit that does not decide anything while whole files run.
        ids: Tests that are recorded: in place those that decide, for whole files of a strange repository may take
            minutes.
        names: Their files, in order.
        in_place: The repository's own runner runs them.
        inside: Nothing of them can be decided outside.
    """

    def __init__(
        self, folder: TaskFolder, base: Path, environment: Path, sandbox: Sandbox, *, seconds: float | None
    ) -> None:
        tests = folder.task.hidden_tests
        self.folder, self.base = _patient(folder, tests), base
        self.in_place, self.inside = tests.runner == "repository", tests.in_javascript
        self.ids = tests.fail_to_pass if self.in_place else tests.all_ids
        self.names = list(dict.fromkeys(test.partition("::")[0] for test in self.ids))
        self._environment, self._sandbox, self._seconds, self._spent = environment, sandbox, seconds, 0.0
        self._only = self.ids if self.inside else functions(self.ids) if self.in_place else ()

    def source(self, name: str) -> str:
        """The text of a test file.

        Raises:
            OSError: When there is no such file.
        """
        if self.in_place:
            return source_of(self.folder, self.base, name)
        return (self.folder.tests / name).read_text(encoding="utf-8")

    def of_setup(self, name: str) -> str | None:
        """The text of a file that belongs to the tests in place; None where there is none, or it is no text."""
        if name not in self.names and not setup_of(self.folder, self.base).holds(name):
            return None
        try:
            return self.source(name)
        except (OSError, ValueError):
            return None

    def beside(
        self, solution: Mapping[str, FileEdit | None], ids: Sequence[str], files: Mapping[str, bytes]
    ) -> ChannelReport:
        """Run tests of the solution with other files beside them."""
        return run_hidden(
            self.folder, self.base, solution, self._sandbox, self._environment, ids=ids, files=files
        ).report  # fmt: skip

    def solution(self) -> Mapping[str, FileEdit | None]:
        """What the solution does to the base, by path.

        Raises:
            InfraFault: There is none that applies.
        """
        try:
            diff = read_regular(self.folder.solution / "changes.diff", _MAX_DIFF)
            changes = apply_patch(read_patch(diff), self.base)
        except (OSError, PatchError) as error:
            raise InfraFault(f"The task {self.folder.task.id} has no solution that applies: {error}") from error
        return (changes.keep_folders() if self.folder.task.state else changes).edits

    def direct(
        self, edits: Mapping[str, FileEdit | None], sources: Mapping[str, str], ids: Sequence[str]
    ) -> ChannelReport:
        """Run tests without a pytest session."""
        return run_hidden(
            self.folder, self.base, edits, self._sandbox, self._environment, ids=ids, changed=sources, direct=True
        ).report

    def _ids(self) -> list[str]:
        """Whole files, so that tests come in the order of their file, and scripts."""
        scripts = {test.partition("::")[0] for test in self.ids if test.endswith("::__script__")}
        return [f"{name}::__script__" if name in scripts else name for name in self.names]

    def run(
        self, edits: Mapping[str, FileEdit | None], changed: Mapping[str, str], seed: str,
        *, with_guards: bool = False,
    ) -> ChannelReport:  # fmt: skip
        """Run the files of the recorded tests, changed as stated; in place their guards only `with_guards`.

        Raises:
            InfraFault: They took longer than the time limit in place, or all together longer than several.
        """
        env = {"PYTHONHASHSEED": seed, "TMPDIR": f"/tmp{'/other' if seed == SEEDS[-1] else ''}"}  # noqa: S108 - inside
        if self.in_place:
            placed = run_in_place(
                self.folder, self.base, edits, self._sandbox, self._environment, ids=self._ids(),
                only=() if with_guards else self._only, overrides=changed, env=env, seconds=self._seconds,
            )  # fmt: skip
            if placed.exit.ended is Ended.TIMED_OUT:
                raise InfraFault(f"with the hash seed {seed} its tests take longer than {placed.exit.wall:.0f} s")
            self._spent += placed.exit.wall
            if self._seconds and self._spent > _TIMES_LIMIT * self._seconds:
                raise InfraFault(f"its tests took {self._spent:.0f} s in all and were still not recorded")
            return placed.report
        ran = run_hidden(
            self.folder, self.base, edits, self._sandbox, self._environment, ids=self._ids(), changed=changed, env=env
        )
        return ran.report


def _patient(folder: TaskFolder, tests: HiddenTests) -> TaskFolder:
    """The task with a time limit that does not decide anything while whole files run."""
    grading = folder.task.grading.model_copy(
        update={"tests": tests.model_copy(update={"seconds": max(300.0, 3 * tests.seconds)})}
    )
    return replace(folder, task=folder.task.model_copy(update={"grading": grading}))
