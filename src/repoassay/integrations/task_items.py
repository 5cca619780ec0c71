"""A task as a test of pytest: the attempt is its setup, so that our faults are errors; the verdict is its call."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

import repoassay
from repoassay.engine import Proof, failure_feedback
from repoassay.errors import Interrupted, RepoAssayError
from repoassay.grading import names
from repoassay.sandbox import temporary_folder
from repoassay.tasks import find_suite
from repoassay.text import block, printable
from repoassay.types import Attribution

__all__ = ["TaskFile", "TaskItem"]

_MOST_TOLD = 3000
"""Characters of what a verdict says."""


class TaskFile(pytest.File):
    """The `task.toml` of a task folder."""

    def collect(self) -> Iterable[TaskItem]:
        """The task as the only test.

        Raises:
            CollectError: The task has problems; with all of them.
        """
        folder = self.path.parent
        above = folder.parent.parent
        suite = above if folder.parent.name == "tasks" and (above / "suite.toml").exists() else folder
        only = [] if suite == folder else [glob.escape(folder.name)]  # alone, it may be named by a link
        try:
            task = find_suite(suite, metrics=names(), only=only).tasks[0].task
        except RepoAssayError as error:
            raise self.CollectError(block(str(error))) from None
        item: TaskItem = TaskItem.from_parent(self, name=task.id, suite=suite)
        item.extra_keyword_matches.update({task.kind.value, task.domain})
        yield item


class TaskItem(pytest.Item):
    """A task that an agent attempts, or whose proofs are run.

    Args:
        suite: The suite's folder, or the task's own.
        named: What pytest wants of every item.
    """

    def __init__(self, *, suite: Path, **named: Any) -> None:
        super().__init__(**named)
        self._suite, self._failure = suite, ""

    def setup(self) -> None:
        """Attempt the task, or prove it.

        Fails where there is no verdict on the agent, by a fault of ours or of the task, which pytest calls an error.

        Raises:
            KeyboardInterrupt: By Ctrl-C.
        """
        try:
            self._failure = self._proven() if self.config.getoption("repoassay_validate") else self._attempted()
        except Interrupted as error:
            raise KeyboardInterrupt from error
        except (RepoAssayError, OSError) as error:
            raise pytest.fail.Exception(block(str(error)), pytrace=False) from None

    def runtest(self) -> None:
        """Fail with what the verdict or a proof says, in lines that are fit to print."""
        if self._failure:
            pytest.fail(self._failure, pytrace=False)

    def _settings(self) -> dict[str, Any]:
        """What `evaluate` and `validate` are both told."""
        kind = self.config.getoption("repoassay_isolation") or os.environ.get("REPOASSAY_ISOLATION") or "namespaces"
        return {"tasks": glob.escape(self.name), "workers": 1, "isolation": kind}

    def _attempted(self) -> str:
        """Why the agent's attempt is no pass; empty where it is one."""
        option = self.config.getoption
        agent, model, runs = option("repoassay_agent"), option("repoassay_model"), option("repoassay_runs")
        with temporary_folder("pytest") as thrown_away:
            run = repoassay.evaluate(
                self._suite, agent=agent, model=model, out=runs or thrown_away,
                attempt_budget_usd=option("repoassay_budget"), **self._settings(),
            )  # fmt: skip
            attempt = next(each for each in reversed(run.attempts) if each.counted)
        verdict = attempt.verdict
        self.user_properties += [("repoassay_agent", attempt.agent), ("repoassay_outcome", verdict.outcome.value)]
        if attempt.spending is not None:
            self.user_properties.append(("repoassay_dollars", str(attempt.spending.dollars_known)))
        if attempt.passed:
            return ""
        first = f"{attempt.agent} on {self.name}: {verdict.outcome.value.replace('_', ' ')}"
        measured = [
            f"{each.metric} of {each.of} is {each.value}, asked for {each.threshold}"
            for each in verdict.criteria
            if each.passed is False
        ]
        kept = [f"The run is in {run.path}."] if runs else []
        text = block("\n".join([first, *measured, failure_feedback(verdict, _MOST_TOLD), *kept]).rstrip())
        if verdict.outcome.whose is not Attribution.AGENT:
            pytest.fail(text, pytrace=False)
        return text

    def _proven(self) -> str:
        """Which proofs of the task do not hold, mutants apart; empty where all do."""
        proofs = list(repoassay.validate(self._suite, mutants=0, **self._settings()))
        self.user_properties.append(("repoassay_proofs", str(len(proofs))))
        lines = [line for proof in proofs if not (proof.sound and proof.stable) for line in _unsound(proof)]
        return "\n".join([f"{self.name} cannot be trusted:", *lines]) if lines else ""

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the task stands, and its name."""
        return self.path, None, f"task {self.name}"


def _unsound(proof: Proof) -> Iterator[str]:
    outcomes = ", ".join(dict.fromkeys(outcome.value for outcome in proof.outcomes))
    yield printable(f"proof {proof.name}: {outcomes}" + (f"; {proof.comment}" if proof.comment else ""), 1000)
