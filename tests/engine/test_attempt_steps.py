"""Steps of an agent that keeps no record of its own, as the model proxy saw them in a real attempt."""

from __future__ import annotations

from pathlib import Path

from engine.metering import one, said, shell
from repoassay.records import STEPS
from repoassay.report import read_trajectory
from repoassay.types import Source


def test_what_a_command_line_asked_and_ran_is_known_and_no_key_is(tmp_path: Path) -> None:
    found = one(tmp_path, [shell("env; ls /workspace"), said("I looked.")])
    record = read_trajectory(found.folder)
    assert record is not None and record.agent == ""
    spoken = [step for step in record.steps if step.source is Source.AGENT]
    assert [step.text for step in spoken][-1] == "I looked."
    (call,) = spoken[0].calls
    assert "ls /workspace" in str(call.arguments)
    (seen,) = spoken[0].observations
    assert "instruction.md" in seen.text and "[key]" in seen.text
    assert b"sk-ra-" not in (found.folder / STEPS).read_bytes()
