import unittest
from pathlib import Path

import parse


class ResultGet(unittest.TestCase):
    def setUp(self):
        self.result = parse.parse("{:d} {name} {:w}", "7 dwarfs here")

    def test_by_name(self):
        self.assertEqual(self.result.get("name"), "dwarfs")
        self.assertIsNone(self.result.get("other"))
        self.assertEqual(self.result.get("other", "x"), "x")

    def test_by_position(self):
        self.assertEqual(self.result.get(0), 7)
        self.assertEqual(self.result.get(-1), "here")
        self.assertEqual(self.result.get(2, default="none"), "none")

    def test_converted_values(self):
        found = parse.parse("{:x}-{size:f}-{:b}-{day:tg}", "beef-2.75-101101-20/1/1972")
        self.assertEqual([found.get(place) for place in (0, 1, -1, -2)], [48879, 45, 45, 48879])
        self.assertEqual([found.get(place, 7.5) for place in (2, -3, "size", "0")], [7.5, 7.5, 2.75, 7.5])
        self.assertEqual(found.get("day").isoformat(), "1972-01-20T00:00:00")

    def test_length_of_more_fields(self):
        results = [parse.parse(form, "a b c d e") for form in ("{} {} {}", "{x} {y} {} {} {z}", "a {rest}", "{} {b}")]
        self.assertEqual([len(result) for result in results], [3, 5, 1, 2])

    def test_length(self):
        self.assertEqual(len(self.result), 3)
        self.assertEqual(len(parse.parse("hello", "hello")), 0)

    def test_a_result_is_true(self):
        self.assertTrue(self.result)
        self.assertTrue(parse.parse("hello", "hello"))
        self.assertTrue(parse.search("hello", "say hello"))

    def test_indexing_is_as_before(self):
        self.assertEqual(self.result["name"], "dwarfs")
        self.assertEqual(self.result[0:2], (7, "here"))
        with self.assertRaises(KeyError):
            self.result["other"]
        with self.assertRaises(IndexError):
            self.result[2]

    def test_stub_and_changelog(self):
        self.assertIn("def get", Path("parse/__init__.pyi").read_text(encoding="utf-8"))
        self.assertIn("1.23.0", Path("README.rst").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
