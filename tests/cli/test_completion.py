"""A real shell completes commands, suites, tasks, agents and runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BASH = shutil.which("bash")


def completed(cwd: Path, *words: str) -> list[str]:
    """What bash offers in the place of the last word."""
    line = " ".join(f"'{word}'" for word in words)
    script = (
        'eval "$(repoassay completion bash)"\n'
        f"COMP_WORDS=(repoassay {line}); COMP_CWORD={len(words)}; COMPREPLY=()\n"
        '_repoassay_completion repoassay "" ""; printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    assert BASH is not None
    done = subprocess.run(
        [BASH, "--norc", "-c", script], cwd=cwd, env={**os.environ, "PATH": path}, capture_output=True, text=True,
        check=False, timeout=100,
    )  # fmt: skip
    assert "Traceback" not in done.stderr and done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.skipif(BASH is None, reason="there is no bash")
@pytest.mark.long
def test_bash_completes_names(tmp_path: Path) -> None:
    for name in ("20260101-120000-a", "20260102-120000-b"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "run.json").write_text("{}")
    assert completed(tmp_path, "rep") == ["report"]
    assert completed(tmp_path, "run", "st") == ["starter"]
    assert completed(tmp_path, "tasks", "show", "starter", "sensor-") == ["sensor-log-daily", "sensor-log-outages"]
    assert completed(tmp_path, "run", "starter", "--agent", "reference,noth") == ["reference,nothing"]
    assert completed(tmp_path, "report", "") == ["latest", "runs/20260102-120000-b", "runs/20260101-120000-a"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_gets_its_script(shell: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [Path(sys.executable).parent / "repoassay", "completion", shell], cwd=tmp_path, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert "_REPOASSAY_COMPLETE" in done.stdout
