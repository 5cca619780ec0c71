"""How often an agent solves mined tasks: one more measure of how difficult they are, kept beside their size.

It stands in `mine.jsonl` and in the README, never in task.toml: a task changed after its attempts would be another.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from repoassay.construct.mining.journal import AgentPassRate, CommitStatus, MiningJournal
from repoassay.construct.mining.suite import describe_tasks
from repoassay.engine import folder_lock

__all__ = ["note_pass_rates", "unrated_tasks"]


def unrated_tasks(suite: Path, agent: str) -> list[str]:
    """Ids of a mined suite's tasks that an agent was not tried on.

    Raises:
        BadInput: When the journal cannot be read.
    """
    rows = MiningJournal(suite).rows()
    return sorted(
        row.task for row in rows
        if row.status is CommitStatus.TASK and not any(rate.agent == agent for rate in row.pass_rates)
    )  # fmt: skip


def note_pass_rates(suite: Path, rates: Mapping[str, AgentPassRate]) -> None:
    """Keep rates by task, in place of the same agent's earlier ones.

    Raises:
        BadInput: When somebody mines the suite at the same time, or it cannot be written.
    """
    with folder_lock(suite):
        journal = MiningJournal(suite)
        for row in journal.rows():
            if (rate := rates.get(row.task)) is not None and row.status is CommitStatus.TASK:
                others = tuple(each for each in row.pass_rates if each.agent != rate.agent)
                journal.note(row.model_copy(update={"pass_rates": (*others, rate)}))
        journal.settle()
        describe_tasks(suite, journal.rows())
