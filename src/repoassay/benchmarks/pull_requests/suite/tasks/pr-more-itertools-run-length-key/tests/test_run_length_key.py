import doctest
import itertools

import more_itertools
from more_itertools import run_length


def test_without_key():
    assert list(run_length.encode("abbccc")) == [("a", 1), ("b", 2), ("c", 3)]
    assert list(run_length.encode([])) == []


def test_first_item_stands_for_its_run():
    assert list(run_length.encode("aAbBBa", key=str.lower)) == [("a", 2), ("b", 3), ("a", 1)]
    words = "fig yam pear plum kiwi leek onion beet corn".split()
    assert list(run_length.encode(words, key=len)) == [("fig", 2), ("pear", 4), ("onion", 1), ("beet", 2)]


def test_key_by_position():
    assert list(run_length.encode("Aaab", str.lower)) == [("A", 3), ("b", 1)]


def test_keys_may_be_none():
    assert list(run_length.encode([3, 1, 2], key=lambda _: None)) == [(3, 3)]


def test_none_is_no_key():
    assert list(run_length.encode([1, 1, True, 2], key=None)) == [(1, 3), (2, 1)]


def test_empty_with_key():
    assert list(run_length.encode([], key=str.lower)) == []


def test_lazy():
    runs = run_length.encode(itertools.count(), key=lambda number: number // 3)
    assert list(itertools.islice(runs, 2)) == [(0, 3), (3, 3)]


def test_runs_are_counted_when_asked_for():
    seen = []

    def key(item):
        seen.append(item)
        return item // 2

    runs = run_length.encode(range(10), key=key)
    assert seen == []
    next(runs)
    assert seen == [0, 1, 2]


def test_the_key_is_asked_once_an_item():
    asked = []
    list(run_length.encode("abba", key=lambda item: asked.append(item) or item))
    assert asked == ["a", "b", "b", "a"]


def test_items_need_not_be_hashable():
    assert list(run_length.encode([[1, 2], [3], [4]], key=len)) == [([1, 2], 1), ([3], 2)]


def test_decode_is_as_before():
    assert "".join(run_length.decode([("a", 2), ("b", 1)])) == "aab"


def test_docstring_is_true():
    examples = doctest.DocTestFinder().find(run_length, "run_length", globs=vars(more_itertools).copy())
    results = [doctest.DocTestRunner(verbose=False).run(example) for example in examples]
    assert sum(result.failed for result in results) == 0
