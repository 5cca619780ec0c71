"""What Inspect imports to know of us (its entry point `inspect_ai`): importing a module registers what it defines."""

from __future__ import annotations

from repoassay.integrations.inspect_extension.reference_solver import reference_solver
from repoassay.integrations.inspect_extension.sample_sandbox import RepoAssaySandbox
from repoassay.integrations.inspect_extension.suite_tasks import SUITE_TASKS, task_of_rows, task_of_suite
from repoassay.integrations.inspect_extension.verdict_scorer import verdict

__all__ = ["SUITE_TASKS", "RepoAssaySandbox", "reference_solver", "task_of_rows", "task_of_suite", "verdict"]
