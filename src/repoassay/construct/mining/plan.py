"""What mining will try, and what that may take: commits read, kept by the rules, drawn, and tried before."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from repoassay.construct.history import History
from repoassay.construct.mining.commits import closer_look, draw, read_commits
from repoassay.construct.mining.journal import CommitStatus, MinedCommit, MiningJournal
from repoassay.construct.mining.rules import CommitFacts, MiningRules, RuleFinding
from repoassay.text import printable

__all__ = ["MiningPlan", "RepositoryPlan", "estimate", "plan_repository"]

_SECONDS, _SHARE, _ENOUGH = 25.0, 0.6, 5
"""Wall seconds of a commit and share that become tasks, before any was tried; and how many tell it better."""
_OPEN = (CommitStatus.WAITING, CommitStatus.FAULT)
_TRIED = (CommitStatus.TASK, CommitStatus.REFUSED, *_OPEN)


@dataclass(frozen=True, slots=True)
class RepositoryPlan:
    """What is tried of one repository.

    Args:
        name: What it is called.
        commits: How many commits are in the span of time, merges apart.
        kept: How many of them keep to the rules, as far as they were looked at.
        tried: How many were tried before.
        waiting: Commits to try, in order.
    """

    name: str
    commits: int
    kept: int
    tried: int
    waiting: tuple[CommitFacts, ...]


@dataclass(frozen=True, slots=True)
class MiningPlan:
    """What is tried, and the estimate: commits, wall seconds with so many workers, and tasks."""

    repositories: tuple[RepositoryPlan, ...]
    seconds: float
    tasks: int

    @property
    def size(self) -> int:
        """How many commits will be tried."""
        return sum(len(each.waiting) for each in self.repositories)


def estimate(plans: Sequence[RepositoryPlan], rows: Sequence[MinedCommit], workers: int) -> MiningPlan:
    """The plan with what it may take, as far as commits that were tried tell."""
    done = [row for row in rows if row.status in (CommitStatus.TASK, CommitStatus.REFUSED) and row.seconds]
    each, share = _SECONDS, _SHARE
    if len(done) >= _ENOUGH:
        each = statistics.fmean(row.seconds for row in done)
        share = sum(row.status is CommitStatus.TASK for row in done) / len(done)
    size = sum(len(plan.waiting) for plan in plans)
    return MiningPlan(tuple(plans), each * size / max(1, min(workers, size)), round(share * size))


def plan_repository(
    history: History, name: str, journal: MiningJournal, rules: MiningRules, *,
    since: str | None, until: str | None, most: int | None, seed: int, update: bool,
) -> RepositoryPlan:  # fmt: skip
    """Decide what of a repository is tried, and note every commit that is not, with the reason.

    Commits that wait from an earlier call, or met a fault of ours, come first. Then so many are drawn that `most` are
    tried in all; with `update`, `most` of those that no earlier call has seen.
    """
    every = read_commits(history, since, until)
    known = journal.of(name)
    fresh = [facts for facts in every if facts.commit not in known]
    kept = []
    for facts in every:
        finding = rules.judge(facts)
        if finding is None:
            kept.append(facts)
        elif facts.commit not in known:
            journal.note(_row(name, facts, finding))
    unseen = {facts.commit for facts in fresh}
    free = [facts for facts in kept if _is_free(known.get(facts.commit), facts.commit in unseen, update=update)]
    tried = [row for row in known.values() if row.status in _TRIED]
    patches = {row.patch for row in tried if row.patch}
    count = most if update or most is None else max(0, most - len(tried))
    seen: dict[str, str] = {}

    def look(facts: CommitFacts) -> RuleFinding | None:
        finding = closer_look(history, facts, rules)
        if finding is None:
            seen[facts.commit] = patch = history.patch_id(facts.commit)
            if patch in patches:
                return RuleFinding("no other commit has its patch", patch[:12])
            patches.add(patch)
        return finding

    drawn = draw(free, count, f"{seed} {name}", look)
    for facts, finding in drawn.refused:
        journal.note(_row(name, facts, finding))
    refused = {facts.commit for facts, _ in drawn.refused}
    chosen = {facts.commit for facts in drawn.commits}
    for facts in free:
        if facts.commit in chosen:
            row = _row(name, facts, None).model_copy(
                update={"status": CommitStatus.WAITING, "patch": seen[facts.commit]}
            )
            journal.note(row)
        elif count != 0 and facts.commit not in refused and facts.commit in unseen:  # else nothing was drawn from it
            journal.note(_row(name, facts, None))
    waiting = [facts for facts in kept if facts.commit in known and known[facts.commit].status in _OPEN]
    refused |= {name for name, row in known.items() if row.status is CommitStatus.PASSED_OVER} - chosen
    keeping = sum(facts.commit not in refused for facts in kept)
    return RepositoryPlan(name, len(every), keeping, len(tried) - len(waiting), (*waiting, *drawn.commits))


def _is_free(row: MinedCommit | None, unseen: bool, *, update: bool) -> bool:
    """Whether a commit may be drawn now."""
    if update or row is None:
        return unseen
    return row.status in (CommitStatus.NOT_DRAWN, CommitStatus.PASSED_OVER)  # by rules that may be others now


def _row(name: str, facts: CommitFacts, finding: RuleFinding | None) -> MinedCommit:
    return MinedCommit(
        repository=name, commit=facts.commit, day=facts.day, subject=printable(facts.subject, 200),
        status=CommitStatus.PASSED_OVER if finding else CommitStatus.NOT_DRAWN,
        cause=finding.rule if finding else "", reason=finding.value if finding else "",
    )  # fmt: skip
