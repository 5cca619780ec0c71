"""The nouns of the project as pure data: no files, no processes, no printing.

Knows only pydantic. What is read from disk or wire is a frozen pydantic model that refuses unknown keys.
Times are UTC, durations seconds, sizes bytes, money `Decimal` US dollars.
"""

from __future__ import annotations

from repoassay.model.agent_entry import AgentEntry
from repoassay.model.attempt import Attempt
from repoassay.model.base import Record
from repoassay.model.calls import Call, Retry
from repoassay.model.grading import Criterion, Grading, HiddenTests, Published, Reading
from repoassay.model.rating import Anchor, AxisAnswer, Phase, Rating
from repoassay.model.run import Metering, NamedFile, Plan, PlannedTask
from repoassay.model.spending import Spending
from repoassay.model.submission import Ended, Exit, Rejected, Submission, SubmittedFile
from repoassay.model.suite import Suite, SuiteData
from repoassay.model.task import (
    IN_REPOSITORY,
    Economics,
    Environment,
    Inputs,
    Kind,
    Limits,
    Network,
    NetworkPolicy,
    Outputs,
    Repository,
    Task,
)
from repoassay.model.usage import Usage
from repoassay.model.verdict import Assurance, CriterionResult, Feedback, Grade, Outcome, TestResult, Verdict, Whose

__all__ = [
    "IN_REPOSITORY",
    "AgentEntry",
    "Anchor",
    "Assurance",
    "Attempt",
    "AxisAnswer",
    "Call",
    "Criterion",
    "CriterionResult",
    "Economics",
    "Ended",
    "Environment",
    "Exit",
    "Feedback",
    "Grade",
    "Grading",
    "HiddenTests",
    "Inputs",
    "Kind",
    "Limits",
    "Metering",
    "NamedFile",
    "Network",
    "NetworkPolicy",
    "Outcome",
    "Outputs",
    "Phase",
    "Plan",
    "PlannedTask",
    "Published",
    "Rating",
    "Reading",
    "Record",
    "Rejected",
    "Repository",
    "Retry",
    "Spending",
    "Submission",
    "SubmittedFile",
    "Suite",
    "SuiteData",
    "Task",
    "TestResult",
    "Usage",
    "Verdict",
    "Whose",
]
