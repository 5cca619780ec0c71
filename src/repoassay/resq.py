"""RES-Q's published classes by our submission environment: `from repoassay.resq import SubmissionEnv`."""

from __future__ import annotations

from repoassay.benchmarks.resq.library import *  # noqa: F403
from repoassay.benchmarks.resq.library import __all__ as __all__  # noqa: PLC0414
