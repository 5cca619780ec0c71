"""Thirty attempts in the native files of five agents, read as `repoassay diagnose` reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnosis.native_transcripts import NATIVE, native_cases
from repoassay.diagnosis import diagnose, integrity, score


def test_at_least_twenty_eight_of_thirty_labels_agree(tmp_path: Path) -> None:
    told = list(native_cases(tmp_path))
    assert len(told) == 30
    found = score((case.id, case.label, diagnose(case.trajectory, None, case.case).label) for case in told)
    assert found.share is not None and found.share >= 28 / 30, found.wrong


@pytest.mark.parametrize("style", NATIVE)
def test_every_agent_diagnoses_alike(style: str, tmp_path: Path) -> None:
    told = list(native_cases(tmp_path, style))
    found = score((case.id, case.label, diagnose(case.trajectory, None, case.case).label) for case in told)
    assert found.share is not None and found.share >= 28 / 30, found.wrong


@pytest.mark.parametrize("style", ["", *NATIVE])
def test_the_leads_are_those_a_person_would_note(style: str, tmp_path: Path) -> None:
    wrong = {}
    for case in native_cases(tmp_path, style):
        leads = {lead.check.value for lead in integrity(case.trajectory, None, case.case)} - {"bypass"}
        if leads != set(case.integrity):
            wrong[case.id] = sorted(leads)
    assert not wrong
