"""An exporter: the attempts of a run as a Markdown list."""

from __future__ import annotations

from collections.abc import Iterator

from repoassay.report.exporters import ExportSource


class Markdown:
    """One line an attempt, or one line a task of a suite."""

    title = "attempts of a run, or tasks of a suite, as a Markdown list"

    def export(self, source: ExportSource) -> Iterator[str]:
        """Yield the lines."""
        for found in source.attempts():
            yield f"- {found.attempt.task} by {found.attempt.agent}: {found.verdict.outcome.value}\n"
        for folder in source.suite.tasks if source.suite else ():
            yield f"- {folder.task.id}: {folder.task.title}\n"
