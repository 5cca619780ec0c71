"""Trials on disk: what is there is not tried again, a torn line is cut off, another file is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from repoassay.attacks import AttackOrigin, Trial, TrialLog
from repoassay.attacks.trial_log import read_trials
from repoassay.errors import BadInput
from repoassay.types import Outcome


def trial(attack: str = "os._exit", outcome: Outcome = Outcome.FAILED, plain: str | None = "PASS") -> Trial:
    return Trial(
        task="task", task_digest="d" * 64, attack=attack, digest="a" * 16, family="early exit", language="python",
        origin=AttackOrigin.OWN, plain=plain, report=None, said="FAIL", outcome=outcome, grade=None, bits=None, fooled=(),
        comment="", seconds=0.1,
    )  # fmt: skip


def test_what_was_tried_is_known_again_and_faults_of_ours_are_not(tmp_path: Path) -> None:
    place = tmp_path / "sub" / "trials.jsonl"
    with TrialLog(place) as kept:
        kept.add(trial())
        kept.add(trial("broken", Outcome.INFRA_FAULT))
        kept.add(trial("unasked", plain=None))
    with place.open("ab") as stream:
        stream.write(b'{"task": "torn')
    with TrialLog(place) as kept:
        assert kept.get("task", "d" * 64, "os._exit", "a" * 16, plain=True) == trial()
        assert kept.get("task", "d" * 64, "os._exit", "b" * 16, plain=True) is None
        assert kept.get("task", "d" * 64, "broken", "a" * 16, plain=False) is None
        assert kept.get("task", "d" * 64, "unasked", "a" * 16, plain=True) is None
        assert kept.get("task", "d" * 64, "unasked", "a" * 16, plain=False) is not None
    assert len(read_trials(place)) == 3


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other.jsonl").write_text('{"id": 1}\n')
    with pytest.raises(BadInput, match="line 1 is no result of an attack"):
        TrialLog(tmp_path / "other.jsonl")
    assert (tmp_path / "other.jsonl").read_text() == '{"id": 1}\n'
    with pytest.raises(BadInput, match="cannot be written"):
        TrialLog(tmp_path)
