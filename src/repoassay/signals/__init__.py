"""Signals that pre-fill a review and never decide it: evidence computed on base and head, each with the lines it means.

Every signal has three states: a finding, silent, or unknown with the reason why it could not run. One file is one kind.
Knows tasks, diffs and the sandbox in which tools run; not reviews, judges or runs.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.signals.bench import ToolRunner as ToolRunner
    from repoassay.signals.collect import signals as signals
    from repoassay.signals.signal import (
        Signal as Signal,
        SignalAxis as SignalAxis,
        SignalEvidence as SignalEvidence,
        SignalState as SignalState,
    )
    from repoassay.signals.tools import module as module
    from repoassay.signals.worktrees import (
        is_document as is_document,
        is_source as is_source,
    )
else:
    __getattr__, __dir__ = attach(__name__)
