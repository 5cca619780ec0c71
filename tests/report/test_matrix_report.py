"""A matrix run made for real, and one command that makes every table and plot of it.

Regenerate the golden files with: REPOASSAY_GOLDEN=write pytest -m exhaustive tests/report/test_matrix_report.py
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from repoassay.cli.main import cli
from report.scripted_matrix import matrix_run

GOLDEN = Path(__file__).parent / "golden" / "matrix"
TABLES = {
    "frameworks", "outcomes", "success", "domains", "subdomains", "sweeps", "alpha", "alpha_by_repository",
    "alpha_pareto", "errors", "tokens", "repository_tokens", "size_correlation", "pass_at_1", "benchmark_correlation",
    "published_frameworks", "published_sweeps", "published_alpha", "published_errors", "published_pass_at_1",
    "published_sizes",
}  # fmt: skip
PLOTS = {
    "rates", "outcomes", "success", "domains", "seconds", "sweep_max_iterations_ecr", "sweep_max_iterations_tpr",
    "alpha", "alpha_pareto", "errors", "tokens", "benchmark_1",
    *(f"tokens_by_{size}{over}" for size in ("code_lines", "files", "functions", "tokens")
      for over in ("", "_executed", "_passed")),
}  # fmt: skip
SCORES = (
    "model,benchmark,score\nsolver,HumanEval,90\ndawdler,HumanEval,80\nmisnamer,HumanEval,60\nreader,HumanEval,50\n"
)


def report(run: Path, folder: Path, *more: str) -> Path:
    (folder / "scores.csv").write_text(SCORES)
    out = folder / "out"
    arguments = [str(run), "--out", str(out), "--scores", str(folder / "scores.csv"), "--beside", "published", *more]
    result = CliRunner().invoke(cli, ["report", *arguments])
    assert result.exit_code == 0, result.output
    return out


def table(out: Path, name: str) -> list[dict[str, object]]:
    rows = json.loads((out / "tables" / f"{name}.json").read_text())["rows"]
    assert isinstance(rows, list)
    return rows


def stable(text: str) -> str:
    """Without seconds, which no two runs have alike."""
    text = re.sub(r"\b\d+\.\d\d? s\b", "N s", text)
    text = re.sub(r'("seconds": )[\d.e-]+', r"\g<1>0", text)
    return re.sub(r"(?m)^((?:tortoise|hare),.*,)[\d.e-]+$", r"\g<1>0", text.replace("\r\n", "\n"))


@pytest.mark.long
def test_a_small_matrix_comes_to_what_its_script_says(tmp_path: Path) -> None:
    run = matrix_run(tmp_path, 1, ("solver", "dawdler"))
    out = report(run.path, tmp_path, "--format", "json,md")
    frameworks = {(row["framework"], row["model"], row["limits"]): row for row in table(out, "frameworks")}
    assert len(frameworks) == 8
    for framework in ("tortoise", "hare"):
        slow = frameworks[framework, "scripted/dawdler", "max_iterations=3"]
        fast = frameworks[framework, "scripted/dawdler", "max_iterations=9"]
        assert [row["tpr_all"]["successes"] for row in (slow, fast)] == [0, 1]  # type: ignore[index] # a dict
        # Three calls before the limit, five without; 0.20 dollars each.
        assert [row["dollars"] for row in (slow, fast)] == [pytest.approx(0.6), pytest.approx(1.0)]
        assert [row["tokens_in"] for row in (slow, fast)] == [300, 500]
    sweeps = [row for row in table(out, "sweeps") if row["model"] == "scripted/dawdler"]
    assert [(row["value"], row["timed_out"]["successes"]) for row in sweeps] == [("3", 2), ("9", 0)] * 2  # type: ignore[index] # a dict
    alpha = {row["agent"]: row for row in table(out, "alpha_by_repository")}
    # One of two tasks is worth 5 dollars; the edit task is not delivered: (5 - 1 + 0 - 1) / 2.
    assert float(str(alpha["hare @ scripted/dawdler, max_iterations=9"]["alpha"])) == pytest.approx(1.5)
    assert table(out, "errors")


@pytest.mark.exhaustive
def test_one_command_makes_every_table_and_plot_of_200_attempts(tmp_path: Path) -> None:
    run = matrix_run(tmp_path, 5)
    assert run.plan.size == 200
    out = report(run.path, tmp_path)
    assert {path.name for path in (out / "tables").iterdir()} == {
        f"{name}.{ending}" for name in TABLES for ending in ("md", "tex", "csv", "json")
    }
    assert {path.name for path in (out / "plots").iterdir()} == {
        f"{name}.{ending}" for name in PLOTS for ending in ("svg", "png")
    }
    assert (out / "index.html").stat().st_size < 10_000_000
    for path in sorted((out / "tables").iterdir()):
        text, golden = stable(path.read_bytes().decode()), GOLDEN / path.name
        if os.environ.get("REPOASSAY_GOLDEN") == "write":
            GOLDEN.mkdir(parents=True, exist_ok=True)
            golden.write_text(text, "utf-8")
        assert text == golden.read_text("utf-8"), path.name
    again = tmp_path / "again"
    again.mkdir()
    other = report(run.path, again)
    for path in sorted((out / "plots").iterdir()):
        assert (other / "plots" / path.name).read_bytes() == path.read_bytes()
    assert (other / "index.html").read_bytes() == (out / "index.html").read_bytes()
