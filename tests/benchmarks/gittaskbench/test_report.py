"""Reports: the published ones come out again from their own lists, and what we write we can read."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from repoassay.benchmarks.gittaskbench.formats import (
    PublishedReport,
    ResultRecord,
    Results,
    Skipped,
    append_record,
    read_report,
    read_results,
    render_report,
    write_report,
)
from repoassay.errors import BadInput
from repoassay.tasks.suite_location import locate
from shared_data import SHARED, needs_shared

TASKS = tuple(sorted(folder.name for folder in locate("gittaskbench").folders))
AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
PUBLISHED = {
    "30iters": (44.44, 33.33),
    "20min": (46.30, 35.19),
    "30min": (50.00, 35.19),
    "70iters": (50.00, 33.33),
    "100iters": (53.70, 37.04),
}


def test_the_suite_has_54_tasks() -> None:
    assert len(TASKS) == 54


def folder_of(report: PublishedReport, place: Path) -> Path:
    for task in {*report.process_success, *report.process_failed, *report.result_success, *report.result_failed}:
        append_record(place, task, ResultRecord(task in report.process_success, task in report.result_success))
    return place


@needs_shared
@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_report_comes_out_again(tmp_path: Path, name: str) -> None:
    published = read_report(SHARED / f"data/test_reports/evaluation_report_openhands_gpt4o_{name}.txt")
    assert (published.process_rate, published.result_rate) == PUBLISHED[name]
    found = read_results(folder_of(published, tmp_path / "results"), TASKS)
    path = tmp_path / "report.txt"
    path.write_text(render_report(found, AT))
    ours = read_report(path)
    assert (ours.total, ours.process_rate, ours.result_rate) == (54, *PUBLISHED[name])
    for mine, theirs in (
        (ours.process_success, published.process_success),
        (ours.result_success, published.result_success),
        (ours.process_failed, published.process_failed),
        (ours.result_failed, published.result_failed),
    ):
        assert mine == tuple(sorted(theirs))


@needs_shared
def test_the_published_records_are_counted() -> None:
    # Read one by one: of the 43, Process is false in 8 (six of them for faults of the machine). Of the other 35, Result
    # is false in 12. Three of the 23 passes are the string "True", and Scrapy_03 has its pass under `Results`.
    found = read_results(SHARED / "data/test_results_for_show", TASKS)
    assert (len(found.records), len(found.missing)) == (43, 11)
    assert (len(found.process(True)), len(found.process(False))) == (35, 8)
    assert (len(found.result(True)), len(found.result(False))) == (23, 20)
    both = set(found.process(True)) & set(found.result(False))
    assert len(both) == 12
    assert {"Stegano_01", "Stegano_03", "StyleTransfer_02", "Scrapy_03"} <= set(found.result(True))
    assert found.skipped == ()
    text = render_report(found, AT)
    assert "Process Success Rate: 64.81%" in text  # 35 of 54
    assert "Result Success Rate: 42.59%" in text  # 23 of 54
    assert "Process Success Rate over recorded tasks: 81.40% (35 of 43)" in text
    assert "Result Success Rate over recorded tasks: 53.49% (23 of 43)" in text


def test_a_report_as_text(tmp_path: Path) -> None:
    records = {
        "A_01": ResultRecord(True, True),
        "A_02": ResultRecord(True, False),
        "A_03": ResultRecord(None, None),
    }
    found = Results(tmp_path, ("A_01", "A_02", "A_03", "A_04", "A_05"), records, (Skipped("x\x1b[2J", "is odd"),))
    text = render_report(found, AT)
    for line in (
        "Generated on: 2026-01-02 03:04:05 UTC",
        "Total number of tasks: 5",
        "Recorded: 3, Missing: 2",
        "Process - True: 2, False: 0, Unknown: 1",
        "Result - True: 1, False: 1, Unknown: 1",
        "Process Success Rate: 40.00%",
        "Result Success Rate: 20.00%",
        "Process Success Rate over recorded tasks: 100.00% (2 of 2)",
        "Result Success Rate over recorded tasks: 50.00% (1 of 2)",
        "## Result Unknown Tasks (1)",
        "## Missing Tasks (2)",
        "- A_05",
        "- x\\x1b[2J: is odd",
    ):
        assert line in text.splitlines()


TRUTHS = st.sampled_from([True, False, None])


@given(st.dictionaries(st.sampled_from(TASKS), st.builds(ResultRecord, TRUTHS, TRUTHS)))
def test_what_is_rendered_can_be_read_and_adds_up(
    tmp_path_factory: pytest.TempPathFactory, records: dict[str, ResultRecord]
) -> None:
    found = Results(Path("results"), TASKS, dict(sorted(records.items())), ())
    path = tmp_path_factory.getbasetemp() / "report.txt"
    path.write_text(render_report(found, AT))
    report = read_report(path)
    assert report.total == 54
    assert report.process_rate == round(100 * len(found.process(True)) / 54, 2)
    assert report.result_success == found.result(True)
    assert report.process_failed == found.process(False)
    parts = (found.process(True), found.process(False), found.process(None), found.missing)
    assert sorted(task for part in parts for task in part) == list(TASKS)


def test_reports_are_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "deep/report.txt"
    assert write_report("one", path, exactly=True) == path
    with pytest.raises(BadInput, match="already exists"):
        write_report("two", path, exactly=True)
    assert write_report("two", path, exactly=False) == path.with_name("report_2.txt")
    assert write_report("three", path, exactly=False) == path.with_name("report_3.txt")
    assert path.read_text() == "one"
    with pytest.raises(BadInput, match="cannot be written"):
        write_report("four", path / "below", exactly=False)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "no evaluation report"),
        ("Total number of tasks: 54\nProcess Success Rate: 1.00%\n", "no evaluation report"),
        (
            "Total number of tasks: 54\nProcess Success Rate: 1.85%\nResult Success Rate: 0.00%\n"
            "## Process Success Tasks (2)\n- Faker_01\n",
            "has 1 entries",
        ),
    ],
)
def test_what_is_no_report(tmp_path: Path, text: str, what: str) -> None:
    path = tmp_path / "report.txt"
    path.write_text(text)
    with pytest.raises(BadInput, match=what):
        read_report(path)
    with pytest.raises(BadInput, match="cannot be read"):
        read_report(tmp_path / "nowhere.txt")
