"""The nets themselves: a recording that differs is found, and an exception that is not needed is too."""

from __future__ import annotations

from pathlib import Path

import pytest

import goldens
import house_lists


def test_every_difference_is_found_and_new_keys_are_none() -> None:
    recorded = {"a": [1, {"b": 0.1}], "c": None, "d": 1}
    assert list(goldens.differences(recorded, {"a": [1, {"b": 0.1, "new": 2}], "c": None, "d": 1, "e": 3})) == []
    found = list(goldens.differences(recorded, {"a": [1, {"b": 0.2}], "d": True}))
    assert found == [
        "$.a[1].b: 0.1 was recorded, 0.2 is read", "$.c: is gone", "$.d: 1 was recorded, True is read",
    ]  # fmt: skip
    assert list(goldens.differences([1, 2], [1])) == ["$: [1, 2] was recorded, [1] is read"]


def test_what_version_0_1_read_is_never_recorded_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(goldens, "WRITING", True)
    monkeypatch.setattr(goldens, "FROZEN", tmp_path / "frozen")
    goldens.assert_covers(tmp_path / "frozen" / "a.json", {"a": 1})
    with pytest.raises(AssertionError, match="2 is read"):
        goldens.assert_covers(tmp_path / "frozen" / "a.json", {"a": 2})
    for text in ("one\r\n", "two\n"):
        goldens.assert_text(tmp_path / "a.txt", text)
    assert (tmp_path / "a.txt").read_bytes() == b"two\n"


def test_exceptions_only_become_fewer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(house_lists, "HOUSE", tmp_path)
    monkeypatch.setattr(house_lists, "WRITING", False)
    (tmp_path / "list.txt").write_text("# Remark.\na\nb\n")
    house_lists.assert_only("list.txt", ["b", "a"], "Do not.")
    with pytest.raises(AssertionError, match=r"Do not\. New: c"):
        house_lists.assert_only("list.txt", ["a", "b", "c"], "Do not.")
    with pytest.raises(AssertionError, match="take it out"):
        house_lists.assert_only("list.txt", ["b"], "Do not.")
    monkeypatch.setattr(house_lists, "WRITING", True)
    house_lists.assert_only("list.txt", ["b"], "Do not.")
    assert (tmp_path / "list.txt").read_text() == "# Remark.\nb\n"
    with pytest.raises(AssertionError, match="New: c"):
        house_lists.assert_only("list.txt", ["b", "c"], "Do not.")
