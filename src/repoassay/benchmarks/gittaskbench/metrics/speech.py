"""Transcripts against transcripts: errors of letters and words, and where marks divide the text.

Texts are normalised before they are compared, because nobody can hear it: NFKC (which makes full-width forms plain),
case folded, and of punctuation, symbols and white space only what a metric says it keeps.
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Sequence
from pathlib import Path

from repoassay.benchmarks.gittaskbench.metrics.decoding import decode_text
from repoassay.grading import Measurement, UnreadableOutput, metric, need, reference

__all__ = ["chinese_words", "error_rate", "letters_of", "marks_agreement", "transcript_cer", "transcript_wer",
           "words_of"]  # fmt: skip

_MOST = 200_000
_MARKS = {"\u3002": ".", "\uff0e": ".", "\uff61": ".", "\uff0c": ",", "\u3001": ",", "\uff64": ",", "\uff01": "!",
          "\uff1f": "?", "\uff1b": ";", "\uff1a": ":"}  # fmt: skip
"""Marks of full width, and those of Chinese, as the plain ones."""
_DIVIDING = frozenset(".,!?;:")


def _transcript(path: Path, field: bool = False) -> str:
    """The text of a transcript; with `field`, of a `'text': '...'` in it where there is one, as recognisers print."""
    text = decode_text(path, chinese=True)
    if len(text) > _MOST:
        raise UnreadableOutput(f"its {len(text)} characters are more than the {_MOST} that are compared")
    if field and (found := re.search(r"""['"]text['"]\s*:\s*(?:'([^']*)'|"([^"]*)")""", text)):
        return found[1] or found[2] or ""
    return text


def letters_of(text: str) -> str:
    """Letters and digits of a text, normalised, and nothing else."""
    return "".join(letter for letter in unicodedata.normalize("NFKC", text).casefold() if _is_letter(letter))


def words_of(text: str) -> list[str]:
    """Words of a text, normalised: runs of letters and digits; an apostrophe within a word is left out of it."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    plain = re.sub(r"(?<=\w)['\u2019](?=\w)", "", plain)
    return "".join(letter if _is_letter(letter) else " " for letter in plain).split()


def chinese_words(text: str) -> list[str]:
    """Words of a Chinese text, normalised, as the segmenter jieba divides its letters."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its source has escapes that newer interpreters warn of
        jieba = need("jieba")
    jieba.setLogLevel(60)
    return [word for word in jieba.cut(letters_of(text)) if word.strip()]


def _is_letter(letter: str) -> bool:
    return unicodedata.category(letter)[0] in "LNM"


def error_rate(ours: Sequence[str], theirs: Sequence[str]) -> float:
    """Substitutions, deletions and insertions over the length of the reference; above 1 for a text much too long."""
    distance = need("rapidfuzz.distance.Levenshtein").distance(ours, theirs)
    return float(distance) / len(theirs) if theirs else float(len(ours) > 0)


@metric(
    "transcript_cer",
    unit="ratio",
    span="[0, inf)",
    better="lower",
    needs_reference=True,
    source="character error rate: Levenshtein distance over the reference's length, of letters and digits alone",
    packages=("rapidfuzz",),
)
def transcript_cer(of: Path, against: Path) -> Measurement:
    """Character error rate after normalisation; case, punctuation and spaces do not count."""
    ours, theirs = letters_of(_transcript(of)), letters_of(reference(_transcript, against))
    return Measurement(error_rate(ours, theirs), f"{len(ours)} letters against {len(theirs)}")


@metric(
    "transcript_wer",
    unit="ratio",
    span="[0, inf)",
    better="lower",
    needs_reference=True,
    source="word error rate: Levenshtein distance of words over the reference's number; words of Chinese by jieba 0.42",
    packages=("rapidfuzz", "jieba"),
)
def transcript_wer(of: Path, against: Path, *, chinese: bool = False, field: bool = False) -> Measurement:
    """Word error rate after normalisation; case and punctuation do not count.

    `chinese` divides words by a segmenter, `field` reads the `text` of a printed result where there is one.
    """
    divide = chinese_words if chinese else words_of
    transcript, wanted = _transcript(of, field), reference(_transcript, against)
    if letters_of(transcript) == letters_of(wanted) and chinese:
        return Measurement(0.0, "the same letters")
    ours, theirs = divide(transcript), divide(wanted)
    return Measurement(error_rate(ours, theirs), f"{len(ours)} words against {len(theirs)}")


@metric(
    "marks_agreement",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="recall or precision, whichever is less, of marks at their places in aligned letters",
    packages=("rapidfuzz",),
)
def marks_agreement(of: Path, against: Path, *, field: bool = False) -> Measurement:
    """The lesser of recall and precision of the marks . , ! ? ; : between the letters they divide.

    Letters are aligned first, so that a mark behind a misheard word is still at its place; full and half width are the
    same mark, and the comma of enumerations is a comma. A mark counts once at a place; surplus marks cost precision.
    """
    ours, theirs = _marked(_transcript(of, field)), _marked(reference(_transcript, against))
    first, last = _aligned(ours[0], theirs[0])
    rest = list(theirs[1])
    shared = 0
    for place, mark in ours[1]:
        there = next((each for each in rest if each[1] == mark and first[place] <= each[0] <= last[place]), None)
        if there is not None:
            rest.remove(there)
            shared += 1
    marks = ours[1]
    note = f"{shared} of {len(theirs[1])} marks at their places, {len(marks)} set"
    if not marks or not theirs[1] or not ours[0]:
        return Measurement(float(not marks and not theirs[1]), note)
    return Measurement(min(shared / len(marks), shared / len(theirs[1])), note)


def _marked(text: str) -> tuple[str, list[tuple[int, str]]]:
    """Letters of a text, and its marks with the number of letters before each."""
    letters: list[str] = []
    marks = []
    for each in text:
        mark = _MARKS.get(each, each)
        if mark in _DIVIDING:
            marks.append((len(letters), mark))
        else:
            letters += letters_of(each)
    return "".join(letters), marks


def _aligned(ours: str, theirs: str) -> tuple[list[int], list[int]]:
    """For every number of our letters, from 0 to all, how many of theirs stand before the same place.

    That is a span, from the first number to the last, where letters of theirs are missing from ours at the place; no
    more than two of them.
    """
    first = [0] * (len(ours) + 1)
    for block in need("rapidfuzz.distance.Levenshtein").opcodes(ours, theirs):
        for step in range(block.src_end - block.src_start):
            first[block.src_start + step + 1] = min(block.dest_start + step + 1, block.dest_end)
    pairs = zip(first, [max(0, each - 1) for each in first[1:]] + [len(theirs)], strict=True)
    return first, [min(max(place, after), place + 2) for place, after in pairs]
