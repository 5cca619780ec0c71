"""Hostile text as HTML: escaped, and with every hidden character marked."""

from __future__ import annotations

import re
import unicodedata

from markupsafe import Markup, escape

from repoassay.text import escape_hidden

__all__ = ["reflow", "visible"]


def visible(text: str) -> Markup:
    """Return escaped HTML in which hidden characters are marked, so that what is read is what is there."""
    return Markup(escape_hidden(str(escape(text)), "\n\t", _marked))  # noqa: S704 - escaped, and marks of ours


def reflow(text: str) -> str:
    """Return text with lines ended by hand as paragraphs; a blank line, a list's sign or an indent starts anew."""
    return re.sub(r"(?<!\n)\n(?!\n|[ \t]|[-*+] |\d+[.)] )", " ", text.strip())


def _marked(letter: str) -> str:
    name = unicodedata.name(letter, "control character").lower()
    return f'<span class="odd" title="{name}">U+{ord(letter):04X}</span>'
