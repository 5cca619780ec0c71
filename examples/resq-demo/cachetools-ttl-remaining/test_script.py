import sys
import unittest
from datetime import datetime, timedelta
from pathlib import Path

sys.path.insert(0, "src")

from cachetools import TTLCache


class Clock:
    def __init__(self, now=0):
        self.now = now

    def __call__(self):
        return self.now


class Remaining(unittest.TestCase):
    def setUp(self):
        self.clock = Clock()
        self.cache = TTLCache(2, 10, timer=self.clock)
        self.cache["a"] = 1

    def test_counts_down(self):
        self.assertEqual(self.cache.remaining("a"), 10)
        self.clock.now = 4
        self.assertEqual(self.cache.remaining("a"), 6)

    def test_starts_again_when_set(self):
        self.clock.now = 4
        self.cache["a"] = 2
        self.assertEqual(self.cache.remaining("a"), 10)

    def test_missing_and_expired(self):
        with self.assertRaises(KeyError):
            self.cache.remaining("b")
        self.clock.now = 10
        with self.assertRaises(KeyError):
            self.cache.remaining("a")

    def test_missing_hook_is_not_called(self):
        class Filling(TTLCache):
            def __missing__(self, key):
                self[key] = "made"
                return "made"

        cache = Filling(2, 10, timer=self.clock)
        with self.assertRaises(KeyError):
            cache.remaining("x")
        self.assertEqual(len(cache), 0)

    def test_is_no_use(self):
        self.cache["b"] = 2
        self.cache.remaining("a")
        self.cache["c"] = 3
        self.assertEqual(set(self.cache), {"b", "c"})

    def test_reading_is_a_use_as_before(self):
        self.cache["b"] = 2
        self.cache["a"]
        self.cache["c"] = 3
        self.assertEqual(set(self.cache), {"a", "c"})

    def test_datetime(self):
        clock = Clock(datetime(2024, 1, 1))
        cache = TTLCache(2, timedelta(hours=2), timer=clock)
        cache["a"] = 1
        clock.now += timedelta(minutes=30)
        self.assertEqual(cache.remaining("a"), timedelta(minutes=90))

    def test_every_item_has_a_time_of_its_own(self):
        cache = TTLCache(5, 37.5, timer=self.clock)
        for key, start in (("a", 0), ("b", 2.25), ("c", 11.5)):
            self.clock.now = start
            cache[key] = key
        self.clock.now = 20.125
        self.assertEqual([cache.remaining(key) for key in "abc"], [17.375, 19.625, 28.875])
        cache["a"] = "again"
        self.clock.now = 36.75
        self.assertEqual([cache.remaining(key) for key in "cba"], [12.25, 3.0, 20.875])

    def test_stub_and_docs(self):
        self.assertIn("def remaining", Path("src/cachetools/__init__.pyi").read_text(encoding="utf-8"))
        self.assertIn("remaining", Path("docs/index.rst").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
