"""A task's workspace in the hand of another program: worked in, watched, graded, and gone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

import repoassay as ra
from repoassay.types import Ended
from ten_lines import SOLVE, TASKS, careful

EDIT, DAILY = TASKS


def test_what_is_done_in_a_workspace_is_graded() -> None:
    with ra.open_workspace("starter", task=DAILY) as workspace:
        assert (workspace.task, "station" in workspace.instruction) == (DAILY, True)
        assert workspace.run(["/env/bin/python", "-"], input=SOLVE).ok
        verdict = workspace.grade()
        assert verdict.outcome is ra.Outcome.PASSED
        assert workspace.grade() is verdict
        with pytest.raises(ra.Interrupted):
            workspace.run("true")


@pytest.mark.long
def test_an_edit_is_seen_in_the_diff_and_graded() -> None:
    with ra.open_workspace("starter", task=EDIT) as workspace:
        before = workspace.sandbox.snapshot()
        careful(workspace, workspace.instruction)
        (change,) = workspace.sandbox.diff(before)
        assert (change.path, change.change) == ("/workspace/repo/src/pocketledger/reports.py", "changed")
        with ThreadPoolExecutor(2) as pool:
            both = pool.map(workspace.run, ["git -C repo status --short", "ls repo"])
        assert "reports.py" in next(both).stdout
        assert workspace.grade().outcome is ra.Outcome.PASSED


@pytest.mark.long
def test_a_workspace_that_is_closed_or_whose_time_is_up_takes_no_more_commands() -> None:
    with ra.open_workspace("starter", task=DAILY, timeout=1.5) as workspace:
        with pytest.raises(ra.Interrupted):
            workspace.run("sleep 60")
        assert workspace.sandbox.close().exit.ended is Ended.TIMED_OUT
        assert workspace.grade().outcome is not ra.Outcome.PASSED
    workspace = ra.open_workspace("starter", task=DAILY)
    workspace.close()
    workspace.close()
    with pytest.raises(ra.Interrupted):
        workspace.write("output/daily.csv", "late")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"task": "sensor-log-dayly"}, "Did you mean sensor-log-daily?"),
        ({"task": "sensor-log-*"}, "tasks match 'sensor-log-*'"),
        ({"task": DAILY, "timeout": 0}, "timeout"),
        ({"task": DAILY, "isolation": "nmespaces"}, "Did you mean namespaces?"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(settings: dict[str, str], said: str) -> None:
    with pytest.raises(ra.BadInput) as caught:
        ra.open_workspace("starter", **settings)
    assert said in str(caught.value)
