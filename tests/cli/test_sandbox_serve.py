"""`repoassay sandbox serve` and `--isolation http`, as processes of their own: the same verdicts, and no blame."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from command_line import repoassay
from interrupts import interruptible
from json_answers import data_of

REPOASSAY = str(Path(sys.executable).with_name("repoassay"))
TASKS = ("--task", "edit-ledger-account-prefix")
"""Whose tests need little beside the repository: what is mounted has to be sent to each test's new server."""
AGENTS = ("--agent", "reference", "--agent", "nothing")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], str, dict[str, str]]]:
    """A server with a token of its own making; its process, the isolation it offers, and who may ask."""
    with interruptible():
        process = subprocess.Popen(
            [REPOASSAY, "sandbox", "serve", "--port", "0", "--sessions", "2"], cwd=tmp_path, text=True,
            stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
    assert process.stderr is not None
    lines = "".join(process.stderr.readline() for _ in range(2))
    url, token = re.search(r"--isolation (\S+)", lines), re.search(r"REPOASSAY_SANDBOX_TOKEN=(\S+)", lines)
    assert url and token, lines
    yield process, url[1], {"REPOASSAY_SANDBOX_TOKEN": token[1]}
    process.kill()
    process.communicate()


def verdicts(cwd: Path) -> dict[str, dict[str, object]]:
    (run,) = (cwd / "runs").iterdir()
    found = [json.loads(path.read_text()) for path in run.glob("attempts/*/verdict.json")]
    for test in (test for each in found for test in each["tests"]):
        del test["seconds"], test["grade"]  # elsewhere nothing is attested
    return {
        each["outcome"]: {name: each[name] for name in ("process", "result", "criteria", "tests")} for each in found
    }


def isolation(cwd: Path) -> set[tuple[str, str]]:
    (run,) = (cwd / "runs").iterdir()
    found = [json.loads(path.read_text())["isolation"] for path in run.glob("attempts/*/verdict.json")]
    return {(each["kind"], each["grade"]) for each in found}


@pytest.mark.long
def test_verdicts_are_those_of_this_machine_and_name_where_they_were_given(
    server: tuple[subprocess.Popen[str], str, dict[str, str]], tmp_path: Path
) -> None:
    process, kind, env = server
    for place, options in (("here", ()), ("there", ("--isolation", kind))):
        (tmp_path / place).mkdir()
        done = repoassay("run", "starter", *AGENTS, *TASKS, *options, cwd=tmp_path / place, env=env)
        assert done.returncode == 0, done.stderr
        assert env["REPOASSAY_SANDBOX_TOKEN"] not in done.stdout + done.stderr
    assert verdicts(tmp_path / "here").keys() == {"passed", "no_output"}
    assert verdicts(tmp_path / "here") == verdicts(tmp_path / "there")
    assert isolation(tmp_path / "there") == {(kind, "unverified")}
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0


@pytest.mark.long
def test_a_server_that_dies_is_a_fault_of_ours(
    server: tuple[subprocess.Popen[str], str, dict[str, str]], tmp_path: Path
) -> None:
    process, kind, env = server
    agent = ("--agent", "command", "--agent-command", "echo begun; sleep 100", "--isolation", kind, "--workers", "1")
    with interruptible():
        running = subprocess.Popen(
            [REPOASSAY, "run", "starter", *agent, "--task", "sensor-log-daily"], cwd=tmp_path, env=os.environ | env,
            text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
    end = time.monotonic() + 120
    while not any("begun" in path.read_text() for path in (tmp_path / "runs").glob("*/attempts/*/log.txt")):
        assert time.monotonic() < end and running.poll() is None, "the agent never began"
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    _, said = running.communicate(timeout=120)
    assert verdicts(tmp_path).keys() == {"infra_fault"}, said


@pytest.mark.long
def test_doctor_tries_the_server_that_is_named(
    server: tuple[subprocess.Popen[str], str, dict[str, str]], tmp_path: Path
) -> None:
    process, kind, env = server
    env |= {"REPOASSAY_SANDBOX_URL": kind.partition("@")[2], "PATH": str(tmp_path)}  # no other is tried

    def told() -> tuple[str, str]:
        done = repoassay("doctor", "--json", cwd=tmp_path, env=env)
        (found,) = [each for each in data_of(done.stdout) if each["name"] == "http"]
        return found["state"], found["detail"]

    assert told() == ("ok", "usable: a session ran, without network or files of this machine; grade unverified")
    process.kill()
    process.wait()
    state, detail = told()
    assert state == "degraded" and "cannot be used: Connection refused" in detail


def test_other_machines_are_served_with_tls_alone(tmp_path: Path) -> None:
    done = repoassay("sandbox", "serve", "--host", "0.0.0.0", cwd=tmp_path)
    assert done.returncode == 2
    assert "in the clear" in done.stderr and "--certificate" in done.stderr
