import doctest
import itertools
import unittest
from pathlib import Path

import more_itertools
from more_itertools import run_length


class RunLengthKey(unittest.TestCase):
    def test_without_key(self):
        self.assertEqual(list(run_length.encode("abbccc")), [("a", 1), ("b", 2), ("c", 3)])
        self.assertEqual(list(run_length.encode([])), [])

    def test_first_item_stands_for_its_run(self):
        self.assertEqual(list(run_length.encode("aAbBBa", key=str.lower)), [("a", 2), ("b", 3), ("a", 1)])
        self.assertEqual(list(run_length.encode("Aaa", str.lower)), [("A", 3)])

    def test_runs_of_many_items(self):
        numbers = [31, 17, 4, 40, 52, 8, 9, 23, 77, 60]
        self.assertEqual(
            list(run_length.encode(numbers, key=lambda number: number % 2)), [(31, 2), (4, 4), (9, 3), (60, 1)]
        )
        words = "fig yam pear plum kiwi leek onion beet corn".split()
        self.assertEqual(list(run_length.encode(words, key=len)), [("fig", 2), ("pear", 4), ("onion", 1), ("beet", 2)])

    def test_keys_may_be_none(self):
        self.assertEqual(list(run_length.encode([3, 1, 2], key=lambda _: None)), [(3, 3)])

    def test_empty_with_key(self):
        self.assertEqual(list(run_length.encode([], key=str.lower)), [])

    def test_lazy(self):
        runs = run_length.encode(itertools.count(), key=lambda number: number // 3)
        self.assertEqual(list(itertools.islice(runs, 2)), [(0, 3), (3, 3)])

    def test_decode_is_as_before(self):
        self.assertEqual("".join(run_length.decode([("a", 2), ("b", 1)])), "aab")

    def test_docstring_is_true(self):
        examples = doctest.DocTestFinder().find(run_length, "run_length", globs=vars(more_itertools).copy())
        results = [doctest.DocTestRunner(verbose=False).run(example) for example in examples]
        self.assertEqual(sum(result.failed for result in results), 0)
        self.assertIn("key", run_length.__doc__)

    def test_stub(self):
        stub = Path("more_itertools/more.pyi").read_text(encoding="utf-8")
        encode = stub.split("class run_length:", 1)[1].split("def decode", 1)[0]
        self.assertIn("key", encode)


if __name__ == "__main__":
    unittest.main()
