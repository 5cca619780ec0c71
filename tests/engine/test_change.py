"""What becomes of an agent's work on a pull request: the files of a submission, whatever the agent did."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from repoassay.agents import find_agent
from repoassay.agents.prompting import render_prompt
from repoassay.agents.protocol import in_workspace
from repoassay.engine.attempt import AttemptContext, AttemptResult, work
from repoassay.engine.grading_context import GradingContext
from repoassay.grading.pull_request import PullRequest, read_pull_request
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.protocol import Command
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.tasks import TaskFolder
from repoassay.tasks.suite import find_suite
from repoassay.types import Limits, TaskKind
from repoassay.workspace.preparation import PreparedTask

TASK = """\
schema = 1
[task]
id = "pr-add"
title = "Repair addition"
kind = "pull_request"
domain = "Tests"
rules = "{rules}"
[repository]
source = "bundled:calc"
licence = "MIT"
[environment]
checks = ["python -m pytest -q"]
[grading.tests]
fail_to_pass = ["test_calc.py::test_add"]
"""
DIFF = """\
diff --git a/calc.py b/calc.py
--- a/calc.py
+++ b/calc.py
@@ -1,2 +1,2 @@
 def add(a, b):
-    return a - b
+    return a + b
"""
Run = Callable[[str], tuple[AttemptResult, PullRequest]]


class Script:
    """An agent that is a shell script."""

    name = "script"

    def __init__(self, text: str) -> None:
        self._text = text

    def needs_workspace(self, folder: TaskFolder) -> bool:
        return True

    def command(self, layout: PreparedTask, limits: Limits) -> Command:
        return in_workspace(layout, limits, ("/bin/sh", "-e", "-c", f"cd /workspace/repo\n{self._text}"))


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    for name, text in {
        "suite.toml": 'schema = 1\n[suite]\nname = "s"\nversion = "1"\ntitle = "Suite"\nlicence = "MIT"\n',
        "tasks/pr-add/task.toml": TASK.format(rules="contributing.md"),
        "tasks/pr-add/contributing.md": "Be kind.\n",
        "tasks/pr-add/instruction.md": "Addition subtracts.\n",
        "tasks/pr-add/tests/test_calc.py": "import calc\n\n\ndef test_add():\n    assert calc.add(1, 2) == 3\n",
        "tasks/pr-add/solution/changes.diff": DIFF,
        "tasks/pr-add/solution/description.md": "# Repair addition\n\nIt subtracted.\n",
        "repositories/calc/calc.py": "def add(a, b):\n    return a - b\n",
        "repositories/calc/RULES.md": "Be kind.\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def run(suite: Path) -> Run:
    def once(script: str) -> tuple[AttemptResult, PullRequest]:
        cache = Cache()
        found = find_suite(str(suite))
        bench = GradingContext(found.repositories, cache, open_sandbox("namespaces", cache))
        into = suite / "attempt"
        agent = Script(script) if script != "reference" else find_agent("reference")
        worked = work(found.tasks[0], agent, bench, into, entry=AttemptContext("attempt", graded=False))
        return worked, read_pull_request(into / "submission")

    return once


def test_the_reference_leaves_a_branch_and_a_description(run: Run) -> None:
    worked, pull = run("reference")
    assert [file.path for file in worked.submission.files] == ["commits.json", "description.md", "submission.diff"]
    assert pull.description == "# Repair addition\n\nIt subtracted.\n"
    (commit,) = pull.commits.commits
    assert (commit.subject, commit.body) == ("Repair addition", "It subtracted.")
    assert commit.author == "Contributor <contributor@localhost>"
    assert (pull.commits.uncommitted, pull.commits.notes) == (False, ())
    assert b"+    return a + b" in pull.diff


def test_an_agent_finds_one_commit_the_issue_and_the_rules(run: Run) -> None:
    _, pull = run(
        "{ git log --all --format='%an|%aI|%s'; git branch --all; git tag; git remote; git reflog; git status --short;"
        " git stash list; ls .git/logs 2>&1 || true; cat ../instruction.md ../contributing.md; ls ..; }"
        " > ../output/PULL_REQUEST.md"
    )
    lines = pull.description.splitlines()
    assert lines[0].replace("+00:00", "Z") == "RepoAssay|2000-01-01T00:00:00Z|Base of the task"
    assert lines[1] == "* main"
    assert lines[2].startswith("ls: ")  # no tag, no remote, no reflog, nothing changed, no stash
    assert "Addition subtracts." in lines
    assert "Be kind." in lines
    assert "solution" not in pull.description
    assert pull.diff == b""


@pytest.mark.by_day(3)
@pytest.mark.parametrize(
    "script",
    [
        "ln -s /etc/passwd ../output/PULL_REQUEST.md",
        "mkdir ../output/PULL_REQUEST.md; echo x > ../output/PULL_REQUEST.md/x",
        "mkfifo ../output/PULL_REQUEST.md",
        "head -c 1000000 /dev/zero > ../output/PULL_REQUEST.md",
        "rm -rf ../output; ln -s /etc ../output || true",
    ],
)
def test_a_description_that_is_no_text_file_is_none(run: Run, script: str) -> None:
    worked, pull = run(f"echo '# more' >> calc.py; {script}")
    assert pull.description == ""
    assert b"+# more" in pull.diff
    assert worked.verdict.outcome.value == "not_gradable"


def test_an_environment_beside_the_change_takes_no_files_place(run: Run) -> None:
    """It comes first by its name, and what did not cross after it counted as deleted."""
    worked, pull = run("sed -i 's/a - b/a + b/' calc.py; mkdir .venv; cd .venv; seq 12000 | xargs touch")
    assert worked.verdict.outcome.value == "not_gradable" and not worked.submission.rejected
    assert b"+    return a + b" in pull.diff and b"deleted" not in pull.diff and b".venv" not in pull.diff


def test_an_output_behind_a_link_is_submitted_as_what_it_leads_to(tmp_path: Path) -> None:
    starter, cache = find_suite("starter"), Cache()
    task = next(folder for folder in starter.tasks if folder.task.kind is TaskKind.DELIVERABLE)
    script = "mkdir made; echo yes > made/one; ln -s ../repo/made/one ../output/one; ln -s ../repo/made ../output/all; "
    script += f"ln -s {Path(__file__)} ../output/host; ln -s / ../output/everything"
    bench = GradingContext(starter.repositories, cache, open_sandbox("namespaces", cache))
    worked = work(task, Script(script), bench, tmp_path, entry=AttemptContext("attempt", graded=False))
    assert [file.path for file in worked.submission.files] == ["all/one", "one"]
    assert {file.path for file in worked.submission.rejected} == {"host", "everything"}
    assert (tmp_path / "submission/one").read_text() == "yes\n"


def test_the_prompt_says_where_everything_is(suite: Path) -> None:
    (folder,) = find_suite(str(suite)).tasks
    said = render_prompt(folder)
    for part in (
        "Addition subtracts.", "/workspace/repo", "/workspace/contributing.md", "/workspace/output/PULL_REQUEST.md",
        "python -m pytest -q", "`main`",
    ):  # fmt: skip
        assert part in said
    (suite / "tasks/pr-add/task.toml").write_text(TASK.format(rules="repository:RULES.md"))
    assert "/workspace/repo/RULES.md" in render_prompt(find_suite(str(suite)).tasks[0])
