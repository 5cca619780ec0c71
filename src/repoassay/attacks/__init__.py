"""Attacks on verdicts: patches that want to be believed without being right, and what two harnesses say of them.

Each attack makes a patch for any edit or pull-request task. One harness is a plain one, which applies the patch, runs
the tests and believes the exit code; the other is the submission environment. Knows nothing of reports or commands.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.attacks.attack import Attack as Attack, Origin as Origin
    from repoassay.attacks.campaign import Pair as Pair, confined as confined, pairs as pairs, run as run
    from repoassay.attacks.forger_feedback import by_task as by_task
    from repoassay.attacks.payload_catalogue import catalogue as catalogue, chosen as chosen
    from repoassay.attacks.target import Target as Target, aim as aim
    from repoassay.attacks.trial import Ground as Ground, Trial as Trial, Unsparing as Unsparing, tried as tried
    from repoassay.attacks.trial_log import Kept as Kept
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "attack": ("Attack", "Origin"),
            "campaign": ("Pair", "confined", "pairs", "run"),
            "forger_feedback": ("by_task",),
            "payload_catalogue": ("catalogue", "chosen"),
            "target": ("Target", "aim"),
            "trial": ("Ground", "Trial", "Unsparing", "tried"),
            "trial_log": ("Kept",),
        },
    )
