"""`--isolation kubernetes` as a process of its own, against a fake API server: verdicts, Ctrl-C, and `doctor`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from command_line import repoassay
from fake_cluster import FakeCluster, fake_cluster, is_possible
from interrupts import interruptible
from json_answers import data_of

pytestmark = pytest.mark.skipif(not is_possible(), reason="bubblewrap, which stands for a kubelet, cannot be used here")
REPOASSAY = str(Path(sys.executable).with_name("repoassay"))
KIND = ("--isolation", "kubernetes@test/work")


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[FakeCluster]:
    pytest.importorskip("kubernetes")
    (tmp_path / "cluster").mkdir()
    with fake_cluster(tmp_path / "cluster") as found:
        yield found


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"KUBECONFIG": str(tmp_path / "cluster/config"), "REPOASSAY_IMAGE": "python:3.11"}


@pytest.mark.long
def test_agents_and_tests_run_in_pods(fake: FakeCluster, env: dict[str, str], tmp_path: Path) -> None:
    agents = ("--agent", "reference", "--agent", "nothing", "--task", "edit-ledger-account-prefix")
    done = repoassay("run", "starter", *agents, *KIND, cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    found = [json.loads(path.read_text()) for path in tmp_path.glob("runs/*/attempts/*/verdict.json")]
    assert {each["outcome"] for each in found} == {"passed", "no_output"}
    assert {(each["isolation"]["kind"], each["isolation"]["grade"]) for each in found} == {(KIND[1], "unverified")}
    assert not any(test["grade"] == "attested" for each in found for test in each["tests"])
    assert fake.pods == fake.policies == {} and len([each for each in fake.made if each["kind"] == "Pod"]) > 3
    written = "".join(path.read_text(errors="replace") for path in tmp_path.glob("runs/**/*") if path.is_file())
    assert "token-of-the-kubeconfig" not in done.stdout + done.stderr + written


@pytest.mark.long
def test_ctrl_c_removes_pods(fake: FakeCluster, env: dict[str, str], tmp_path: Path) -> None:
    agent = ("--agent", "command", "--agent-command", "echo begun; sleep 100", "--workers", "1")
    with interruptible():
        running = subprocess.Popen(
            [REPOASSAY, "run", "starter", *agent, *KIND, "--task", "sensor-log-daily"], cwd=tmp_path,
            env=os.environ | env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
    end = time.monotonic() + 120
    while not any("begun" in path.read_text() for path in (tmp_path / "runs").glob("*/attempts/*/log.txt")):
        assert time.monotonic() < end and running.poll() is None, "the agent never began"
        time.sleep(0.05)
    assert fake.pods
    try:
        for _ in range(2):  # the second drops what is under way
            running.send_signal(signal.SIGINT)
            time.sleep(1)
        _, said = running.communicate(timeout=60)
    finally:
        running.kill()
    assert running.returncode == 130 and "Traceback" not in said, said
    assert fake.pods == fake.policies == {}


@pytest.mark.long
def test_doctor_tries_the_cluster_that_is_named(fake: FakeCluster, env: dict[str, str], tmp_path: Path) -> None:
    def told(**more: str) -> tuple[str, str]:
        alone = {"PATH": str(tmp_path)}  # no other sandbox is tried
        done = repoassay("doctor", "--json", cwd=tmp_path, env=env | alone | more)
        (found,) = [each for each in data_of(done.stdout) if each["name"] == "kubernetes"]
        return found["state"], found["detail"]

    assert told() == ("ok", "not set: the variable REPOASSAY_CLUSTER names no cluster; nothing needs it")
    assert fake.asked == []
    state, detail = told(REPOASSAY_CLUSTER="test/work")
    assert (state, detail.partition(",")[0]) == ("ok", "usable: a session ran")
    fake.failure = lambda _: (403, "a test says so")
    state, detail = told(REPOASSAY_CLUSTER="test/work")
    assert state == "degraded" and "gives no right to list pods: a test says so (403)" in detail
    fake.failure = lambda _: None
    assert fake.pods == fake.policies == {}
