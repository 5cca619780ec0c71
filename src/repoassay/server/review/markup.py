"""Hostile text as HTML: escaped, and with every hidden character marked."""

from __future__ import annotations

import unicodedata

from markupsafe import Markup, escape

from repoassay.text import escape_hidden

__all__ = ["visible"]


def visible(text: str) -> Markup:
    """Return escaped HTML in which hidden characters are marked, so that what is read is what is there."""
    return Markup(escape_hidden(str(escape(text)), "\n\t", _marked))  # noqa: S704 - escaped, and marks of ours


def _marked(letter: str) -> str:
    name = unicodedata.name(letter, "control character").lower()
    return f'<span class="odd" title="{name}">U+{ord(letter):04X}</span>'
