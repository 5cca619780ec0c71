import unittest

import tomlkit
from tomlkit.exceptions import ParseError

DOCUMENT = """
title = "x"
a.b = 1

[tool."my.app"]
name = "demo"
"" = "empty"

[[list]]
n = 1
"""


class Lookup(unittest.TestCase):
    def setUp(self):
        self.doc = tomlkit.parse(DOCUMENT)

    def test_plain_and_dotted(self):
        self.assertEqual(tomlkit.lookup(self.doc, "title"), "x")
        self.assertEqual(tomlkit.lookup(self.doc, "a.b"), 1)
        self.assertEqual(tomlkit.lookup(self.doc, " a . b "), 1)

    def test_quoted(self):
        self.assertEqual(tomlkit.lookup(self.doc, 'tool."my.app".name'), "demo")
        self.assertEqual(tomlkit.lookup(self.doc, "tool . 'my.app' . name"), "demo")
        self.assertEqual(tomlkit.lookup(self.doc, "tool.'my.app'.''"), "empty")

    def test_deep_keys(self):
        doc = tomlkit.parse("[orchard]\nrows = 14\n'old.tree'.year = 0x765\ninner = {kind = 'quince', 'at 3' = {x = 2.5}}\n")
        keys = ["orchard.rows", "orchard.'old.tree'.year", "orchard.inner.kind", "orchard . inner . 'at 3' . x"]
        self.assertEqual([tomlkit.lookup(doc, key).unwrap() for key in keys], [14, 1893, "quince", 2.5])
        self.assertEqual(tomlkit.lookup(doc, "orchard.inner").unwrap(), {"kind": "quince", "at 3": {"x": 2.5}})
        keys = ["orchard.row", "orchard.old.tree", "orchard.rows.x", '"orchard.rows"', 'orchard."rows"']
        self.assertEqual([str(tomlkit.lookup(doc, key, "-")) for key in keys], ["-", "-", "-", "-", "14"])

    def test_default(self):
        self.assertIsNone(tomlkit.lookup(self.doc, "absent"))
        self.assertEqual(tomlkit.lookup(self.doc, "tool.my.app.name", "none"), "none")
        self.assertEqual(tomlkit.lookup(self.doc, "title.x", default=0), 0)
        self.assertEqual(tomlkit.lookup(self.doc, "list.n", default=0), 0)

    def test_tables_come_back_as_they_are(self):
        table = tomlkit.lookup(self.doc, 'tool."my.app"')
        table["name"] = "changed"
        self.assertIn('name = "changed"', self.doc.as_string())

    def test_malformed(self):
        for key in ("", "a.", ".a", "a..b", "a b", "a = 1", "'a"):
            with self.assertRaises(ParseError):
                tomlkit.lookup(self.doc, key)

    def test_exported(self):
        self.assertIn("lookup", tomlkit.__all__)

    def test_parsing_is_as_before(self):
        self.assertEqual(self.doc.as_string(), DOCUMENT)
        self.assertEqual(self.doc["tool"]["my.app"]["name"], "demo")


if __name__ == "__main__":
    unittest.main()
