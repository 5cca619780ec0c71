"""`repoassay tasks import`, and patches for rows that are no tasks."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from json_answers import data_of, records_of
from repoassay.cli.main import cli
from repoassay.cli.submit import submit
from repoassay.cli.tasks import tasks
from swe_rows import SWE

BAD = {**SWE, "instance_id": "a__b-1", "repo": "a/b"}


def saved(folder: Path, *rows: object, name: str = "rows.jsonl") -> str:
    (folder / name).write_text("".join(json.dumps(each) + "\n" for each in rows))
    return str(folder / name)


def test_n_of_m_and_the_reasons(tmp_path: Path) -> None:
    out = tmp_path / "suite"
    result = CliRunner().invoke(tasks, ["import", saved(tmp_path, SWE, BAD), "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert result.output.splitlines() == [
        f"1 of 2 rows are tasks of {out}.",
        "     1  no recipe: the table does not know the repository 'a/b'. Give the row an install_config, as SWE-"
        "rebench has it, or a docker_image.",
        "        a__b-1",
        f"Notes on 1 of them are in {out / 'import.jsonl'}.",
    ]
    again = CliRunner().invoke(cli, ["tasks", "import", str(tmp_path / "rows.jsonl"), "--out", str(out), "--json"])
    found = data_of(again.output)
    assert (found["rows"], found["tasks"], found["kept"]) == (2, ["pallets__flask-1"], ["pallets__flask-1"])
    assert list(found["refused"].values()) == [["a__b-1"]]


def test_no_task_at_all(tmp_path: Path) -> None:
    result = CliRunner().invoke(tasks, ["import", saved(tmp_path, BAD), "--out", str(tmp_path / "suite")])
    assert result.exit_code == 1
    assert result.output.startswith("0 of 1 rows are tasks")


def test_a_patch_for_a_row_that_is_no_task_is_our_error(tmp_path: Path) -> None:
    patches = saved(
        tmp_path, {"id": "a__b-1", "patch": SWE["patch"]}, {"id": SWE["instance_id"], "patch": ""}, name="patches.jsonl"
    )
    mirror = tmp_path / "nowhere"
    mirror.mkdir()
    files = ["--dataset", saved(tmp_path, SWE, BAD), "--submissions", patches]
    result = CliRunner().invoke(cli, ["submit", *files, "--mirror", f"pallets/flask={mirror}", "--json"])
    assert result.exit_code == 1, result.output
    first, second = records_of(result.stdout, "submission")
    assert (first["id"], first["message"], first["repository"]) == ("a__b-1", "ERROR", "")
    assert "The row cannot be made a task: no recipe" in first["test_suite_feedback"]
    assert second["message"] == "ERROR"
    assert "git fetch failed" in second["test_suite_feedback"]


def test_a_patch_for_no_row_at_all(tmp_path: Path) -> None:
    patches = saved(tmp_path, {"id": "nobody", "patch": ""}, name="patches.jsonl")
    result = CliRunner().invoke(submit, ["--dataset", saved(tmp_path, SWE, BAD), "--submissions", patches])
    assert result.exit_code != 0
    assert "There is no task 'nobody'" in str(result.exception)
