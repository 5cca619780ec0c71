"""What runs tests inside a sandbox is read by the task's own Python, which may be older than ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from repoassay.engine.grading_context import GradingContext
from repoassay.errors import Unavailable
from repoassay.interchange.state_proof import prove_state_task
from repoassay.workspace.interpreters import find_interpreter
from state_tasks import DOCUMENT, bench, write_task

__all__ = ["bench"]

NAMED = 'requirements = "environment/requirements.txt"'


@pytest.mark.long
@pytest.mark.parametrize("line", ["3.8", "3.9", "3.10", "3.12", "3.13"])
def test_a_task_of_another_python_is_proven(bench: GradingContext, tmp_path: Path, line: str) -> None:
    try:
        find_interpreter(line)
    except Unavailable as error:
        pytest.skip(str(error))
    document = DOCUMENT.replace(NAMED, f'python = "{line}"\nresolve = "environment/requirements.txt"')
    folder = write_task(tmp_path, task=document, requirements="pytest\n")
    proof = prove_state_task(folder, bench)
    assert (proof.state, proof.why) == ("proven", "")
