"""The other verbs, and a machine that gives no sandbox."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from command_line import repoassay
from json_answers import data_of, records_of
from repoassay.cli.main import cli

REPOASSAY = str(Path(sys.executable).with_name("repoassay"))
NO_NAMESPACES = 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$0" "$@"'


def started(*arguments: str, cwd: Path, before: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*before, REPOASSAY, *arguments], cwd=cwd, capture_output=True, text=True, timeout=120, check=False
    )


def test_version_and_help_name_every_verb(tmp_path: Path) -> None:
    version = started("--version", cwd=tmp_path).stdout
    assert version.startswith("repoassay ")
    module = [sys.executable, "-m", "repoassay", "--version"]
    assert subprocess.run(module, cwd=tmp_path, capture_output=True, text=True, check=True).stdout == version
    text = repoassay("--help", cwd=tmp_path).stdout
    for verb in ("run", "resume", "report", "grade", "fetch", "tasks", "metrics", "stats", "cache", "doctor"):
        assert f"  {verb} " in text
        assert "Examples:" in repoassay(verb, "--help", cwd=tmp_path).stdout


@pytest.mark.long
def test_doctor_finds_what_a_run_needs(tmp_path: Path) -> None:
    done = repoassay("doctor", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    found = {item["name"]: item["state"] for item in data_of(done.stdout)}
    assert found["sandbox"] == "ok"
    assert found["network"] == "ok"
    assert found["interpreters"] in ("ok", "degraded")


@pytest.mark.exhaustive
def test_validate_proves_two_tasks_twice(tmp_path: Path) -> None:
    tasks = ("--task", "sensor-log-daily", "--task", "edit-ledger-monthly")
    done = repoassay("tasks", "validate", "starter", *tasks, "--repeat", "2", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    proofs = records_of(done.stdout, "proof")
    assert {proof["proof"] for proof in proofs} >= {
        "reference",
        "nothing",
        "copycat",
        "empty",
        "garbage",
        "base",
        "mutants",
    }
    assert all(proof["sound"] and proof["stable"] and len(proof["outcomes"]) == 2 for proof in proofs)


@pytest.mark.long
def test_validate_refuses_a_task_that_a_copy_of_its_input_passes(tmp_path: Path) -> None:
    folder = tmp_path / "suite/tasks/echo"
    for name in ("inputs", "tests", "solution"):
        (folder / name).mkdir(parents=True)
    (tmp_path / "suite/repositories/none").mkdir(parents=True)
    (tmp_path / "suite/repositories/none/README").write_text("nothing\n")
    (tmp_path / "suite/suite.toml").write_text('schema = 1\n[suite]\nname = "echo"\nversion = "1"\ntitle = "Echo"\n')
    (folder / "inputs/in.txt").write_text("words\n")
    (folder / "instruction.md").write_text("Write out.txt.\n")
    (folder / "solution/solve.py").write_text("open('/workspace/output/out.txt', 'w').write('words')\n")
    (folder / "task.toml").write_text("""schema = 1
[task]
id = "echo"
title = "A task without a guard"
kind = "deliverable"
domain = "Tests"
[repository]
source = "bundled:none"
licence = "MIT"
[inputs]
files = ["in.txt"]
[outputs]
files = ["out.txt"]
[[grading.result]]
metric = "token_recall"
of = "out.txt"
against = "input:in.txt"
at_least = 1
""")
    done = repoassay("tasks", "validate", "suite", "--mutants", "0", cwd=tmp_path)
    assert done.returncode == 1
    assert "copycat" in done.stdout
    assert "1 proofs that do not hold" in done.stdout


@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs unshare of util-linux")
@pytest.mark.long
def test_where_there_are_no_namespaces_a_run_stops_with_the_flag_that_accepts_none(tmp_path: Path) -> None:
    before = ("unshare", "--user", "--map-root-user", "sh", "-c", NO_NAMESPACES)
    run = ("run", "starter", "--agent", "nothing", "--task", "sensor-log-daily")
    refused = started(*run, cwd=tmp_path, before=before)
    assert refused.returncode == 3, refused.stderr
    assert "--isolation none" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not (tmp_path / "runs").exists()
    doctor = started("doctor", cwd=tmp_path, before=before)
    assert doctor.returncode == 3
    assert "max_user_namespaces" in doctor.stdout
    accepted = started(*run, "--isolation", "none", cwd=tmp_path, before=before)
    assert accepted.returncode == 0, accepted.stderr
    assert "no_output" in accepted.stderr


def test_a_mistyped_command_is_answered_with_the_nearest(tmp_path: Path) -> None:
    done = repoassay("runn", cwd=tmp_path)
    assert done.returncode == 2 and "There is no command 'runn'. Did you mean run?" in done.stderr


def test_colour_is_left_out_where_it_is_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = ["tasks", "show", "starter", "sensor-log-daily"]
    assert "\x1b[" in CliRunner().invoke(cli, shown, color=True).output
    monkeypatch.setenv("NO_COLOR", "1")
    done = CliRunner().invoke(cli, shown, color=True)
    assert done.exit_code == 0 and "\x1b[" not in done.output


@pytest.mark.long
def test_where_no_cache_can_be_made_doctor_says_so_and_what_only_looks_works(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    env = {"REPOASSAY_CACHE": str(tmp_path / "file/cache")}
    done = repoassay("doctor", "--json", cwd=tmp_path, env=env)
    found = {item["name"]: item for item in data_of(done.stdout)}
    assert (done.returncode, found["cache"]["state"], found["sandbox"]["state"]) == (3, "missing", "ok"), done.stdout
    assert "Set REPOASSAY_CACHE" in found["cache"]["remedy"]
    for words in (("agents", "list"), ("tasks", "show", "starter", "sensor-log-daily"), ("cache",)):
        done = repoassay(*words, cwd=tmp_path, env=env)
        assert (done.returncode, done.stderr) == (0, "")
    refused = repoassay("run", "starter", "--agent", "nothing", "--task", "sensor-log-daily", cwd=tmp_path, env=env)
    assert refused.returncode == 2 and "Set REPOASSAY_CACHE" in refused.stderr


@pytest.mark.long
def test_doctor_names_a_cache_that_others_may_write_to(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache").chmod(0o777)
    done = repoassay("doctor", "--json", cwd=tmp_path, env={"REPOASSAY_CACHE": str(tmp_path / "cache")})
    (found,) = (item for item in data_of(done.stdout) if item["name"] == "cache")
    assert done.returncode == 0 and found["state"] == "degraded" and "other accounts" in found["detail"]
