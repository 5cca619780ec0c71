"""Rows of data sets that are made as SWE-bench is: what is read of them, and what is refused."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from repoassay.benchmarks.swebench.install_config import pytest_arguments
from repoassay.benchmarks.swebench.rows import SweRow
from repoassay.errors import BadInput
from repoassay.formats import import_rows, sort_rows
from swe_rows import COMMIT, PATCH, SWE, patch_of

TESTS = patch_of("tests/test_a.py")
REBENCH: dict[str, Any] = {
    "instance_id": "a__b-1", "repo": "a/b", "base_commit": COMMIT, "patch": PATCH, "test_patch": TESTS,
    "problem_statement": "Do it.", "version": "1.2", "created_at": "2024-05-01 10:00:00",
    "FAIL_TO_PASS": ["tests/test_a.py::test"], "PASS_TO_PASS": [], "environment": "name: x\n",
    "requirements": "iniconfig==2.0.0\npytest==8.1.1\nb @ file:///b\n",
    "install_config": {
        "python": "3.9", "install": "pip install -e .[dev]", "packages": "requirements.txt",
        "pip_packages": ["pytest", "pytest-cov"], "reqs_path": ["requirements/base.txt"], "env_vars": None,
        "pre_install": ["apt-get update && apt-get install -y libfoo-dev graphviz", "touch x"],
        "test_cmd": "pytest --no-header -rA --tb=line -p no:cacheprovider -W ignore::DeprecationWarning -n 4",
        "log_parser": "parse_log_pytest", "no_use_env": None,
    },
}  # fmt: skip
MULTI: dict[str, Any] = {
    "org": "a", "repo": "b", "number": 7, "state": "closed", "title": "T", "body": "",
    "base": {"label": "x", "sha": COMMIT},
    "resolved_issues": [{"number": 1, "title": "Broken", "body": "It is."}], "fix_patch": PATCH, "test_patch": TESTS,
    "f2p_tests": {"x": {"run": "FAIL"}}, "n2p_tests": {"y": {}}, "p2p_tests": {}, "s2p_tests": {},
}  # fmt: skip
SMITH = {
    "instance_id": "c__d.1", "repo": "swesmith/c__d", "patch": PATCH, "FAIL_TO_PASS": ["t"], "PASS_TO_PASS": [],
    "image_name": "x", "problem_statement": "P",
}  # fmt: skip
PRO = {
    "instance_id": "instance_a", "repo": "a/b", "base_commit": COMMIT, "patch": PATCH, "test_patch": TESTS,
    "problem_statement": "P", "repo_language": "go", "fail_to_pass": "['TestDB', \"x\"]", "pass_to_pass": "[]",
    "selected_test_files_to_run": "[]", "dockerhub_tag": "x",
}  # fmt: skip
POLY: dict[str, Any] = {
    "instance_id": "pallets__flask-7", "repo": "pallets/flask", "base_commit": COMMIT, "patch": PATCH,
    "test_patch": TESTS, "problem_statement": "P", "language": "Python", "Dockerfile": "FROM python:3.9\n",
    "F2P": "['tests/test_a.py:None:test_a', 'tests/test_a.py:TestB:test_b[1:2]']", "P2P": "['tests/test_a.py::t']",
    "F2F": "[]", "test_command": "pytest -rA -W error tests/test_a.py", "modified_nodes": "[]", "is_no_nodes": "True",
}  # fmt: skip
R2E = {
    "repo_name": "sympy", "docker_image": "owner/sympy_final:1", "commit_hash": COMMIT, "problem_statement": "P",
    "parsed_commit_content": "{}", "execution_result_content": "{}", "expected_output_json": "{}",
}  # fmt: skip


def saved(folder: Path, *rows: dict[str, Any]) -> Path:
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder / "rows.jsonl"


def test_a_rebench_row_brings_its_recipe() -> None:
    parts = SweRow.model_validate(REBENCH).task_parts()
    assert (parts.environment.python, parts.environment.exclude_newer) == ("3.9", "2024-11-01")
    assert parts.environment.apt == ("libfoo-dev", "graphviz")
    assert parts.environment.build == ("touch x", "pip install -e .[dev]")
    assert parts.files["environment/requirements.in"] == b"iniconfig==2.0.0\npytest==8.1.1\n"
    assert parts.tests.arguments == ("-W", "ignore::DeprecationWarning")
    assert parts.notes == ("left out of the frozen environment: b",)
    loose = SweRow.model_validate({**REBENCH, "requirements": "", "environment": ""}).task_parts()
    assert loose.files["environment/requirements.in"] == b"pytest\npytest-cov\npytest\n"
    assert "-r requirements/base.txt" in loose.environment.build[0]


def test_what_conda_installed_has_its_version_from_the_exported_environment() -> None:
    freeze = "iniconfig==2.0.0\npytest @ file:///croot/pytest_1738938843180/work\n-e git+https://x/b@0#egg=b\n"
    freeze += "matplotlib @ file:///croot/m/work\nlost @ file:///croot/lost/work\n"
    exported = "name: b\ndependencies:\n  - ca-certificates=2025.2.25=h06a4308_0\n  - matplotlib-base=3.9.1=py39h0_0\n"
    exported += "  - pytest=8.3.4=py39h06a4308_0\n  - loose\n  - pip:\n      - iniconfig==2.0.0\n"
    row = {**REBENCH, "requirements": freeze, "environment": exported}
    parts = SweRow.model_validate(row).task_parts()
    assert parts.files["environment/requirements.in"] == b"iniconfig==2.0.0\nmatplotlib==3.9.1\npytest==8.3.4\n"
    assert parts.environment.exclude_newer == "2025-06-25"
    assert parts.notes == ("left out of the frozen environment: -e, git+https://x/b, lost",)


@pytest.mark.parametrize(("certifi", "day"), [("2025.1.31", "2025-05-31"), ("2020.6.20", "2024-11-01")])
def test_packages_frozen_without_an_export_are_as_of_a_day_after_their_certificates(certifi: str, day: str) -> None:
    row = {**REBENCH, "requirements": f"certifi=={certifi}\nanyio==4.9.0\n", "environment": ""}
    assert SweRow.model_validate(row).task_parts().environment.exclude_newer == day


@pytest.mark.parametrize(
    ("image", "python"), [("python_base_310", "3.10"), ("python_base_37", "3.7"), ("python_3.11_base:latest", "3.11")]
)
def test_a_row_of_rebenchs_second_version_names_its_python_in_an_image(image: str, python: str) -> None:
    config = {
        "base_image_name": image,
        "docker_specs": None,
        "install": ["pip install -e ."],
        "test_cmd": ["pytest -rA"],
    }
    row = {**REBENCH, "install_config": config, "requirements": "", "environment": "", "language": "python"}
    parts = SweRow.model_validate(row).task_parts()
    assert (parts.environment.python, parts.environment.build) == (python, ("pip install -e .",))


def test_a_row_that_names_no_python_runs_in_the_image_it_names() -> None:
    row = {**REBENCH, "install_config": {"test_cmd": "python3.12 -m pytest -W ignore", "base_image_name": "x"}}
    with pytest.raises(BadInput, match="names Python 'x'"):
        SweRow.model_validate(row).task_parts()
    parts = SweRow.model_validate({**row, "image_name": "docker.io/owner/a:1"}).task_parts()
    assert (parts.environment.image, parts.environment.build) == ("docker.io/owner/a:1", ())
    assert parts.tests.arguments == ("-W", "ignore")


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("pytest -rA", ()),
        ("A=b poetry run python -m pytest -o x=y -pno:cacheprovider --ignore=docs -v", ("-o", "x=y", "--ignore=docs")),
        ("uv run pytest -Wignore -q --override-ini a=b", ("-Wignore", "--override-ini", "a=b")),
    ],
)
def test_what_of_a_test_command_counts(command: str, arguments: tuple[str, ...]) -> None:
    assert pytest_arguments([command]) == arguments


@pytest.mark.parametrize("command", ["tox -e py", "make test", "", "'", "python setup.py test"])
def test_other_test_commands_are_refused(command: str) -> None:
    with pytest.raises(BadInput, match="which is no pytest"):
        pytest_arguments([command])


def test_live_rows_say_how_tests_are_run_and_not_how_to_install() -> None:
    live = {**SWE, "fail_to_pass": ["a"], "test_cmds": ["pytest -rA -W error"], "log_parser": "pytest"}
    assert SweRow.model_validate(live).task_parts().tests.arguments == ("-W", "error")
    with pytest.raises(BadInput, match="no recipe"):
        SweRow.model_validate({**live, "repo": "a/b"}).task_parts()


def test_a_row_without_a_version_takes_the_newest_recipe() -> None:
    live = SweRow.model_validate({**SWE, "repo": "pytest-dev/pytest", "version": "", "test_cmds": ["pytest -rA"]})
    parts = live.task_parts()
    assert "SETUPTOOLS_SCM_PRETEND_VERSION=8.4.0 " in parts.environment.build[0]
    assert "the row states no version; the recipe is that of 8.4" in parts.notes


@pytest.mark.parametrize("image", [{}, {"docker_image": "owner/a:1"}])
def test_rows_of_other_languages_that_state_none_are_refused_for_it(image: dict[str, str]) -> None:
    java = patch_of("src/test/java/ATest.java")
    row = {
        **SWE,
        "repo": "a/b",
        "patch": patch_of("src/A.java"),
        "test_patch": java,
        "FAIL_TO_PASS": ["ATest"],
        **image,
    }
    with pytest.raises(BadInput, match=r"its patches touch no file of Python: only tests of Python are run"):
        SweRow.model_validate(row).task_parts()
    named = {**row, "docker_image": "owner/a:1", "FAIL_TO_PASS": ["a/b.py::t"]}
    assert SweRow.model_validate(named).task_parts().environment.image == "owner/a:1"


def test_relatives_are_read_and_refused_by_name(tmp_path: Path) -> None:
    rows, refused = sort_rows(saved(tmp_path, MULTI, SMITH, PRO))
    assert [row.name for row in rows] == ["a__b-7", "instance_a"]
    multi, pro = rows
    assert isinstance(multi, SweRow)
    assert (multi.repo, multi.asked, multi.fail_to_pass) == ("a/b", "Broken\n\nIt is.", ("x", "y"))
    assert isinstance(pro, SweRow)
    assert pro.fail_to_pass == ("TestDB", "x")
    assert [row.name for row in refused] == ["c__d.1"]
    assert refused[0].reason.startswith("no recipe: a SWE-smith row names no commit")
    report = import_rows(tmp_path / "rows.jsonl", tmp_path / "suite")
    assert "its language is 'go': only tests of Python are run from such rows." in report.refused
    unknown = "no recipe: the table does not know the repository 'a/b'. "
    assert unknown + "Give the row an install_config, as SWE-rebench has it, or a docker_image." in report.refused


def test_a_polybench_row_says_the_same_with_other_keys(tmp_path: Path) -> None:
    java = {**POLY, "instance_id": "google__gson-1", "language": "Java", "test_command": "mvn test -Dtest=ATest"}
    rows, refused = sort_rows(saved(tmp_path, POLY, java))
    assert not refused
    row = rows[0]
    assert isinstance(row, SweRow)
    assert row.fail_to_pass == ("tests/test_a.py::test_a", "tests/test_a.py::TestB::test_b[1:2]")
    assert row.pass_to_pass == ("tests/test_a.py::t",)
    assert row.task_parts().tests.arguments == ("-W", "error")
    report = import_rows(tmp_path / "rows.jsonl", tmp_path / "suite")
    assert [each.task for each in report.tasks] == ["pallets__flask-7"]
    assert list(report.refused) == ["its language is 'Java': only tests of Python are run from such rows."]


def test_rows_are_read_from_csv_as_polybench_is_published(tmp_path: Path) -> None:
    with (tmp_path / "test.csv").open("w", newline="", encoding="utf-8") as stream:
        table = csv.DictWriter(stream, [*POLY])
        table.writeheader()
        table.writerow({**POLY, "patch": PATCH + "\n" * 200_000})
    [row], _ = sort_rows(tmp_path / "test.csv")
    assert isinstance(row, SweRow)
    assert (row.name, row.fail_to_pass[0]) == ("pallets__flask-7", "tests/test_a.py::test_a")
    assert row.patch.startswith(PATCH)
    (tmp_path / "test.csv").write_bytes(b"instance_id,F2P\n\xff,x\n")
    with pytest.raises(BadInput, match=r"test\.csv is no CSV that can be read: .* Write it anew, in UTF-8\."):
        sort_rows(tmp_path / "test.csv")


def test_an_r2e_row_is_refused_by_name_and_what_is_near_none_by_the_keys_of_swe_bench(tmp_path: Path) -> None:
    _, refused = sort_rows(saved(tmp_path, R2E, {"instance_id": "a__b-1", "messages": []}))
    assert refused[0].reason.startswith("no recipe: an R2E-Gym row brings no tests")
    assert refused[1].reason == "repo is missing; test_patch is missing; problem_statement is missing"


@pytest.mark.parametrize("text", [json.dumps(REBENCH["install_config"]), repr(REBENCH["install_config"])])
def test_an_install_config_may_be_the_text_of_one(text: str) -> None:
    assert SweRow.model_validate({**REBENCH, "install_config": text}) == SweRow.model_validate(REBENCH)


def test_an_install_config_that_is_no_object_is_refused_and_an_empty_one_is_none(tmp_path: Path) -> None:
    assert SweRow.model_validate({**REBENCH, "install_config": ""}).install_config is None
    rows = [{**REBENCH, "instance_id": name, "install_config": text} for name, text in (("a", "x"), ("b", "[1]"))]
    _, refused = sort_rows(saved(tmp_path, *rows))
    assert [each.reason for each in refused] == [
        "install_config is not JSON: column 1: expecting value",
        "install_config is a list",
    ]


def test_task_folders(tmp_path: Path) -> None:
    folder = tmp_path / "data/tasks/pallets__flask-1"
    folder.mkdir(parents=True)
    head = {key: SWE[key] for key in ("repo", "base_commit", "version", "problem_statement")}
    (folder / "task.yaml").write_text(json.dumps(head))  # JSON is YAML
    (folder / "tests.json").write_text(json.dumps({"FAIL_TO_PASS": ["tests/test_new.py::test_it"], "PASS_TO_PASS": []}))
    (folder / "gold.patch").write_text(PATCH)
    (folder / "test.patch").write_text(SWE["test_patch"])
    broken = tmp_path / "data/tasks/broken"
    broken.mkdir()
    (broken / "task.yaml").write_text("a: [")
    (tmp_path / "data/tasks/other").mkdir()
    report = import_rows(tmp_path / "data", tmp_path / "suite")
    assert [row.task for row in report.tasks] == ["pallets__flask-1"]
    ((reason, names),) = report.refused.items()
    assert reason.startswith("cannot be read: while parsing")
    assert names == ("broken",)
    with pytest.raises(BadInput, match=r"holds no folder with task\.yaml"):
        import_rows(tmp_path / "suite", tmp_path / "other")
