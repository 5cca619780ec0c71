"""Signals that pre-fill a review and never decide it: evidence computed on base and head, each with the lines it means.

Every signal has three states: a finding, silent, or unknown with the reason why it could not run. One file is one kind.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.signals.bench import Bench as Bench
    from repoassay.signals.collect import signals as signals
    from repoassay.signals.signal import Axis as Axis, Evidence as Evidence, Signal as Signal, State as State
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "bench": ("Bench",),
            "collect": ("signals",),
            "signal": ("Axis", "Evidence", "Signal", "State"),
        },
    )
