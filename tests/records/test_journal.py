"""The journal survives torn lines, several writers and anything a record may hold."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from repoassay.records import Journal

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.lists(VALUES, max_size=5))
@settings(max_examples=30, deadline=None)
@pytest.mark.long
def test_what_is_appended_is_read_back(tmp_path_factory, values) -> None:  # type: ignore[no-untyped-def]  # fixture
    journal = Journal(tmp_path_factory.mktemp("journal") / "journal.jsonl")
    for value in values:
        journal.append("noted", value=value)
    assert [event["value"] for event in journal.read().events] == values
    assert journal.read().torn == ()


def test_a_torn_last_line_is_passed_over_named_and_does_not_swallow_the_next(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    journal = Journal(path)
    journal.append("one")
    journal.append("two")
    path.write_bytes(path.read_bytes()[:-9])
    assert [event["event"] for event in journal.read().events] == ["one"]
    assert journal.read().torn == (2,)
    journal.append("three")
    assert [event["event"] for event in journal.read().events] == ["one", "three"]
    assert journal.read().torn == (2,)


@given(st.binary(max_size=200))
@settings(max_examples=50, deadline=None)
def test_any_bytes_after_whole_records_leave_them_readable(tmp_path_factory, junk: bytes) -> None:  # type: ignore[no-untyped-def]  # fixture
    path = tmp_path_factory.mktemp("journal") / "journal.jsonl"
    Journal(path).append("kept")
    with path.open("ab") as stream:
        stream.write(junk)
    assert Journal(path).read().events[0]["event"] == "kept"


def test_threads_do_not_mix_their_lines(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")

    def tick(number: int) -> None:
        for _ in range(10):
            journal.append("tick", thread=number, text="x" * 3000)

    threads = [threading.Thread(target=tick, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = journal.read()
    assert len(found.events) == 80
    assert found.torn == ()


def test_a_missing_journal_is_empty(tmp_path: Path) -> None:
    assert Journal(tmp_path / "none.jsonl").read().events == []
