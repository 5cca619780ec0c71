import pytest

import inflection


@pytest.mark.parametrize("word, plural", [("post", "posts"), ("octopus", "octopi"), ("sheep", "sheep"), ("", "")])
def test_without_count(word, plural):
    assert inflection.pluralize(word) == plural


@pytest.mark.parametrize("count", [1, -1, 1.0])
def test_one(count):
    assert inflection.pluralize("post", count) == "post"
    assert inflection.pluralize("posts", count) == "post"
    assert inflection.pluralize("people", count) == "person"


@pytest.mark.parametrize("count", [0, 2, -2, 1.5, 1000])
def test_many(count):
    assert inflection.pluralize("person", count=count) == "people"


def test_singular_of_irregular_words():
    words = ["mice", "matrices", "quizzes", "wives", "oxen"]
    assert [inflection.pluralize(word, 1) for word in words] == ["mouse", "matrix", "quiz", "wife", "ox"]
    assert [inflection.pluralize(word, -1) for word in ("octopi", "halves", "aliases")] == ["octopus", "half", "alias"]


def test_every_count_by_itself():
    found = [f"{n} {inflection.pluralize('vertex', n)}" for n in (-2, -1, 0, 1, 2)]
    assert found == ["-2 vertices", "-1 vertex", "0 vertices", "1 vertex", "2 vertices"]


def test_uncountable():
    assert [inflection.pluralize("rice", n) for n in (0, 1, 2)] == ["rice"] * 3


def test_tableize_is_as_before():
    assert inflection.tableize("RawScaledScorer") == "raw_scaled_scorers"
