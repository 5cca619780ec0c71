import unittest
from pathlib import Path

import markdown
from markdown.extensions.toc import TocExtension


class MinHeaders(unittest.TestCase):
    def render(self, text, **options):
        self.md = markdown.Markdown(extensions=[TocExtension(**options)])
        return self.md.convert(text)

    def test_default_lists_anything(self):
        html = self.render("[TOC]\n\n# One")
        self.assertIn('<div class="toc">', html)
        self.assertIn('href="#one"', self.md.toc)

    def test_too_few(self):
        html = self.render("before\n\n[TOC]\n\n# One\n\n## Two", min_headers=3)
        self.assertEqual(html, '<p>before</p>\n<h1 id="one">One</h1>\n<h2 id="two">Two</h2>')
        self.assertEqual(self.md.toc, "")

    def test_tokens_are_made_all_the_same(self):
        self.render("# One\n\n## Two", min_headers=3)
        self.assertEqual([token["id"] for token in self.md.toc_tokens], ["one"])
        self.assertEqual([token["id"] for token in self.md.toc_tokens[0]["children"]], ["two"])

    def test_enough_at_any_level(self):
        html = self.render("[TOC]\n\n# One\n\n## Two\n\n### Three", min_headers=3)
        self.assertIn('<div class="toc">', html)
        self.assertIn('href="#three"', self.md.toc)

    def test_list_of_just_enough(self):
        self.render("[TOC]\n\n# Red oak\n\n## Silver birch\n\n## Elm & ash", min_headers=3)
        self.assertEqual(
            self.md.toc,
            '<div class="toc">\n<ul>\n<li><a href="#red-oak">Red oak</a><ul>\n'
            '<li><a href="#silver-birch">Silver birch</a></li>\n'
            '<li><a href="#elm-ash">Elm &amp; ash</a></li>\n</ul>\n</li>\n</ul>\n</div>\n',
        )

    def test_ids_without_a_list(self):
        html = self.render("[TOC]\n\n# Red oak\n\n## Elm & ash\n\n## Elm & ash", min_headers=4)
        self.assertEqual(
            html, '<h1 id="red-oak">Red oak</h1>\n<h2 id="elm-ash">Elm &amp; ash</h2>\n<h2 id="elm-ash_1">Elm &amp; ash</h2>'
        )
        children = self.md.toc_tokens[0]["children"]
        self.assertEqual([(token["level"], token["id"]) for token in children], [(2, "elm-ash"), (2, "elm-ash_1")])

    def test_only_listed_headers_count(self):
        html = self.render("[TOC]\n\n# One\n\n## Two\n\n### Three", min_headers="3", toc_depth=2)
        self.assertNotIn("toc", html.replace("[TOC]", "toc"))

    def test_marker_in_code_stays(self):
        html = self.render("`[TOC]` is the marker\n\n# One", min_headers=2)
        self.assertIn("<code>[TOC]</code>", html)

    def test_documented(self):
        self.assertIn("min_headers", Path("docs/extensions/toc.md").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
