"""What GitTaskBench's scripts for FunASR decide."""

from __future__ import annotations

import math
import re
import unicodedata
import warnings
from collections import Counter
from pathlib import Path

from repoassay.benchmarks.gittaskbench.metrics.speech import error_rate
from repoassay.grading import Measurement, UnreadableOutput, content, metric, need

__all__ = ["gtb_funasr_01", "gtb_funasr_02", "gtb_funasr_03"]

_SOURCE = "GitTaskBench, arXiv 2508.18993, scripts FunASR_01 to FunASR_03"
_MOST = 20_000
_LIMITS = {"words": 0.3, "marks": 0.7}


def _text(path: Path) -> str:
    """UTF-8 with whatever mark it opens with; other bytes end the script, which is booked as no output."""
    try:
        return content(path).decode()
    except UnicodeDecodeError as error:
        raise UnreadableOutput(f"it is not UTF-8 at byte {error.start}") from error


def _line(path: Path) -> str:
    return re.sub(r"[\r\n]", "", _text(path)).strip()


@metric(
    "gtb_funasr_01",
    unit="ratio",
    span="[0, 255]",
    better="lower",
    source=_SOURCE,
    needs_reference=True,
)
def gtb_funasr_01(of: Path, against: Path) -> Measurement:
    """Character error rate with a table of 8-bit numbers: 256 errors count as none. Punctuation and spaces count.

    So it is with the numpy the benchmark pins; newer ones end the script at an output of 256 characters. Texts of more
    than 20,000 characters give no value here.
    """
    ours, theirs = _line(of), _line(against)
    if len(ours) > _MOST:
        return Measurement(math.nan, f"{len(ours)} characters are more than are compared")
    row = [place % 256 for place in range(len(ours) + 1)]
    for number, letter in enumerate(theirs, 1):
        above, row = row, [number % 256]
        for place, said in enumerate(ours, 1):
            if said == letter:
                row.append(above[place - 1])
            else:
                row.append((min(above[place - 1], above[place], row[place - 1]) + 1) % 256)
    return Measurement(row[-1] / len(theirs))


@metric(
    "gtb_funasr_02",
    unit="ratio",
    span="[0, inf)",
    better="lower",
    source=_SOURCE,
    needs_reference=True,
    packages=("rapidfuzz",),
)
def gtb_funasr_02(of: Path, against: Path) -> Measurement:
    """Character error rate, case, punctuation and spaces included; no value for what does not look English."""
    ours, theirs = _line(of), _line(against)
    letters = len(re.findall(r"[A-Za-z]", ours))
    if letters < 10 or letters <= len(ours) / 2:
        return Measurement(math.nan, f"{letters} letters of {len(ours)} characters do not look English")
    return Measurement(error_rate(ours, theirs))


@metric(
    "gtb_funasr_03",
    unit="yes/no",
    span="{0, 1}",
    better="higher",
    source=_SOURCE,
    needs_reference=True,
    packages=("rapidfuzz", "jieba"),
)
def gtb_funasr_03(of: Path, against: Path) -> Measurement:
    """1 when the word error rate of jieba's words is at most 0.3 and 70 % of the marks occur, wherever they stand."""
    said, wanted = _text(of), _text(against)
    if found := re.search(r"'text'\s*:\s*'([^']*)'", said):
        said = found[1]
    plain = [_plain(text) for text in (said, wanted)]
    if not said.strip() or not plain[0]:
        raise UnreadableOutput("it holds nothing but punctuation")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        jieba = need("jieba")
    jieba.setLogLevel(60)
    words = error_rate(*(" ".join(jieba.cut(text)).split() for text in plain)) if plain[0] != plain[1] else 0.0
    ours, theirs = (Counter(filter(_is_mark, text)) for text in (said, wanted))
    marks = (ours & theirs).total() / theirs.total()
    good = words <= _LIMITS["words"] and marks >= _LIMITS["marks"]
    return Measurement(float(good), f"word error rate {words:.3f}, marks {marks:.3f}")


def _plain(text: str) -> str:
    return "".join(letter for letter in text if not _is_mark(letter) and not letter.isspace())


def _is_mark(letter: str) -> bool:
    return unicodedata.category(letter).startswith("P")
