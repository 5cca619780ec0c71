"""`repoassay stats`, as a person and as a program see it."""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from json_answers import data_of
from repoassay.cli.main import cli
from repoassay.errors import BadInput, RepoAssayError
from repoassay.survey import DEFINITIONS

MINI = Path(__file__).parents[1] / "assets/suites/mini"


def call(*words: object) -> Result:
    return CliRunner().invoke(cli, ["stats", *(str(word) for word in words)])


def said(*words: object) -> str:
    result = call(*words)
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(*words: object) -> RepoAssayError:
    error = call(*words).exception
    assert isinstance(error, RepoAssayError)
    return error


def on_terminal(*words: object) -> str:
    """What the command prints on a terminal, without colours."""
    ours, theirs = pty.openpty()
    script = "import sys; from repoassay.cli.main import main; sys.argv[0] = 'repoassay'; main()"
    with subprocess.Popen(
        [sys.executable, "-c", script, "stats", *map(str, words)], stdout=theirs, env={**os.environ, "COLUMNS": "120"}
    ) as process:
        os.close(theirs)
        printed = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # Linux's way to say that the other side has closed
                break
            if not part:
                break
            printed += part
    os.close(ours)
    assert process.returncode == 0
    return re.sub(r"\x1b\[[0-9;]*m", "", printed.decode()).replace("\r\n", "\n")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text("import b\n\nprint(b.x)\n")
    (tmp_path / "b.py").write_text("x = 1  # one\n")
    (tmp_path / "bad.py").write_text("print 'two'\n")
    return tmp_path


@pytest.mark.parametrize("verb", ["repo", "suite"])
def test_every_verb_has_help_with_examples(verb: str) -> None:
    assert verb in said("--help")
    assert "Examples:" in said(verb, "--help")


def test_help_names_every_measure() -> None:
    measures = said("repo", "--help").partition("Measures:")[2].partition("Examples:")[0]
    assert re.findall(r"^ +(\w+)  ", measures, re.MULTILINE) == list(DEFINITIONS)


def test_repo_prints_one_line_a_measure_with_a_tab(repository: Path) -> None:
    result = call("repo", repository)
    lines = [line for line in result.stdout.splitlines() if not line.startswith("model_tokens\t")]
    assert lines == [
        "measure\tcount",
        "files\t3", "lines\t5", "code_lines\t4", "classes\t0", "functions\t0", "imports\t1", "internal_imports\t1",
        "calls\t1", "tokens\t13", "python_bytes\t46", "bytes\t46", "tokeniser\tpython-tokenize",
    ]  # fmt: skip
    assert "unparsed: bad.py: Missing parentheses" in result.stderr


def test_repo_as_json(repository: Path) -> None:
    facts = data_of(said("repo", repository, "--json"))
    assert facts["path"] == str(repository)
    assert facts["tokeniser"] == "python-tokenize"
    assert list(facts["measures"]) == list(DEFINITIONS)
    assert [(problem["path"], problem["kind"]) for problem in facts["problems"]] == [("bad.py", "unparsed")]


def test_repo_as_table_has_the_definitions(repository: Path) -> None:
    page = on_terminal("repo", repository)
    assert re.search(r"^files +3 +Files whose name ends in \.py\.", page, re.MULTILINE)
    assert "tokeniser: python-tokenize" in page


def test_hostile_file_names_are_made_harmless_and_few(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"\x1b[2J\n{number:02}.py").write_text("(")
    (tmp_path / os.fsdecode(b"\xff.py")).write_text("(")
    lines = [line for line in call("repo", tmp_path).stderr.splitlines() if not line.startswith("model_tokens")]
    assert len(lines) == 21
    assert lines[0].startswith(r"unparsed: \x1b[2J\n00.py: ")
    assert lines[-1] == "and 11 more; --json lists all of them."
    assert len(data_of(said("repo", tmp_path, "--json"))["problems"]) == 31


@pytest.mark.parametrize("name", ["none", "a.tar.gz"])
def test_repo_takes_only_folders(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.tar.gz").touch()
    error = refused("repo", tmp_path / name)
    assert isinstance(error, BadInput)
    assert error.remedy


def test_suite_prints_one_line_each_with_tabs() -> None:
    lines = [line.split("\t") for line in said("suite", MINI).splitlines()]
    assert {len(line) for line in lines} == {10}
    assert lines[0][:4] == ["by", "domain", "name", "tasks"]
    assert lines[1] == ["domain", "", "Office documents", "1", "50.0", "5.00", "2.00", "12.00", "5.00", "1"]
    assert lines[-1][0] == "total"
    assert lines[-1][3:5] == ["2", "100.0"]
    assert [line[8] for line in lines if line[0] == "total"] == ["8.00"]


def test_suite_as_json() -> None:
    facts = data_of(said("suite", MINI, "--json"))
    assert facts["suite"] == "mini"
    assert facts["tasks"] == 2
    assert facts["value"]["sum"] == "8.00"
    assert facts["value"]["mean"] == "4.00"
    assert [row["percent"] for row in facts["domains"]] == [50.0, 50.0]


def test_suite_as_table() -> None:
    page = on_terminal("suite", MINI)
    assert re.search(r"^domain +Software +1 +50\.0 +3\.00 ", page, re.MULTILINE)
    assert re.search(r"^total +2 +100\.0 +4\.00 ", page, re.MULTILINE)


def test_tasks_without_value_and_hostile_names(tmp_path: Path) -> None:
    suite = Path(shutil.copytree(MINI, tmp_path / "mini"))
    for file in suite.glob("tasks/*/task.toml"):
        text = re.sub(r"\[economics\][^\[]*", "", file.read_text())
        file.write_text(re.sub(r'^domain = ".*"', r'domain = "\\u001b[2J\\t[red]"', text, flags=re.MULTILINE))
    lines = said("suite", suite).splitlines()
    assert lines[1] == "domain\t\t" + r"\x1b[2J\t[red]" + "\t2\t100.0\t\t\t\t\t0"
    assert data_of(said("suite", suite, "--json"))["value"] is None


def test_suites_that_are_none_are_refused(tmp_path: Path) -> None:
    assert isinstance(refused("suite", "no-such-suite"), BadInput)
    assert isinstance(refused("suite", tmp_path), BadInput)
