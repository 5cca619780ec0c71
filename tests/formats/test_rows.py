"""Rows of other people's data sets: what is read, what is refused and in which words, and the way back."""

from __future__ import annotations

import json
import os
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from repoassay.benchmarks.resq import ModifiedFile, ResqRow
from repoassay.benchmarks.swebench import SweRow
from repoassay.errors import BadInput, MissingExtra, Unavailable
from repoassay.formats import EditRow, json_records
from repoassay.formats.rows import load_hub, read_rows, write_rows

COMMIT = "0123456789" * 4
RESQ: dict[str, Any] = {
    "id": "0_0",
    "repo_url": "https://github.com/somebody/something",
    "instruction": "Make it so.",
    "base_commit": COMMIT,
    "test_script": "assert True\n",
    "testbed_environment": "python 3.11",
    "requirements_txt": "pytest\n",
    "solution_commit": COMMIT[::-1],
    "solution_patch": "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n",
    "modified_files": [{"path": "x", "content": "1\n"}],
    "language": "python",
}
SWE: dict[str, Any] = {
    "instance_id": "somebody__something-1",
    "repo": "somebody/something",
    "base_commit": COMMIT,
    "patch": RESQ["solution_patch"],
    "test_patch": "--- /dev/null\n+++ b/t.py\n@@ -0,0 +1 @@\n+def test(): pass\n",
    "problem_statement": "It is not so.",
    "FAIL_TO_PASS": ["t.py::test"],
    "PASS_TO_PASS": [],
    "version": "1.0",
}

BOTH: list[EditRow] = [ResqRow.model_validate(RESQ), SweRow.model_validate(SWE)]


def save(tmp_path: Path, content: object, name: str = "rows.json") -> Path:
    path = tmp_path / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def refusal(path: Path) -> str:
    with pytest.raises(BadInput) as caught:
        read_rows(path)
    return str(caught.value)


LINES = "\n".join(map(json.dumps, (RESQ, SWE)))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("rows.json", [RESQ, SWE]),
        ("rows.json", {"rows": [RESQ, SWE]}),
        ("rows.json", {"rows": [{"row_idx": 0, "row": RESQ}, {"row_idx": 1, "row": SWE}]}),
        ("rows.json", {"0_0": RESQ, SWE["instance_id"]: {k: v for k, v in SWE.items() if k != "instance_id"}}),
        ("rows.json", LINES),
        ("rows", LINES),
        ("rows.jsonl", LINES),
        ("rows.JSONL", f"\n{LINES}\n\n"),
        ("rows.ndjson", LINES.replace("\n", "\r\n")),
        ("rows.jsonl", json.dumps([RESQ, SWE], indent=2)),
        ("rows.json", b"\xef\xbb\xbf" + json.dumps([RESQ, SWE]).encode()),
        ("rows.jsonl", b"\xef\xbb\xbf" + LINES.encode()),
    ],
)
def test_every_container_gives_the_same_rows(name: str, content: object, tmp_path: Path) -> None:
    assert read_rows(save(tmp_path, content, name)) == BOTH


@pytest.mark.parametrize(
    "files",
    [
        [{"path": "x", "content": "1\n"}],
        '[{"path": "x", "content": "1\\n"}]',
        {"x": "1\n"},
        '{"x": "1\\n"}',
        {"path": "x", "content": "1\n"},
        [{"path": "x", "content": "1\n", "mode": "100644"}],
    ],
)
def test_modified_files_of_every_age(files: object, tmp_path: Path) -> None:
    (row,) = read_rows(save(tmp_path, [{**RESQ, "modified_files": files}]))
    assert isinstance(row, ResqRow)
    assert row.modified_files == (ModifiedFile(path="x", content="1\n"),)


@pytest.mark.parametrize("files", [None, "", "null", [], {}])
def test_no_modified_files(files: object, tmp_path: Path) -> None:
    (row,) = read_rows(save(tmp_path, [{**RESQ, "modified_files": files}]))
    assert isinstance(row, ResqRow)
    assert row.modified_files == ()


@pytest.mark.parametrize(("text", "ids"), [('["a::b", "c"]', ("a::b", "c")), ("[]", ()), ("", ()), (["x"], ("x",))])
def test_test_ids_as_text_or_list(text: object, ids: tuple[str, ...], tmp_path: Path) -> None:
    (row,) = read_rows(save(tmp_path, [{**SWE, "FAIL_TO_PASS": text}]))
    assert isinstance(row, SweRow)
    assert row.fail_to_pass == ids


def test_keys_of_others_are_passed_over_and_lower_case_ones_read(tmp_path: Path) -> None:
    swe = {key.lower(): value for key, value in SWE.items()}
    rows = read_rows(save(tmp_path, [{**RESQ, "hints": 1, "created_at": None}, {**swe, "hints_text": ""}]))
    assert rows == BOTH


@pytest.mark.parametrize(
    ("change", "key", "words"),
    [
        ({"id": None}, "id", "is null. It must be text."),
        ({"id": 3}, "id", "is the number 3. It must be text."),
        ({"id": ""}, "id", "is empty or holds control characters. Give it a plain name."),
        ({"id": "a\nb"}, "id", "is empty or holds control characters."),
        ({"id": "x" * 513}, "id", "is longer than 512 characters. Shorten it."),
        ({"repo_url": ""}, "repo_url", "is empty. Fill it in."),
        ({"instruction": ["no"]}, "instruction", "is a list. It must be text."),
        ({"test_script": True}, "test_script", "is true. It must be text."),
        ({"solution_patch": {"a": 1}}, "solution_patch", "is an object. It must be text."),
        ({"requirements_txt": 10**300}, "requirements_txt", "is a very large number."),
        ({"modified_files": 5}, "modified_files", "is the number 5. It must be a list."),
        ({"modified_files": "x.py"}, "modified_files", "is not JSON: column 1: expecting value."),
        ({"modified_files": "[" * 100_000}, "modified_files", "is nested too deeply."),
        ({"modified_files": ["x.py"]}, "modified_files.0", "is 'x.py'. It must be an object."),
        ({"modified_files": [{"path": "x"}]}, "modified_files.0.content", "is missing. Add it."),
        ({"modified_files": {"x.py": 7}}, "modified_files.0.content", "is the number 7. It must be text."),
    ],
)
def test_wrong_values_are_told_by_row_key_and_remedy(
    change: dict[str, object], key: str, words: str, tmp_path: Path
) -> None:
    said = refusal(save(tmp_path, [{**RESQ, "id": "fine"}, {**RESQ, **change}]))
    assert "has 1 problem:\n  row 2" in said
    assert f": {key}: {words}" in said


def test_a_swe_row_without_tests(tmp_path: Path) -> None:
    said = refusal(save(tmp_path, [{k: v for k, v in SWE.items() if k not in {"FAIL_TO_PASS", "repo"}}]))
    assert "row 1 (somebody__something-1): FAIL_TO_PASS: is missing. Add it." in said
    assert "row 1 (somebody__something-1): repo: is missing. Add it." in said


def test_lists_as_text_are_json_or_as_python_writes_them(tmp_path: Path) -> None:
    (row,) = read_rows(save(tmp_path, [{**SWE, "FAIL_TO_PASS": "['a', \"b\"]"}]))
    assert isinstance(row, SweRow)
    assert row.fail_to_pass == ("a", "b")
    for text in ("['a'", "__import__('os')", "'a'", "(" * 10_000):
        assert "FAIL_TO_PASS: is not JSON: column 1" in refusal(
            save(tmp_path, [{**SWE, "FAIL_TO_PASS": text}])
        ).replace("column 2", "column 1")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "file: is empty."),
        (b" \n\t ", "file: is empty."),
        (b"{", "is not JSON: column 2"),
        (b"[1, 2", "is not JSON"),
        (b"nonsense", "is not JSON: column 1: expecting value."),
        (b'{"a": 1}\n{"b": 2', "is not JSON"),
        (b"3", "is the number 3. It must be a list or an object of records."),
        (b"null", "is null."),
        (b"NaN", "is the number nan."),
        (b'"text"', "is 'text'."),
        (b"[]", "holds no rows."),
        (b"{}", "holds no rows."),
        (b"[3]", "row 1: is the number 3. It must be an object."),
        (b"[[]]", "row 1: is a list."),
        (b"[{}]", "row 1: is of no known format. It is empty."),
        (b'[{"task": "x"}]', "It has task. A RES-Q row has id, repo_url"),
        (b"[" * 200_000, "is nested too deeply."),
        (b'{"a":' * 200_000, "is nested too deeply."),
        (b"1" * 10_000, "is not JSON that can be read"),
        (b'[{"a": "\xff"}]', "is not UTF-8 (byte 9)."),
        (b'[\n{"a": "\xff"}]', "is not UTF-8 (line 2, byte 10)."),
        ('[{"id": "x"}]'.encode("utf-16"), "is not UTF-8 (byte 1)."),
        (b'[{"id": "x", "id": "y"}]', "holds the key 'id' twice in one object."),
        (b'{"x": {"repo_url": "u"}, "x": {}}', "holds the key 'x' twice in one object."),
        (b"\x00\x01\x02", "is not JSON"),
    ],
)
def test_what_is_no_data_set_is_refused_in_a_sentence(content: bytes, words: str, tmp_path: Path) -> None:
    assert words in refusal(save(tmp_path, content))


@given(content=st.binary(max_size=200), name=st.sampled_from(["rows.json", "rows.jsonl", "rows"]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_bytes_lead_to_a_traceback(content: bytes, name: str, tmp_path: Path) -> None:
    assert refusal(save(tmp_path, content, name))


@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.long
def test_no_damage_to_a_row_leads_to_a_traceback(data: st.DataObject, tmp_path: Path) -> None:
    junk = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=5,
    )
    row = dict(data.draw(st.sampled_from([RESQ, SWE])))
    for key in data.draw(st.lists(st.sampled_from(sorted(row)), max_size=4)):
        row[key] = data.draw(junk)
    try:
        (read,) = read_rows(save(tmp_path, [row]))
    except BadInput:
        return
    assert read.name == row.get("id", row.get("instance_id"))


def test_all_problems_of_twenty_rows_and_no_more(tmp_path: Path) -> None:
    bad = [{"id": f"row{number}", "test_script": 1} for number in range(30)]
    said = refusal(save(tmp_path, [RESQ, *bad]))
    assert "has 60 problems" in said
    assert "row 2 (row0): repo_url: is missing." in said
    assert "row 2 (row0): instruction: is missing." in said
    assert "row 21 (row19): test_script: is the number 1." in said
    assert "row 22" not in said
    assert "More than these first 20 rows may have problems." in said


def test_lines_that_cannot_be_read_are_told_beside_wrong_rows(tmp_path: Path) -> None:
    lines = [json.dumps(RESQ), "{", json.dumps({**RESQ, "id": 4}), '{"a": "\\ud8"}', "[1]"]
    said = refusal(save(tmp_path, "\n".join(lines).encode() + b"\n\xff\xfe", "rows.jsonl"))
    for words in ("line 2: is not JSON", "line 3: id: is the number 4", "line 4: is not JSON", "line 5: is a list",
                  "line 6: is not UTF-8 (byte 1)"):  # fmt: skip
        assert words in said


def test_an_id_stands_once(tmp_path: Path) -> None:
    said = refusal(save(tmp_path, [RESQ, SWE, {**RESQ, "instruction": "Other."}]))
    assert "row 3: id: is '0_0', as in row 1. Give every row an id of its own." in said


def test_an_id_that_contradicts_its_key(tmp_path: Path) -> None:
    assert "key 'a': id: is '0_0'. Make it the key, or leave it out." in refusal(save(tmp_path, {"a": RESQ}))


def test_a_line_that_is_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_records, "MAX_LINE", 1000)
    long = json.dumps({**RESQ, "instruction": "x" * 5000})
    said = refusal(save(tmp_path, f"{long}\n{json.dumps(RESQ)}\n{{", "rows.jsonl"))
    assert "line 1: is longer than 1,000 bytes." in said
    assert "line 3: is not JSON" in said  # the tail of the long line is no line of its own


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    with path.open("wb") as stream:
        stream.truncate(2**30 + 1)  # sparse
    assert "has 1,073,741,825 bytes; at most 1,073,741,824 are read." in refusal(path)


def test_what_is_no_file(tmp_path: Path) -> None:
    assert "cannot be opened" in refusal(tmp_path / "absent.json")
    assert "holds no folder with task.yaml" in refusal(tmp_path)
    os.mkfifo(tmp_path / "pipe.json")
    assert "is not a regular file" in refusal(tmp_path / "pipe.json")
    assert "cannot be opened" in refusal(tmp_path / ("x" * 300 + ".json"))
    assert "cannot be opened" in refusal(Path("a\0b.json"))


def test_names_cannot_command_the_terminal(tmp_path: Path) -> None:
    said = refusal(save(tmp_path, [{**RESQ, "id": "\x1b[2Jx", "repo_url": 5}, {"\x1b[2J": 1}]))
    assert "\x1b" not in said


TEXT = st.text(st.characters(codec="utf-8"), max_size=30) | st.sampled_from(["a\r\nb", "\ud800", "\u2028", "\0"])
NAMES = st.text(st.characters(categories=["L", "N", "P", "Zs"]), min_size=1, max_size=20).filter(str.strip)
RESQ_ROWS: st.SearchStrategy[ResqRow] = st.builds(
    ResqRow,
    id=NAMES, repo_url=st.text(min_size=1, max_size=9), instruction=TEXT, base_commit=TEXT, test_script=TEXT,
    testbed_environment=TEXT, requirements_txt=TEXT, solution_commit=TEXT, solution_patch=TEXT, language=TEXT,
    modified_files=st.lists(st.builds(ModifiedFile, path=TEXT, content=TEXT), max_size=3).map(tuple),
)  # fmt: skip
SWE_ROWS: st.SearchStrategy[SweRow] = st.builds(
    SweRow,
    instance_id=NAMES, repo=st.text(min_size=1, max_size=9), base_commit=TEXT, patch=TEXT, test_patch=TEXT,
    problem_statement=TEXT, version=TEXT, environment_setup_commit=TEXT,
    fail_to_pass=st.lists(TEXT, max_size=3).map(tuple), pass_to_pass=st.lists(TEXT, max_size=3).map(tuple),
)  # fmt: skip


def by_name(row: EditRow) -> str:
    return row.name


@given(
    rows=st.lists(RESQ_ROWS | SWE_ROWS, min_size=1, max_size=4, unique_by=by_name),
    name=st.sampled_from(["rows.json", "rows.jsonl"]),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.long
def test_what_is_written_reads_back_the_same(rows: list[EditRow], name: str, tmp_path: Path) -> None:
    write_rows(rows, tmp_path / name)
    assert read_rows(tmp_path / name) == rows


def test_published_keys_are_written(tmp_path: Path) -> None:
    write_rows([ResqRow.model_validate(RESQ), SweRow.model_validate(SWE)], tmp_path / "rows.json")
    resq, swe = json.loads((tmp_path / "rows.json").read_text())
    assert resq == RESQ
    assert swe == {**SWE, "environment_setup_commit": ""}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.json"]


def test_writing_where_it_cannot_be(tmp_path: Path) -> None:
    rows = [ResqRow.model_validate(RESQ)]
    with pytest.raises(BadInput, match=r"neither a \.json nor a \.jsonl file"):
        write_rows(rows, tmp_path / "rows.csv")
    with pytest.raises(BadInput, match="cannot be written"):
        write_rows(rows, tmp_path / "absent" / "rows.json")


def test_parquet_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingExtra, match=r"pip install 'repoassay\[datasets\]'"):
        read_rows(save(tmp_path, b"PAR1", "rows.parquet"))


def test_parquet(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    for number, row in enumerate((RESQ, SWE, {**SWE, "FAIL_TO_PASS": json.dumps(SWE["FAIL_TO_PASS"])})):
        path = tmp_path / f"{number}.parquet"
        parquet.write_table(pyarrow.Table.from_pylist([row] * 1), path)
        expected: EditRow = ResqRow.model_validate(RESQ) if row is RESQ else SweRow.model_validate(SWE)
        assert read_rows(path) == [expected]
    for content in (b"", b"PAR1", b"PAR1" + b"\0" * 100 + b"PAR1", path.read_bytes()[:-20], b"x" * 5000):
        assert "is no parquet file that can be read" in refusal(save(tmp_path, content, "bad.parquet"))


def hub(load: Callable[..., object]) -> types.ModuleType:
    """A stand-in for the `datasets` package, which this project's tests do not install."""
    module = types.ModuleType("datasets")
    vars(module)["load_dataset"] = load
    return module


def test_rows_of_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: str, split: str) -> list[dict[str, object]]:
        assert (name, split) == ("somebody/rows", "test")
        return [RESQ, SWE]

    monkeypatch.setitem(sys.modules, "datasets", hub(load))
    assert load_hub("somebody/rows") == BOTH


def test_what_the_hub_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: str, split: str) -> object:
        raise ConnectionError("no route\x1b[2J")

    monkeypatch.setitem(sys.modules, "datasets", hub(load))
    with pytest.raises(Unavailable, match="'test' of 'somebody/rows' cannot be had from the hub: no route"):
        load_hub("somebody/rows")
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtra, match="datasets"):
        load_hub("somebody/rows")
