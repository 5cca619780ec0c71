"""Workflows are sound YAML, may do little, pin what they use, and test each version of Python that is supported."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS = {path.name: yaml.safe_load(path.read_text("utf-8")) for path in sorted(FOLDER.iterdir())}
TARGETS = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
EVERY = pytest.mark.parametrize("workflow", WORKFLOWS.values(), ids=WORKFLOWS)


def steps(workflow: dict[Any, Any]) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def test_there_is_a_workflow_for_tests_build_documents_and_the_night() -> None:
    assert list(WORKFLOWS) == ["build.yml", "docs.yml", "nightly.yml", "test.yml"]


@EVERY
def test_it_may_only_read_and_ends(workflow: dict[Any, Any]) -> None:
    assert workflow["permissions"] == {"contents": "read"}
    assert {"group", "cancel-in-progress"} == set(workflow["concurrency"])
    assert all("permissions" not in job and job["timeout-minutes"] <= 180 for job in workflow["jobs"].values())
    assert workflow[True]  # what YAML 1.1 makes of the key `on`
    assert "pull_request_target" not in workflow[True] and "secrets." not in str(workflow)


@EVERY
def test_actions_are_pinned_and_leave_no_token_behind(workflow: dict[Any, Any]) -> None:
    actions = [step for step in steps(workflow) if "uses" in step]
    assert all(re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", step["uses"]) for step in actions)
    checkouts = [step for step in actions if step["uses"].startswith("actions/checkout@")]
    assert len(checkouts) == len(workflow["jobs"])
    assert all(step["with"] == {"persist-credentials": False} for step in checkouts)


def test_pins_name_their_version_and_agree() -> None:
    text = "".join(path.read_text("utf-8") for path in FOLDER.iterdir())
    lines = [line for line in text.splitlines() if "uses:" in line]
    pins = {re.fullmatch(r" *- uses: (\S+)@(\S+) # (v\d+\.\d+\.\d+)", line) for line in lines}
    assert None not in pins
    found = {pin.groups() for pin in pins if pin}
    assert len({name for name, _, _ in found}) == len(found)


@EVERY
def test_commands_are_targets_of_the_makefile(workflow: dict[Any, Any]) -> None:
    commands = [step["run"] for step in steps(workflow) if "run" in step]
    made = [re.fullmatch(r'make ([a-z-]+) PYTHON="\$\(command -v python\)"', command) for command in commands]
    assert {match[1] for match in made if match} <= TARGETS and any(made)
    assert {command for command, match in zip(commands, made, strict=True) if not match} <= {
        "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
    }


def test_tests_run_on_the_versions_that_are_said_to_be_supported() -> None:
    matrix = WORKFLOWS["test.yml"]["jobs"]["test"]["strategy"]["matrix"]["python"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    prefix = "Programming Language :: Python :: "
    assert matrix == [line.removeprefix(prefix) for line in project["classifiers"] if line.startswith(prefix)]
    assert project["requires-python"] == f">={matrix[0]}"
    table = (ROOT / "docs" / "reference" / "stability.md").read_text("utf-8")
    assert matrix == re.findall(r"^\| (3\.\d+) \|", table, re.MULTILINE)


def test_the_night_runs_what_is_left_out_by_day() -> None:
    commands = " ".join(step.get("run", "") for step in steps(WORKFLOWS["nightly.yml"]))
    assert "make test-all" in commands and "make test-agents" in commands


@pytest.mark.parametrize(
    "form", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")), ids=lambda path: path.stem
)
def test_issue_forms_are_sound(form: Path) -> None:
    document = yaml.safe_load(form.read_text("utf-8"))
    if form.stem == "config":
        return
    fields = [field for field in document["body"] if field["type"] != "markdown"]
    assert {"name", "description", "labels", "body"} == set(document)
    assert all(field["type"] in {"input", "textarea", "dropdown"} and field["attributes"]["label"] for field in fields)
    assert len({field["id"] for field in fields}) == len(fields)


def test_a_bug_comes_with_what_the_machine_offers() -> None:
    assert "repoassay doctor --json" in (ROOT / ".github" / "ISSUE_TEMPLATE" / "bug.yml").read_text("utf-8")


def test_owned_paths_exist() -> None:
    lines = (ROOT / ".github" / "CODEOWNERS").read_text("utf-8").splitlines()
    rules = [line.split() for line in lines if not line.startswith("#")]
    assert rules[0][0] == "*" and all(owner.startswith("@") for _, *owners in rules for owner in owners)
    assert all((ROOT / path.strip("/")).exists() for path, *_ in rules[1:])


def test_hooks_are_the_tools_of_make_check() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"][0]["hooks"]
    check = (ROOT / "Makefile").read_text("utf-8").split("\ncheck:")[1].split("\n\n")[0]
    assert all(hook["language"] == "system" for hook in hooks)
    for tool in (" ".join(hook["entry"].replace(" --force-exclude", "").split()) for hook in hooks):
        assert f"\t{tool}" in check
