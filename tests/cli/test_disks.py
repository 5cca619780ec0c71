"""A disk that is full, or may not be written to, is told in a sentence by every command, and nothing half is left."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOASSAY = str(Path(sys.executable).with_name("repoassay"))
RECORDED = Path(__file__).parents[1] / "assets" / "v0.1" / "recorded" / "baselines"
FULL = 'mount -t tmpfs -o size={size} none disk; {before} head -c {size} /dev/zero > disk/.filler 2>&-; exec "$@"'
CLOSED = 'mount --bind disk disk; mount -o remount,bind,ro disk; exec "$@"'
RUN = ("run", "starter", "--task", "sensor-log-daily", "--agent", "reference", "--retries", "0")
COMMANDS = {
    "run": (*RUN, "--out", "disk/runs"),
    "run-json": (*RUN, "--out", "disk/runs", "--json"),
    "resume": ("resume", "disk/run"),
    "report": ("report", "run", "--html", "disk/report.html"),
    "report-beside": ("report", "disk/run"),
    "report-out": ("report", "run", "--out", "disk/tables", "--format", "md,csv,json"),
    "leaderboard-build": ("leaderboard", "build", "run", "--out", "disk/site"),
    "leaderboard-pack": (
        "leaderboard", "pack", "run", "--agent", "copycat", "--out", "disk/packed", "--contact", "me@example.org",
    ),
    "export": ("export", "run", "--as", "csv", "--out", "disk/attempts.csv"),
    "grade": ("grade", "starter", "--outputs", "outputs", "--results", "disk/results.jsonl", "--task", "pdf-*"),
    "label": ("diagnose", "label", "disk/run/FIRST", "E1", "--by", "me"),
    "compare": ("compare", "run:copycat", "run:empty", "--junit", "disk/junit.xml"),
    "submit": ("submit", "--suite", "starter", "--submissions", "patches.jsonl", "--results", "disk/results.jsonl"),
    "attack": ("attack", "starter", "--task", "edit-ledger-monthly", "--family", "output", "--out", "disk/trials"),
    "mine": ("mine", "repository", "--out", "disk/suite"),
    "curate": ("curate", "select", "--candidates", "candidates", "--out", "disk/pool"),
    "import": ("tasks", "import", "rows.jsonl", "--out", "disk/suite"),
    "cache": ("doctor",),
    "prompts": ("run", "--prompts", "prompts", "--repo", "repository", "--agent", "reference", "--out", "disk/runs"),
}  # fmt: skip
ENVIRONMENT = {"cache": {"REPOASSAY_CACHE": "disk/cache"}}
_QUICK = {("run", "full"), ("run-json", "closed"), ("grade", "full"), ("export", "closed"), ("label", "full")}
CASES = [
    pytest.param(name, kind, marks=() if (name, kind) in _QUICK else pytest.mark.exhaustive, id=f"{name}-{kind}")
    for name in COMMANDS
    for kind in ("full", "closed")
]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with whatever the commands read, and the mount point `disk`."""
    for name in ("disk", "outputs", "prompts"):
        (tmp_path / name).mkdir()
    shutil.copytree(RECORDED, tmp_path / "run")
    shutil.copytree(RECORDED, tmp_path / "disk" / "run")
    (tmp_path / "prompts" / "one.md").write_text("Do it.\n")
    (tmp_path / "patches.jsonl").write_text('{"id": "edit-ledger-monthly", "patch": ""}\n')
    row = {"id": "a", "repo_url": "https://example.org/a", "instruction": "b", "test_script": "def test_a(): pass"}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n")
    (tmp_path / "rules.toml").write_text("")
    git = ("git", "-C", str(tmp_path / "repository"), "-c", "user.name=a", "-c", "user.email=a@example.org")
    (tmp_path / "repository").mkdir()
    (tmp_path / "repository" / "a.py").write_text("A = 1\n")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "One")):
        subprocess.run([*git, *words], check=True)
    shutil.copytree(tmp_path / "repository", tmp_path / "candidates" / "repository")
    return tmp_path


@pytest.mark.by_day(2)
@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs unshare of util-linux")
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_a_disk_that_takes_nothing_is_a_sentence(name: str, kind: str, place: Path) -> None:
    first = sorted(path.name for path in (place / "run" / "attempts").iterdir())[0]
    words = [word.replace("FIRST", first) for word in COMMANDS[name]]
    kept = any(word.startswith("disk/run/") or word == "disk/run" for word in words)
    full = FULL.format(size="4m" if kept else "64k", before="cp -r run disk/run;" if kept else "")
    script = full if kind == "full" else CLOSED
    before = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh")
    environment = {**os.environ, "REPOASSAY_ISOLATION": "none", **ENVIRONMENT.get(name, {})}
    done = subprocess.run(
        [*before, REPOASSAY, *words], cwd=place, env=environment, capture_output=True, text=True, timeout=200,
        check=False,
    )  # fmt: skip
    if "mount:" in done.stderr:
        pytest.skip(f"this machine mounts nothing here: {done.stderr}")
    assert "Traceback" not in done.stderr and "unexpected" not in done.stderr, done.stderr
    assert done.returncode in (2, 3), done.stderr
    told = [line for line in done.stderr.splitlines() if line.startswith("repoassay: ")]
    assert len(told) == 1 or name == "cache", done.stderr
