"""The tutorial, typed as it stands: an agent from nothing to its first verdict in at most four commands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "tutorial.md"


@pytest.mark.long
def test_an_own_agent_has_its_first_verdict_after_at_most_four_commands(tmp_path: Path) -> None:
    pytest.importorskip("aiohttp")
    typed = re.findall(r"^```sh\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert 0 < len(typed) <= 3  # beside the installation
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    names = ("HOME", "LANG", "REPOASSAY_CACHE", "TMPDIR", "UV_CACHE_DIR", "XDG_CACHE_HOME")
    env = {name: os.environ[name] for name in names if name in os.environ}
    said = ""
    for command in typed:
        done = subprocess.run(
            ["/bin/sh", "-e", "-c", command], cwd=tmp_path, env={**env, "PATH": path}, capture_output=True, text=True,
            check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        said += done.stdout
    assert "first on sensor-log-daily: passed" in said
    assert "equal to what the model sent" in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first", "loop.py"]
