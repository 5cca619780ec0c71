from __future__ import annotations

from itertools import combinations_with_replacement

import pytest

from repoassay.db import Database
from repoassay.errors import BadInput
from repoassay.review.adjudication import (
    Adjudication,
    DisagreementCause,
    Provenance,
    consensus,
    disputes,
    label_of,
    latest,
)
from repoassay.review.adjudication_store import adjudications_of, settle
from review.samples import NOW, QUALITY, RUBRIC, begun, later, rating

NAMES = {"p": "problem", "c": "no_problem", "n": "not_applicable", "u": "unsure"}


@pytest.mark.parametrize(
    ("votes", "state", "provenance"),
    [
        ("p", "problem", "single"), ("pp", "problem", "unanimous"), ("ppc", "problem", "majority"),
        ("nnc", "not_applicable", "majority"), ("pc", None, "unsettled"), ("pcn", None, "unsettled"),
        ("ppcn", None, "unsettled"), ("ppu", "problem", "majority"), ("pu", None, "unsettled"),
        ("puu", None, "unsettled"), ("uuu", None, "unsettled"), ("", None, "unsettled"),
        ("pppuu", "problem", "majority"),
    ],
)  # fmt: skip
def test_labels_of_states(votes: str, state: str | None, provenance: str) -> None:
    found = label_of("s1", "core", [NAMES[vote] for vote in votes], RUBRIC)
    assert (found.state, found.provenance) == (state, provenance)
    assert sum(found.votes.values()) == len(votes)


@pytest.mark.parametrize(
    ("votes", "state", "provenance"),
    [
        (["0", "0", "0.5", "1", "1"], "0.5", "median"),
        (["0", "0", "0.5", "0.75", "1"], "0", "plurality"),
        (["0", "0.25", "0.5", "0.75", "1"], "0.5", "median"),
        (["1", "1", "1", "0", "0"], "1", "majority"),
        (["1", "1"], "1", "unanimous"),
        (["0.25", "0.75"], "0.25", "median"),
    ],
)
def test_labels_of_levels(votes: list[str], state: str, provenance: str) -> None:
    found = label_of("s1", "quality", votes, QUALITY)
    assert (found.state, found.provenance) == (state, provenance)
    assert found.open is (provenance in {"plurality", "median"})


def test_five_raters_over_five_levels() -> None:
    # 126 profiles: 75 have a strict majority, 20 a unique plurality only, 31 tie.
    levels = [level.key for level in QUALITY.levels("quality")]
    kinds = [
        label_of("s", "quality", profile, QUALITY).provenance for profile in combinations_with_replacement(levels, 5)
    ]
    strict = kinds.count(Provenance.MAJORITY) + kinds.count(Provenance.UNANIMOUS)
    assert (len(kinds), strict, kinds.count(Provenance.PLURALITY), kinds.count(Provenance.MEDIAN)) == (126, 75, 20, 31)


def _settled(axis: str = "core", state: str = "problem", item: str = "s1") -> Adjudication:
    return Adjudication(item=item, axis=axis, state=state, cause=DisagreementCause.GUIDELINE_GAP, by="lead", at=NOW)


def test_the_queue_puts_most_disagreement_first() -> None:
    line = [
        rating("ccccc", "calm", "a"), rating("ccccc", "calm", "b"),
        rating("ppccc", "one", "a"), rating("pcccc", "one", "b"),
        rating("ppppp", "all", "a"), rating("ccccn", "all", "b"),
        rating("ccccc", "torn", "a", would_merge=False), rating("ccccc", "torn", "b", would_merge=True),
    ]  # fmt: skip
    line = [each.model_copy(update={"would_merge": True}) if each.submission == "calm" else each for each in line]
    found = disputes(line, RUBRIC)
    # Ratings in "all" and "torn" contradict themselves: clear axes, yet not to be merged.
    assert [each.item for each in found] == ["all", "torn", "one"]
    assert found[2].axes == {"core": 0, "testing": 1, "documentation": 0, "lint": 0, "quality": 0}
    assert found[2].disagreement == pytest.approx(0.2) and found[1].contradictions == ("a",)
    assert found[0].answers["quality"] == {"a": "problem", "b": "not_applicable"}
    assert [each.item for each in disputes(line, RUBRIC, [_settled("testing", item="one")])] == ["all", "torn"]


def test_an_adjudication_is_the_label() -> None:
    line = [rating("pcccc", rater="a"), rating("ccccc", rater="b")]
    assert consensus(line, RUBRIC)["s1"]["core"].provenance is Provenance.UNSETTLED
    settled = [_settled(state="no_problem"), _settled()]
    label = consensus(line, RUBRIC, settled)["s1"]["core"]
    assert (label.state, label.provenance, label.votes) == ("problem", "adjudicated", {"no_problem": 1, "problem": 1})


def test_the_last_version_counts() -> None:
    line = [rating("ccccc"), rating("pcccc", version=2), rating("ccccc", rater="r2")]
    assert [each.version for each in latest(line)] == [2, 1] and latest([]) == ()


def test_adjudications_are_kept_in_order(database: Database) -> None:
    begun(database, "Ana")
    second = _settled(state="no_problem", item="s0").model_copy(update={"at": later(5)})
    for each in (_settled(item="s0"), second):
        settle(database, "st", each)
    assert adjudications_of(database, "st") == (_settled(item="s0"), second)
    for wrong in (_settled(item="s9"), _settled("speed", item="s0"), _settled(state="awful", item="s0")):
        with pytest.raises(BadInput):
            settle(database, "st", wrong)
    assert len(adjudications_of(database, "st")) == 2
