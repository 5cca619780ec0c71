"""Rewards for training: verdicts as a trainer takes them, zero unless a pass is attested.

`Reward` is a reward function of TRL and of verl over a `Grader`; `completion.py` says what counts as a patch, and
`ledger.py` what answers give away and how that is charged. Knows the public face and what lies below it; imports a
trainer only in the module that is named after it.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.rewards.completion import completion_text as completion_text, extract_patch as extract_patch
    from repoassay.rewards.ledger import RewardAnswer as RewardAnswer, RewardLedger as RewardLedger
    from repoassay.rewards.prompting import (
        ANSWER_FORM as ANSWER_FORM,
        edit_prompt as edit_prompt,
        repository_text as repository_text,
    )
    from repoassay.rewards.reward import Reward as Reward
    from repoassay.rewards.scoring import RewardMetrics as RewardMetrics, ScoredCompletion as ScoredCompletion
else:
    __getattr__, __dir__ = attach(__name__)
