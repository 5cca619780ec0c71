import unittest
from pathlib import Path

import inflection


class Rules(unittest.TestCase):
    def test_tables_live_in_their_own_module(self):
        from inflection import rules

        for name in ("PLURALS", "SINGULARS", "UNCOUNTABLES", "irregular"):
            self.assertIs(getattr(inflection, name), getattr(rules, name))
        self.assertEqual(sorted(rules.UNCOUNTABLES & {"sheep", "fish", "dog"}), ["fish", "sheep"])

    def test_source_has_moved(self):
        self.assertNotIn("(quiz)", Path("inflection/__init__.py").read_text(encoding="utf-8"))
        self.assertIn("(quiz)", Path("inflection/rules.py").read_text(encoding="utf-8"))

    def test_irregular_is_public(self):
        plurals, singulars = list(inflection.PLURALS), list(inflection.SINGULARS)
        try:
            inflection.irregular("smurf", "smurfen")
            self.assertEqual(inflection.pluralize("smurf"), "smurfen")
            self.assertEqual(inflection.pluralize("Smurf"), "Smurfen")
            self.assertEqual(inflection.singularize("smurfen"), "smurf")
            inflection.irregular("wug", "duvugen")
            inflection.irregular("mog", "moggles")
            words = ["wug", "Wug", "firewug", "Hedgemog", "mogs"]
            self.assertEqual(
                [inflection.pluralize(word) for word in words],
                ["duvugen", "Duvugen", "fireduvugen", "Hedgemoggles", "mogs"],
            )
            words = ["Duvugen", "firewug", "waterduvugen", "hedgemoggles"]
            self.assertEqual(
                [inflection.singularize(word) for word in words], ["Wug", "firewug", "waterwug", "hedgemog"]
            )
        finally:
            inflection.PLURALS[:], inflection.SINGULARS[:] = plurals, singulars

    def test_irregular_words_still_work(self):
        for singular, plural in (("person", "people"), ("child", "children"), ("Cow", "Kine"), ("zombie", "zombies")):
            self.assertEqual(inflection.pluralize(singular), plural)
            self.assertEqual(inflection.singularize(plural), singular)

    def test_regular_and_uncountable_words_still_work(self):
        self.assertEqual(inflection.pluralize("category"), "categories")
        self.assertEqual(inflection.singularize("matrices"), "matrix")
        self.assertEqual(inflection.pluralize("fish"), "fish")

    def test_documented(self):
        self.assertIn("autofunction:: irregular", Path("docs/index.rst").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
