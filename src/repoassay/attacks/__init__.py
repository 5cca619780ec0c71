"""Attacks on verdicts: patches that want to be believed without being right, and what two harnesses say of them.

Each attack makes a patch for any edit or pull-request task. One harness is a plain one, which applies the patch, runs
the tests and believes the exit code; the other is the submission environment. Knows nothing of reports or commands.
"""

from __future__ import annotations

from repoassay.attacks.attack import Attack, Origin
from repoassay.attacks.catalogue import catalogue, chosen
from repoassay.attacks.kept import Kept
from repoassay.attacks.target import Target, aim
from repoassay.attacks.trial import Ground, Trial, Unsparing, tried

__all__ = ["Attack", "Ground", "Kept", "Origin", "Target", "Trial", "Unsparing", "aim", "catalogue", "chosen", "tried"]
