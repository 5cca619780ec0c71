"""The nouns of the project as pure data: no files, no processes, no printing.

Knows only pydantic. What is read from disk or wire is a frozen pydantic model that refuses unknown keys. Times are UTC,
durations seconds, sizes bytes, money `Decimal` US dollars.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.types.agent_entry import LIMITS as LIMITS, AgentEntry as AgentEntry, limit_value as limit_value
    from repoassay.types.attempt import Attempt as Attempt
    from repoassay.types.base import Record as Record
    from repoassay.types.calls import Call as Call, Retry as Retry
    from repoassay.types.environment import Environment as Environment
    from repoassay.types.fields import (
        Identifier as Identifier,
        InnerPath as InnerPath,
        Number as Number,
        Sha256 as Sha256,
        Size as Size,
        inner_path as inner_path,
        is_local as is_local,
    )
    from repoassay.types.files import FileEdit as FileEdit
    from repoassay.types.grading import (
        Criterion as Criterion,
        Grading as Grading,
        HiddenTests as HiddenTests,
        PublishedCriteria as PublishedCriteria,
        Reading as Reading,
    )
    from repoassay.types.network import NetworkPolicy as NetworkPolicy, NetworkRule as NetworkRule
    from repoassay.types.pull_request import Commit as Commit, Commits as Commits
    from repoassay.types.rating import (
        Anchor as Anchor,
        AxisAnswer as AxisAnswer,
        Rating as Rating,
        RatingPhase as RatingPhase,
    )
    from repoassay.types.run import (
        Metering as Metering,
        NamedFile as NamedFile,
        Plan as Plan,
        PlannedTask as PlannedTask,
        RunOrigin as RunOrigin,
    )
    from repoassay.types.spending import Spending as Spending
    from repoassay.types.strength import (
        MutantFate as MutantFate,
        MutantKind as MutantKind,
        MutantTrial as MutantTrial,
        SuiteStrength as SuiteStrength,
        TaskStrength as TaskStrength,
    )
    from repoassay.types.submission import (
        Ended as Ended,
        Exit as Exit,
        SkippedFile as SkippedFile,
        Submission as Submission,
        SubmittedFile as SubmittedFile,
    )
    from repoassay.types.suite import StrengthSettings as StrengthSettings, Suite as Suite, SuiteData as SuiteData
    from repoassay.types.task import (
        IN_REPOSITORY as IN_REPOSITORY,
        Dates as Dates,
        Economics as Economics,
        Inputs as Inputs,
        Limits as Limits,
        Outputs as Outputs,
        Repository as Repository,
        Task as Task,
        TaskKind as TaskKind,
    )
    from repoassay.types.task_step import TaskStep as TaskStep
    from repoassay.types.trajectory import (
        Observation as Observation,
        OwnFigures as OwnFigures,
        Source as Source,
        StepCall as StepCall,
        Trajectory as Trajectory,
        TrajectoryStep as TrajectoryStep,
    )
    from repoassay.types.usage import Usage as Usage
    from repoassay.types.verdict import (
        Assurance as Assurance,
        Attribution as Attribution,
        Basis as Basis,
        CriterionResult as CriterionResult,
        Feedback as Feedback,
        Grade as Grade,
        GradingIsolation as GradingIsolation,
        IsolationGrade as IsolationGrade,
        Outcome as Outcome,
        StepVerdict as StepVerdict,
        TestResult as TestResult,
        Verdict as Verdict,
    )
    from repoassay.types.workspace_state import WorkspaceState as WorkspaceState
else:
    __getattr__, __dir__ = attach(__name__)
