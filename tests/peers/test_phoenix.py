"""Phoenix, a server that shows traces of models, takes ours and knows which span is an agent, a model and a tool."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from command_line import repoassay
from mini_runs import DIFF, write_run
from peers.python import ROOT
from repoassay.interchange import import_run
from repoassay.records import RunFolder, to_json
from repoassay.types import Observation, Source, StepCall, Trajectory, TrajectoryStep, Usage

EVALS = os.environ.get("EVALS_PYTHON", "")
PEERS = {"otel": "arize-phoenix"}
pytestmark = [
    pytest.mark.skipif(not EVALS, reason="run by `make test-peers`, which installs arize-phoenix for it"),
    pytest.mark.timeout(1200),
]


def get(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=20) as answer:
        return json.load(answer)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """The address of a Phoenix of our own, on loopback."""
    with socket.socket() as web, socket.socket() as other:
        web.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        ports = [each.getsockname()[1] for each in (web, other)]
    places = {"PHOENIX_WORKING_DIR": str(tmp_path), "PHOENIX_HOST": "127.0.0.1", "PHOENIX_TELEMETRY_ENABLED": "false"}
    environment = {**os.environ, **places, "PHOENIX_PORT": str(ports[0]), "PHOENIX_GRPC_PORT": str(ports[1])}
    program = str((ROOT / EVALS).absolute().with_name("phoenix"))
    with (tmp_path / "server.log").open("wb") as log:
        started = subprocess.Popen([program, "serve"], env=environment, stdout=log, stderr=log)
    url = f"http://127.0.0.1:{ports[0]}"
    try:
        for _ in range(1000):
            try:
                get(f"{url}/v1/projects")
                break
            except (urllib.error.URLError, OSError):
                assert started.poll() is None, (tmp_path / "server.log").read_text()
                time.sleep(1)
        yield url
    finally:
        started.kill()
        started.wait()


def test_phoenix_tells_agents_models_and_tools_apart(server: str, tmp_path: Path) -> None:
    import_run(None, write_run(tmp_path / "theirs", {"demo__one-1": DIFF}), tmp_path / "run")
    first = next(RunFolder(tmp_path / "run").finished())
    step = TrajectoryStep(
        index=1, source=Source.AGENT, time=datetime.now(UTC) - timedelta(minutes=5), usage=Usage(input=100, output=10),
        calls=(StepCall(id="c1", name="bash"), StepCall(id="c2", name="edit")),
        observations=(Observation(call="c2", text="no", failed=True),),
    )  # fmt: skip
    trajectory = Trajectory(agent="a", model="some-model", steps=(step,))
    (first.folder / "trajectory.json").write_bytes(to_json(trajectory))
    done = repoassay("export", str(tmp_path / "run"), "--as", "otel", "--to", server, cwd=tmp_path)
    assert done.returncode == 0 and "1 traces of 4 spans" in done.stderr, done.stderr
    spans: list[Any] = []
    for _ in range(60):  # it writes them by and by
        spans = get(f"{server}/v1/projects/default/spans?limit=20")["data"]
        if len(spans) == 4:
            break
        time.sleep(1)
    kinds = {span["name"]: (span["span_kind"], span["status_code"]) for span in spans}
    assert kinds == {
        "invoke_agent mini-swe-agent": ("AGENT", "UNSET"), "chat some-model": ("LLM", "UNSET"),
        "execute_tool bash": ("TOOL", "UNSET"), "execute_tool edit": ("TOOL", "ERROR"),
    }  # fmt: skip
    found = {span["name"].partition(" ")[0]: span for span in spans}
    assert found["chat"]["attributes"]["llm.token_count.prompt"] == 100
    assert found["execute_tool"]["attributes"]["tool.name"] in ("bash", "edit")
    assert [event["name"] for event in found["invoke_agent"]["events"]] == ["gen_ai.evaluation.result"]
