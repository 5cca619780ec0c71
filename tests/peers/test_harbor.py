"""Harbor runs a trial in our sandbox, without Docker, and its verifier's reward is what the work deserves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from peers.harbor_trials import run_trial, trial
from peers.python import needs_peers, run_peer
from repoassay.interchange import find_dataset
from repoassay.report import ExportSource, export_file
from repoassay.tasks import find_suite

PEERS = {"harbor": "harbor"}
EXPORTED = "edit-parse-replace"
PLUG_IN = ("Harbor: the environment of a trial (`--env`)", "harbor")


@needs_peers
@pytest.mark.parametrize(("agent", "reward"), [("oracle", 1.0), ("nop", 0.0)])
def test_a_trial_of_harbor_runs_in_our_sandbox(tmp_path: Path, agent: str, reward: float) -> None:
    told = trial(tmp_path, agent)
    assert told["exception_info"] is None
    assert told["verifier_result"]["rewards"] == {"reward": reward}


@needs_peers
def test_a_task_that_is_not_understood_ends_its_trial_with_the_line(tmp_path: Path) -> None:
    told = trial(
        tmp_path,
        "nop",
        environment__Dockerfile="FROM debian\nWORKDIR /app\nRUN curl -fsS -o /app/x $WHERE\n",
    )
    said = told["exception_info"]["exception_message"]
    assert "fetches something with curl" in said and "environment/Dockerfile:3" in said


@needs_peers
@pytest.mark.parametrize(("agent", "reward"), [("oracle", 1.0), ("nop", 0.0)])
def test_a_task_of_ours_is_judged_by_harbor(tmp_path: Path, agent: str, reward: float) -> None:
    source = ExportSource(suite=find_suite("starter", only=[EXPORTED]))
    assert export_file(source, "harbor", tmp_path / "tasks") == ()
    told = run_trial(tmp_path, tmp_path / "tasks" / EXPORTED, agent)
    assert told["exception_info"] is None
    assert told["verifier_result"]["rewards"] == {"reward": reward}


REGISTRY = """
import sys
from pathlib import Path
from harbor.registry.client.json import JsonRegistryClient
found = JsonRegistryClient(path=Path(sys.argv[1]))._get_dataset_spec("parcels", "1.0")
print([str(task.to_source_task_id().path) for task in found.tasks])
"""


@needs_peers
def test_harbor_and_we_read_the_same_registry(tmp_path: Path) -> None:
    tasks = [
        {"name": "one", "path": "mine/one"},
        {"name": "two", "git_url": "https://x.example/a.git", "path": "b/two"},
    ]
    registry = tmp_path / "registry.json"
    registry.write_text(json.dumps([{"name": "parcels", "version": "1.0", "description": "", "tasks": tasks}]))
    assert run_peer("-c", REGISTRY, str(registry)).strip() == str(
        [task.folder for task in find_dataset(registry, "parcels").tasks]
    )


_GROWN = """
import asyncio, sys
from pathlib import Path
from repoassay.integrations import harbor_environment as ours
from repoassay.sandbox import Completed
from repoassay.types import Ended, Exit

class Session:
    limits = []
    def exec(self, *_, **__):
        listed = b"".join(b"%d\\0" % number for number in range(9))
        return Completed(Exit(ended=Ended.EXITED, code=0), stdout=listed)
    def read(self, path, limit):
        self.limits.append(limit)
        if limit < 1000:
            raise OSError(27, "more than asked for", path)
        return b"x" * 1000

ours._MOST_BYTES = 2500
environment = ours.SandboxEnvironment.__new__(ours.SandboxEnvironment)
ours.SandboxEnvironment.session = Session()
try:
    asyncio.run(environment.download_dir("/logs", Path(sys.argv[1])))
except RuntimeError as error:
    print(error, Session.limits)
"""


@needs_peers
def test_what_an_agent_leaves_is_bounded_whatever_it_listed_and_however_it_grows(tmp_path: Path) -> None:
    told = run_peer("-c", _GROWN, str(tmp_path))
    assert told == "The folder /logs holds more than may cross. [2500, 1500, 500]\n"
