"""Tasks made of commits, each with proof: its tests fail at the base, pass at the solution, and do so every time.

Knows tasks, the workspace, grading and how the engine validates tasks. Must not know the command line or reports. The
repository a task is made of is hostile: it is copied over git's own protocol into one of ours, and only that is read.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.construct.commit import (
        Constructed as Constructed,
        construct_commit as construct_commit,
        facts as facts,
    )
    from repoassay.construct.history import (
        History as History,
        HistoryEntry as HistoryEntry,
        find_repository as find_repository,
        open_history as open_history,
    )
    from repoassay.construct.mining.commits import (
        closer_look as closer_look,
        draw as draw,
        read_commits as read_commits,
    )
    from repoassay.construct.mining.issues import read_issues as read_issues
    from repoassay.construct.mining.journal import (
        MINE_LOG as MINE_LOG,
        AgentPassRate as AgentPassRate,
        CommitStatus as CommitStatus,
        MinedCommit as MinedCommit,
        refusals as refusals,
    )
    from repoassay.construct.mining.mine import (
        MiningReport as MiningReport,
        mine_histories as mine_histories,
    )
    from repoassay.construct.mining.pass_rates import (
        note_pass_rates as note_pass_rates,
        unrated_tasks as unrated_tasks,
    )
    from repoassay.construct.mining.plan import MiningPlan as MiningPlan
    from repoassay.construct.mining.request import MiningRequest as MiningRequest
    from repoassay.construct.mining.rewriting import InstructionRewriter as InstructionRewriter
    from repoassay.construct.mining.rules import MiningRules as MiningRules, read_mining_rules as read_mining_rules
    from repoassay.construct.mining.suite import begin_suite as begin_suite
    from repoassay.construct.prove import (
        ProofCase as ProofCase,
        ProofFinding as ProofFinding,
        ProofRole as ProofRole,
        flip_rate as flip_rate,
    )
    from repoassay.construct.recipe.infer import (
        EnvironmentRecipe as EnvironmentRecipe,
        Inference as Inference,
        infer as infer,
    )
    from repoassay.construct.recipe.licence import licence_of as licence_of
    from repoassay.construct.recipe.project import Project as Project
    from repoassay.construct.task_request import Proposal as Proposal, TaskRequest as TaskRequest
else:
    __getattr__, __dir__ = attach(__name__)
