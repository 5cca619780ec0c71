"""Models on the command line: the plan and its bound, who is asked, what a stranger to the code sees in the end."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import repoassay
from engine.metering import ASSETS, PRICES, SOLVE, said, shell, write_dialogue
from json_answers import data_of
from repoassay.records.calls import run_spent

pytestmark = pytest.mark.exhaustive

REPOASSAY = str(Path(sys.executable).with_name("repoassay"))
TINY = ("--agent", "command", "--agent-dir", str(ASSETS / "agents"), "--agent-command", "python {agent}/tiny.py")
MINI = (str(ASSETS / "suites" / "mini"), "--task", "sum-ledger")
VENDOR = '[upstream.vendor]\nbase_url = "http://127.0.0.1:9/v1"\nkey_env = "VENDOR_KEY"\n'


def the_run(cwd: Path) -> Path:
    (folder,) = (cwd / "runs").glob("2*")
    return folder


def test_a_scripted_run_shows_its_plan_asks_nobody_and_says_why_its_cost_is_unknown(tmp_path: Path) -> None:
    dialogue = write_dialogue(tmp_path, [shell(SOLVE), said()])
    done = repoassay(
        "run", *MINI, *TINY, "--model", "scripted/a,scripted/b", "--sweep", "max_iterations=2,9", "--dialogue",
        str(dialogue), cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Plan: 4 attempts: 1 task, 4 entries, 1 each." in done.stderr
    assert "Cost at most: 0.00 USD (scripted and local models alone)." in done.stderr
    table = " ".join(done.stdout.split())
    assert "cost unknown (no price for scripted/a on " in table
    assert "2 calls, 300 tokens (200 in, 100 out), cost unknown" in table
    run = the_run(tmp_path)
    page = (run / "report.html").read_text()
    assert "no price for scripted/a" in page and "1,200" in page
    plan = json.loads((run / "run.json").read_text())
    assert plan["agents"]["command @ scripted/b, max_iterations=9"]["max_iterations"] == "9"
    attempts = [json.loads(path.read_text()) for path in run.glob("attempts/*/attempt.json")]
    assert {attempt["settings"]["model"] for attempt in attempts} == {"scripted/a", "scripted/b"}


def test_with_a_price_figures_are_sums_of_the_journals(tmp_path: Path) -> None:
    dialogue = write_dialogue(tmp_path, [shell(SOLVE), said()])
    (tmp_path / "prices.toml").write_text(PRICES)
    done = repoassay(
        "run", *MINI, *TINY, "--model", "scripted/a", "--dialogue", str(dialogue), "--prices", "prices.toml",
        "--attempts", "3", "--json", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = data_of(done.stdout)
    assert report["spent"]["total"]["dollars"] == "1.2" == report["agents"][0]["spent"]["dollars"]
    assert report["spent"]["unfinished"] is None
    assert sum(spent.usage.total for spent in run_spent(the_run(tmp_path)).values()) == 900


def test_what_may_cost_money_is_not_begun_unasked(tmp_path: Path) -> None:
    (tmp_path / "vendor.toml").write_text(VENDOR)
    line = ("run", *MINI, *TINY, "--model", "vendor/x", "--model-upstream", "vendor.toml")
    refused = repoassay(*line, cwd=tmp_path, env={"VENDOR_KEY": "k"})
    assert refused.returncode == 2
    assert "--budget-usd" in refused.stderr and "Cost at most: unknown (vendor/x: it has no price)." in refused.stderr
    assert not (tmp_path / "runs").exists()
    limited = repoassay(*line, "--budget-usd", "5", cwd=tmp_path, env={"VENDOR_KEY": "k"})
    assert limited.returncode == 2 and "needs a price for vendor/x" in limited.stderr
    keyless = repoassay(*line, "--yes", cwd=tmp_path)
    assert keyless.returncode == 2 and "VENDOR_KEY" in keyless.stderr
    agreed = repoassay(
        *line, "--yes", "--timeout", "2", "--retries", "0", cwd=tmp_path, env={"VENDOR_KEY": "k-real-secret"}
    )
    assert agreed.returncode == 0, agreed.stderr
    assert "infra_fault" in agreed.stderr
    kept = b"".join(path.read_bytes() for path in (tmp_path / "runs").rglob("*") if path.is_file())
    assert b"k-real-secret" not in kept


@pytest.mark.parametrize("answer", ["n\n", "y\n"])
def test_on_a_terminal_the_user_is_asked(tmp_path: Path, answer: str) -> None:
    (tmp_path / "vendor.toml").write_text(VENDOR)
    ours, theirs = pty.openpty()
    line = ["run", *MINI, *TINY, "--model", "vendor/x", "--model-upstream", "vendor.toml", "--timeout", "2",
            "--retries", "0"]  # fmt: skip
    with subprocess.Popen(
        [REPOASSAY, *line], cwd=tmp_path, stdin=theirs, stderr=theirs, stdout=subprocess.DEVNULL,
        env={**os.environ, "VENDOR_KEY": "k"},
    ) as process:  # fmt: skip
        os.close(theirs)
        os.write(ours, answer.encode())
        said = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:
                break
            said += part
            if not part:
                break
        code = process.wait(60)
    os.close(ours)
    assert b"Go ahead?" in said
    assert code == (0 if answer == "y\n" else 130), said.decode()
    assert (tmp_path / "runs").exists() == (answer == "y\n")


def test_show_tells_the_story_and_lists_a_run(tmp_path: Path) -> None:
    dialogue = write_dialogue(tmp_path, [shell(SOLVE), *[shell("ls")] * 5])
    done = repoassay(
        "run", *MINI, *TINY, "--model", "scripted/a", "--dialogue", str(dialogue), "--attempts", "2",
        "--max-calls", "2", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    listed = repoassay("show", "latest", cwd=tmp_path).stdout.splitlines()
    assert len(listed) == 2 and all("budget" in line for line in listed)
    attempt = listed[0].split()[0]
    for name in (attempt, attempt[-6:], f"latest/{attempt}", str(the_run(tmp_path) / "attempts" / attempt)):
        story = repoassay("show", name, cwd=tmp_path).stdout
        assert "1 a: 100 in, 50 out" in story
        assert "refused (budget)" in story
        assert "Verdict: budget (process yes, result yes)" in story
    told = data_of(repoassay("show", attempt, "--json", cwd=tmp_path).stdout)
    assert told["attempt"]["spent"]["calls"] == 2 and len(told["calls"]) == 3
    assert repoassay("show", "nothing/here", cwd=tmp_path).returncode == 2


def test_a_folder_of_prompts_over_a_repository_is_run_kept_and_not_judged(tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "Add a note!.md").write_text("Add NOTE.txt.")
    (tmp_path / "prompts" / "second.txt").write_text("Add it again.")
    (tmp_path / "prompts" / "ignored.py").write_text("no prompt")
    repository = tmp_path / "checkout"
    (repository / ".git").mkdir(parents=True)
    (repository / ".git" / "HEAD").write_text("secret of another branch")
    (repository / "code.py").write_text("print('hello')\n")
    dialogue = write_dialogue(tmp_path, [shell("echo hi > /workspace/repo/NOTE.txt"), said()])
    line = ("run", "--prompts", "prompts", "--repo", "checkout", *TINY, "--model", "scripted/a", "--dialogue",
            str(dialogue))  # fmt: skip
    done = repoassay(*line, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    run = the_run(tmp_path)
    attempts = sorted(run.glob("attempts/*/attempt.json"))
    assert {json.loads(path.read_text())["task"] for path in attempts} == {"Add-a-note", "second"}
    for path in attempts:
        assert json.loads((path.parent / "verdict.json").read_text())["outcome"] == "not_gradable"
        assert b"NOTE.txt" in (path.parent / "submission" / "changes.diff").read_bytes()
    assert not list((tmp_path / "runs" / ".prompts").rglob("HEAD"))
    (repository / "code.py").write_text("print('changed')\n")
    again = repoassay("resume", "latest", "--only", "not_gradable", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert len(list(run.glob("attempts/*/attempt.json"))) == 4


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", *MINI, *TINY, "--model", "scripted/x"), "--dialogue"),
        (("run", *MINI, *TINY, "--model", "nobody/x"), "--model-upstream"),
        (("run", *MINI, *TINY, "--model", "x"), "provider/name"),
        (("run", *MINI, *TINY, "--max-calls", "3"), "--model"),
        (("run", *MINI, *TINY, "--model", "ollama/x", "--sweep", "colour=1"), "colour"),
        (("run", *MINI, *TINY, "--model", "ollama/x", "--concurrency", "ollama"), "PROVIDER=N"),
        (("run", *MINI, *TINY, "--model", "ollama/x", "--prices", "none.toml"), "none.toml"),
        (("run", *MINI, *TINY, "--model", "ollama/x", "--network", "none"), "--network none"),
        (("run", *MINI, "--agent", "mini-swe-agent"), "--model"),
        (("run", "--prompts", ".", *TINY), "--repo"),
        (("run", *TINY), "SUITE"),
        (("run", "--prompts", "nowhere", "--repo", ".", *TINY), "nowhere"),
        (("resume", "nowhere", "--only", "lost"), "nowhere"),
    ],
)
def test_bad_input_is_a_sentence(tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    done = repoassay(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "runs").exists()
