"""Submissions in everybody's forms."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from repoassay.errors import BadInput
from repoassay.formats.submissions import PatchSubmission, read_submissions

PATCH = "--- a/x\r\n+++ b/x\r\n@@ -1 +1 @@\r\n-1\r\n+2\r\n"


def save(tmp_path: Path, content: object, name: str = "preds.json") -> Path:
    path = tmp_path / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def refusal(path: Path) -> str:
    with pytest.raises(BadInput) as caught:
        read_submissions(path)
    return str(caught.value)


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"id": "0_0", "patch": PATCH}, PatchSubmission(id="0_0", patch=PATCH)),
        ({"id": "a/b c", "patch": "", "extra": 1}, PatchSubmission(id="a/b c")),
        (
            {"instance_id": "x__y-1", "model_patch": PATCH, "model_name_or_path": "m/1"},
            PatchSubmission(id="x__y-1", patch=PATCH, model="m/1"),
        ),
        (
            {"instance_id": "x__y-1", "model_patch": None, "model_name_or_path": None},
            PatchSubmission(id="x__y-1"),
        ),
        (
            {"instance_id": "i", "patch": PATCH, "prefix": "mine"},
            PatchSubmission(id="i", patch=PATCH, model="mine"),
        ),
        (
            {"org": "o", "repo": "r", "number": 12, "fix_patch": PATCH},
            PatchSubmission(id="o__r-12", patch=PATCH),
        ),
        ({"org": "o", "repo": "r", "number": "7", "fix_patch": PATCH}, PatchSubmission(id="o__r-7", patch=PATCH)),
        (
            {"id": "same", "instance_id": "same", "patch": "p", "model_patch": "p"},
            PatchSubmission(id="same", patch="p"),
        ),
    ],
)
@pytest.mark.parametrize("name", ["p.json", "p.jsonl"])
def test_every_form(record: dict[str, Any], expected: PatchSubmission, name: str, tmp_path: Path) -> None:
    other = {"id": "other", "patch": "x"}
    records: object = [record, other] if name == "p.json" else "\n".join(map(json.dumps, (record, other)))
    assert read_submissions(save(tmp_path, records, name)) == [expected, PatchSubmission(id="other", patch="x")]


def test_a_single_record(tmp_path: Path) -> None:
    assert read_submissions(save(tmp_path, {"id": "a", "patch": "p"})) == [PatchSubmission(id="a", patch="p")]


def test_ids_that_map_to_patches_or_records(tmp_path: Path) -> None:
    given_ = {"a": "p", "b": None, "c": {"model_patch": "q", "instance_id": "c"}, "d": {"patch": "r"}, "e": ""}
    assert read_submissions(save(tmp_path, given_)) == [
        PatchSubmission(id="a", patch="p"),
        PatchSubmission(id="b"),
        PatchSubmission(id="c", patch="q"),
        PatchSubmission(id="d", patch="r"),
        PatchSubmission(id="e"),
    ]


def test_several_submissions_for_one_task_are_counted(tmp_path: Path) -> None:
    records = [{"id": "a", "patch": "1"}, {"id": "b", "patch": "2"}, {"id": "a", "patch": "1"}, {"id": "a"}]
    numbers = [(item.id, item.number) for item in read_submissions(save(tmp_path, records))]
    assert numbers == [("a", 0), ("b", 0), ("a", 1), ("a", 2)]


def test_any_character_survives(tmp_path: Path) -> None:
    (item,) = read_submissions(save(tmp_path, '[{"id": "ü", "patch": "\\ud800x\\u0000\\r\\né\u2028"}]'))
    assert item.id == "ü"
    assert item.patch == "\ud800x\0\r\né\u2028"
    assert item.content == b"\xed\xa0\x80x\0\r\n" + "é\u2028".encode()


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"id": "a", "patch": 3}, "row 1: patch: is the number 3. It must be text or null."),
        ({"id": "a", "patch": ["x"]}, "row 1: patch: is a list."),
        ({"id": "a", "patch": False}, "row 1: patch: is false."),
        ({"id": "a", "patch": {"x": 1}}, "row 1: patch: is an object."),
        ({"id": 3, "patch": ""}, "row 1: id: is the number 3."),
        ({"id": None, "patch": ""}, "row 1: id: is missing or empty."),
        ({"patch": "x"}, "row 1: id: is missing or empty."),
        ({"id": "", "patch": "x"}, "row 1: id: is missing or empty."),
        ({"id": "a\x1b[2J", "patch": "x"}, "row 1: id: is empty or holds control characters."),
        ({"id": "a\0", "patch": "x"}, "row 1: id: is empty or holds control characters."),
        ({"id": "\ud800", "patch": "x"}, "row 1: id: is empty or holds control characters."),
        ({"id": "x" * 513, "patch": "x"}, "row 1: id: is longer than 512 characters."),
        ({"id": "a", "instance_id": "b", "patch": ""}, "row 1: id and instance_id: differ. Keep one of them."),
        ({"id": "a", "patch": "1", "model_patch": "2"}, "row 1: patch and model_patch: differ."),
        ({"id": "a", "patch": "1", "prefix": 3}, "row 1: prefix: is the number 3."),
        ({"org": "o", "repo": 3, "number": 1, "fix_patch": ""}, "row 1: repo: is the number 3. It must be text."),
        ({"org": "o", "repo": "r", "number": 1.5, "fix_patch": ""}, "row 1: number: is the number 1.5."),
        ({"org": "o", "repo": "r", "number": True, "fix_patch": ""}, "row 1: number: is true."),
        ({"org": "o", "repo": "r", "number": 10**4000, "fix_patch": ""}, "row 1: number: is too large."),
        ("patch", "row 1: is 'patch'. It must be an object. Write {id, patch}"),
        (None, "row 1: is null."),
        ([], "row 1: is a list."),
    ],
)
def test_wrong_records_are_told_by_place_key_and_remedy(record: object, words: str, tmp_path: Path) -> None:
    said = refusal(save(tmp_path, [record, {"id": "fine", "patch": "x"}]))
    assert words in said
    assert "has 1 problem:" in said
    assert "\x1b" not in said


def test_a_file_without_any_patch_has_another_name_for_it(tmp_path: Path) -> None:
    said = refusal(save(tmp_path, [{"id": "a", "diff": "x"}, {"id": "b", "diff": "y"}]))
    assert "patch: is missing, here and in every other record, which has id, diff." in said


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty."),
        (b"[]", "holds no submissions."),
        (b"[{]", "is not JSON: column 3"),
        (b'[{"id": "a", "patch": "\xe9"}]', "is not UTF-8 (byte 24)."),
        (b'{"a": "x", "a": "y"}', "holds the key 'a' twice in one object."),
        (b"[" * 100_000, "is nested too deeply."),
        (b'{"a": {"id": "b", "patch": ""}}', "key 'a': id: is not the key it stands under."),
    ],
)
def test_what_is_no_submissions_file(content: bytes, words: str, tmp_path: Path) -> None:
    assert words in refusal(save(tmp_path, content))


def test_lines_are_told_by_number(tmp_path: Path) -> None:
    said = refusal(save(tmp_path, b'{"id": "a", "patch": ""}\n{"id": "b", "patch": "\xff"}\n{\n', "p.jsonl"))
    assert "line 2: is not UTF-8 (byte 23)" in said
    assert "line 3: is not JSON" in said


@given(content=st.binary(max_size=300), name=st.sampled_from(["p.json", "p.jsonl"]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_bytes_lead_to_a_traceback(content: bytes, name: str, tmp_path: Path) -> None:
    assert refusal(save(tmp_path, content, name))


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
KEYS = st.sampled_from(["id", "instance_id", "patch", "model_patch", "fix_patch", "org", "repo", "number", "prefix"])


@given(records=st.lists(st.dictionaries(KEYS, JUNK, max_size=6) | JUNK, max_size=4))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.long
def test_no_records_lead_to_a_traceback(records: list[object], tmp_path: Path) -> None:
    try:
        found = read_submissions(save(tmp_path, records))
    except BadInput:
        return
    assert len(found) == len(records)


TEXTS = st.text(st.characters(codec="utf-8"), max_size=40) | st.sampled_from(["\r\n", "\udfff", "\x85"])
IDS = st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=9)


@given(pairs=st.lists(st.tuples(IDS, TEXTS), min_size=1, max_size=6), lines=st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.long
def test_ids_and_patches_come_back_as_they_were(pairs: list[tuple[str, str]], lines: bool, tmp_path: Path) -> None:
    records = [{"id": name, "patch": patch} for name, patch in pairs]
    content: object = "\n".join(map(json.dumps, records)) if lines else records
    found = read_submissions(save(tmp_path, content, "p.jsonl" if lines else "p.json"))
    assert [(item.id, item.patch) for item in found] == pairs
    assert len({(item.id, item.number) for item in found}) == len(pairs)


def test_a_folder_of_diffs(tmp_path: Path) -> None:
    (tmp_path / "b.patch").write_bytes(PATCH.encode())
    (tmp_path / "a.1.diff").write_bytes("é\n".encode())
    (tmp_path / "c.DIFF").write_bytes(b"")
    (tmp_path / "README.md").write_text("no patch")
    (tmp_path / "folder").mkdir()
    assert read_submissions(tmp_path) == [
        PatchSubmission(id="a.1", patch="é\n"),
        PatchSubmission(id="b", patch=PATCH),
        PatchSubmission(id="c"),
    ]


def test_a_folder_with_what_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "a.diff").write_bytes(b"ok\n\xff")
    (tmp_path / "b.diff").symlink_to(tmp_path / "a.diff")
    os.mkfifo(tmp_path / "c.diff")
    (tmp_path / "d.diff").mkdir()
    (tmp_path / "\n.diff").write_text("x")
    said = refusal(tmp_path)
    assert "submissions folder" in said
    assert "a.diff: is not UTF-8 (line 2, byte 4)." in said
    assert "b.diff: cannot be read: it is a link." in said
    assert "c.diff: cannot be read: it is not a regular file." in said
    assert "d.diff: cannot be read" in said
    assert "\\n.diff: has a name that is empty or holds control characters. Rename it." in said


def test_an_empty_folder(tmp_path: Path) -> None:
    assert "holds no submissions." in refusal(tmp_path)


def test_where_nothing_is(tmp_path: Path) -> None:
    assert "cannot be opened" in refusal(tmp_path / "absent.json")
    assert "cannot be opened" in refusal(Path("a\0b"))
