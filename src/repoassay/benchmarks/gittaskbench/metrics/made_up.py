"""Made-up data: rows of a table that look like what they should be, and texts that replace another."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections import Counter
from pathlib import Path

from repoassay.benchmarks.gittaskbench.metrics.addresses import EMAIL
from repoassay.benchmarks.gittaskbench.metrics.decoding import decode_text, similarity
from repoassay.errors import InfraFault
from repoassay.grading import Measurement, UnreadableOutput, metric, normal, reference

__all__ = ["columns_distinct", "lines_kept", "plausible_rows", "text_extent", "text_kept", "text_variety", "words_kept",
           "words_plausible"]  # fmt: skip

_MOST_ROWS = 20_000
_MOST_TEXT = 20_000


def _rows(path: Path, columns: list[str]) -> list[list[str]] | None:
    """The values of the columns, row by row; None where the header lacks one. A row too long has no values."""
    csv.field_size_limit(2**20)
    text = decode_text(path)
    first = text.lstrip().partition("\n")[0]
    delimiter = next((sign for sign in ",;\t" if sign in first), ",")
    try:
        read = [
            row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if any(map(str.strip, row))
        ]
    except csv.Error as error:
        raise UnreadableOutput(f"it is not CSV: {error}") from error
    if not read:  # separators alone
        return None
    header = [normal(name, casefold=True) for name in read[0]]
    if any(normal(name, casefold=True) not in header for name in columns):
        return None
    places = [header.index(normal(name, casefold=True)) for name in columns]
    found = []
    for row in read[1:_MOST_ROWS]:
        wide = [*row, *[""] * len(header)]
        broken = any(cell.strip() for cell in row[len(header) :])
        found.append(["" if broken else wide[place].strip() for place in places])
    return found


def _name(text: str) -> bool:
    return len(text) > 1 and any(sign.isalnum() for sign in text)


def _company(text: str) -> bool:
    return len(text) > 1 and any(sign.isalpha() for sign in text)


def _address(text: str) -> bool:
    return len(text) >= 5 and any(sign.isalpha() for sign in text) and len(set(text)) > 3


def _phone(text: str) -> bool:
    digits = sum(sign.isdecimal() for sign in text)
    return (
        5 <= digits <= 25 and re.fullmatch(r"[\d\s()+./#*-]*(?:(?:x|ext\.?)\s*\d+)?", text, re.IGNORECASE) is not None
    )


_LOOKS = {
    "name": _name,
    "email": lambda text: EMAIL.fullmatch(text) is not None,
    "company": _company,
    "address": _address,
    "phone": _phone,
}


@metric("plausible_rows", unit="rows", span="(-inf, inf)", better="neither", source="rules stated here")
def plausible_rows(of: Path, *, columns: list[str], looks: list[str]) -> Measurement:
    """Number of rows of a CSV file when all are plausible; else, below nought, the number of those that are not.

    So the value is the number that was asked for only when there are so many and each is good. `looks` are, column by
    column, name, email, company, address (five characters, letters) or phone (5 to 25 digits). Without one
    of the columns, in any case, no row is plausible.
    """
    if len(columns) != len(looks) or not set(looks) <= _LOOKS.keys():
        raise InfraFault(f"plausible_rows takes one of {', '.join(_LOOKS)} for every column.")
    rows = _rows(of, columns)
    if rows is None:
        return Measurement(0.0, f"it lacks one of the columns {', '.join(columns)}")
    bad = [row for row in rows if not all(_LOOKS[look](cell) for look, cell in zip(looks, row, strict=True))]
    note = f"{len(rows)} rows" + (f", {len(bad)} of them not plausible, as {' | '.join(bad[0])[:80]!r}" if bad else "")
    return Measurement(float(-len(bad) if bad else len(rows)), note)


@metric("columns_distinct", unit="ratio", span="[0, 1]", better="higher", source="distinct values / values")
def columns_distinct(of: Path, *, columns: list[str]) -> Measurement:
    """Distinct values of a column over its values, case folded: the lowest of the given columns."""
    rows = _rows(of, columns)
    if not rows:
        return Measurement(0.0, "no such rows")
    shares = [len({normal(cell, casefold=True) for cell in column}) / len(rows) for column in zip(*rows, strict=True)]
    return Measurement(
        min(shares), ", ".join(f"{name} {share:.2f}" for name, share in zip(columns, shares, strict=True))
    )


def _read(path: Path) -> str:
    return decode_text(path, chinese=True)


_HAN = r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]"


def _units(text: str) -> list[str]:
    """Words, and single characters of scripts that are written without spaces."""
    return re.findall(rf"{_HAN}|(?:(?!{_HAN})\w)+", normal(text, casefold=True))


@metric(
    "words_kept",
    unit="ratio",
    span="[0, 1]",
    better="lower",
    needs_reference=True,
    source="Jaccard index of the sets of \\w+ tokens, case folded",
)
def words_kept(of: Path, against: Path) -> Measurement:
    """Jaccard index of both texts' sets of words, case folded."""
    ours, theirs = (
        set(re.findall(r"\w+", normal(text, casefold=True))) for text in (_read(of), reference(_read, against))
    )
    return Measurement(len(ours & theirs) / len(ours | theirs) if ours | theirs else 1.0, f"{len(ours & theirs)} words")


@metric(
    "lines_kept",
    unit="ratio",
    span="[0, 1]",
    better="lower",
    needs_reference=True,
    source="share of the input's lines of 20 characters or more",
)
def lines_kept(of: Path, against: Path) -> Measurement:
    """Share of the other text's lines of at least 20 characters that the output still has."""
    text = normal(_read(of), casefold=True)
    lines = [normal(line, casefold=True) for line in reference(_read, against).splitlines()]
    long = [line for line in lines if len(line) >= 20]
    kept = sum(line in text for line in long)
    return Measurement(kept / len(long) if long else 0.0, f"{kept} of {len(long)} lines")


@metric(
    "text_kept",
    unit="ratio",
    span="[0, 1]",
    better="lower",
    needs_reference=True,
    source="Indel similarity of letters and digits, forwards or backwards",
    packages=("rapidfuzz",),
)
def text_kept(of: Path, against: Path) -> Measurement:
    """Indel similarity of both texts' letters and digits, the output read forwards or backwards.

    It sees through spaces put between letters and through reversal; unrelated texts of one language score 0.4 to 0.5.
    """
    ours, theirs = (
        re.sub(r"[\W_]", "", normal(text, casefold=True))[:_MOST_TEXT]
        for text in (_read(of), reference(_read, against))
    )
    return Measurement(max(similarity(ours, theirs), similarity(ours[::-1], theirs)))


@metric(
    "text_extent",
    unit="ratio",
    span="[0, inf)",
    better="neither",
    needs_reference=True,
    source="words, or characters of scripts without spaces, over those of the reference",
)
def text_extent(of: Path, against: Path) -> Measurement:
    """How many words the output has for one of the other text; a Chinese or Japanese character counts as one."""
    ours, theirs = len(_units(_read(of))), len(_units(reference(_read, against)))
    return Measurement(ours / theirs if theirs else 0.0, f"{ours} words for {theirs}")


@metric("text_variety", unit="words", span="[0, inf)", better="higher", source="inverse Simpson index of words")
def text_variety(of: Path) -> Measurement:
    """Inverse Simpson index of a text's words: how many words, equally frequent, would be as various; at most distinct.

    One word repeated has 1; running text of 250 words has 60 to 150.
    """
    counts = Counter(_units(_read(of)))
    total = counts.total()
    return Measurement(total**2 / sum(count**2 for count in counts.values()) if total else 0.0, f"{len(counts)} words")


@metric("words_plausible", unit="ratio", span="[0, 1]", better="higher", source="share of tokens shaped as words are")
def words_plausible(of: Path) -> Measurement:
    """Share of a text's tokens that could be words; bare numbers do not count either way.

    In Latin letters a word has a vowel (or is at most four letters long), no digit, no run of six consonants, and at
    most 24 letters; every token of letters in another script could be a word. Random letters score 0.7 and less, text
    of any language above 0.95.
    """
    tokens = [token for token in re.findall(r"\w+", _read(of).casefold()) if not token.isdigit()]
    good = sum(map(_word, tokens))
    return Measurement(good / len(tokens) if tokens else 0.0, f"{good} of {len(tokens)}")


def _word(token: str) -> bool:
    plain = unicodedata.normalize("NFD", token.strip("_"))
    letters = "".join(letter for letter in plain if not unicodedata.combining(letter))
    if not letters or any(letter.isdigit() or letter == "_" for letter in letters):
        return False
    if not letters.isascii():
        return True
    voiced = len(letters) <= 4 or re.search("[aeiouy]", letters) is not None
    return voiced and len(letters) <= 24 and re.search("[^aeiouy]{6}", letters) is None
