"""What Python programs and the command line call: evaluate, resume, grade, validate, compare, and graders of patches.

Nothing here prints, installs a signal handler or ends the process. All names are offered by `repoassay` itself. Knows
the rooms below it; not the bundled benchmarks, which come through `repoassay.plugins`, nor command line or server.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.api.agents import AgentLike as AgentLike
    from repoassay.api.comparison import compare as compare
    from repoassay.api.curation import (
        CuratedRepository as CuratedRepository,
        curate_repositories as curate_repositories,
    )
    from repoassay.api.evaluation import evaluate as evaluate, resume as resume
    from repoassay.api.events import (
        AgentStarted as AgentStarted,
        AttemptDropped as AttemptDropped,
        AttemptEvent as AttemptEvent,
        AttemptFinished as AttemptFinished,
        AttemptStarted as AttemptStarted,
        RunEvent as RunEvent,
        RunOpened as RunOpened,
        RunPlanned as RunPlanned,
        RunResumed as RunResumed,
    )
    from repoassay.api.grader import Grader as Grader
    from repoassay.api.outputs import grade as grade
    from repoassay.api.proofs import (
        DataCheck as DataCheck,
        check_data as check_data,
        suite_strength as suite_strength,
        validate as validate,
    )
    from repoassay.api.runs import EvaluatedAttempt as EvaluatedAttempt, Run as Run, load_run as load_run
    from repoassay.api.settings import metering_of as metering_of
    from repoassay.api.workspaces import OpenWorkspace as OpenWorkspace, open_workspace as open_workspace
else:
    __getattr__, __dir__ = attach(__name__)
