"""Several real Ray machines, in namespaces of this one: submissions while one of them is killed.

`python measurements/cluster.py` does the whole demonstration set on 1, 2 and 4 of them, and 5,000 submissions.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ray_machines import lacking

pytest.importorskip("ray")
pytestmark = pytest.mark.skipif(bool(lacking()), reason=f"there can be no machines here: {lacking()}")

MEASUREMENT = Path(__file__).parents[2] / "measurements" / "cluster.py"


def measured(*options: str) -> str:
    line = [sys.executable, str(MEASUREMENT), "--rounds=1", *options]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=1500)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    return done.stdout


@pytest.mark.exhaustive
def test_a_machine_killed_at_work_costs_no_verdict_and_doubles_none() -> None:
    told = measured("--nodes=2", "--tasks=2", "--submissions=60", "--kills=1")
    assert "60 verdicts on 60 submissions, 60 of them different" in told


@pytest.mark.exhaustive
@pytest.mark.timeout(1800)
def test_verdicts_are_the_same_on_one_two_and_four_machines_and_while_they_die() -> None:
    told = measured("--nodes=1,2,4", "--tasks=28", "--submissions=1000", "--kills=5")
    assert "1000 verdicts on 1000 submissions, 1000 of them different" in told
