"""GitTaskBench's files: records of gradings, results folders, evaluation reports."""

from __future__ import annotations

from repoassay.benchmarks.gittaskbench.formats.records import (
    Recording,
    RecordsRead,
    ResultRecord,
    append_record,
    parse_record,
    read_records,
)
from repoassay.benchmarks.gittaskbench.formats.report import PublishedReport, read_report, render_report, write_report
from repoassay.benchmarks.gittaskbench.formats.results import Results, Skipped, read_results

__all__ = [
    "PublishedReport",
    "Recording",
    "RecordsRead",
    "ResultRecord",
    "Results",
    "Skipped",
    "append_record",
    "parse_record",
    "read_records",
    "read_report",
    "read_results",
    "render_report",
    "write_report",
]
