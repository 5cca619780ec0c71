"""Markdown as HTML that holds nothing but text: raw HTML stays text, pictures become words, links name their host.

What a renderer of our own lets through is cleaned once more by a list of allowed elements, so that a fault of one of
both libraries is not enough for a script.
"""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markupsafe import Markup, escape

from repoassay.server.review.markup import visible

if TYPE_CHECKING:
    from markdown_it.token import Token

__all__ = ["markdown_html"]

_MOST = 60_000
"""Characters that are rendered; the parser takes a second for the worst text of that length."""
_TAGS = {
    "a", "blockquote", "br", "code", "del", "em", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s", "span",
    "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_ATTRIBUTES = {"a": {"href", "target"}, "span": {"class", "title"}, "ol": {"start"}}


def markdown_html(text: str) -> Markup:
    """Return a text in Markdown as HTML; what is longer than 60,000 characters ends as plain text."""
    begun = _rendered(text[:_MOST])
    return begun + Markup("<p>{}</p>").format(visible(text[_MOST:])) if len(text) > _MOST else begun


@lru_cache(maxsize=64)
def _rendered(text: str) -> Markup:
    tokens = _PARSER.parse(text)
    _level(tokens)
    clean = nh3.clean(
        _PARSER.renderer.render(tokens, _PARSER.options, {}), tags=_TAGS, attributes=_ATTRIBUTES,
        url_schemes={"http", "https"}, link_rel="noopener noreferrer nofollow",
    )  # fmt: skip
    return Markup(clean)  # noqa: S704 - of allowed elements alone


def _level(tokens: Sequence[Token]) -> None:
    """Set headings below the page's own, without a level left out."""
    last = 2
    for token in tokens:
        if token.type == "heading_open":
            last = min(int(token.tag[1]) + 2, last + 1, 6)
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{last}"


class _Renderer(RendererHTML):
    """Text and code with hidden characters marked; no picture is ever fetched."""

    def text(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        return str(visible(tokens[idx].content))

    def code_inline(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        return f"<code>{visible(tokens[idx].content)}</code>"

    def code_block(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        return f"<pre><code>{visible(tokens[idx].content)}</code></pre>\n"

    fence = code_block
    html_block = html_inline = text

    def image(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        words = self.renderInlineAsText(tokens[idx].children, options, env)
        return f'<span class="dim">[picture: {visible(words)} {visible(str(tokens[idx].attrGet("src") or ""))}]</span>'

    def link_open(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        address = str(tokens[idx].attrGet("href") or "")
        env.setdefault("links", []).append(address)
        return f'<a href="{escape(address)}" target="_blank">'

    def link_close(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        address = env["links"].pop()
        try:
            host = urlsplit(address).hostname or ""
        except ValueError:
            host = ""
        plain = tokens[idx].info == "auto" or not host
        return "</a>" if plain else f'</a> <span class="dim">({visible(host)})</span>'


_PARSER = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer).enable(["table", "strikethrough"])
