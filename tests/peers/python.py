"""The Python that has other tools installed: `make test-peers` makes it, and names it here."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = os.environ.get("PEERS_PYTHON", "")
needs_peers = pytest.mark.skipif(not PYTHON, reason="run by `make test-peers`, which installs other tools for it")


def run_peer(*arguments: str, **environment: str) -> str:
    """What a Python program prints where the other tools are installed; it must succeed."""
    python = str((ROOT / PYTHON).absolute())
    done = subprocess.run(
        [python, *arguments], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    return done.stdout
