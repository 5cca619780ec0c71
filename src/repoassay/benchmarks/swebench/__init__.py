"""SWE-bench: its rows as tasks, as far as their tests can be run by pytest."""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.benchmarks.swebench.rows import SweRow as SweRow
else:
    __getattr__, __dir__ = attach(__name__)
