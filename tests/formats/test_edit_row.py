"""The protocol of rows: a format that the package has never heard of, and ones that fail or reach too far."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from pydantic import ValidationError

from repoassay.benchmarks.resq import ResqRow
from repoassay.benchmarks.swebench import SweRow
from repoassay.benchmarks.swebench.relatives import MultiRow, PolyRow, R2ERow, SmithRow
from repoassay.errors import BadInput, Unavailable
from repoassay.formats import EditRow, Row, RowId, TaskParts, row_tasks
from repoassay.formats.row_formats import bundled_formats, to_row
from repoassay.formats.row_tasks import task_of_row
from repoassay.formats.write_task import write_task
from repoassay.types import Environment, HiddenTests


class NoteRow(Row):
    """A row in nobody's format."""

    KEYS: ClassVar = frozenset({"note"})
    ID_KEY: ClassVar = "note"
    FORM: ClassVar = "a note row has note"

    note: RowId
    path: str = "tests/test_note.py"

    @property
    def name(self) -> str:
        return self.note

    @property
    def repo_url(self) -> str:
        return "https://host.invalid/a.git"

    @property
    def base_commit(self) -> str:
        return "0" * 40

    @property
    def asked(self) -> str:
        return "Make it two."

    @property
    def solution(self) -> str:
        return "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n"

    @property
    def known_files(self) -> Mapping[str, str]:
        return {}

    def task_parts(self) -> TaskParts:
        tests = HiddenTests(fail_to_pass=("test_note.py::test",), cwd="repository")
        return TaskParts("Notes", Environment(), tests, {self.path: b"def test(): ...\n"})

    def to_json(self) -> dict[str, Any]:
        return self.model_dump()


class FailingRow(NoteRow):
    def task_parts(self) -> TaskParts:
        raise KeyError("no parts")


def test_the_bundled_formats_make_rows_of_the_protocol() -> None:
    assert set(bundled_formats()) == {ResqRow, SweRow, MultiRow, PolyRow, R2ERow, SmithRow}
    resq = ResqRow(id="a", repo_url="u", instruction="i", test_script="s")
    swe = SweRow(instance_id="a", repo="u", test_patch="t", problem_statement="i", fail_to_pass=("x",))
    for row in (resq, swe, NoteRow(note="a")):
        assert isinstance(row, EditRow)
        assert to_row(row) is row
        assert (row.name, row.repo_url != "") == ("a", True)


def test_a_row_of_any_format_becomes_a_task(tmp_path: Path) -> None:
    found = task_of_row(NoteRow(note="n-1"), tmp_path, None)
    assert (found.task.id, found.task.provenance) == ("n-1", "Notes row n-1")
    assert found.task.repository.source == "git:https://host.invalid/a.git"
    assert (found.tests / "test_note.py").is_file()
    assert task_of_row(NoteRow(note="n-1"), tmp_path, None).path == found.path
    assert task_of_row(NoteRow(note="n-1"), tmp_path, {"elsewhere": tmp_path}).path != found.path


@pytest.mark.parametrize("path", ["../x", "/tmp/x", "tests/../../x", "tests//x", "a\0b", "."])
def test_no_file_of_a_row_leaves_its_task_folder(path: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="has no place in a task folder"):
        write_task(NoteRow(note="n", path=path), tmp_path / "tasks")
    assert not (tmp_path / "tasks").exists()


def test_what_fails_in_a_format_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="The row format FailingRow failed: KeyError: 'no parts'"):
        write_task(FailingRow(note="n"), tmp_path)
    with pytest.raises(Unavailable, match="The row format SimpleNamespace makes no row that tasks can be made of"):
        to_row(SimpleNamespace(to_row=lambda: 3))
    with pytest.raises(Unavailable, match="The row format SimpleNamespace failed: AttributeError"):
        to_row(SimpleNamespace())
    with pytest.raises(ValidationError):
        NoteRow.model_validate({"note": 3})


def test_a_row_is_made_a_task_anew_when_the_code_beside_its_class_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "notes_of_others"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "rows.py").write_text("from formats.test_edit_row import NoteRow\n\n\nclass Row(NoteRow): ...\n")
    monkeypatch.syspath_prepend(tmp_path)
    row = import_module("notes_of_others.rows").Row(note="a")
    places = set()
    for recipe in ("", "LATER = True\n"):
        (package / "recipes.py").write_text(recipe)
        row_tasks._rules_of.cache_clear()  # as in a later process
        places |= {task_of_row(row, tmp_path / "rows", None).path for _ in range(2)}
    assert len(places) == 2
