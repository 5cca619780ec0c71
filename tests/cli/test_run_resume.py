"""Running, stopping, killing and resuming, as processes of their own, on tasks that need no network."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from command_line import repoassay
from interrupts import interruptible
from json_answers import data_of
from waiting import wait_until

REPOASSAY = str(Path(sys.executable).with_name("repoassay"))
TASKS = ("--task", "sensor-log-daily", "--task", "sensor-log-outages")
SLOW = ("--agent", "command", "--agent-command", "sleep 0.4; echo worked")


def start(*arguments: str, cwd: Path) -> subprocess.Popen[str]:
    with interruptible():
        return subprocess.Popen(
            [REPOASSAY, *arguments], cwd=cwd, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True,
        )  # fmt: skip


def events(folder: Path) -> list[dict[str, object]]:
    lines = []
    for line in (folder / "journal.jsonl").read_bytes().splitlines():
        try:
            lines.append(json.loads(line))
        except ValueError:
            continue
    return lines


def the_run(cwd: Path) -> Path:
    (folder,) = (cwd / "runs").iterdir()
    return folder


def finished(cwd: Path) -> int:
    journals = list((cwd / "runs").glob("*/journal.jsonl")) if (cwd / "runs").exists() else []
    return sum(event["event"] == "finished" for event in events(journals[0].parent)) if journals else 0


def test_the_reference_passes_and_leaves_a_report(tmp_path: Path) -> None:
    done = repoassay("run", "starter", "--agent", "reference", *TASKS, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "passed" in done.stderr
    run = the_run(tmp_path)
    assert (run / "report.html").stat().st_size > 10_000
    assert "report.html" in done.stdout
    (report,) = [data_of(repoassay("report", str(run), "--json", "--no-html", cwd=tmp_path).stdout)]
    assert report


@pytest.mark.long
def test_two_agents_and_several_attempts_fill_every_slot_once(tmp_path: Path) -> None:
    done = repoassay(
        "run", "starter", "--agent", "nothing", "--agent", "empty", "--attempts", "2", *TASKS, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    ends = [event for event in events(the_run(tmp_path)) if event["event"] == "finished"]
    slots = Counter((event["task"], event["agent"], event["number"]) for event in ends)
    assert len(slots) == 8
    assert set(slots.values()) == {1}
    assert {event["outcome"] for event in ends} == {"no_output"}


@pytest.mark.long
def test_killed_with_sigkill_then_resumed_nothing_is_lost_or_done_twice(tmp_path: Path) -> None:
    running = start("run", "starter", *SLOW, "--attempts", "4", "--workers", "2", *TASKS, cwd=tmp_path)
    wait_until(lambda: finished(tmp_path) >= 3)
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate()
    run = the_run(tmp_path)
    before = {event["attempt"] for event in events(run) if event["event"] == "finished"}
    verdicts = {path: path.read_bytes() for path in run.glob("attempts/*/verdict.json")}
    with (run / "journal.jsonl").open("ab") as journal:  # what a power cut leaves
        journal.write(b'{"event":"finished","at":"2026-01-01T00:0')

    done = repoassay("resume", str(run), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "torn" in done.stderr
    ends = [event for event in events(run) if event["event"] == "finished"]
    slots = Counter((event["task"], event["agent"], event["number"]) for event in ends)
    assert len(slots) == 8
    assert set(slots.values()) == {1}
    assert before <= {event["attempt"] for event in ends}
    assert all(path.read_bytes() == content for path, content in verdicts.items())

    again = repoassay("resume", str(run), cwd=tmp_path)
    assert again.returncode == 0
    assert "Nothing is left to do: all 8 attempts are finished. See them: repoassay report" in again.stderr
    assert again.stdout == ""  # what it came to may be of 100,000 attempts
    assert len([event for event in events(run) if event["event"] == "finished"]) == 8


def test_an_attempt_whose_journal_line_was_lost_is_recovered_not_repeated(tmp_path: Path) -> None:
    repoassay("run", "starter", "--agent", "nothing", *TASKS, cwd=tmp_path)
    run = the_run(tmp_path)
    lines = (run / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (run / "journal.jsonl").write_bytes(b"".join(lines[:-1]))
    attempts = {path.name for path in (run / "attempts").iterdir()}
    done = repoassay("resume", str(run), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (run / "attempts").iterdir()} == attempts
    assert finished(tmp_path) == 2


@pytest.mark.parametrize("presses", [1, pytest.param(2, marks=pytest.mark.exhaustive)])
def test_ctrl_c_keeps_what_is_finished(tmp_path: Path, presses: int) -> None:
    running = start("run", "starter", *SLOW, "--attempts", "5", "--workers", "1", *TASKS, cwd=tmp_path)
    wait_until(lambda: finished(tmp_path) >= 1)
    assert running.stderr is not None
    os.kill(running.pid, signal.SIGINT)
    heard = []
    for line in running.stderr:  # two signals at a time are one to the kernel: the second waits until one was heard
        heard.append(line)
        if "Ctrl-C again drops them" in line:
            break
    if presses == 2:
        os.kill(running.pid, signal.SIGINT)
    said = "".join([*heard, running.stderr.read()])
    running.communicate(timeout=60)
    assert running.returncode == 130, said
    assert "Finishing the attempts under way; Ctrl-C again drops them." in said
    assert ("Dropping the attempts under way" in said) == (presses == 2)
    assert "repoassay resume" in said
    assert "Traceback" not in said
    done = repoassay("resume", "latest", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    ends = [event for event in events(the_run(tmp_path)) if event["event"] == "finished"]
    assert len({(event["task"], event["number"]) for event in ends}) == len(ends) == 10


@pytest.mark.long
def test_sigterm_drops_what_is_under_way(tmp_path: Path) -> None:
    running = start("run", "starter", "--agent", "command", "--agent-command", "sleep 600", *TASKS, cwd=tmp_path)
    wait_until(lambda: list(tmp_path.glob("runs/*/attempts/*")))
    os.kill(running.pid, signal.SIGTERM)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 143, said
    assert "repoassay resume" in said and "Traceback" not in said
    told = [event["event"] for event in events(the_run(tmp_path))]
    assert told[-1] == "interrupted" and "finished" not in told


@pytest.mark.exhaustive
def test_two_processes_never_work_on_one_run(tmp_path: Path) -> None:
    running = start("run", "starter", *SLOW, "--attempts", "8", "--workers", "1", *TASKS, cwd=tmp_path)
    wait_until(lambda: finished(tmp_path) >= 1)
    second = repoassay("resume", "latest", cwd=tmp_path)
    assert second.returncode == 2
    assert "another process" in second.stderr
    running.communicate(timeout=60)
    assert finished(tmp_path) == 16


def test_resume_refuses_to_mix_two_versions_of_a_task(tmp_path: Path) -> None:
    repoassay("run", "starter", "--agent", "nothing", *TASKS, cwd=tmp_path)
    plan = the_run(tmp_path) / "run.json"
    data = json.loads(plan.read_text())
    data["tasks"][0]["digest"] = "0" * 64
    data["attempts"] = 2
    plan.write_text(json.dumps(data))
    done = repoassay("resume", "latest", cwd=tmp_path)
    assert done.returncode == 2
    assert data["tasks"][0]["id"] in done.stderr


def test_a_fault_of_ours_is_not_the_agents_and_is_made_again_on_resume(tmp_path: Path) -> None:
    env = {"REPOASSAY_CACHE": str(tmp_path / "cache"), "REPOASSAY_INDEX_URL": "http://127.0.0.1:9/simple"}
    line = ("run", "starter", "--agent", "reference", "--task", "pdf-text-report", "--retries", "0")
    done = repoassay(*line, cwd=tmp_path, env=env)
    assert "infra_fault" in done.stderr
    assert "index" in done.stderr
    again = repoassay("resume", "latest", cwd=tmp_path, env=env)
    assert again.returncode == 0, again.stderr
    attempts = [json.loads(path.read_text()) for path in the_run(tmp_path).glob("attempts/*/attempt.json")]
    assert len(attempts) == 2
    (retry,) = [attempt for attempt in attempts if attempt["retry_of"]]
    assert retry["retry_of"] in {attempt["id"] for attempt in attempts} - {retry["id"]}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "starter", "--agent", "nobody"), "nobody"),
        (("run", "no-such-suite", "--agent", "nothing"), "no-such-suite"),
        (("run", "starter", "--agent", "nothing", "--task", "zzz*"), "zzz"),
        (("run", "starter", "--agent", "command"), "--agent-command"),
        (("run", "starter", "--agent", "command", "--agent-command", "{agent}/x"), "--agent-dir"),
        (("run", "starter", "--agent", "nothing", "--workers", "0"), "workers"),
        (("run", "starter", "--agent", "nothing", "--timeout", "-1"), "timeout"),
        (("resume", "nowhere"), "nowhere"),
        (("report", "nowhere"), "nowhere"),
        (("resume", "latest"), "latest"),
        (("grade", "starter", "--outputs", "nowhere"), "nowhere"),
        (("frobnicate",), "frobnicate"),
    ],
)
def test_bad_input_is_a_sentence_and_exit_code_2(tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    done = repoassay(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert words in done.stderr or words == "latest"
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "runs").exists()
