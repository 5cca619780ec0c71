"""`repoassay resume --share I/N` and `--collect`: a run that many processes make, killed at any moment."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from command_line import repoassay
from json_answers import data_of, records_of
from private_slurm import PrivateSlurm, private_slurm
from waiting import wait_until

__all__ = ["private_slurm"]

REPOASSAY = str(Path(sys.executable).with_name("repoassay"))
TASKS = ("--task", "sensor-log-daily", "--task", "sensor-log-outages")
SLOW = ("--agent", "command", "--agent-command", "sleep 0.2; echo worked", "--agent", "nothing")


def planned(cwd: Path, *arguments: str) -> Path:
    """A run of which nothing was made yet."""
    done = repoassay("run", "starter", *TASKS, *arguments, "--workers", "1", "--plan-only", cwd=cwd)
    assert done.returncode == 0, done.stderr
    (folder,) = (cwd / "runs").iterdir()
    return folder


def resume(cwd: Path, *arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return repoassay("resume", "latest", *arguments, cwd=cwd, env=env)


def events(journal: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in journal.read_text().splitlines() if line.endswith("}")]


def slots(run: Path) -> Counter[tuple[str, str, int]]:
    """How often each place of the plan was filled."""
    journal = events(run / "journal.jsonl")
    return Counter((each["task"], each["agent"], each["number"]) for each in journal if each["event"] == "finished")


def check_whole(run: Path, plan: bytes) -> None:
    """Every place of the plan was filled once, and nothing is left of the shares."""
    wanted = json.loads(plan)
    assert (run / "run.json").read_bytes() == plan
    assert slots(run) == {
        (task["id"], agent, number): 1
        for task in wanted["tasks"] for agent in wanted["agents"] for number in range(1, wanted["attempts"] + 1)
    }  # fmt: skip
    told = Counter((each["event"], each["attempt"]) for each in events(run / "journal.jsonl") if "attempt" in each)
    assert set(told.values()) == {1}
    assert {each for _, each in told} == set(os.listdir(run / "attempts"))  # noqa: PTH208 - names alone
    begun = [each["attempt"] for each in events(run / "journal.jsonl") if each["event"] == "started"]
    assert {each for kind, each in told if kind == "finished"} <= set(begun)
    assert not (run / "parts").exists()


@pytest.mark.long
def test_shares_come_to_what_one_process_comes_to(tmp_path: Path) -> None:
    run = planned(tmp_path, "--agent", "reference,nothing", "--attempts", "2")
    plan = (run / "run.json").read_bytes()
    nothing = resume(tmp_path, "--collect", "--json")
    assert nothing.returncode == 1
    assert records_of(nothing.stdout, "collection") == [
        {"collected": 0, "finished": 0, "left": 8, "shares_at_work": 0}
    ]  # fmt: skip
    for index in (2, 0):
        done = resume(tmp_path, "--share", f"{index}/3", "--json")
        assert done.returncode == 0, done.stderr
        (told,) = records_of(done.stdout, "share")
        assert told == {"share": f"{index}/3", "made": 8 * (index + 1) // 3 - 8 * index // 3, "kept": 0}
    assert not (run / "journal.jsonl").exists()
    report = data_of(repoassay("report", "latest", "--json", "--no-html", cwd=tmp_path).stdout)
    assert report["finished"] == 0
    early = resume(tmp_path, "--collect")
    assert (early.returncode, early.stdout) == (1, "5 attempts finished, 5 of them collected now; 3 left\n")
    again = resume(tmp_path, "--share", "0/3", "--json")  # collected attempts are not made again
    assert records_of(again.stdout, "share") == [{"share": "0/3", "made": 0, "kept": 2}]
    other = resume(tmp_path, "--share", "1/4")
    assert (other.returncode, "is divided otherwise, by --share I/3" in other.stderr) == (2, True), other.stderr
    assert resume(tmp_path, "--share", "1/3").returncode == 0
    last = resume(tmp_path, "--collect", "--json")
    assert (last.returncode, records_of(last.stdout, "collection")[0]["collected"]) == (0, 3), last.stderr
    check_whole(run, plan)
    assert "Nothing is left to do" in resume(tmp_path).stderr
    assert records_of(resume(tmp_path, "--share", "0/2", "--json").stdout, "share")[0]["made"] == 0


@pytest.mark.long
def test_the_plain_command_takes_over_what_shares_have_made_and_makes_the_rest(tmp_path: Path) -> None:
    run = planned(tmp_path, "--agent", "nothing", "--attempts", "2")
    plan = (run / "run.json").read_bytes()
    assert resume(tmp_path, "--share", "1/2").returncode == 0
    journal = next((run / "parts").glob("*.jsonl"))
    with journal.open("ab") as torn:
        torn.write(b'{"event":"star')  # as a killed share leaves it
    lost = next(each for each in events(journal) if each["event"] == "finished")
    kept = [line for line in journal.read_bytes().splitlines(keepends=True) if b'"finished"' not in line
            or lost["attempt"].encode() not in line]  # fmt: skip
    journal.write_bytes(b"".join(kept))  # its record is whole, and the line was lost in the crash
    done = resume(tmp_path)
    assert "2 finished attempts kept, 1 of them recovered; 2 to go" in done.stderr, done.stderr
    check_whole(run, plan)


@pytest.mark.long
def test_who_works_on_the_whole_run_or_on_a_share_keeps_others_out(tmp_path: Path) -> None:
    run = planned(tmp_path, "--agent", "command", "--agent-command", "sleep 100", "--attempts", "4")
    (share,) = start(tmp_path, 0)
    try:
        wait_until(lambda: any(events(path) for path in (run / "parts").glob("*.jsonl")))
        busy = resume(tmp_path)
        assert (busy.returncode, "is being worked on by another process" in busy.stderr) == (2, True), busy.stderr
        assert records_of(resume(tmp_path, "--collect", "--json").stdout, "collection")[0]["shares_at_work"] == 1
    finally:
        os.killpg(share.pid, signal.SIGKILL)
        share.wait()
    assert records_of(resume(tmp_path, "--collect", "--json").stdout, "collection")[0]["shares_at_work"] == 0


def test_what_cannot_be_wanted_at_once_is_said_in_a_sentence(tmp_path: Path) -> None:
    planned(tmp_path, "--agent", "nothing")
    for words in (("--share", "0/2", "--collect"), ("--share", "0/2", "--executor", "slurm"), ("--share", "2/2")):
        done = resume(tmp_path, *words)
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr


@pytest.mark.long
def test_the_scripts_of_a_run_do_the_work_wherever_bash_runs_them(tmp_path: Path) -> None:
    first = repoassay(
        "run", "starter", *TASKS, "--agent", "nothing", "--executor", "slurm", "--slurm-dry-run", "--slurm-shares", "5",
        "--json", cwd=tmp_path, env={"OPENAI_API_KEY": "sk-never-written"},
    )  # fmt: skip
    assert first.returncode == 0, first.stderr
    (job,) = records_of(first.stdout, "job")
    assert (job["shares"], job["jobs"]) == (2, [])
    (run,) = (tmp_path / "runs").iterdir()
    plan = (run / "run.json").read_bytes()
    for index in (2, 4):  # of five shares of two attempts those that have one
        elsewhere = {"SLURM_ARRAY_TASK_ID": str(index), "REPOASSAY_EXECUTOR": "slurm"}
        elsewhere["REPOASSAY_CACHE"] = str(tmp_path / "node")  # which did not plan it
        done = subprocess.run(["/bin/bash", job["script"]], env=os.environ | elsewhere, cwd="/", capture_output=True,
                              text=True, check=False)  # fmt: skip
        assert done.returncode == 0, done.stderr
    subprocess.run(["/bin/bash", job["collect_script"]], check=True, capture_output=True)
    assert all(b"sk-never-written" not in path.read_bytes() for path in run.rglob("*") if path.is_file())
    assert "Nothing is left to do" in resume(tmp_path, "--executor", "slurm").stderr
    for path in (run / "parts").iterdir():  # scripts and logs stay
        path.unlink()
    (run / "parts").rmdir()
    check_whole(run, plan)


def start(cwd: Path, *indices: int, count: int = 3) -> list[subprocess.Popen[bytes]]:
    return [
        subprocess.Popen([REPOASSAY, "resume", "latest", "--share", f"{index}/{count}"], cwd=cwd,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        for index in indices
    ]  # fmt: skip


@pytest.mark.exhaustive
def test_shares_killed_at_any_moment_make_every_attempt_once(tmp_path: Path) -> None:
    chance = random.Random()
    run = planned(tmp_path, *SLOW, "--attempts", "6")
    plan = (run / "run.json").read_bytes()
    working = dict(enumerate(start(tmp_path, 0, 1, 2)))
    kills = 0
    for _ in range(12):
        time.sleep(chance.random() * 4)
        index = chance.choice(list(working))
        if working[index].poll() is None:
            os.killpg(working[index].pid, signal.SIGKILL)
            kills += 1
        working[index].wait()
        if chance.random() < 0.5:
            collecting = subprocess.Popen([REPOASSAY, "resume", "latest", "--collect"], cwd=tmp_path,
                                          stdout=subprocess.DEVNULL, start_new_session=True)  # fmt: skip
            if chance.random() < 0.5:
                time.sleep(chance.random() * 2)
                collecting.kill()
            collecting.wait()
        working[index] = start(tmp_path, index)[0]
    assert [each.wait(250) for each in working.values()] == [0, 0, 0]
    assert kills
    done = resume(tmp_path, "--collect")
    assert done.returncode == 0, done.stdout + done.stderr
    check_whole(run, plan)


@pytest.mark.exhaustive
def test_a_real_slurm_makes_each_attempt_once_though_a_node_dies(tmp_path: Path, private_slurm: PrivateSlurm) -> None:
    words = ("starter", *TASKS, *SLOW, "--attempts", "4", "--executor", "slurm", "--slurm-shares", "4", "--json")
    first = repoassay("run", *words, cwd=tmp_path, env=private_slurm.env)
    (job,) = records_of(first.stdout, "job")
    assert (job["shares"], len(job["jobs"])) == (4, 2), first.stderr
    (run,) = (tmp_path / "runs").iterdir()
    plan = (run / "run.json").read_bytes()
    busy = resume(tmp_path, "--executor", "slurm", env=private_slurm.env)
    assert (busy.returncode, "still at work" in busy.stderr) == (2, True), busy.stderr
    wait_until(lambda: any(events(path) for path in (run / "parts").glob("*.jsonl")))
    private_slurm.kill_node("two")
    private_slurm.call("scancel", f"{job['jobs'][0]}_3")  # and one is cancelled by hand
    private_slurm.call("scontrol", "update", "NodeName=two", "State=DOWN", "Reason=test")
    private_slurm.start_node("two")
    private_slurm.call("scontrol", "update", "NodeName=two", "State=RESUME")
    private_slurm.wait_for(job["jobs"])
    again = resume(tmp_path, "--executor", "slurm", "--slurm-shares", "2", "--json", env=private_slurm.env)
    if again.stdout:  # shares were lost for good
        private_slurm.wait_for(records_of(again.stdout, "job")[0]["jobs"])
    assert "Nothing is left to do" in resume(tmp_path, env=private_slurm.env).stderr
    for path in (run / "parts").iterdir():
        path.unlink()
    (run / "parts").rmdir()
    check_whole(run, plan)
