"""What a run came to, for people and programs: a summary, and it as terminal table, JSON and one HTML page.

Reads run folders through `repoassay.records`. Most of it knows nothing of how attempts were made or graded; three files
do: `llm_labels` asks a model, `leaderboard/regrade` grades outputs again, `signal_lines` reads the engine's signal
files. Names are imported on demand, since a command that shows one attempt needs neither tables nor pages.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.report.attempt_page import running_page as running_page
    from repoassay.report.attempt_timeline import (
        AttemptTimeline as AttemptTimeline,
        find_attempts as find_attempts,
        read_story as read_story,
        read_trajectory as read_trajectory,
        story_document as story_document,
    )
    from repoassay.report.chosen_study import named_reviews as named_reviews
    from repoassay.report.comparison.comparison_output import (
        as_markdown as as_markdown,
        as_text as as_text,
        comparison_document as comparison_document,
    )
    from repoassay.report.comparison.comparison_page import write_comparison as write_comparison
    from repoassay.report.comparison.gate import RegressionGate as RegressionGate, rule as rule
    from repoassay.report.comparison.junit import write_junit as write_junit
    from repoassay.report.comparison.pairs import Measure as Measure
    from repoassay.report.comparison.sides import read_sides as read_sides
    from repoassay.report.comparison.versus import Comparison as Comparison, compare_sides as compare_sides
    from repoassay.report.diagnosis_lines import (
        label_line as label_line,
        share_lines as share_lines,
        shares_document as shares_document,
        short_lines as short_lines,
    )
    from repoassay.report.diagnosis_runs import (
        AttemptRef as AttemptRef,
        DiagnosedAttempt as DiagnosedAttempt,
        Diagnoser as Diagnoser,
        people_said as people_said,
        shares_of as shares_of,
        subject_of as subject_of,
        subjects_of as subjects_of,
    )
    from repoassay.report.document import (
        encoded_attempts as encoded_attempts,
        plain_value as plain_value,
        summary_document as summary_document,
    )
    from repoassay.report.export import write_figured as write_figured
    from repoassay.report.exporters import (
        ExportSource as ExportSource,
        export_file as export_file,
        export_to as export_to,
        exporter_titles as exporter_titles,
        find_source as find_source,
    )
    from repoassay.report.figures import dollars as dollars, tokens as tokens
    from repoassay.report.leaderboard.bundle import pack as pack
    from repoassay.report.leaderboard.entry import Declarations as Declarations
    from repoassay.report.leaderboard.site import build_site as build_site, rows_of as rows_of
    from repoassay.report.llm_labels import (
        LabelRequest as LabelRequest,
        label_by_model as label_by_model,
        score_model as score_model,
        score_rules as score_rules,
    )
    from repoassay.report.outcome_tables import ReportTables as ReportTables
    from repoassay.report.page_files import (
        attempt_html as attempt_html,
        render as render,
        results_html as results_html,
        write_html as write_html,
    )
    from repoassay.report.published_figures import (
        THESE_RUNS as THESE_RUNS,
        Count as Count,
        FigureName as FigureName,
        FigureTables as FigureTables,
        NotNegative as NotNegative,
        Percent as Percent,
        SizeFigure as SizeFigure,
        cells_by_key as cells_by_key,
        share_of as share_of,
    )
    from repoassay.report.qualities import reviewed_qualities as reviewed_qualities
    from repoassay.report.report_tables import (
        TableSelection as TableSelection,
        figure_out as figure_out,
        reviewed_tables as reviewed_tables,
    )
    from repoassay.report.results import read_rows as read_rows
    from repoassay.report.reviewed_attempts import (
        ReviewedAttempts as ReviewedAttempts,
        read_reviews as read_reviews,
        reviews_document as reviews_document,
    )
    from repoassay.report.run_list import (
        RunProgress as RunProgress,
        progress_document as progress_document,
        run_progress as run_progress,
        runs_below as runs_below,
        runs_page as runs_page,
    )
    from repoassay.report.signal_lines import short as short
    from repoassay.report.summary import Summary as Summary, summarise as summarise
    from repoassay.report.table import print_table as print_table
    from repoassay.report.tables.cut_offs import read_cut_offs as read_cut_offs
    from repoassay.report.tables.registry import OfferedTables as OfferedTables, offered_tables as offered_tables
    from repoassay.report.tables.value import (
        Cell as Cell,
        ColumnUnit as ColumnUnit,
        Table as Table,
        TableColumn as TableColumn,
    )
    from repoassay.report.user_tables import read_scores as read_scores, read_sizes as read_sizes
    from repoassay.report.writers.json_file import table_document as table_document
    from repoassay.report.writers.terminal import print_tables as print_tables
else:
    __getattr__, __dir__ = attach(__name__)
