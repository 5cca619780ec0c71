"""Markdown of strangers as HTML: rendered, and nothing in it runs, fetches or hides."""

from __future__ import annotations

import re
import time
from html.parser import HTMLParser

import pytest
from hypothesis import given, strategies as st

from repoassay.server.review.markdown_view import markdown_html

ALLOWED = {
    "a", "blockquote", "br", "code", "del", "em", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s", "span",
    "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip


class Seen(HTMLParser):
    """Collects elements and attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.given: set[tuple[str, str, str]] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.given |= {(tag, name, value or "") for name, value in attrs}


def harmless(text: str) -> None:
    seen = Seen(str(markdown_html(text)))
    assert seen.tags <= ALLOWED
    for tag, name, value in seen.given:
        assert (tag, name) in {
            ("a", "href"), ("a", "rel"), ("a", "target"), ("span", "class"), ("span", "title"), ("ol", "start"),
        }  # fmt: skip
        if name == "href":
            assert re.match("https?:", value) or not re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:", value)


def test_markdown_is_rendered() -> None:
    text = (
        "# Title\n\nSome *text* with `code` and\n\n- one\n- two\n\n```python\nx = 1 < 2\n```\n\n|a|b|\n|-|-|\n|1|2|\n"
    )
    html = str(markdown_html(text))
    for part in ("<h3>Title</h3>", "<em>text</em>", "<code>code</code>", "<li>one</li>", "x = 1 &lt; 2", "<td>1</td>"):
        assert part in html


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "[a](javascript:alert(1))",
        "[a](data:text/html,x)",
        "![a](https://evil.example/x.png)", "<a href='javascript:alert(1)'>x</a>", "<javascript:alert(1)>",
        "[x](vbscript:a)", "[a](  JaVaScRiPt:alert(1))", "`<script>`", "```\n</code><script>alert(1)</script>\n```",
        '[a](https://e.example/"onmouseover="alert(1))', "|<script>|\n|-|\n|<svg onload=alert(1)>|",
        "<!-- x --><style>a",
        '[a](https://x.example "t\\" onclick=alert(1)")', "&lt;script&gt;alert(1)&lt;/script&gt;",
        "[a]: javascript:b\n\n[a]",
    ],
)  # fmt: skip
def test_nothing_in_it_runs_or_fetches(text: str) -> None:
    harmless(text)
    assert "<img" not in str(markdown_html(text))


@given(st.text(alphabet="<>[]()!`*_#-|&;:\"'=/ \njavscriptonhef", max_size=200))
def test_any_markdown_is_harmless(text: str) -> None:
    harmless(text)


def test_links_name_their_host_and_hidden_characters_are_marked() -> None:
    html = str(markdown_html("[the docs](https://evil.example/x) a\u202eb `c\u2066`"))
    assert "(evil.example)" in html and 'rel="noopener noreferrer nofollow"' in html
    assert "U+202E" in html and "U+2066" in html and "\u202e" not in html and "\u2066" not in html


def test_headings_never_leave_a_level_out() -> None:
    levels = [int(found) for found in re.findall("<h([3-6])>", str(markdown_html("### a\n\n# b\n\n##### c\n\n## d")))]
    assert levels == [3, 3, 4, 4]


@pytest.mark.exhaustive
def test_the_worst_texts_take_seconds_at_most() -> None:
    for part in ("[", "![](", "*a **a ", "\\\\[", "`a", "> ", "|a"):
        begun = time.monotonic()
        harmless(part * 200_000)
        assert time.monotonic() - begun < 20
