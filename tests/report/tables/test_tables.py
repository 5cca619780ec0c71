"""Tables against figures worked out by hand."""

from __future__ import annotations

from decimal import Decimal

import pytest

from repoassay.report.cells import shown_rows
from repoassay.report.report_tables import TableSelection, figure_out
from repoassay.report.results import ResultRow
from repoassay.report.tables.errors import sample_table
from repoassay.report.tables.external import score_of
from repoassay.report.tables.frameworks import frameworks
from repoassay.report.tables.sizes import repository_tokens, size_correlations
from repoassay.report.tables.value import ColumnUnit, Estimate, Table, TableColumn
from repoassay.stats import Proportion, wilson
from repoassay.types import Outcome
from report.made_rows import entry, info, row, task

FEW, MANY = entry(max_iterations="30"), entry(max_iterations="100")
RIDGE = task("ridge", "river", "audio", None)


def some() -> list[ResultRow]:
    return [
        row(Outcome.PASSED, by=FEW, tokens=1000, dollars="1"),
        row(Outcome.FAILED, by=FEW, of=RIDGE, tokens=3000, dollars="2"),
        row(Outcome.INFRA_FAULT, by=FEW, of=task("t3"), tokens=None, dollars=None),
        row(None, by=FEW, of=task("t4")),
        row(Outcome.PASSED, by=MANY, tokens=2000, dollars="3"),
        row(Outcome.PASSED, by=MANY, of=RIDGE, tokens=5000, dollars="5"),
        row(Outcome.BUDGET, by=MANY, of=task("t3"), tokens=100, dollars="0.1"),
        row(None, by=MANY, of=task("t4")),
    ]


def only(table: Table, key: str) -> list[object]:
    return list(table.column(key))


def test_frameworks_count_unknown_in_all_and_not_in_judged() -> None:
    table = figure_out(some(), TableSelection(diagnosed=0)).tables["frameworks"]
    assert only(table, "limits") == ["max_iterations=30", "max_iterations=100"]
    assert only(table, "ecr_all") == [Proportion(2, 4), Proportion(2, 4)]
    assert only(table, "ecr_judged") == [Proportion(2, 2), Proportion(2, 3)]
    assert only(table, "tpr_all") == [Proportion(1, 4), Proportion(2, 4)]
    assert only(table, "tpr_judged") == [Proportion(1, 2), Proportion(2, 3)]
    assert only(table, "tokens_in") == [2000, pytest.approx(7100 / 3)]
    assert only(table, "dollars") == [1.5, pytest.approx(2.7)]
    assert any("cost of 1 of 6" in note for note in table.notes)


def test_sweeps_are_in_the_order_of_their_numbers() -> None:
    table = figure_out(some(), TableSelection(diagnosed=0)).tables["sweeps"]
    assert only(table, "value") == ["30", "100"]
    assert only(table, "tpr") == [Proportion(1, 4), Proportion(2, 4)]
    assert only(table, "timed_out") == [Proportion(0, 3), Proportion(1, 3)]
    assert not figure_out([row()], TableSelection()).tables["sweeps"].rows


def test_alpha_is_worked_out_by_repository_beside_strict_alpha() -> None:
    tables = figure_out(some(), TableSelection(diagnosed=0)).tables
    alpha = tables["alpha_by_repository"]
    found = {(line[0], line[1]): line[2:] for line in alpha.rows}
    # 1 x 10 x 1 - 1; the attempt that our fault spoiled has no cost and is left out.
    assert found["sums", FEW.name] == (2, 1, Decimal(9), Decimal(9), Decimal(1))
    # Executed, not passed, nobody rated it: quality by Result is 0, so it is worth minus its cost.
    assert found["river", FEW.name] == (1, 1, Decimal(-2), Decimal(-2), Decimal(2))
    # Passed without a market value: unknown.
    assert found["river", MANY.name][1:3] == (0, None)
    pareto = [line[1:] for line in tables["alpha_pareto"].rows if line[0] == FEW.name]
    assert pareto == [
        (1, "sums", Decimal(9), Decimal(9), Decimal(9) / 7), (2, "river", Decimal(-2), Decimal(7), Decimal(1)),
    ]  # fmt: skip


def test_domains_and_outcomes_add_up() -> None:
    tables = figure_out(some(), TableSelection(diagnosed=0)).tables
    assert sum(int(str(cell)) for cell in only(tables["domains"], "n")) == 8
    outcomes = tables["outcomes"]
    assert [sum(int(str(cell)) for cell in line[2:]) for line in outcomes.rows] == only(outcomes, "n") == [4, 4]


def test_success_and_pass_at_1_are_over_tasks() -> None:
    rows = [row(Outcome.PASSED, number=1), row(Outcome.FAILED, number=2), row(Outcome.FAILED, of=RIDGE)]
    rows = [row(one.outcome, run=info(attempts=2), of=one.planned, number=one.number) for one in rows]
    tables = figure_out(rows, TableSelection(diagnosed=0)).tables
    (estimate,) = only(tables["pass_at_1"], "pass_at_1")
    assert isinstance(estimate, Estimate) and estimate.value == pytest.approx(0.25) and estimate.n == 2
    (success,) = only(tables["success"], "success")
    assert isinstance(success, Estimate) and success.value == pytest.approx(1 / 3)
    (any_of,) = only(tables["success"], "pass_k")
    assert isinstance(any_of, Estimate) and any_of.value == 1 and any_of.n == 1


def test_scores_of_other_benchmarks_are_found_by_either_name_and_correlated() -> None:
    pytest.importorskip("scipy")
    rows = []
    for number, passes in enumerate((0, 1, 2, 4)):
        by = entry(model=f"p/Model {number}")
        rows += [row(Outcome.PASSED if n < passes else Outcome.FAILED, by=by, of=task(f"t{n}")) for n in range(4)]
    scores = {"HE": {"model-0": 10.0, "P/MODEL_1": 20.0, "model 2": 30.0, "Model 3": 50.0, "other": 1.0}}
    tables = figure_out(rows, TableSelection(scores=scores, diagnosed=0)).tables
    (line,) = tables["benchmark_correlation"].rows
    assert line[:2] == ("HE", 4)
    assert line[2] == pytest.approx(1) and line[4] == pytest.approx(1)
    assert score_of("", {"": 1.0}) is None


def test_sizes_need_three_repositories() -> None:
    pytest.importorskip("scipy")
    rows = [row(of=task(f"t{n}", f"r{n}"), tokens=1000 * (n + 1)) for n in range(4)]
    assert not size_correlations(rows, {"lines": {"r0": 1.0, "r1": 2.0}}).rows
    table = size_correlations(rows, {"lines": {"r0": 1.0, "r1": 2.0, "r2": 3.0, "r3": 4.0}})
    assert table.rows[0][:3] == ("lines", "hare, scripted/a", 4)
    assert table.rows[0][3] == pytest.approx(1)


def test_tokens_are_told_over_the_paper_s_denominators_too() -> None:
    rows = [
        row(of=task("t1", "r"), tokens=1000, process=True, result=True),
        row(of=task("t2", "r"), tokens=3000, process=True, result=False),
        row(of=task("t3", "r"), tokens=9000, process=False, result=False),
    ]
    (made,) = repository_tokens(rows, {}, with_published=True).rows
    table = repository_tokens(rows, {}, with_published=True)
    figures = {column.key: cell for column, cell in zip(table.columns, made, strict=True)}
    assert (figures["n_process"], figures["n_result"]) == (2, 1)
    assert (figures["tokens_in_process"], figures["tokens_in_result"]) == (2000, 1000)
    assert only(frameworks(rows, with_published=True), "tokens_in_process") == [2000]


def test_the_best_and_the_second_best_say_so() -> None:
    columns = (TableColumn("a", "A"), TableColumn("b", "B", ColumnUnit.NUMBER, 0, "lower"))
    table = Table("t", "T", "", columns, (("x", 3), ("y", 1), ("z", None), ("w", 1), ("v", 7)))
    assert [cells[1] for cells in shown_rows(table)] == ["3 (2nd)", "1 (best)", "-", "1 (best)", "7"]
    alone = Table("t", "T", "", columns, (("x", 3),))
    assert [cells[1] for cells in shown_rows(alone)] == ["3"]


def test_published_figures_stand_beside_when_the_suite_has_some() -> None:
    tables = figure_out([row(run=info(suite="gittaskbench"))], TableSelection(diagnosed=0)).tables
    beside = tables["published_frameworks"]
    assert beside.rows[0][0] == "these runs"
    assert ("GitTaskBench Table 3", "Aider", "GPT-4o") in {line[:3] for line in beside.rows}
    assert "published_pass_at_1" not in tables
    assert not [name for name in figure_out([row()], TableSelection()).tables if name.startswith("published")]
    assert "published_pass_at_1" in figure_out([row()], TableSelection(published=("resq",))).tables


def test_runs_are_named_where_an_agent_is_in_several() -> None:
    rows = [row(run=info("first")), row(run=info("second"))]
    assert only(figure_out(rows, TableSelection()).tables["frameworks"], "run") == ["first", "second"]
    assert "run" not in {column.key for column in figure_out(rows[:1], TableSelection()).tables["frameworks"].columns}


def test_no_rows_at_all_make_empty_tables() -> None:
    assert not any(table.rows for table in figure_out([], TableSelection()).tables.values())


def test_a_sample_is_the_same_whatever_the_order() -> None:
    rows = [row(number=number) for number in range(1, 60)]
    ids = {one.attempt for one in sample_table(rows, 7)}
    assert len(ids) == 7
    assert {one.attempt for one in sample_table(rows[::-1], 7)} == ids
    assert sample_table(rows, 99) == rows
    assert sample_table(rows, 0) == []


def test_a_table_refuses_a_row_of_another_length() -> None:
    with pytest.raises(ValueError, match="2 cells"):
        Table("t", "T", "", (TableColumn("a", "A"),), (("x", "y"),))
    with pytest.raises(KeyError):
        Table("t", "T", "", (TableColumn("a", "A"),), ()).column("b")


def test_rates_have_wilson_intervals() -> None:
    (cell,) = only(figure_out([row()], TableSelection()).tables["frameworks"], "tpr_all")
    assert isinstance(cell, Proportion) and cell.interval == wilson(1, 1)
