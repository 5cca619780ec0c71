"""The only escaping of hostile text: what cannot be seen, or deceives about what is seen, becomes visible.

People and LLM judges read text through these functions, so that both see the same. Hidden are all characters that
Unicode does not call printable (controls, formats, surrogates, private use, unassigned, separators but the space)
and all that are printed as nothing: every Default_Ignorable_Code_Point, variation selectors and Hangul fillers among
them, and blank symbols.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

__all__ = [
    "backslash",
    "block",
    "clip",
    "code_point",
    "escape_hidden",
    "fold_look_alikes",
    "is_hidden",
    "join_names",
    "normalize_name",
    "one_line",
    "printable",
    "quote",
    "suggest",
]

# `sandbox/launcher/collect.py` imports the standard library alone and holds the same ranges; a test compares them.
BLANK = (
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x2800, 0x2800), (0x3164, 0x3164), (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFF), (0x16FE4, 0x16FE4), (0x1BCA0, 0x1BCA3), (0x1D159, 0x1D159),
    (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip
"""First and last code point of what is printed as nothing, whether Unicode calls it printable or not."""
_BLANK = re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in BLANK) + "]")
_MOST_MARKS = 8
"""Combining marks in a row that stay; more cover the lines above and below. No language writes so many."""
_MOST_COMPARED = 500
"""Names compared for a suggestion; comparing is slow, and a hostile folder may hold a hundred thousand."""


_LOOK_ALIKES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u051d\u04cf\u0432\u043c\u0442\u043a\u043d"
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0406\u0408\u0405\u050c\u051a\u051c\u04c0"
    "\u03b1\u03bf\u03c1\u03bd\u03b9\u03ba\u03c5\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7"
    "\u0578\u057d\u0570\u0585\u0581\u0261\u0251\u0131\u13df\u13aa\u13a0\u13e2\u13d9\u0237",
    "aeopcyxijshdqwlbmtkhABEKMHOPCTYXIJSGQWlaopvikuABEZHIKMNOPTYXnuhoggaiCADPVj",
)
"""What look like Latin letters."""


def is_hidden(letter: str) -> bool:
    """Tell whether a character is not to be seen as itself; newline and tab are hidden, the space is not."""
    return not letter.isprintable() or _BLANK.match(letter) is not None


def backslash(letter: str) -> str:
    r"""Write a character as Python does: `\x1b`, `\u202e`, `\U000e0041`."""
    return letter.encode("unicode_escape").decode()


def code_point(letter: str) -> str:
    """Write a character as reports do: `^[` for a control of ASCII, else `⟨U+202E⟩`."""
    code = ord(letter)
    return f"^{chr(code ^ 0x40)}" if code < 0x20 or code == 0x7F else f"⟨U+{code:04X}⟩"


def escape_hidden(text: str, keep: str = "", form: Callable[[str], str] = backslash) -> str:
    """Return text in which every hidden character is written out, and every combining mark after eight in a row.

    Args:
        text: Of any length; takes linear time.
        keep: Hidden characters that stay.
        form: Writes one character out.
    """
    if text.isascii() and text.isprintable():
        return text
    letters = set(text).difference(keep)
    table = {ord(letter): form(letter) for letter in letters if is_hidden(letter)}
    if not text.isascii():
        from unicodedata import category

        marks = {letter for letter in letters if category(letter) in {"Mn", "Me"}}
        text = _thin_out(text, marks.difference(map(chr, table)), form) if marks else text
    return text.translate(table) if table else text


def _thin_out(text: str, marks: set[str], form: Callable[[str], str]) -> str:
    parts, run = list[str](), 0
    for letter in text:
        run = run + 1 if letter in marks else 0
        parts.append(letter if run <= _MOST_MARKS else form(letter))
    return "".join(parts)


def printable(text: str, limit: int = 120) -> str:
    """Return text as one line of at most `limit` characters; newlines are escaped like all that is hidden."""
    line = escape_hidden(text[: limit + 1])
    return line if len(line) <= limit else line[: limit - 3] + "..."


def block(text: str, form: Callable[[str], str] = backslash) -> str:
    """Return text of several lines: newlines and tabs stay, all else that is hidden is escaped.

    This does not escape for HTML; jinja2 does.
    """
    plain = text.isascii() and text.replace("\n", "").replace("\t", "").isprintable()
    return text if plain else escape_hidden(text, "\n\t", form)


def fold_look_alikes(text: str) -> str:
    """Return text with letters that look like Latin ones as these, and without marks above and below them.

    For comparing alone: it makes nonsense of other languages. Folded are compatibility forms (full width, mathematical,
    circled) by Unicode's NFKD, and Cyrillic, Greek, Armenian and Cherokee letters by Unicode's table of confusables.
    """
    import unicodedata  # only what is not ASCII needs it

    if text.isascii():
        return text
    bare = "".join(letter for letter in unicodedata.normalize("NFKD", text) if not unicodedata.combining(letter))
    return bare.translate(_LOOK_ALIKES)


def clip(text: str, limit: int) -> str:
    """Return at most `limit` characters; what was cut is marked with an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def one_line(text: str, limit: int = 200) -> str:
    """Return prose as one line of at most `limit` characters: white space folded, the hidden as code points."""
    return clip(" ".join(block(text[: limit * 4], code_point).split()), limit)


def quote(text: object) -> str:
    """Return text in quotes, as one printable line."""
    return f"'{printable(str(text), 80)}'"


def join_names(names: Iterable[str], most: int = 20) -> str:
    """Return names as `a, b and 3 more`."""
    every = [printable(name, 80) for name in names]
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more


def normalize_name(name: str) -> str:
    """The name of a Python project as indexes compare them: lower case, a hyphen for every run of `-`, `_` and `.`."""
    return re.sub(r"[-_.]+", "-", name).lower()


def suggest(name: str, known: Iterable[str], *, list_known: bool = True) -> str:
    """Return a sentence that suggests the nearest known name.

    Where none is near, it lists what is known, or is empty: without `list_known`, and for more than 500 names.
    """
    import difflib  # only a mistake needs it

    every = sorted(known)
    if len(every) > _MOST_COMPARED:
        return ""
    if near := difflib.get_close_matches(name[:200], every, n=1):
        return f"Did you mean {printable(near[0], 80)}?"
    return f"Known are {join_names(every)}." if every and list_known else ""
