"""RES-Q: its rows as tasks, and its published library (arXiv 2406.16801)."""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.benchmarks.resq.rows import ModifiedFile as ModifiedFile, ResqRow as ResqRow
    from repoassay.benchmarks.resq.task_rows import read_task_row as read_task_row
else:
    __getattr__, __dir__ = attach(__name__)
