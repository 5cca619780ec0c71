"""One commit tried: drafted, proven and placed in a suite, or refused with its reason."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from repoassay.construct.commit import Constructed, TaskMaking
from repoassay.construct.draft import draft_commit
from repoassay.construct.history import History
from repoassay.construct.mining.candidate import NEEDS_SUBMODULE, CandidateRefused, MinedCandidate
from repoassay.construct.mining.journal import CommitStatus, MinedCommit
from repoassay.construct.mining.request import MiningRequest
from repoassay.construct.mining.rules import CommitFacts
from repoassay.construct.placement import bundle_base, part_folder, tasks_folder
from repoassay.construct.submodules import SubmoduleMissing
from repoassay.construct.task_draft import TaskDraft
from repoassay.construct.task_request import Proposal, TaskRequest
from repoassay.engine import GradingContext
from repoassay.errors import BadInput, Interrupted, RepoAssayError
from repoassay.formats import safe_id
from repoassay.sandbox import remove_tree
from repoassay.text import printable

__all__ = ["CommitTrials", "LocalTrials", "MinedRepository", "TestClaims", "trial_refusal"]


@dataclass(frozen=True, slots=True)
class MinedRepository:
    """A repository that is mined: our copy of its history, its name, and what its tasks fetch from."""

    history: History
    name: str
    url: str
    local: bool
    bundled: bool


class CommitTrials(Protocol):
    """Where commits are tried. Used from any thread."""

    def row(self, repository: MinedRepository, facts: CommitFacts) -> MinedCommit | None:
        """What becomes of a commit, a fault of ours included; None where the user ended it."""


@dataclass(frozen=True, slots=True)
class LocalTrials:
    """Tries commits on this machine.

    Args:
        suite: Where tasks are placed.
        bench: What runs and grades them.
        request: What is to be mined.
        cancel: Set to stop after what is running.
        claim: Called with a repository's name, a commit and the tests that must pass; raises CandidateRefused where
            another task has them.
        steps: What is being done with commits under way, by name, and since when each is tried.
    """

    suite: Path
    bench: GradingContext
    request: MiningRequest
    cancel: threading.Event
    claim: Callable[[str, CommitFacts, tuple[str, ...]], None]
    steps: dict[str, tuple[str, float]] = field(default_factory=dict)

    def row(self, repository: MinedRepository, facts: CommitFacts) -> MinedCommit | None:
        """See `CommitTrials.row`."""
        candidate = self.candidate(repository, facts)
        began = time.monotonic()
        result: Constructed | None = None
        update: dict[str, object] = {}
        name = f"{repository.name} {facts.commit[:10]}"

        def step(text: str) -> None:
            self.check()
            self.steps[name] = (text, began)

        try:
            step("reading the change")
            result = self._try(repository, candidate, step)
        except Interrupted:
            return None
        except Exception as error:  # noqa: BLE001 - one commit never stops the others, and its row says what it was
            update = trial_refusal(error)
        finally:
            self.steps.pop(name, None)
        row = candidate.row(result, time.monotonic() - began)
        return row.model_copy(update={"kind": self._kind(candidate), **update})

    def candidate(self, repository: MinedRepository, facts: CommitFacts) -> MinedCandidate:
        """A commit before it is tried."""
        request = self.request
        return MinedCandidate(
            repository.history, repository.name, facts, request.rules, request.issues,
            lambda commit, tests: self.claim(repository.name, commit, tests), request.rewrite, request.mirrors,
        )  # fmt: skip

    def under_way(self) -> str:
        """What is being done with each commit under way, in a sentence."""
        now = time.monotonic()
        return "; ".join(f"{name}: {text}, {now - began:.0f} s" for name, (text, began) in [*self.steps.items()])

    def check(self) -> None:
        """Raise `Interrupted` once the user has ended it."""
        if self.cancel.is_set():
            raise Interrupted("Stopped.", "Call it again to go on.")

    def draft(self, repository: MinedRepository, candidate: MinedCandidate) -> tuple[TaskRequest, TaskDraft]:
        """What is asked for of a commit, and the draft; what a killed call had placed, and not noted, is removed.

        Raises:
            BadInput: It can be no task.
        """
        facts = candidate.facts
        instruction = candidate.instruction()
        request = TaskRequest(
            repository.url, facts.commit, base=facts.parents[0], instruction=instruction, bundle=repository.bundled,
            id=safe_id(f"{repository.name}-{facts.commit[:10]}"), runner="repository",
            proposal=Proposal() if self._kind(candidate) == "pull-request" else None,
            most_seconds=self.request.most_seconds,
        )  # fmt: skip
        assert request.id is not None
        left = tasks_folder(self.suite) / request.id
        if left.is_dir() and not left.is_symlink():
            remove_tree(left)
        return request, draft_commit(request, repository.history, repository.url, local=repository.local)

    def _kind(self, candidate: MinedCandidate) -> str:
        if len(self.request.kinds) == 1:
            return self.request.kinds[0]
        return "pull-request" if candidate.source is not None and candidate.source.name.startswith("issue") else "edit"

    def _try(self, repository: MinedRepository, candidate: MinedCandidate, step: Callable[[str], None]) -> Constructed:
        mining_request, history = self.request, repository.history
        request, draft = self.draft(repository, candidate)
        with part_folder(self.suite) as part:
            bundled = bundle_base(draft, history, part, self.suite, mining_request.mirrors) if request.bundle else None
            bench = self.bench.beside(part / "repositories" if bundled else None)
            making = TaskMaking(
                part, bundled, self.suite, bench, mining_request.proofs, 1, step, self.check,
                complete=candidate.complete, probe=True, share_environments=True,
            )  # fmt: skip
            return making.in_place(draft, request, history)


def trial_refusal(error: Exception) -> dict[str, object]:
    """What a commit's row says of an error that ended its trial."""
    if isinstance(error, CandidateRefused):
        return {"cause": error.cause, "reason": printable(error.message, 600), "status": CommitStatus.REFUSED}
    if isinstance(error, SubmoduleMissing):
        return {"cause": NEEDS_SUBMODULE, "reason": printable(error.message, 600), "status": CommitStatus.REFUSED}
    if isinstance(error, BadInput):
        reason = printable(error.message, 600)
        return {"cause": "no task can carry it", "reason": reason, "status": CommitStatus.REFUSED}
    message = str(error) if isinstance(error, RepoAssayError) else f"{type(error).__name__}: {error}"
    return {"cause": "fault", "reason": printable(message, 600), "status": CommitStatus.FAULT}


class TestClaims:
    """Which commit has which tests that must pass, by repository. Used from any thread.

    Args:
        rows: What became of commits; those that are tasks have their tests.
    """

    __test__ = False  # no class of tests

    def __init__(self, rows: Iterable[MinedCommit]) -> None:
        self._lock = threading.Lock()
        self._tests: dict[str, list[tuple[str, frozenset[str]]]] = {}
        for row in rows:
            if row.status is CommitStatus.TASK:
                self._tests.setdefault(row.repository, []).append((row.commit, frozenset(row.must_pass)))

    def take(self, name: str, facts: CommitFacts, tests: tuple[str, ...]) -> None:
        """Take tests for a commit, unless half of all that it and another task have are in both.

        Raises:
            CandidateRefused: They are.
        """
        own = frozenset(tests)
        with self._lock:
            others = self._tests.setdefault(name, [])
            for commit, theirs in others:
                shared = len(own & theirs)
                if commit != facts.commit and 2 * shared >= len(own | theirs):
                    raise CandidateRefused(
                        "duplicate", f"It shares {shared} of its {len(own)} tests with the task of {commit[:12]}."
                    )
            others.append((facts.commit, own))

    def release(self, name: str, facts: CommitFacts) -> None:
        """Let go of what a commit took, that became no task."""
        with self._lock:
            others = self._tests.get(name, [])
            others[:] = [each for each in others if each[0] != facts.commit]
