"""Curation from Python: repositories chosen, verified, drafted for and proven in one call, each as far as it gets."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from repoassay.api.settings import checked_isolation
from repoassay.curate import (
    DEFAULT_RULES,
    SelectionResult,
    draft_task,
    find_candidates,
    known_suites,
    open_pooled,
    parse_rule,
    prove_suite,
    read_draft_file,
    read_selection_rules,
    select_repositories,
    today,
    verify_pooled,
)
from repoassay.errors import BadInput
from repoassay.grading import names
from repoassay.sandbox import Cache, Sandbox, open_sandbox
from repoassay.tasks import find_suite

__all__ = ["CuratedRepository", "curate_repositories"]


@dataclass(frozen=True, slots=True)
class CuratedRepository:
    """How far a candidate got: the stage at which it stopped and why, or its task.

    `stage` is select, verify, draft or prove; empty where the task is proven.
    """

    name: str
    stage: str
    why: str
    task: str = ""

    @property
    def admitted(self) -> bool:
        """Whether the suite has a proven task of it."""
        return not self.stage


def curate_repositories(
    candidates: str | Path,
    *,
    pool: str | Path,
    suite: str | Path,
    drafts: str | Path,
    rules: str | Path | None = None,
    metadata: str | Path | None = None,
    day: datetime.date | None = None,
    times: int = 2,
    minors: int = 1,
    proofs: int = 3,
    isolation: str = "namespaces",
    on_step: Callable[[str], None] = lambda _: None,
) -> tuple[CuratedRepository, ...]:
    """Make a suite of deliverable tasks out of repositories; what earlier calls did is not done again.

    Each stage leaves its evidence where `repoassay curate` leaves it. A release is made of the suite afterwards, with
    `repoassay.curate.release_suite`.

    Args:
        candidates: A folder of repositories, bundles and source distributions, or a list of them.
        pool: Folder of what is chosen.
        suite: The suite, made if need be.
        drafts: A folder with a draft for each repository, `DRAFTS/NAME`.
        rules: TOML file of rules; by default GitTaskBench's.
        metadata: TOML file of what is known of each beside.
        day: The day that `within` counts from; by default today.
        times: Runs of README and tests.
        minors: Release lines of Python on which repositories are verified.
        proofs: Runs of each solution and each bundled bad agent.
        isolation: `namespaces`, or `none`, which protects nothing.
        on_step: Told what is being done.

    Returns:
        One entry a candidate, in the order in which they were found.

    Raises:
        BadInput: A file cannot be read or says what cannot be.
    """
    cache = Cache()
    sandbox = open_sandbox(checked_isolation(isolation), cache)
    found = select_repositories(
        find_candidates(Path(candidates), Path(metadata) if metadata else None),
        read_selection_rules(Path(rules)) if rules else tuple(map(parse_rule, DEFAULT_RULES)),
        Path(pool), today=day or today(), suites=known_suites(),
    )  # fmt: skip
    drafted = [_drafted(each, Path(drafts), Path(suite), cache, sandbox, times, minors, on_step) for each in found]
    tasks = [each.task for each in drafted if each.task]
    if not tasks:
        return tuple(drafted)
    proven = {
        proof.task: proof
        for proof in prove_suite(find_suite(Path(suite), metrics=names(), only=tasks), cache, sandbox, times=proofs)
    }
    return tuple(
        each if not each.task or proven[each.task].proven
        else CuratedRepository(each.name, "prove", "; ".join(proven[each.task].reasons), each.task)
        for each in drafted
    )  # fmt: skip


def _drafted(
    chosen: SelectionResult, drafts: Path, suite: Path, cache: Cache, sandbox: Sandbox, times: int, minors: int,
    step: Callable[[str], None],
) -> CuratedRepository:  # fmt: skip
    """One candidate as far as a task that is not proven yet."""
    if not chosen.chosen:
        return CuratedRepository(chosen.name, "select", chosen.why)
    pooled = open_pooled(chosen.folder)
    complete = verify_pooled(pooled, cache, sandbox, times=times, minors=minors, step=step)
    if not complete.complete:
        return CuratedRepository(chosen.name, "verify", complete.why)
    draft = drafts / chosen.name
    if not draft.is_dir():
        return CuratedRepository(chosen.name, "draft", f"there is no draft {draft}")
    try:
        if (suite / "tasks" / (task := read_draft_file(draft).task.id)).is_dir():
            return CuratedRepository(chosen.name, "", "", task)
        task_draft = draft_task(pooled, draft, suite, cache, sandbox, step=step)
    except BadInput as error:  # of one draft, which stops no other
        return CuratedRepository(chosen.name, "draft", error.message)
    if task_draft.folder is None:
        return CuratedRepository(chosen.name, "draft", "; ".join(task_draft.reasons))
    return CuratedRepository(chosen.name, "", "", task_draft.id)
