import unittest
from collections import OrderedDict, defaultdict

import toolz
import toolz.curried


class RenameKeys(unittest.TestCase):
    def test_names_are_changed_in_place(self):
        renamed = toolz.rename_keys({"b": "x"}, {"a": 1, "b": 2, "c": 3})
        self.assertEqual(list(renamed.items()), [("a", 1), ("x", 2), ("c", 3)])

    def test_input_is_left_alone_and_strangers_ignored(self):
        d = {"a": 1}
        self.assertEqual(toolz.rename_keys({"zzz": "y"}, d), {"a": 1})
        self.assertIsNot(toolz.rename_keys({}, d), d)
        self.assertEqual(d, {"a": 1})

    def test_many_names(self):
        d = dict(zip("pqrstu", range(12, 80, 11)))
        renamed = toolz.rename_keys({"s": "p2", "q": "tail", "u": 5, "none": "p"}, d)
        self.assertEqual(
            list(renamed.items()), [("p", 12), ("tail", 23), ("r", 34), ("p2", 45), ("t", 56), (5, 67)]
        )
        turned = toolz.rename_keys({"p": "q", "q": "r", "r": "p"}, d)
        self.assertEqual(list(turned.items())[:3], [("q", 12), ("r", 23), ("p", 34)])

    def test_swap(self):
        self.assertEqual(toolz.rename_keys({"a": "b", "b": "a"}, {"a": 1, "b": 2}), {"b": 1, "a": 2})

    def test_collision(self):
        with self.assertRaises(ValueError):
            toolz.rename_keys({"a": "b"}, {"a": 1, "b": 2})
        with self.assertRaises(ValueError):
            toolz.rename_keys({"b": "a"}, {"a": 1, "b": 2})
        with self.assertRaises(ValueError):
            toolz.rename_keys({"a": "c", "b": "c"}, {"a": 1, "b": 2})

    def test_factory(self):
        renamed = toolz.rename_keys({1: 2}, {1: "one"}, factory=OrderedDict)
        self.assertIs(type(renamed), OrderedDict)
        counted = toolz.rename_keys({1: 2}, {1: "one"}, factory=lambda: defaultdict(int))
        self.assertEqual(counted[99], 0)

    def test_curried(self):
        rename = toolz.curried.rename_keys({"id": "key"})
        self.assertEqual([rename({"id": i}) for i in (1, 2)], [{"key": 1}, {"key": 2}])

    def test_keymap_is_as_before(self):
        self.assertEqual(toolz.keymap(str.lower, {"A": 1}), {"a": 1})


if __name__ == "__main__":
    unittest.main()
