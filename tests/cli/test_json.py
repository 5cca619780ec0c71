"""Every `--json` has a schema that is shipped and documented, and failing prints an envelope too."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema_rs
import pytest

from command_line import repoassay
from goldens import WRITING
from json_answers import data_of, failure_of, records_of
from repoassay.cli.schema import stated_schemas
from repoassay.json_output import envelope_schema

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "json.md"
STATED = dict(stated_schemas())


@pytest.mark.parametrize("command", STATED)
def test_every_command_has_a_schema(command: str) -> None:
    schema = envelope_schema(command, STATED[command])
    assert jsonschema_rs.meta.is_valid(schema)
    assert "$model" not in json.dumps(schema) and schema["description"].endswith(".")


def test_the_page_lists_every_command() -> None:
    head, mark, _ = PAGE.read_text("utf-8").partition("|---|---|---|\n")
    rows = []
    for command, path in STATED.items():
        stated = json.loads(path.read_text("utf-8"))
        kinds = ", ".join(f"`{kind}`" for kind in stated.get("records", ()))
        forms = [*(["document"] if "data" in stated else []), *([f"lines: {kinds}"] if kinds else [])]
        rows.append(f"| `{command}` | {'; '.join(forms)} | {stated['description']} |\n")
    whole = head + mark + "".join(rows)
    if WRITING:
        PAGE.write_text(whole, "utf-8")
    assert PAGE.read_text("utf-8") == whole


def test_no_schema_is_left_of_a_command_that_is_gone() -> None:
    for folder in {path.parent for path in STATED.values()}:
        assert {path for path in folder.iterdir() if path.suffix == ".json"} <= set(STATED.values())


def test_a_command_that_stops_says_so_in_its_envelope(tmp_path: Path) -> None:
    for words, sentence in (
        (("grade", "nope", "--outputs", "x"), "There is no suite or folder 'nope'."),
        (("tasks", "lint"), "Missing argument 'SUITE...'."),
        (("attack", "nope", "--nosuch"), "No such option '--nosuch'."),
        (("compare", "nope", "nothing"), "nope is not a run folder"),
    ):
        done = repoassay(*words, "--json", cwd=tmp_path)
        assert done.returncode == 2 and sentence in failure_of(done.stdout)[0], done.stdout
        assert sentence in done.stderr
        assert repoassay(*words, cwd=tmp_path).stdout == ""
    done = repoassay("report", "nope", "--json", "--html", cwd=tmp_path)
    assert failure_of(done.stdout) == ["Option '--html' requires an argument."]
    assert repoassay("report", "nope", "--html", "--json", cwd=tmp_path).stdout == ""  # a page of this name


@pytest.mark.long
def test_commands_that_other_tests_do_not_ask(tmp_path: Path) -> None:
    task = ("--task", "sensor-*")
    made = data_of(repoassay("run", "starter", "--agent", "reference", *task, "--json", cwd=tmp_path).stdout)
    assert made["attempts"][0]["verdict"]["outcome"] == "passed"
    assert data_of(repoassay("resume", "latest", "--json", cwd=tmp_path).stdout)["finished"] == 2
    listed, _ = data_of(repoassay("show", "latest", "--json", cwd=tmp_path).stdout)["attempts"]
    assert listed["id"] in {each["attempt"]["id"] for each in made["attempts"]}
    written = repoassay("export", "latest", "--as", "csv", "--out", "a.csv", "--json", cwd=tmp_path)
    assert data_of(written.stdout) == {"file": "a.csv", "left_out": []}
    assert {each["name"] for each in data_of(repoassay("agents", "list", "--json", cwd=tmp_path).stdout)} >= {"aider"}
    (tmp_path / "outputs").mkdir()
    graded = repoassay("grade", "starter", "--outputs", "outputs", "--task", "pdf-*", "--json", cwd=tmp_path)
    assert {verdict["outcome"] for verdict in records_of(graded.stdout, "verdict")} == {"no_output"}
