"""Real agents from their registries, by a scripted model in the default sandbox, of their own dialect and of others.

Runs those named in REPOASSAY_TEST_AGENTS, such as `mini-swe-agent,codex`, or `all` that this machine can have. They are
installed from their registries first, so this needs a network and minutes the first time.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest.importorskip("aiohttp")

from repoassay.agents.find import find_modelled
from repoassay.agents.install import availability
from repoassay.agents.spec import builtin_specs, read_spec
from repoassay.engine.agent_check import check_agent
from repoassay.records.calls import read_calls
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.types import Usage

ASKED = os.environ.get("REPOASSAY_TEST_AGENTS", "")
NO_CACHED = {"aider"}
"""Their own records have no cached tokens."""


def wanted() -> list[str]:
    if ASKED != "all":
        return [name for name in ASKED.split(",") if name]
    specs = {name: read_spec(path) for name, path in builtin_specs().items()}
    verified = {name: spec for name, spec in specs.items() if spec.status.startswith("verified")}
    return [name for name, spec in verified.items() if availability(spec, Cache()).state != "missing"]


@pytest.mark.skipif(not ASKED, reason="REPOASSAY_TEST_AGENTS names no agents")
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("dialect", ["", "chat", "messages"])
@pytest.mark.parametrize("name", wanted())
def test_it_solves_both_tasks_and_is_metered_exactly(name: str, dialect: str, tmp_path: Path) -> None:
    cache = Cache()
    sandbox = open_sandbox("namespaces", cache)
    agent = find_modelled(name)
    agent.prepare(cache, sandbox)
    if dialect == agent.dialect or (dialect and agent.dialect == "chat"):
        pytest.skip("that is its own, or one in which the script does not know how this agent ends")
    for found in check_agent(agent, cache, sandbox, tmp_path, dialect=dialect):
        calls = read_calls(found.folder / "usage.jsonl").calls
        assert {call.spoken for call in calls if call.forwarded} == {dialect}
        assert found.verdict.outcome.value == "passed", (found.task, found.exit, (found.folder / "log.txt").read_text())
        assert found.totals.usage == found.sent != Usage()
        assert found.totals.refused == 0
        assert not found.trajectory.problems
        assert found.trajectory.steps
        own = found.trajectory.own.usage
        assert own is not None
        assert own == found.sent.model_copy(update={"cached": 0} if name in NO_CACHED else {})
