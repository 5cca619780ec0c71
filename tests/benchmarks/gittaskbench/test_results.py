"""A results folder: only known tasks count, and all that does not is listed with its reason."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from repoassay.benchmarks.gittaskbench.formats import ResultRecord, Results, append_record, read_results
from repoassay.errors import BadInput

TASKS = ["Faker_02", "Faker_01", "Scrapy_03"]
PASS = ResultRecord(True, True)


def reasons(found: Results) -> dict[str, str]:
    return {item.name: item.reason for item in found.skipped}


def test_folders_without_a_record_and_stray_files_are_no_successes(tmp_path: Path) -> None:
    append_record(tmp_path, "Faker_01", PASS)
    append_record(tmp_path, "Faker_99", PASS)
    (tmp_path / "Faker_02").mkdir()
    (tmp_path / "notes.txt").write_text("")
    found = read_results(tmp_path, TASKS)
    assert found.tasks == ("Faker_01", "Faker_02", "Scrapy_03")
    assert found.process(True) == found.result(True) == ("Faker_01",)
    assert found.missing == ("Faker_02", "Scrapy_03")
    assert reasons(found) == {
        "Faker_02/results.jsonl": "is missing",
        "Faker_99": "is not the id of a task",
        "notes.txt": "is no folder of a task",
    }


def test_the_singular_name_counts_only_alone(tmp_path: Path) -> None:
    (tmp_path / "Faker_01").mkdir()
    (tmp_path / "Faker_01/result.jsonl").write_text(PASS.to_line())
    assert read_results(tmp_path, TASKS).process(True) == ("Faker_01",)
    (tmp_path / "Faker_01/results.jsonl").write_text('{"Process": tr')
    found = read_results(tmp_path, TASKS)
    assert found.records == {}
    assert "line 1" in reasons(found)["Faker_01/results.jsonl"]
    assert "not read" in reasons(found)["Faker_01/result.jsonl"]


def test_the_last_readable_record_counts(tmp_path: Path) -> None:
    append_record(tmp_path, "Faker_01", PASS)
    path = append_record(tmp_path, "Faker_01", ResultRecord(True, False))
    with path.open("a") as stream:
        stream.write('{"Process": true, "Res')
    found = read_results(tmp_path, TASKS)
    assert found.records["Faker_01"] == ResultRecord(True, False)
    assert reasons(found) == {"Faker_01/results.jsonl": "has no readable record in line 3"}


@pytest.mark.parametrize("kind", ["link", "folder link", "pipe", "folder", "empty", "huge"])
def test_what_cannot_be_read_is_told_and_not_followed(tmp_path: Path, kind: str) -> None:
    elsewhere = append_record(tmp_path / "elsewhere", "Faker_01", PASS)
    folder = tmp_path / "results/Faker_01"
    folder.parent.mkdir()
    file = folder / "results.jsonl"
    if kind == "folder link":
        folder.symlink_to(elsewhere.parent)
    else:
        folder.mkdir()
    if kind == "link":
        file.symlink_to(elsewhere)
    elif kind == "pipe":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    elif kind == "empty":
        file.write_text("\n")
    elif kind == "huge":
        with file.open("wb") as stream:
            stream.truncate(2**30)
    found = read_results(tmp_path / "results", TASKS)
    assert found.records == {}
    assert len(found.skipped) == 1


def test_no_folder_is_a_sentence(tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere", Path(__file__)):
        with pytest.raises(BadInput, match="cannot be read"):
            read_results(path, TASKS)
