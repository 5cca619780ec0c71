"""The GitHub Actions' own steps, run as a runner does: inputs into variables, variables into the shell."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy.judged_repository import (
    ROOT,
    TASK,
    JudgedRepository,
    git,
    make_repository,
    plain_environment,
    serve_forge,
)

FOLDER = ROOT / "deploy" / "github"
WORKFLOW = yaml.safe_load((FOLDER / "judge-pull-requests.yml").read_text("utf-8"))


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> JudgedRepository:
    return make_repository(tmp_path_factory.mktemp("github"))


def run_action(name: str, inputs: dict[str, str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the last step of an action, whose first one installs us; what it does not set is left to the shell."""
    action = yaml.safe_load((FOLDER / name / "action.yml").read_text("utf-8"))
    given = {key: inputs.get(key, str(each.get("default", ""))) for key, each in action["inputs"].items()}
    step = action["runs"]["steps"][-1]
    stated = {
        key: re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda match: given[match[1]], str(value))
        for key, value in step["env"].items()
    }
    assert not [value for value in stated.values() if "${{" in value], stated
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**plain_environment(), "PATH": path, "GITHUB_ACTION_PATH": str(FOLDER / name), **stated, **variables}
    line = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]]
    return subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def judge(repository: JudgedRepository, target: Path, head: str, **inputs: str) -> subprocess.CompletedProcess[str]:
    given = {
        "suite": "suites/ours", "baseline": "suites/baseline.jsonl", "base": repository.base, "head": head,
        "text": f"Add months\n\nTask: `{TASK}`\r\n", "agent": "an agent[bot]", "out": str(target / "judged"),
    }  # fmt: skip
    return run_action(
        "judge", {**given, **inputs}, repository.clone,
        GITHUB_STEP_SUMMARY=str(target / "summary"), GITHUB_OUTPUT=str(target / "output"),
    )  # fmt: skip


@pytest.mark.long
def test_a_right_request_is_compared_with_the_baseline(repository: JudgedRepository, tmp_path: Path) -> None:
    done = judge(repository, tmp_path, repository.right)
    assert done.returncode == 0, done.stdout + done.stderr
    comment = (tmp_path / "judged" / "comment.md").read_text()
    assert "### RepoAssay: 1 of 1 tasks passed" in comment and f"| `{TASK}` | passed |" in comment
    assert "## before → an-agent-bot-" in comment and "1 fixed, 0 broken" in comment
    assert (tmp_path / "summary").read_text() == comment
    assert (tmp_path / "output").read_text() == "passed=1\njudged=1\n"
    assert git(repository.clone, "worktree", "list").count("\n") == 0 and git(repository.clone, "status", "-s") == ""


@pytest.mark.exhaustive
def test_a_request_cannot_change_what_judges_it(repository: JudgedRepository, tmp_path: Path) -> None:
    done = judge(repository, tmp_path, repository.wrong)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 of 1 tasks passed" in (tmp_path / "judged" / "comment.md").read_text()


@pytest.mark.exhaustive
def test_predictions_in_a_request_are_judged(repository: JudgedRepository, tmp_path: Path) -> None:
    inputs = {"predictions": "suites/baseline.jsonl", "baseline": "", "text": ""}
    done = judge(repository, tmp_path, repository.right, **inputs)
    assert done.returncode == 0 and f"| `{TASK}` | failed |" in done.stdout, done.stdout + done.stderr


@pytest.mark.long
def test_an_id_in_a_request_forges_no_cell_of_the_comment(repository: JudgedRepository, tmp_path: Path) -> None:
    rows = [
        {"instance_id": id, "model_name_or_path": "m", "model_patch": ""}
        for id in (TASK, f"{TASK}` | passed | ![x](//y)")
    ]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    blob = git(repository.clone, "hash-object", "-w", str(tmp_path / "rows.jsonl")).strip()
    listed = f"100644 blob {blob}\trows.jsonl\n"
    tree = subprocess.run(
        ["git", "mktree"], cwd=repository.clone, input=listed, capture_output=True, text=True, check=True
    )
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    head = git(repository.clone, *who, "commit-tree", "-m", "x", "-p", repository.base, tree.stdout.strip()).strip()
    done = judge(repository, tmp_path, head, predictions="rows.jsonl", baseline="", text="")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"| `{TASK}` | no output |" in done.stdout
    assert f"| `{TASK}????passed?????x??//y?` | no output |" in done.stdout, done.stdout


@pytest.mark.by_day(2)
@pytest.mark.parametrize(
    ("inputs", "told"),
    [
        ({"text": "Add months"}, "Nobody says which task this is."),
        ({"text": "Task: $(touch run)`touch run`"}, "Nobody says which task this is."),
        ({"head": "--output=run"}, "Give the full id of a commit."),
        ({"task": "edit-nothing"}, "has no task of which this run holds a submission."),
    ],
)
def test_what_cannot_be_judged_is_said(
    repository: JudgedRepository, tmp_path: Path, inputs: dict[str, str], told: str
) -> None:
    done = judge(repository, tmp_path, **{"head": repository.right, **inputs})
    assert done.returncode != 0 and told in done.stdout + done.stderr, done.stdout + done.stderr
    assert git(repository.clone, "status", "-s") == ""


def test_a_comment_is_written_once_and_then_renewed(tmp_path: Path) -> None:
    mark = "<!-- repoassay: verdict on a pull request -->"
    stranger = {"id": 1, "user": {"login": "stranger"}, "body": f"{mark}\nmine"}
    kept: list[dict[str, Any]] = [stranger]
    (tmp_path / "comment.md").write_text(f"{mark}\nhello @everybody\n/close\n\t /merge a/b\n")
    inputs = {"comment": "comment.md", "pull-request": "7", "token": "t0ken"}
    with serve_forge({"login": "github-actions[bot]"}, kept) as address:
        variables = {"GITHUB_API_URL": address, "GITHUB_REPOSITORY": "a/b"}
        first = run_action("comment", inputs, tmp_path, **variables)
        assert (first.returncode, first.stdout) == (0, "Commented.\n"), first.stderr
        lines = kept[1]["body"].splitlines()
        assert lines[1:] == ["hello @<!-- -->everybody", "\\/close", "\t \\/merge a/b"]  # to GitLab they were commands
        (tmp_path / "comment.md").write_text(f"{mark}\nbetter\n")
        assert run_action("comment", inputs, tmp_path, **variables).stdout == "Renewed our comment.\n"
        (tmp_path / "comment.md").write_text("not ours\n")
        assert run_action("comment", inputs, tmp_path, **variables).returncode == 1
    assert len(kept) == 2 and kept[0]["body"].endswith("mine")
    assert kept[1]["body"] == f"{mark}\nbetter\n" and kept[1]["token"] == "Bearer t0ken"
    assert kept[1]["path"] == "/repos/a/b/issues/comments/2"


def test_the_job_that_meets_strangers_may_only_read() -> None:
    assert WORKFLOW[True] == {"pull_request": None} and WORKFLOW["permissions"] == {"contents": "read"}
    jobs = WORKFLOW["jobs"]
    assert "permissions" not in jobs["judge"] and jobs["comment"]["permissions"] == {"pull-requests": "write"}
    checkout = jobs["judge"]["steps"][0]["with"]
    assert checkout["persist-credentials"] is False and checkout["ref"].endswith("base.sha }}")
    assert not [step for step in jobs["comment"]["steps"] if "checkout" in step["uses"] or "judge" in step["uses"]]
    assert "secrets." not in (FOLDER / "judge-pull-requests.yml").read_text("utf-8")
