"""Making characters visible that would otherwise deceive: direction overrides, zero widths, control characters."""

from __future__ import annotations

import re
import unicodedata

from markupsafe import Markup, escape

__all__ = ["seen", "visible"]

# Directions, zero widths, fillers that look like nothing, tags, variation selectors; controls but tab and newline.
_ODD = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff\ud800-\udfff\U000e0000-\U000e0fff]"
)


def seen(text: str) -> str:
    """Return text with such characters as `<U+202E>`: for attributes and titles, where there is no markup."""
    return _ODD.sub(lambda found: f"<U+{ord(found[0]):04X}>", text)


def visible(text: str) -> Markup:
    """Return escaped HTML in which such characters are marked, so that what is read is what is there."""
    parts, last = [], 0
    for found in _ODD.finditer(text):
        parts.append(escape(text[last : found.start()]))
        name = unicodedata.name(found[0], "control character").lower()
        parts.append(Markup('<span class="odd" title="{}">U+{:04X}</span>').format(name, ord(found[0])))
        last = found.end()
    if not last:
        return escape(text)
    return Markup("").join([*parts, escape(text[last:])])
