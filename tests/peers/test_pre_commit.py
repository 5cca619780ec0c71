"""The hook for task folders, by the real pre-commit: it installs us from a clone of this repository and commits."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from peers.python import PYTHON, ROOT, needs_peers

STARTER = ROOT / "src" / "repoassay" / "benchmarks" / "starter" / "suite"
PLUG_IN = ("pre-commit: the hook `repoassay-tasks`", "pre-commit")
OURS = "src pyproject.toml README.md LICENSE .pre-commit-hooks.yaml"


def git(folder: Path, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    tools = f"{(ROOT / PYTHON).absolute().parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": tools, "PRE_COMMIT_HOME": str(folder.parent / "hooks")}
    line = ["git", *who, *words]
    return subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, check=check)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """What is released of us, as a repository with one commit, which is named."""
    folder = tmp_path_factory.mktemp("source")
    for name in OURS.split():
        here = ROOT / name
        if here.is_dir():
            shutil.copytree(here, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(here, folder / name)
    git(folder, "init", "-q")
    git(folder, "add", "-Af")
    git(folder, "commit", "-qm", "All")
    return folder, git(folder, "rev-parse", "HEAD").stdout.strip()


@needs_peers
@pytest.mark.timeout(1200)
def test_a_commit_with_a_broken_task_is_refused(source: tuple[Path, str], tmp_path: Path) -> None:
    folder, revision = source
    work = tmp_path / "work"
    named = ("tasks/sensor-log-daily", "tasks/edit-ledger-monthly", "repositories/pocketledger", "repositories/tidelog")
    for name in named:
        shutil.copytree(STARTER / name, work / "suites" / "mini" / name)
    shutil.copy(STARTER / "suite.toml", work / "suites" / "mini")
    (work / "notes.md").write_text("notes\n")
    other = work / "other" / "task.toml"  # of another tool, and none of our business
    other.parent.mkdir()
    other.write_text('schema_version = "1.1"\n[task]\nname = "a/b"\n')
    (work / ".pre-commit-config.yaml").write_text(
        f"repos:\n  - repo: {folder}\n    rev: {revision}\n    hooks:\n      - id: repoassay-tasks\n"
    )
    git(work, "init", "-q")
    subprocess.run(
        [str((ROOT / PYTHON).absolute().parent / "pre-commit"), "install"], cwd=work, check=True, capture_output=True
    )
    git(work, "add", "-A")
    first = git(work, "commit", "-m", "Sound", check=False)
    assert first.returncode == 0, first.stdout + first.stderr
    assert "tasks of RepoAssay are sound" in first.stderr and "Passed" in first.stderr

    task = work / "suites" / "mini" / "tasks" / "sensor-log-daily" / "task.toml"
    task.write_text(task.read_text().replace('kind = "deliverable"', 'kind = "delivery"'))
    (work / "suites" / "mini" / "tasks" / "edit-ledger-monthly" / "instruction.md").write_text("Make total right.\n")
    refused = git(work, "commit", "-am", "Broken", check=False)
    assert refused.returncode == 1 and "Failed" in refused.stderr
    assert "suites/mini/tasks/sensor-log-daily/task.toml: task.kind" in refused.stderr
    assert "1 of 2 tasks are sound" in refused.stderr and "Traceback" not in refused.stderr

    git(work, "checkout", "-q", "HEAD", "--", "suites")
    (work / "notes.md").write_text("more notes\n")
    skipped = git(work, "commit", "-am", "Notes", check=False)
    assert skipped.returncode == 0 and "Skipped" in skipped.stderr
