"""Attacks on verdicts: patches that want to be believed without being right, and what two harnesses say of them.

Each attack makes a patch for any edit or pull-request task. One harness is a plain one, which applies the patch, runs
the tests and believes the exit code; the other is the submission environment. Knows the engine and what lies below it;
not reports or commands.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.attacks.attack import Attack as Attack, AttackOrigin as AttackOrigin
    from repoassay.attacks.campaign import (
        Pair as Pair,
        by_task as by_task,
        pairs as pairs,
        restrict_task as restrict_task,
        run as run,
    )
    from repoassay.attacks.payloads import catalogue as catalogue, select_attacks as select_attacks
    from repoassay.attacks.target import Target as Target, aim as aim
    from repoassay.attacks.trial import (
        AttackGround as AttackGround,
        Trial as Trial,
        run_trial as run_trial,
    )
    from repoassay.attacks.trial_log import TrialLog as TrialLog
else:
    __getattr__, __dir__ = attach(__name__)
