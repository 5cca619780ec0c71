"""Agents that do no work pass nothing under the fair reading."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from repoassay.agents import find_agent
from repoassay.engine import grade_outputs
from repoassay.engine.grading_context import GradingContext
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.protocol import ExportSpec
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.tasks import TaskFolder
from repoassay.tasks.suite import find_suite
from repoassay.types import Ended, Outcome
from repoassay.workspace.preparation import lay_out
from shared_data import needs_shared

pytestmark = [needs_shared, pytest.mark.exhaustive]


@pytest.mark.parametrize("name", ["nothing", "copycat", "garbage", "constant", "noise"])
def test_an_agent_that_does_no_work_passes_nothing(name: str, tmp_path: Path) -> None:
    suite = find_suite("gittaskbench")
    cache = Cache()
    sandbox = open_sandbox("namespaces", cache)
    agent = find_agent(name)

    def work(folder: TaskFolder) -> None:
        layout = lay_out(folder, None, cache, sandbox, whole=False)
        command = agent.command(layout, folder.task.limits)
        collect = ExportSpec("/workspace/output", tmp_path / folder.task.id)
        done = sandbox.run(replace(command, collect=(collect,)))
        assert (done.exit.ended, done.exit.code) == (Ended.EXITED, 0), (folder.task.id, done.stderr)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, suite.tasks))
    verdicts = list(grade_outputs(suite, tmp_path, GradingContext(None, cache, sandbox), workers=2))
    assert len(verdicts) == 54
    assert [verdict.task for verdict in verdicts if verdict.outcome is Outcome.PASSED] == []
    assert {verdict.task for verdict in verdicts if verdict.outcome is Outcome.INFRA_FAULT} == set()
    unknown = {verdict.task for verdict in verdicts if verdict.outcome is Outcome.NOT_GRADABLE}
    assert unknown == {"SpeechBrain_01", "SpeechBrain_04"}
    if name == "nothing":
        assert not any(verdict.process for verdict in verdicts)
