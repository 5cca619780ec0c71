"""A row format: records with other keys, turned into RES-Q rows."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel

from repoassay.benchmarks.resq import ResqRow


class CommitRow(BaseModel):
    """A row with the keys task, commit, ask, check and answer."""

    KEYS: ClassVar = frozenset({"task", "commit", "ask", "check", "answer"})
    ID_KEY: ClassVar = "task"
    FORM: ClassVar = "a commit row has task, git, commit, ask, check and answer"

    task: str
    git: str
    commit: str
    ask: str
    check: str
    answer: str

    def to_row(self) -> ResqRow:
        """Return the row that tasks are made of."""
        return ResqRow(
            id=self.task,
            repo_url=self.git,
            base_commit=self.commit,
            instruction=self.ask,
            test_script=self.check,
            solution_patch=self.answer,
        )
