"""Deliverable tasks out of repositories: chosen by rules, seen to run, drafted with measured thresholds, renewed.

Each stage writes a file of evidence that the next one reads: `select`, `verify`, `draft`, `prove`, `audit`, `release`.
Knows tasks, the workspace, grading, how tasks are validated and what recipes are inferred; must not know the command
line or reports. What a repository holds is hostile: it is read here, and run in the sandbox alone.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.curate.auditing import audit_suite as audit_suite, search_canary as search_canary
    from repoassay.curate.candidates import find_candidates as find_candidates
    from repoassay.curate.draft_file import DRAFT as DRAFT, read_draft_file as read_draft_file
    from repoassay.curate.drafting import draft_task as draft_task
    from repoassay.curate.evidence import read_toml as read_toml
    from repoassay.curate.layout import today as today
    from repoassay.curate.linking import ScoredAttempt as ScoredAttempt, link_scores as link_scores
    from repoassay.curate.model_draft import draft_by_model as draft_by_model
    from repoassay.curate.pool import (
        PooledRepository as PooledRepository,
        open_pooled as open_pooled,
        was_selected as was_selected,
    )
    from repoassay.curate.private_share import private_problems as private_problems
    from repoassay.curate.proving import CuratedProof as CuratedProof, prove_suite as prove_suite
    from repoassay.curate.releasing import (
        check_release as check_release,
        read_release as read_release,
        release_suite as release_suite,
    )
    from repoassay.curate.rules import (
        DEFAULT_RULES as DEFAULT_RULES,
        parse_rule as parse_rule,
        read_selection_rules as read_selection_rules,
    )
    from repoassay.curate.selection import (
        SelectionResult as SelectionResult,
        known_suites as known_suites,
        select_repositories as select_repositories,
    )
    from repoassay.curate.template import write_template as write_template
    from repoassay.curate.thresholds import (
        MeasuredCriterion as MeasuredCriterion,
        measure_thresholds as measure_thresholds,
    )
    from repoassay.curate.verification import verify_pooled as verify_pooled
else:
    __getattr__, __dir__ = attach(__name__)
