"""The labelled attempts: the paper's ten printed failures, and our own, in the formats of seven agents."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from diagnosis.dialogue import STYLES, Labelled, cases
from repoassay.diagnosis import AttemptCase, confusion_text, diagnose, evidence_text, integrity, score

LISTINGS = cases("listings")
OURS = [*cases("written_first"), *cases("held_out"), *cases("hard")]
PAGE = Path(__file__).parents[2] / "docs" / "diagnosis.md"


@pytest.mark.parametrize("case", LISTINGS, ids=lambda case: case.id)
@pytest.mark.parametrize("style", STYLES)
def test_the_printed_failures_classify_as_printed(case: Labelled, style: str) -> None:
    again = next(one for one in cases("listings", style) if one.id == case.id)
    found = diagnose(again.trajectory, None, again.case)
    assert found.label == case.label
    assert set(case.integrity) <= {finding.check.value for finding in found.findings}


def test_the_ten_are_two_of_each_class() -> None:
    assert sorted(case.label for case in LISTINGS) == sorted(["E1", "E2", "E3", "E4", "E5"] * 2)


def test_at_least_nine_of_ten_labels_agree_and_the_page_shows_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    found = score((case.id, case.label, diagnose(case.trajectory, None, case.case).label) for case in OURS)
    text = confusion_text(found)
    with capsys.disabled():
        print(f"\n{text}\n")  # noqa: T201 - the table is asked for in the tests' output
    assert found.n >= 70
    assert found.share is not None and found.share >= 0.9, found.wrong
    assert text.split("\n")[0] in PAGE.read_text("utf-8")
    assert text.split("\n")[-1] in PAGE.read_text("utf-8")


@pytest.mark.parametrize("style", STYLES)
def test_the_format_of_the_agent_does_not_matter(style: str) -> None:
    told = [case for name in ("written_first", "held_out", "hard") for case in cases(name, style)]
    found = score((case.id, case.label, diagnose(case.trajectory, None, case.case).label) for case in told)
    assert found.share is not None and found.share >= 0.9, found.wrong


def test_fewer_facts_still_do() -> None:
    poor = [(case, replace(case.case, left=None, packages=())) for case in OURS]
    bare = [(case, AttemptCase(outcome=case.case.outcome, edit=case.case.edit)) for case in OURS]
    for told, least in ((poor, 0.9), (bare, 0.8)):
        found = score((case.id, case.label, diagnose(case.trajectory, None, facts).label) for case, facts in told)
        assert found.share is not None and found.share >= least, found.wrong


def test_integrity_leads_of_the_labelled_cases_are_those_noted() -> None:
    for case in [*LISTINGS, *OURS]:
        found = {finding.check.value for finding in integrity(case.trajectory, None, case.case)} - {"bypass"}
        assert found == set(case.integrity), case.id


@pytest.mark.parametrize("case", [*LISTINGS, *OURS], ids=lambda case: case.id)
def test_evidence_stands_where_it_says(case: Labelled) -> None:
    found = diagnose(case.trajectory, None, case.case)
    told = [evidence for one in found.classes for evidence in one.evidence] + [found.last_error]
    for evidence in told:
        if evidence is not None and evidence.step:
            whole = evidence_text(case.trajectory, evidence)
            assert whole[evidence.start : evidence.end][:200] == evidence.quote
            assert evidence.quote or not whole
    assert len({one.code for one in found.classes}) == len(found.classes)
    assert (found.primary is None) == (found.classes == ())
