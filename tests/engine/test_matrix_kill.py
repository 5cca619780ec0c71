"""A matrix run killed twice and resumed; `measurements/matrix_kill.py` does the same with 200 attempts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.exhaustive

BENCHMARK = Path(__file__).parents[2] / "measurements" / "matrix_kill.py"


def test_a_matrix_killed_twice_and_resumed_has_every_attempt_once_and_every_token() -> None:
    done = subprocess.run(
        [sys.executable, str(BENCHMARK), "--attempts", "40"], capture_output=True, text=True, timeout=250, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
