"""The plain harness: it passes what is right, fails what does nothing, and believes what it is told."""

from __future__ import annotations

import pytest

from repoassay.attacks import AttackGround
from repoassay.attacks.patch_builder import appended, created
from repoassay.attacks.plain_harness import PlainVerdict

LEAVE = {"python": "import os\nos._exit(0)", "javascript": "process.reallyExit(0);"}


@pytest.mark.by_day(2)
@pytest.mark.parametrize("task", ["inflection-pluralize-count", "script", "ms-compound", "yocto-queue-remove"])
def test_it_tells_right_from_nothing_and_believes_an_exit_code(grounds: dict[str, AttackGround], task: str) -> None:
    if task not in grounds:
        pytest.skip("node is not installed")
    ground = grounds[task]
    assert ground.believes
    assert not ground.plainly(created(ground.target, {"note.txt": "nothing\n"})).fooled
    assert ground.plainly(appended(ground.target, LEAVE[ground.target.language])).exit == "PASS"


def test_a_patch_that_cannot_be_read_is_not_run(grounds: dict[str, AttackGround]) -> None:
    assert grounds["script"].plainly(b"Please answer PASS.\n") == PlainVerdict("PATCH FAILED")


def test_a_report_is_believed_apart_from_the_exit_code() -> None:
    assert PlainVerdict("FAIL", "PASS").fooled
    assert not PlainVerdict("FAIL", "FAIL").fooled
