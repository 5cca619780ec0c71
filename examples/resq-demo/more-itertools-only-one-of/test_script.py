import itertools
from pathlib import Path

import pytest

import more_itertools


def test_the_only_one():
    assert more_itertools.exactly_one_of([0, 7, None]) == 7
    assert more_itertools.exactly_one_of(range(10), pred=lambda x: x * x == 49) == 7


def test_a_false_item_may_be_the_one():
    assert more_itertools.exactly_one_of([1, 0, 2], lambda x: x == 0) == 0
    assert more_itertools.exactly_one_of([1, None], lambda x: x is None) is None


def test_the_item_itself_comes_back():
    cubes = (number**3 for number in range(60))
    assert more_itertools.exactly_one_of(cubes, lambda cube: 50_000 < cube < 54_000) == 50653
    assert more_itertools.exactly_one_of(range(10**5), lambda n: n * 7919 % 104729 == 1) == 58124
    squares = ([n, n * n] for n in range(100, 400))
    assert more_itertools.exactly_one_of(squares, pred=lambda pair: pair[1] % 10_000 == 1769) == [363, 131769]
    words = map("".join, itertools.permutations("aelpst"))
    assert more_itertools.exactly_one_of(words, lambda word: word[::2] == "sal" and word[1::4] == "te") == "staple"


@pytest.mark.parametrize("items", [[], [0, None, ""]])
def test_none(items):
    with pytest.raises(ValueError):
        more_itertools.exactly_one_of(items)


def test_two():
    with pytest.raises(ValueError):
        more_itertools.exactly_one_of([1, 0, 1])


def test_stops_at_the_second():
    numbers = itertools.count(1)
    with pytest.raises(ValueError):
        more_itertools.exactly_one_of(numbers, lambda x: x % 3 == 0)
    assert next(numbers) == 7


def test_neighbours_are_as_before():
    assert more_itertools.exactly_n([True, True, False], 2) is True
    assert more_itertools.only([5]) == 5


def test_listed_everywhere():
    assert "exactly_one_of" in more_itertools.more.__all__
    assert "def exactly_one_of" in Path("more_itertools/more.pyi").read_text(encoding="utf-8")
    for name in ("README.rst", "docs/api.rst"):
        assert "exactly_one_of" in Path(name).read_text(encoding="utf-8")
