"""The published figures, recomputed: costs, rates, aggregates, ceilings, counts."""

from __future__ import annotations

import tomllib
from collections import Counter
from decimal import Decimal
from importlib.resources import files

import pytest
from hypothesis import given, strategies as st

from repoassay.benchmarks.gittaskbench.papers import (
    PAPER,
    AlphaFigures,
    CostStatus,
    ErrorShare,
    MeanFigure,
    ModelPrice,
    RunFigures,
    Subdomain,
    SubdomainValue,
    SweepFigures,
    aggregate,
    broken_ceilings,
    check_costs,
    check_rates,
    check_sweep_costs,
    rates_of_runs,
    rates_of_sweep,
    task_values,
)
from repoassay.report.published_figures import SizeFigure
from repoassay.stats.consistency import smallest_fraction

D = Decimal
RUNS = PAPER.read("gittaskbench-table-03", RunFigures)
SWEEP = PAPER.read("gittaskbench-table-07", SweepFigures)
PRICES = PAPER.read("gittaskbench-table-11", ModelPrice).row
ALPHAS = PAPER.read("gittaskbench-table-10", AlphaFigures)


def test_costs_of_table_3_follow_but_for_three_and_these_are_named() -> None:
    checks = check_costs(RUNS.row, PRICES)
    assert Counter(check.status for check in checks) == {
        CostStatus.FOLLOWS: 14,
        CostStatus.DIFFERS: 2,
        CostStatus.BETWEEN_TIERS: 1,
        CostStatus.NO_COST: 8,
    }
    off = {check.title: (check.printed, check.low) for check in checks if check.status is CostStatus.DIFFERS}
    assert {title: (printed, low and round(low, 3)) for title, (printed, low) in off.items()} == {
        "SWE-Agent with GPT-4o": (D("0.778"), D("0.702")),
        "SWE-Agent with GPT-4.1": (D("0.661"), D("0.619")),
    }


def test_the_cost_of_gemini_is_between_its_tiers() -> None:
    (gemini,) = (c for c in check_costs(RUNS.row, PRICES) if c.status is CostStatus.BETWEEN_TIERS)
    assert gemini.title == "OpenHands with Gemini 2.5 Pro"
    assert gemini.low is not None
    assert gemini.high is not None
    assert gemini.high_share is not None
    assert (round(gemini.low, 4), gemini.printed, round(gemini.high, 4)) == (D("1.3028"), D("2.18"), D("2.4298"))
    assert round(gemini.high_share, 2) == D("0.78")


@pytest.mark.parametrize(
    ("title", "computed"),
    [
        ("OpenHands with GPT-4o", "1.9412"),
        ("OpenHands with Claude 3.5", "8.9479"),
        ("OpenHands with Claude 3.7", "29.7792"),
        ("OpenHands with DeepSeek V3", "1.3090"),
        ("OpenHands with o3-mini", "3.5839"),
    ],
)
def test_computed_costs(title: str, computed: str) -> None:
    (check,) = (check for check in check_costs(RUNS.row, PRICES) if check.title == title)
    assert check.low is not None
    assert check.low == check.high
    assert round(check.low, 4) == D(computed)


def test_a_cost_without_a_price_or_off_its_only_price_never_follows() -> None:
    run = next(row for row in RUNS.row if row.title == "OpenHands with GPT-4o")
    assert run.cost is not None
    (unpriced,) = check_costs([run], ())
    assert (unpriced.status, unpriced.low, unpriced.high_share) == (CostStatus.NO_PRICE, None, None)
    for factor, status in (("1.002", CostStatus.FOLLOWS), ("1.01", CostStatus.DIFFERS), ("0.99", CostStatus.DIFFERS)):
        (check,) = check_costs([run.model_copy(update={"cost": run.cost * D(factor)})], PRICES)
        assert check.status is status, factor


def test_costs_of_table_7_and_what_is_missing_to_recompute_them() -> None:
    assert [str(row.computed_cost) for row in SWEEP.row] == [
        "0.676", "1.941", "2.647", "6.520", "2.671", "3.958", "4.097",
    ]  # fmt: skip
    status = [check.status for check in check_sweep_costs(SWEEP.row, "GPT-4o", PRICES)]
    assert status[1] is CostStatus.FOLLOWS
    assert status.count(CostStatus.NO_TOKENS) == 6
    assert "tokens of the other six rows" in SWEEP.table.missing


def test_rates_of_table_3_are_counts_but_for_four_misprints() -> None:
    checks = check_rates(rates_of_runs(RUNS.row), 54)
    assert len(checks) == 50
    assert {
        str(check.percent): (check.k * 108 // check.of, str(check.printed)) for check in checks if not check.holds
    } == {
        "17.58": (19, "17.59"),
        "22.23": (24, "22.22"),
        "25.83": (28, "25.93"),
        "14.82": (16, "14.81"),
    }
    # Were these averages of two independent runs, half of them would have an odd count over 108.
    assert sum(check.of == 108 for check in checks) == 7


def test_rates_of_table_7_repeat_one_of_the_misprints() -> None:
    assert [check.percent for check in check_rates(rates_of_sweep(SWEEP.row), 54) if not check.holds] == [D("14.82")]


@pytest.mark.parametrize(
    ("title", "k", "of"),
    [
        ("OpenHands with Claude 3.7, ECR", 39, 54),
        ("OpenHands with Claude 3.7, TPR", 26, 54),
        ("OpenHands with GPT-4.1, ECR", 30, 54),
        ("OpenHands with GPT-4.1, TPR", 23, 54),
        ("OpenHands with DeepSeek V3, ECR", 49, 108),
        ("OpenHands with DeepSeek V3, TPR", 29, 108),
    ],
)
def test_counts_behind_rates(title: str, k: int, of: int) -> None:
    (check,) = (check for check in check_rates(rates_of_runs(RUNS.row), 54) if check.title == title)
    assert (check.k, check.of, check.holds) == (k, of, True)


@given(st.integers(1, 200), st.data())
def test_a_rate_that_was_counted_always_holds(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, 2 * n))
    printed = round(D(100 * k) / (2 * n), 4)
    (check,) = check_rates([("x", printed)], n)
    assert check.holds
    assert D(check.k) / check.of == D(k) / (2 * n)


def test_rates_of_impossible_runs_are_refused() -> None:
    with pytest.raises(ValueError, match="impossible"):
        check_rates([], 0)
    with pytest.raises(ValueError, match="impossible"):
        check_rates([], 54, 0)


def test_the_leaderboard_cuts_two_of_its_own_rates_off() -> None:
    rows = PAPER.read("gittaskbench-leaderboard", RunFigures).row
    off = [check for check in check_rates(rates_of_runs(rows), 54) if not check.holds]
    assert [(str(check.percent), check.k, check.of) for check in off] == [("48.14", 26, 54), ("75.92", 41, 54)]


def test_the_share_of_setup_failures_is_80_of_123() -> None:
    e1 = PAPER.read("gittaskbench-figure-07", ErrorShare).row[0]
    assert (e1.class_, smallest_fraction(str(e1.percent))) == ("E1", (80, 123))


@pytest.mark.parametrize(
    ("model", "total", "mean", "task_total", "task_mean", "positive", "best_on", "top_1", "top_3"),
    [
        ("DeepSeek V3", "194.422", "10.801", "425.342", "7.877", 11, 7, ".491", ".830"),
        ("GPT-4.1", "258.334", "14.352", "641.766", "11.885", 14, 9, ".335", ".549"),
        ("Claude 3.5", "111.374", "6.187", "353.190", "6.541", 12, 2, ".231", ".658"),
    ],
)
def test_aggregates_of_table_10(  # one argument for each published aggregate
    model: str,
    total: str,
    mean: str,
    task_total: str,
    task_mean: str,
    positive: int,
    best_on: int,
    top_1: str,
    top_3: str,
) -> None:
    found = aggregate(ALPHAS.row)[model]
    figures = (found.total, round(found.mean, 3), found.task_total, round(found.task_mean, 3))
    assert figures == tuple(map(D, (total, mean, task_total, task_mean)))
    assert (found.positive, found.best_on, found.repositories, found.tasks) == (positive, best_on, 18, 54)
    shares = found.curve.top(1), found.curve.top(3)
    assert [share and round(share, 3) for share in shares] == [D(top_1), D(top_3)]


def test_aggregates_need_the_same_models_in_every_row() -> None:
    with pytest.raises(ValueError, match="same models"):
        aggregate([])
    with pytest.raises(ValueError, match="same models"):
        aggregate([*ALPHAS.row, AlphaFigures(repository="x", n=1, alpha={"GPT-4.1": D(1)})])


def test_values_of_subdomains_break_the_ceiling_of_pypdf2_alone() -> None:
    values = task_values(
        PAPER.read("gittaskbench-table-04", Subdomain).row, PAPER.read("gittaskbench-table-09", SubdomainValue).row
    )
    assert (len(values), sum(values.values())) == (54, D("1460.01"))
    broken = broken_ceilings(ALPHAS.row, values)
    assert set(broken) == {("PyPDF2", "DeepSeek V3"), ("PyPDF2", "Claude 3.5")}
    assert round(broken["PyPDF2", "DeepSeek V3"].mean_value, 3) == D("7.083")
    # With values of single tasks that the subdomains' uneven means suggest, nothing is impossible.
    values |= {"PyPDF2_01": D(10), "PyPDF2_02": D(5), "PyPDF2_03": D(10)}
    assert broken_ceilings(ALPHAS.row, values) == {}


def test_uneven_values_are_the_rounded_means_of_their_parts() -> None:
    rows = [row for row in PAPER.read("gittaskbench-table-09", SubdomainValue).row if row.parts]
    assert len(rows) == 3
    assert all((sum(row.parts, D(0)) / len(row.parts)).quantize(row.value) == row.value for row in rows)


def test_the_suite_that_ships_has_the_published_values_and_ranges() -> None:
    published = {(row.domain, row.subdomain): row for row in PAPER.read("gittaskbench-table-09", SubdomainValue).row}
    folder = files("repoassay.benchmarks.gittaskbench").joinpath("suite", "tasks")
    for row in PAPER.read("gittaskbench-table-04", Subdomain).row:
        figures = published[row.domain, row.subdomain]
        for task in row.tasks:
            text = folder.joinpath(task, "task.toml").read_text("utf-8")
            shipped = tomllib.loads(text, parse_float=Decimal)["economics"]
            # Without a printed range the suite's is the value itself.
            low, high = figures.low or figures.value, figures.high or figures.value
            assert [D(str(shipped[name])) for name in ("value", "low", "high")] == [figures.value, low, high], task


def test_counts_of_table_4() -> None:
    rows = PAPER.read("gittaskbench-table-04", Subdomain).row
    tasks = [task for row in rows for task in row.tasks]
    assert (len(rows), len({row.subdomain for row in rows}), len(tasks), len(set(tasks))) == (24, 23, 54, 54)
    counts: Counter[str] = Counter()
    for row in rows:
        counts[row.domain] += len(row.tasks)
    assert list(counts.values()) == [16, 3, 8, 3, 9, 6, 9]
    repositories = Counter(task.rpartition("_")[0] for task in tasks)
    assert repositories == {row.repository: row.n for row in ALPHAS.row}


def test_text_and_table_contradict_each_other_on_repository_sizes() -> None:
    sizes = {(row.repository, row.measure): row.value for row in PAPER.read("gittaskbench-table-05", SizeFigure).row}
    assert sizes["Scrapy", "classes"] > 1130
    assert sizes["Faker", "files"] < 1000
    assert sizes["Scrapy", "internal calls"] < 40_000
    assert len(PAPER.read("gittaskbench-table-02", MeanFigure).row) == 8


def test_shares_of_classes_sum_to_the_whole_and_are_fractions_of_few_failures() -> None:
    bars: dict[tuple[str, str], list[Decimal]] = {}
    for row in PAPER.read("gittaskbench-figure-07", ErrorShare).row[1:]:
        bars.setdefault((row.framework, row.model), []).append(row.percent)
    assert len(bars.pop(("", ""))) == 4
    assert len(bars) == 8
    for shares in bars.values():
        assert abs(sum(shares, D(0)) - 100) <= D("0.01")
        # Every bar is a whole number of failures in each class, of at most 108 attempts.
        assert any(all(_is_count(share, n) for share in shares) for n in range(1, 109)), shares


def _is_count(percent: Decimal, n: int) -> bool:
    return abs(percent - D(round(percent * n / 100) * 100) / n) < D("0.05")


def test_ranges_of_table_2_hold_the_means() -> None:
    rows = [row for row in PAPER.read("gittaskbench-table-02", MeanFigure).row if row.low is not None]
    assert len(rows) == 7
    assert all(row.low is not None and row.high is not None and row.low < row.mean < row.high for row in rows)
