"""Signals that pre-fill a review and never decide it: evidence computed on base and head, each with the lines it means.

Every signal has three states: a finding, silent, or unknown with the reason why it could not run. One file is one kind.
"""

from __future__ import annotations

from repoassay.review.signals.bench import Bench
from repoassay.review.signals.collect import signals
from repoassay.review.signals.signal import Axis, Evidence, Signal, State

__all__ = ["Axis", "Bench", "Evidence", "Signal", "State", "signals"]
