"""File formats of others that are nobody's benchmark: submissions, ATIF trajectories, JSON records, JUnit.

Knows types and tasks; not benchmarks.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.formats.atif import to_atif as to_atif
    from repoassay.formats.base_trees import BaseTrees as BaseTrees, read_mirrors as read_mirrors
    from repoassay.formats.dataset_figures import (
        DEFINITIONS as DEFINITIONS,
        QUARTILES as QUARTILES,
        TOKENISER as TOKENISER,
        DatasetStats as DatasetStats,
        Spread as Spread,
        dataset_stats as dataset_stats,
    )
    from repoassay.formats.junit import (
        JUnitCase as JUnitCase,
        JUnitSuite as JUnitSuite,
        junit_document as junit_document,
        write_junit_file as write_junit_file,
    )
    from repoassay.formats.resq_row import ResqRow as ResqRow, checked_id as checked_id
    from repoassay.formats.resq_tasks import REQUIREMENTS as REQUIREMENTS, safe_id as safe_id
    from repoassay.formats.results import (
        ResultLog as ResultLog,
        read_results as read_results,
        write_results_junit as write_results_junit,
    )
    from repoassay.formats.row_tasks import task_of_row as task_of_row, tasks_of as tasks_of
    from repoassay.formats.rows import load_hub as load_hub, read_rows as read_rows
    from repoassay.formats.script_tests import SCRIPT as SCRIPT
    from repoassay.formats.submissions import PatchSubmission as PatchSubmission, read_submissions as read_submissions
    from repoassay.formats.swebench import SweRow as SweRow
    from repoassay.formats.task_source import repository_of as repository_of
    from repoassay.formats.task_toml import edit_task_toml as edit_task_toml
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "atif": ("to_atif",),
            "base_trees": ("BaseTrees", "read_mirrors"),
            "dataset_figures": ("DEFINITIONS", "DatasetStats", "QUARTILES", "Spread", "TOKENISER", "dataset_stats"),
            "junit": ("JUnitCase", "JUnitSuite", "junit_document", "write_junit_file"),
            "resq_row": ("ResqRow", "checked_id"),
            "resq_tasks": ("REQUIREMENTS", "safe_id"),
            "results": ("ResultLog", "read_results", "write_results_junit"),
            "row_tasks": ("task_of_row", "tasks_of"),
            "rows": ("load_hub", "read_rows"),
            "script_tests": ("SCRIPT",),
            "submissions": ("PatchSubmission", "read_submissions"),
            "swebench": ("SweRow",),
            "task_source": ("repository_of",),
            "task_toml": ("edit_task_toml",),
        },
    )
