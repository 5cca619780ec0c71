"""Our verdict as a score of Inspect: correct, incorrect, or unscored where it was not the model's doing."""

from __future__ import annotations

from anyio import to_thread
from inspect_ai.scorer import Score, Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import TaskState  # noqa: TC002 - Inspect looks at annotations
from inspect_ai.util import sandbox

from repoassay.engine import ruled_by
from repoassay.integrations.inspect_extension.sample_sandbox import RepoAssaySandbox
from repoassay.interchange import score_of_verdict

__all__ = ["verdict"]


@scorer(metrics=[accuracy(), stderr()])
def verdict(require_attested: float = 0.0) -> Scorer:
    """Take what was left in the workspace across, and judge it in a fresh sandbox, where nothing of the model runs on.

    A fault of ours, or of the task, leaves the sample unscored. The sandbox is closed by it.

    Args:
        require_attested: Bits that a pass must be attested with to count; 0 takes doubted ones too.
    """

    async def score(state: TaskState, target: Target) -> Score:
        sample = sandbox().as_type(RepoAssaySandbox).sample
        judged, diff = await to_thread.run_sync(sample.judge)
        return Score(**score_of_verdict(ruled_by(judged, require_attested), diff))

    return score
