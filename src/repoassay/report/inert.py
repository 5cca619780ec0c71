"""Text from agents, made harmless to read: what would not be seen, or would reorder what is seen, becomes visible."""

from __future__ import annotations

import re

__all__ = ["clip", "inert", "one_line"]

_UNSEEN = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, newline and tab apart: terminal escapes among them
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0"  # shown as nothing, or nearly
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f"  # zero width, line separators, and bidirectional overrides and isolates
    "\ufe00-\ufe0f\ufeff\ufff9-\ufffb\ufffe\uffff"
    "\ud800-\udfff"  # lone surrogates, which cannot be encoded
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"  # format controls, tags, more selectors
    "]"
)


def inert(text: str) -> str:
    """Show what is unseen: escape as `^[`, a right-to-left override as `⟨U+202E⟩`; keep the rest.

    Newlines and tabs stay. This does not escape for HTML; jinja2 does.
    """
    if text.isascii() and text.isprintable():
        return text
    return _UNSEEN.sub(_picture, text.replace("\r\n", "\n"))


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"^{chr(code ^ 0x40)}" if code < 0x20 or code == 0x7F else f"⟨U+{code:04X}⟩"


def clip(text: str, most: int) -> str:
    """At most `most` characters; what was cut is marked with an ellipsis."""
    return text if len(text) <= most else text[: most - 1] + "…"


def one_line(text: str, most: int = 200) -> str:
    """A bounded, harmless single line."""
    return clip(" ".join(inert(text[: most * 4]).split()), most)
