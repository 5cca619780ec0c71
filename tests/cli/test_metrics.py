"""`repoassay metrics`, and the page of the documentation made from it."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from repoassay.cli.metrics import metrics
from repoassay.grading.registry import all_metrics

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "metrics.md"


def test_the_documentation_lists_what_is_registered() -> None:
    """When this fails: `repoassay metrics --markdown` prints the table of docs/reference/metrics.md."""
    printed = CliRunner().invoke(metrics, ["--markdown"]).output
    assert PAGE.read_text(encoding="utf-8").endswith(printed)
    for item in all_metrics():
        assert f"| `{item.name}` | {item.unit} |" in printed


def test_one_metric_is_explained_with_its_options() -> None:
    printed = CliRunner().invoke(metrics, ["column_matches"]).output
    assert "signature: column_matches(" in printed
    assert "source:" in printed
