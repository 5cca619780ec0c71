"""Shares and market values of made-up and bundled tasks."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, strategies as st

from repoassay.survey import Share, SuiteWorth, survey_suite
from repoassay.tasks.suite import find_suite
from repoassay.types import Task


def task(domain: str, subdomain: str = "", modality: str = "", worth: tuple[str, str, str] | None = None) -> Task:
    low, value, high = worth or ("0", "0", "0")
    return Task.model_validate(
        {
            "id": "made-up",
            "title": "Made up",
            "kind": "deliverable",
            "domain": domain,
            "subdomain": subdomain,
            "modality": modality,
            "repository": {"source": "bundled:none", "licence": "MIT"},
            "outputs": {"files": ["a.txt"]},
            "grading": {"result": [{"metric": "exists", "of": "a.txt", "equals": 1}]},
            "economics": {"low": low, "value": value, "high": high, "source": "made up"} if worth else None,
        }
    )


TASKS = [
    task("Image", "Style", "image", ("5", "10", "20")),
    task("Image", "Style", "image", ("1", "5", "8.50")),
    task("Image", "Style", "image", ("5", "5", "5")),
    task("Video", "Style", "video"),
    task("Image", "Colour", "image"),
    task("Web", "", "", ("0", "0.01", "0.02")),
]


def test_groups_are_counted_and_sorted() -> None:
    found = survey_suite(TASKS)
    assert [(share.name, share.tasks, str(share.percent)) for share in found.domains] == [
        ("Image", 4, "66.7"),
        ("Video", 1, "16.7"),
        ("Web", 1, "16.7"),
    ]
    assert [(share.domain, share.name, share.tasks) for share in found.subdomains] == [
        ("Image", "Style", 3),
        ("Image", "Colour", 1),
        ("Video", "Style", 1),
        ("Web", "", 1),
    ]
    assert [(share.name, share.tasks) for share in found.modalities] == [("image", 4), ("", 1), ("video", 1)]


def test_worth_is_over_the_tasks_that_state_one() -> None:
    found = survey_suite(TASKS)
    assert found.subdomains[0].worth == SuiteWorth(3, Decimal(20), Decimal(1), Decimal(20))
    assert found.subdomains[0].worth.mean.quantize(Decimal("0.01")) == Decimal("6.67")
    assert found.subdomains[1].worth is None
    assert found.domains[0].worth == found.subdomains[0].worth
    assert found.total.worth == SuiteWorth(4, Decimal("20.01"), Decimal(0), Decimal(20))


@pytest.mark.parametrize(
    ("tasks", "of", "percent"),
    [(1, 3, "33.3"), (2, 3, "66.7"), (1, 8, "12.5"), (1, 16, "6.3"), (3, 16, "18.8"), (6, 54, "11.1"), (3, 54, "5.6"),
     (54, 54, "100.0"), (1, 2000, "0.1"), (1, 2001, "0.0")],
)  # fmt: skip
def test_percentages_round_halves_up(tasks: int, of: int, percent: str) -> None:
    assert str(Share("name", "", tasks, of, None).percent) == percent


@given(st.lists(st.tuples(*[st.sampled_from("abc")] * 3, st.none() | st.integers(0, 10**6)), min_size=1, max_size=30))
def test_every_level_adds_up_to_the_whole(drawn: list[tuple[str, str, str, int | None]]) -> None:
    tasks = [
        task(domain, subdomain, modality, None if cents is None else (str(Decimal(cents) / 100),) * 3)
        for domain, subdomain, modality, cents in drawn
    ]
    found = survey_suite(tasks)
    for shares in (found.domains, found.subdomains, found.modalities, (found.total,)):
        assert sum(share.tasks for share in shares) == len(tasks)
        worths = [share.worth for share in shares if share.worth]
        assert sum(worth.tasks for worth in worths) == sum(cents is not None for *_, cents in drawn)
        assert sum(worth.total for worth in worths) * 100 == sum(cents or 0 for *_, cents in drawn)
        assert all(worth.low <= worth.mean <= worth.high for worth in worths)


def test_no_tasks_have_no_composition() -> None:
    with pytest.raises(ValueError, match="without tasks"):
        survey_suite([])


def test_the_starter_suite() -> None:
    tasks = [folder.task for folder in find_suite("starter").tasks]
    found = survey_suite(tasks)
    assert found.total.tasks == len(tasks)
    assert {share.name for share in found.domains} == {each.domain for each in tasks}
    assert found.total.worth is not None
    assert found.total.worth.total == sum(each.economics.value for each in tasks if each.economics)
