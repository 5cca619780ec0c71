"""File formats of others that are nobody's benchmark: submissions, ATIF trajectories, JSON records, JUnit, and rows.

Knows types and tasks; not benchmarks, whose rows come in through the entry points `repoassay.rows`.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.formats.atif import ATIF_VERSION as ATIF_VERSION, to_atif as to_atif
    from repoassay.formats.base_trees import BaseTrees as BaseTrees
    from repoassay.formats.dataset_figures import (
        DEFINITIONS as DEFINITIONS,
        QUARTILES as QUARTILES,
        TOKENISER as TOKENISER,
        DatasetStats as DatasetStats,
        Spread as Spread,
        dataset_stats as dataset_stats,
    )
    from repoassay.formats.edit_row import (
        EditRow as EditRow,
        Row as Row,
        RowId as RowId,
        TaskParts as TaskParts,
        Text as Text,
        checked_id as checked_id,
    )
    from repoassay.formats.json_records import parse_json as parse_json, read_json_records as read_json_records
    from repoassay.formats.junit import (
        JUnitCase as JUnitCase,
        JUnitSpool as JUnitSpool,
        JUnitSuite as JUnitSuite,
        junit_document as junit_document,
        write_junit_file as write_junit_file,
    )
    from repoassay.formats.mirrors import read_mirrors as read_mirrors
    from repoassay.formats.parquet import (
        read_arrow_records as read_arrow_records,
        read_parquet_records as read_parquet_records,
    )
    from repoassay.formats.record_problems import Problems as Problems, kind_of as kind_of
    from repoassay.formats.result_parts import collect_results as collect_results
    from repoassay.formats.results import (
        ResultLog as ResultLog,
        read_results as read_results,
        result_case as result_case,
    )
    from repoassay.formats.row_formats import format_of as format_of
    from repoassay.formats.row_import import (
        IMPORT_LOG as IMPORT_LOG,
        ImportedRow as ImportedRow,
        ImportReport as ImportReport,
        import_rows as import_rows,
        refused_in as refused_in,
    )
    from repoassay.formats.row_supplies import RowSupplies as RowSupplies, supplies_of as supplies_of
    from repoassay.formats.row_tasks import (
        RowTasks as RowTasks,
        task_of_row as task_of_row,
        tasks_of as tasks_of,
        usable_tasks as usable_tasks,
    )
    from repoassay.formats.rows import load_hub as load_hub, read_rows as read_rows, sort_rows as sort_rows
    from repoassay.formats.submission_backlog import SubmissionBacklog as SubmissionBacklog
    from repoassay.formats.submissions import (
        PatchSubmission as PatchSubmission,
        SubmissionReader as SubmissionReader,
        read_submissions as read_submissions,
    )
    from repoassay.formats.task_source import repository_of as repository_of, row_url as row_url
    from repoassay.formats.task_toml import edit_task_toml as edit_task_toml, toml_string as toml_string
    from repoassay.formats.write_task import (
        REQUIREMENTS as REQUIREMENTS,
        import_path_of as import_path_of,
        safe_id as safe_id,
    )
else:
    __getattr__, __dir__ = attach(__name__)
