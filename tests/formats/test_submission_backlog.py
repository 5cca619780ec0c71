"""What is left of a file of submissions, with its results and their index: right however often, and in flat memory."""

from __future__ import annotations

import json
import sqlite3
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from repoassay.errors import BadInput
from repoassay.formats import (
    PatchSubmission,
    ResultLog,
    SubmissionBacklog,
    SubmissionReader,
    json_records as json_module,
    read_results,
    result_index as index_module,
    results as results_module,
    submission_backlog as backlog_module,
)
from repoassay.records import index_path


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a cache of its own, and marks so close that few submissions have many."""
    monkeypatch.setenv("REPOASSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(backlog_module, "_MARKED", 3)
    return tmp_path


def lines(numbers: Iterator[int] | range, patch: str = "patch {}") -> str:
    return "".join(json.dumps({"id": f"t{n % 3}", "patch": patch.format(n)}) + "\n" for n in numbers)


def checked(name: str) -> None:
    if not name.startswith("t"):
        raise BadInput(f"no task {name}")


def result(each: PatchSubmission, message: str = "FAIL") -> dict[str, object]:
    return {"id": each.id, "number": each.number, "message": message, "patch_sha256": each.sha256}


def work(place: Path, most: int = 1_000_000, word: Callable[[PatchSubmission], str] = lambda each: "FAIL") -> list[str]:
    """Do what `submit` does, at most so much of it; returns the patches that were handed out."""
    done: list[str] = []
    with ResultLog(place / "r.jsonl") as kept:
        backlog = SubmissionBacklog(place / "s.jsonl", kept, checked)
        kept.prepare()
        for each in backlog:
            if len(done) == most:
                break
            done.append(each.patch)
            kept.add(result(each, word(each)))
            backlog.graded(word(each))
        backlog.note()
    return done


def known(place: Path) -> int:
    """How many submissions are noted to have results."""
    with ResultLog(place / "r.jsonl") as kept:
        mark = kept.answered(place / "s.jsonl")
        return mark.count if mark is not None else 0


def patches(numbers: range) -> list[str]:
    return [f"patch {n}" for n in numbers]


def test_each_submission_is_handed_out_once_over_many_calls(place: Path) -> None:
    (place / "s.jsonl").write_text(lines(range(20)))
    assert work(place, most=7) == patches(range(7))
    assert known(place) == 6  # the last mark at or before the seventh
    assert work(place, most=5) == patches(range(7, 12))
    assert work(place) == patches(range(12, 20))
    assert known(place) == 20
    assert work(place) == []
    assert [one["number"] for one in read_results(place / "r.jsonl")] == [n // 3 for n in range(20)]


def test_what_is_known_to_have_results_is_not_parsed_again(place: Path) -> None:
    (place / "s.jsonl").write_text(lines(range(20)))
    work(place)
    with ResultLog(place / "r.jsonl") as kept:
        mark = kept.answered(place / "s.jsonl")
        reader = SubmissionReader(place / "s.jsonl", mark)
        assert (list(reader), reader.count, sorted(reader.ids)) == ([], 20, ["t0", "t1", "t2"])
        with pytest.raises(BadInput, match="no task t0"):  # tasks may be others than before
            SubmissionBacklog(place / "s.jsonl", kept, lambda name: checked("x") if name != "t0" else no_task(name))


def no_task(name: str) -> None:
    raise BadInput(f"no task {name}")


def test_submissions_added_later_are_numbered_on(place: Path) -> None:
    (place / "s.jsonl").write_text(lines(range(9)).removesuffix("\n"))
    work(place)
    (place / "s.jsonl").write_text(lines(range(12)))
    assert work(place) == patches(range(9, 12))
    assert [one["number"] for one in read_results(place / "r.jsonl")][9:] == [3, 3, 3]


def test_a_torn_last_result_is_made_again(place: Path) -> None:
    (place / "s.jsonl").write_text(lines(range(9)))
    work(place)
    results = place / "r.jsonl"
    results.write_bytes(results.read_bytes()[:-4])
    assert work(place) == ["patch 8"]
    assert len(list(read_results(results))) == 9


def test_other_patches_are_refused_whatever_was_known(place: Path) -> None:
    (place / "s.jsonl").write_text(lines(range(9)))
    work(place)
    (place / "s.jsonl").write_text(lines(range(9)).replace("patch 4", "patch !"))
    with pytest.raises(BadInput, match="another patch for 't1', number 1"):
        work(place)
    (place / "s.jsonl").write_text(lines(range(9)))
    with (place / "r.jsonl").open("a") as stream:  # another process judged another patch; the last result counts
        stream.write(json.dumps({"id": "t1", "number": 1, "message": "PASS", "patch_sha256": "00"}) + "\n")
    with pytest.raises(BadInput, match="another patch for 't1', number 1"):
        work(place)


def test_faults_of_ours_are_tried_again_and_nothing_else(place: Path) -> None:
    (place / "s.jsonl").write_text(lines(range(12)))
    work(place, word=lambda each: "ERROR" if each.patch in ("patch 4", "patch 11") else "FAIL")
    assert known(place) == 3
    assert work(place) == ["patch 4", "patch 11"]
    assert known(place) == 12


def test_two_processes_at_once_see_what_the_other_added(place: Path) -> None:
    (place / "s.jsonl").write_text(lines(range(6)))
    (first, second) = (ResultLog(place / "r.jsonl") for _ in range(2))
    submissions = list(SubmissionReader(place / "s.jsonl"))
    with first, second:
        for number, each in enumerate(submissions):
            (first, second)[number % 2].add(result(each))
        first.note(place / "s.jsonl", None)
        second.note(place / "s.jsonl", None)
        for log in (first, second):
            assert all(log.has(each.id, each.number, each.sha256) for each in submissions)
            assert log.counts == {"FAIL": 6}
    assert work(place) == []


def damage(path: Path) -> None:
    path.write_bytes(b"no database" * 1000)


def tear(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def newer(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
        connection.execute("DELETE FROM results")


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def unusable(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "in the way").touch()


@pytest.mark.parametrize("change", [Path.unlink, damage, tear, newer, emptied, unusable])
def test_an_index_that_does_not_fit_is_made_anew(place: Path, change: Callable[[Path], None]) -> None:
    (place / "s.jsonl").write_text(lines(range(300)))
    work(place, most=290)
    change(index_path("results", place / "r.jsonl"))
    assert work(place) == patches(range(290, 300))
    assert known(place) == 300


def test_results_of_another_file_in_its_place_are_read_anew(place: Path) -> None:
    (place / "s.jsonl").write_text(lines(range(9)))
    work(place)
    whole = (place / "r.jsonl").read_text().splitlines(keepends=True)
    (place / "r.jsonl").write_text("".join(whole[1:]))
    assert work(place) == ["patch 0"]
    changed = (place / "r.jsonl").read_text().replace('"number": 1', '"number": 7', 1)  # of the same size
    (place / "r.jsonl").write_text(changed)
    assert len(work(place)) == 1


def test_without_a_cache_results_are_kept_all_the_same(place: Path) -> None:
    (place / "cache").write_text("a file")
    (place / "s.jsonl").write_text(lines(range(9)))
    assert work(place, most=4) == patches(range(4))
    assert work(place) == patches(range(4, 9))


def test_an_index_beside_the_results_is_not_looked_at(place: Path) -> None:
    """Somebody who sends results cannot send an index with them: it lies in this account's cache alone."""
    (place / "s.jsonl").write_text(lines(range(9)))
    work(place)
    assert index_path("results", place / "r.jsonl").is_relative_to(place / "cache")
    assert {item.name for item in place.iterdir()} == {"cache", "r.jsonl", "s.jsonl"}


def lines_read(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How many lines of either file are parsed from now on."""
    parsed: Counter[str] = Counter()
    read, parse = results_module._read_result, json_module.parse_json

    def read_result(line: bytes) -> dict[str, Any]:
        parsed["results"] += 1
        return read(line)

    def parse_json(line: bytes | str) -> object:
        parsed["submissions"] += 1
        return parse(line)

    monkeypatch.setattr(results_module, "_read_result", read_result)
    monkeypatch.setattr(json_module, "parse_json", parse_json)
    return parsed


def interrupted(place: Path, count: int) -> None:
    """Judge so many, as a process that is killed before it can note anything more."""
    with ResultLog(place / "r.jsonl") as kept:
        kept.prepare()
        for _, each in zip(range(count), SubmissionBacklog(place / "s.jsonl", kept, checked), strict=False):
            kept.add(result(each))


def test_after_a_kill_the_first_is_handed_out_before_the_rest_is_parsed(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / "s.jsonl").write_text(lines(range(2000)))
    work(place, most=900)
    interrupted(place, 10)
    parsed = lines_read(monkeypatch)
    with ResultLog(place / "r.jsonl") as kept:
        backlog = SubmissionBacklog(place / "s.jsonl", kept, checked)
        assert (backlog.count, backlog.left) == (2000, 1090)
        assert next(iter(backlog)).patch == "patch 910"
    assert parsed["submissions"] < 20
    assert parsed["results"] == 10
    assert work(place) == patches(range(910, 2000))
    assert [one["number"] for one in read_results(place / "r.jsonl")] == [n // 3 for n in range(2000)]


def test_a_result_of_another_patch_that_came_later_is_found_in_its_turn(place: Path) -> None:
    (place / "s.jsonl").write_text(lines(range(20)))
    work(place, most=5)
    with (place / "r.jsonl").open("a") as stream:  # another process judged another patch that had no result yet
        stream.write(json.dumps({"id": "t1", "number": 4, "message": "PASS", "patch_sha256": "00"}) + "\n")
    for _ in range(2):
        with pytest.raises(BadInput, match="another patch for 't1', number 4"):
            work(place)
    results = [one for one in read_results(place / "r.jsonl") if one["patch_sha256"] != "00"]
    (place / "r.jsonl").write_text("".join(json.dumps(one) + "\n" for one in results))
    assert work(place) == patches(range(13, 20))


def test_even_one_that_is_the_last_without_a_result_is_found(place: Path) -> None:
    (place / "s.jsonl").write_text(lines(range(6)))
    work(place, most=5)
    with (place / "r.jsonl").open("a") as stream:
        stream.write(json.dumps({"id": "t2", "number": 1, "message": "PASS", "patch_sha256": "00"}) + "\n")
    with pytest.raises(BadInput, match="another patch for 't2', number 1"):
        work(place)


@pytest.mark.parametrize("cut", [1, 30, 2500, 60_000])
def test_of_results_whose_end_is_cut_off_only_the_end_is_read_again(
    place: Path, monkeypatch: pytest.MonkeyPatch, cut: int
) -> None:
    monkeypatch.setattr(index_module, "_STEP", 10)
    (place / "s.jsonl").write_text(lines(range(1000)))
    assert len(work(place, most=500)) == 500  # the index takes these in when it is opened again
    index_path("results", place / "r.jsonl").unlink()
    work(place)
    results = place / "r.jsonl"
    results.write_bytes(results.read_bytes()[:-cut])
    gone = 1000 - results.read_bytes().count(b"\n")
    parsed = lines_read(monkeypatch)
    with ResultLog(results) as kept:
        assert kept.counts == {"FAIL": 1000 - gone}
    assert parsed["results"] <= 4 * (gone + 10)
    assert work(place) == patches(range(1000 - gone, 1000))
    assert len(list(read_results(results))) == 1000
    assert known(place) == 1000


@pytest.mark.exhaustive
def test_memory_is_flat_in_the_number_of_submissions(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backlog_module, "_MARKED", 500)

    def peak(count: int, folder: Path) -> int:
        folder.mkdir()
        (folder / "s.jsonl").write_text(lines(range(count)))
        tracemalloc.start()
        work_without_a_list(folder)
        assert work_without_a_list(folder) == 0
        assert sum(1 for _ in read_results(folder / "r.jsonl")) == count
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(100, place / "warm")
    few, many = peak(1_000, place / "few"), peak(10_000, place / "many")
    assert many < few + 9_000 * 20  # 1.9 KB each, when results were held


def work_without_a_list(place: Path) -> int:
    count = 0
    with ResultLog(place / "r.jsonl") as kept:
        backlog = SubmissionBacklog(place / "s.jsonl", kept, checked)
        kept.prepare()
        for each in backlog:
            kept.add(result(each))
            backlog.graded("FAIL")
            count += 1
        backlog.note()
    return count
