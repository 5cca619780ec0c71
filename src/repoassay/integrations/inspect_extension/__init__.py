"""What RepoAssay is to Inspect: a provider of sandboxes, tasks of every suite, a scorer, and a solver that knows.

Inspect finds `_registry` by an entry point and imports it, and with it all of this room; nothing else here imports
Inspect. Knows the engine, suites and rows; not runs, which Inspect keeps in logs of its own.
"""

from __future__ import annotations

from repoassay.errors import MissingExtra
from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.integrations.inspect_extension.sample_sandbox import (
        RepoAssaySandbox as RepoAssaySandbox,
        SampleConfig as SampleConfig,
    )
    from repoassay.integrations.inspect_extension.suite_tasks import task_of_suite as task_of_suite
    from repoassay.integrations.inspect_extension.verdict_scorer import verdict as verdict
else:
    __getattr__, __dir__ = attach(__name__, lacking=lambda package: MissingExtra(package, "inspect"))
