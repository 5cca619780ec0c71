"""From a plan to stored attempts: plan, execute, record, resume; and validating that tasks can be trusted.

Read `execution.py` for the loop, `attempt.py` for one attempt, `attempt_maker.py` for where they are made,
`model_access.py` for the way to a model, `matrix.py` for what a plan is made of, `grade.py` for outputs made elsewhere,
`submit.py` for patches. Knows everything an attempt needs (agents, workspace, grading, model proxy, records, signals);
not reports, benchmarks or who asked for a run.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.engine.agent_check import Checked as Checked, check_agent as check_agent
    from repoassay.engine.answer import (
        GradedSubmission as GradedSubmission,
        failure_feedback as failure_feedback,
        word as word,
    )
    from repoassay.engine.assess import TaskAssurance as TaskAssurance
    from repoassay.engine.attempt import AttemptContext as AttemptContext, OpenAttempt as OpenAttempt, work as work
    from repoassay.engine.attempt_cluster import check_executor as check_executor
    from repoassay.engine.change import crossing as crossing
    from repoassay.engine.cost_bound import CostBound as CostBound, bound_of as bound_of
    from repoassay.engine.division import collect_shares as collect_shares
    from repoassay.engine.execution import (
        Progress as Progress,
        check as check,
        execute as execute,
        prepare as prepare,
    )
    from repoassay.engine.feedback import (
        TESTED as TESTED,
        FeedbackLedger as FeedbackLedger,
        UnlimitedLedger as UnlimitedLedger,
        bits_told as bits_told,
        ruled_by as ruled_by,
    )
    from repoassay.engine.fetch import fetch_data as fetch_data
    from repoassay.engine.grade import grade_outputs as grade_outputs
    from repoassay.engine.grading_context import GradingContext as GradingContext
    from repoassay.engine.item_branch import (
        ItemBranch as ItemBranch,
        ItemSandbox as ItemSandbox,
        branch_of_item as branch_of_item,
        run_line as run_line,
        sandbox_of_item as sandbox_of_item,
        write_branch as write_branch,
    )
    from repoassay.engine.judge_cluster import open_judge_nodes as open_judge_nodes
    from repoassay.engine.matrix import number as number, parse_sweeps as parse_sweeps, spread as spread
    from repoassay.engine.model_access import AttemptAccess as AttemptAccess
    from repoassay.engine.models import named_file as named_file, prices_of as prices_of, upstreams_of as upstreams_of
    from repoassay.engine.permissions import Grants as Grants, grant_words as grant_words
    from repoassay.engine.plan import (
        Settings as Settings,
        make_plan as make_plan,
        open_run as open_run,
        planned_task as planned_task,
    )
    from repoassay.engine.prompts import suite_of_prompts as suite_of_prompts
    from repoassay.engine.resumption import divide_run as divide_run, resume_run as resume_run
    from repoassay.engine.run_locks import folder_lock as folder_lock, run_lock as run_lock
    from repoassay.engine.scheduler import all_slots as all_slots, locate as locate, open_slots as open_slots
    from repoassay.engine.signal_files import SignalFile as SignalFile
    from repoassay.engine.signals import (
        MeasuredChange as MeasuredChange,
        MeasuredOutcome as MeasuredOutcome,
        NothingToMeasure as NothingToMeasure,
        measure as measure,
    )
    from repoassay.engine.start_check import preflight as preflight
    from repoassay.engine.step_walk import set_up as set_up
    from repoassay.engine.stop import Stop as Stop
    from repoassay.engine.submit import SubmissionEngine as SubmissionEngine
    from repoassay.engine.validate import (
        Proof as Proof,
        prove_mutants as prove_mutants,
        validate_task as validate_task,
    )
else:
    __getattr__, __dir__ = attach(__name__)
