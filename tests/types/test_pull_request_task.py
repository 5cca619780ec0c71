"""What a pull-request task may say, and what it may not."""

from __future__ import annotations

import pytest

from repoassay.errors import BadTask
from repoassay.tasks import task_from_toml
from repoassay.types import NetworkPolicy, TaskKind

TASK = """\
schema = 1
[task]
id = "pr"
title = "Add it"
kind = "pull_request"
domain = "Tests"
rules = "contributing.md"
[repository]
source = "npm:@scope/left-pad==1.0.0-rc.1"
sha256 = "%s"
licence = "MIT"
[environment]
checks = ["node --test"]
[grading.tests]
runner = "node"
fail_to_pass = ["test/a.test.js::adds"]
""" % ("0" * 64)


def test_a_pull_request_task() -> None:
    task = task_from_toml(TASK)
    assert task.kind is TaskKind.PULL_REQUEST
    assert task.kind.changes_repository
    assert task.network_policy is NetworkPolicy.MODEL
    assert task.repository.name == "left-pad"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('fail_to_pass = ["test/a.test.js::adds"]', "fail_to_pass = []", "fail_to_pass"),
        (
            "[grading.tests]",
            '[outputs]\nfiles = ["a"]\n[grading.tests]',
            "a pull-request task is graded by tests alone",
        ),
        ('kind = "pull_request"', 'kind = "edit"', "only pull-request tasks have contribution rules"),
        ('kind = "pull_request"', 'kind = "pull-request"', "task.kind"),
        ('rules = "contributing.md"', 'rules = "../secret"', "stays inside its folder"),
        ('rules = "contributing.md"', 'rules = "repository:/etc/passwd"', "stays inside its folder"),
        ("sha256", "#sha256", "needs sha256, the digest of the package's tarball"),
        ("npm:@scope/left-pad==1.0.0-rc.1", "npm:left-pad@1.0.0", "repository.source"),
        ('runner = "node"', 'runner = "bun"', "grading.tests.runner"),
        ('checks = ["node --test"]', 'checks = [""]', "environment.checks"),
    ],
)
def test_what_it_may_not_say(old: str, new: str, said: str) -> None:
    assert old in TASK
    with pytest.raises(BadTask) as caught:
        task_from_toml(TASK.replace(old, new, 1))
    assert said in str(caught.value)


def test_an_edit_may_have_tests_for_node() -> None:
    text = TASK.replace('kind = "pull_request"', 'kind = "edit"').replace('rules = "contributing.md"\n', "")
    tests = task_from_toml(text).grading.tests
    assert tests is not None and tests.runner == "node"
