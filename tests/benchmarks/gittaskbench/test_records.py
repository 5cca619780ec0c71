"""Records: every published form is read, ours comes back as it was written, and an older pass never stays last."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st

from repoassay.benchmarks.gittaskbench.formats import (
    Recording,
    ResultRecord,
    append_record,
    parse_record,
    read_records,
    read_results,
)
from repoassay.errors import BadInput, InfraFault
from shared_data import SHARED, needs_shared

PASS = ResultRecord(True, True, "2025-07-18T21:46:22", "fine")
TRUTHS = st.sampled_from([True, False, None])
RECORDS = st.builds(
    ResultRecord,
    TRUTHS,
    TRUTHS,
    st.text(max_size=30),
    st.text(st.characters(codec=None, categories=None), max_size=60),
)
SPOKEN = {
    True: ["true", '"True"', '"true"', '" TRUE "'],
    False: ["false", '"False"', '"false"'],
    None: ["null"],
}
# What may lie in a file before a grading: junk, halves of records, link-free garbage of any kind, passes.
EARLIER = st.lists(
    st.one_of(st.binary(max_size=30), RECORDS.map(lambda record: record.to_line().encode() + b"\n"), st.just(b"\n")),
    max_size=6,
).map(b"".join)


@given(RECORDS)
@example(ResultRecord(True, None, "", "line\nline\u2028\x85\ud800\x00"))
def test_a_record_comes_back_as_it_was_written(record: ResultRecord) -> None:
    line = record.to_line()
    assert len(line.splitlines()) == 1
    assert line.isascii()
    assert parse_record(line) == record
    assert set(json.loads(line)) == {"Process", "Result", "TimePoint", "comments"}


@given(TRUTHS, TRUTHS, st.data())
def test_every_published_spelling_is_read(process: bool | None, result: bool | None, data: st.DataObject) -> None:
    def draw(options: list[str]) -> str:
        return data.draw(st.sampled_from(options))

    pairs = [
        f'"{draw(["Process", "process", "PROCESS"])}": {draw(SPOKEN[process])}',
        f'"{draw(["Result", "Results", "result", "results"])}": {draw(SPOKEN[result])}',
        f'"{draw(["TimePoint", "timepoint", "Timepoint"])}": "2025-07-18T21:46:22"',
        f'"{draw(["comments", "Comments", "Comment"])}": "said"',
        '"extra": [1, {}]',
    ]
    line = draw(["", "\ufeff", "  "]) + "{" + ", ".join(data.draw(st.permutations(pairs))) + "}" + draw(["", "\r", " "])
    assert parse_record(line) == ResultRecord(process, result, "2025-07-18T21:46:22", "said")


@pytest.mark.parametrize(
    "line",
    [
        "", "null", "[]", "{}", '"Process"', "{'Process': True}", '{"Process": true', '{"Process": "yes"}',
        '{"Process": 1}', '{"Process": 0.0, "Result": true}', '{"Result": []}', '{"TimePoint": "now"}', "[" * 100_000,
        '{"Process": ' + "9" * 10_000 + "}",
    ],
)  # fmt: skip
def test_what_is_no_record(line: str) -> None:
    with pytest.raises(ValueError):
        parse_record(line)


def test_two_spellings_pass_together_or_not_at_all() -> None:
    assert parse_record('{"Process": true, "Result": true, "Results": "False"}').result is False
    assert parse_record('{"Process": true, "Results": true, "Result": null}').result is None
    assert parse_record('{"Process": true, "Results": true, "Result": "True"}').result is True
    assert parse_record('{"Process": true}') == ResultRecord(True, None)


def test_comments_of_any_kind_are_text() -> None:
    record = parse_record('{"Process": true, "Result": true, "comments": [{"field": "Title"}], "Comments": "more"}')
    assert record.comments == '[{"field": "Title"}]\nmore'
    assert parse_record('{"Process": true, "comments": null}').comments == ""


def test_a_file_with_mark_blank_lines_and_a_torn_end(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    first = '{"Process": true, "Result": "False"}'
    path.write_bytes(f"\ufeff{first}\r\n\n  \n\xff\n{PASS.to_line()}\n".encode("latin-1", "ignore") + b'{"Process": tr')
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    read = read_records(path)
    assert read.records == (ResultRecord(True, False), PASS)
    assert read.unread == (4, 6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(earlier=EARLIER, records=st.lists(RECORDS, min_size=1, max_size=3))
def test_after_any_grading_the_last_record_is_its_own(
    tmp_path_factory: pytest.TempPathFactory, earlier: bytes, records: list[ResultRecord]
) -> None:
    folder = tmp_path_factory.mktemp("results")
    (folder / "Faker_01").mkdir()
    (folder / "Faker_01/results.jsonl").write_bytes(earlier)
    (folder / "Faker_01/result.jsonl").write_text(PASS.to_line())
    for record in records:
        append_record(folder, "Faker_01", record)
        assert read_results(folder, ["Faker_01"]).records["Faker_01"] == record
    assert (folder / "Faker_01/results.jsonl").read_bytes().startswith(earlier)


@pytest.mark.parametrize("error", [None, KeyboardInterrupt(), InfraFault("The sandbox is gone."), RuntimeError("x")])
def test_a_grading_that_ends_early_leaves_no_older_pass(tmp_path: Path, error: BaseException | None) -> None:
    tasks = ["Faker_01", "Faker_02", "Faker_03"]
    for task in tasks:
        append_record(tmp_path, task, PASS)

    def grade() -> None:
        with Recording(tmp_path, tasks) as recording:
            recording.add("Faker_02", PASS)
            if error is not None:
                raise error

    if error is None:
        grade()
    else:
        with pytest.raises(type(error)):
            grade()
    found = read_results(tmp_path, tasks)
    assert found.process(True) == found.result(True) == ("Faker_02",)
    assert found.process(None) == found.result(None) == ("Faker_01", "Faker_03")
    assert found.records["Faker_01"].comments.startswith("Not judged: ")


def test_gradings_at_once_do_not_tear_each_other(tmp_path: Path) -> None:
    records = [ResultRecord(True, False, "", f"{number} " * 2000) for number in range(40)]
    threads = [threading.Thread(target=append_record, args=(tmp_path, "Faker_01", record)) for record in records]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    read = read_records(tmp_path / "Faker_01/results.jsonl")
    assert read.unread == ()
    assert sorted(record.comments for record in read.records) == sorted(record.comments for record in records)


def test_an_endless_comment_is_cut(tmp_path: Path) -> None:
    path = append_record(tmp_path, "Faker_01", ResultRecord(True, True, "", "x" * 10**6))
    assert path.stat().st_size < 30_000


@pytest.mark.parametrize("where", ["file", "folder", "pipe", "occupied", "parent"])
def test_records_are_never_written_through_links_or_into_pipes(tmp_path: Path, where: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    results = tmp_path / "results"
    results.mkdir()
    if where == "folder":
        (results / "Faker_01").symlink_to(tmp_path / "elsewhere")
    elif where == "occupied":
        (results / "Faker_01").write_text("")
    elif where == "parent":
        results = results / "file"
        results.write_text("")
    else:
        (results / "Faker_01").mkdir()
        if where == "pipe":
            os.mkfifo(results / "Faker_01/results.jsonl")
        else:
            (results / "Faker_01/results.jsonl").symlink_to(tmp_path / "elsewhere/stolen")
    with pytest.raises(BadInput, match="Faker_01"):
        append_record(results, "Faker_01", PASS)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_results_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="cannot be made"), Recording(tmp_path / "file/results", ["Faker_01"]):
        raise AssertionError("graded although nothing could be recorded")


@needs_shared
def test_every_published_record_is_read() -> None:
    files = sorted((SHARED / "data/test_results_for_show").glob("*/results.jsonl"))
    assert len(files) == 43
    for path in files:
        read = read_records(path)
        assert read.unread == ()
        assert read.records[-1].process is not None
        assert read.records[-1].result is not None
        assert read.records[-1].time_point.startswith("2025-")
