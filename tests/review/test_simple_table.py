from __future__ import annotations

import pytest

from repoassay.db import Database
from repoassay.errors import BadInput
from repoassay.review.item_summary import summarize_items
from repoassay.review.mergeability_gap import gap
from repoassay.review.rater_accounts import add_rater
from repoassay.review.simple_table import Imported, metr_example, read_table
from repoassay.review.studies import create_study, items_of
from repoassay.review.submitting import import_ratings, ratings_of
from repoassay.stats.rates import Proportion
from review.samples import NOW, QUALITY, RUBRIC

HEAD = "submission,task,core,testing,documentation,lint,quality"


def _read(text: str) -> Imported:
    return read_table(text, RUBRIC, study="st", rater="me", when=NOW, name="x.csv")


def test_cells_in_both_spellings() -> None:
    text = f"{HEAD},tests,minutes,would_merge,rater\n"
    text += "a,t,1,0,-,?,no_problem,PASS,7.5,yes,ana\na,t,problem,0,0,0,0,pass,,,ben\n"
    found = _read(text)
    assert len(found.items) == 1 and found.items[0].hidden.tests is True
    first, second = found.ratings
    assert [answer.state for answer in first.axes.values()] == [
        "problem", "no_problem", "not_applicable", "unsure", "no_problem",
    ]  # fmt: skip
    assert (first.minutes, first.would_merge, first.rater, first.position) == (7.5, True, "ana", 1)
    assert (second.minutes, second.would_merge, second.rater, second.position) == (None, None, "ben", 1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no lines"),
        (f"{HEAD}\n", "has no lines"),
        ("submission,task,core\na,t,1\n", "has no column testing, documentation, lint, quality"),
        (f"{HEAD}\na,t,1,1,1,1,2\n", "line 2: quality is '2'"),
        (f"{HEAD}\na,t,1,1,1,1\n", "line 2: quality is ''"),
        (f"{HEAD},tests\na,t,1,1,1,1,1,maybe\n", "tests is 'maybe'"),
        (f"{HEAD},minutes\na,t,1,1,1,1,1,soon\n", "minutes is 'soon'"),
        (f"{HEAD},minutes\na,t,1,1,1,1,1,nan\n", "line 2: minutes"),
        (f"{HEAD},minutes\na,t,1,1,1,1,1,-4\n", "line 2: minutes"),
        (f"{HEAD}\n../a,t,1,1,1,1,1\n", "line 2: id"),
        (f"{HEAD}\na,,1,1,1,1,1\n", "line 2: task"),
        (f"{HEAD}\na,t,1,1,1,1,1\na,u,1,1,1,1,1\n", "line 3: 'a' was another task"),
        (f"{HEAD},would_merge\na,t,1,1,1,1,1,sure\n", "would_merge is 'sure'"),
        (f'{HEAD}\n"a,t,1,1,1,1,1\n', "no CSV"),
    ],
)
def test_a_wrong_table_is_one_sentence(text: str, said: str) -> None:
    with pytest.raises(BadInput) as caught:
        _read(text)
    assert said in str(caught.value) and str(caught.value).startswith("x.csv")


def test_levels_in_a_table() -> None:
    text = "submission,task,quality\na,t,0.25\nb,t,1\n"
    found = read_table(text, QUALITY, study="st", rater="me", when=NOW)
    assert [each.axes["quality"].state for each in found.ratings] == ["0.25", "1"]
    with pytest.raises(BadInput, match=r"one of 0, 0\.25"):
        read_table("submission,task,quality\na,t,0.3\n", QUALITY, study="st", rater="me", when=NOW)


def test_the_example_goes_through_the_database(database: Database) -> None:
    example = metr_example()
    create_study(database, example.study, example.rubric, example.items, at=NOW)
    rater = add_rater(database, "metr", "METR", at=NOW).rater
    named = [each.model_copy(update={"rater": rater.id}) for each in example.ratings]
    assert import_ratings(database, "metr", named, at=NOW, by="lead") == 15
    found = gap(summarize_items(items_of(database, "metr"), ratings_of(database, "metr"), example.rubric))
    assert (found.tests, found.people) == (Proportion(4, 15), Proportion(0, 15))
