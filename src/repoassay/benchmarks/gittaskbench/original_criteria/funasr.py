"""What GitTaskBench's scripts for FunASR decide."""

from __future__ import annotations

import math
import re
import warnings
from collections import Counter
from pathlib import Path

from repoassay.benchmarks.gittaskbench.metrics.speech import error_rate
from repoassay.benchmarks.gittaskbench.original_criteria.plain_text import present, spaced_words, utf8
from repoassay.grading import Measurement, UnreadableOutput, metric, need

__all__ = ["gtb_funasr_01", "gtb_funasr_02", "gtb_funasr_03"]

_SOURCE = "GitTaskBench, arXiv 2508.18993, scripts FunASR_01 to FunASR_03"
_MOST = 20_000
_LIMITS = {"words": 0.3, "marks": 0.7}


def _line(path: Path) -> str | None:
    """The text without line ends, None for bytes that are no UTF-8: these count as read."""
    data = present(path)
    try:
        return utf8(data).replace("\n", "")
    except UnreadableOutput:
        return None


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
    ours, theirs = _line(of), (_line(against) or "").strip()
    if ours is None:
        return Measurement(math.nan, "it is not UTF-8")
    ours = ours.strip()
    if len(ours) > _MOST:
        return Measurement(math.nan, f"{len(ours)} characters are more than are compared")
    row = [place % 256 for place in range(len(ours) + 1)]
    for number, letter in enumerate(theirs, 1):
        above, row = row, [number % 256]
        for place, own_letter in enumerate(ours, 1):
            # Where 256 has become 0, a neighbour may be less than the cell before both.
            row.append(min(above[place - 1] + (own_letter != letter), above[place] + 1, row[place - 1] + 1) % 256)
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
    ours, theirs = _line(of), _line(against) or ""
    if ours is None:
        return Measurement(math.nan, "it is not UTF-8")
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
    transcript, wanted = (utf8(present(path)).strip() for path in (of, against))
    if found := re.search(r"'text':\s*'([^']*)'", transcript):
        transcript = found[1]
    plain = [re.sub(r"[^\w\s]", "", text).replace(" ", "") for text in (transcript, wanted)]
    if not transcript or not plain[0]:
        raise UnreadableOutput("it holds nothing but punctuation")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        jieba = need("jieba")
    jieba.setLogLevel(60)
    words = error_rate(*(spaced_words(" ".join(jieba.cut(text))) for text in plain)) if plain[0] != plain[1] else 0.0
    ours, theirs = (Counter(re.findall(r"[^\w\s]", text)) for text in (transcript, wanted))
    marks = (ours & theirs).total() / max(1, theirs.total())
    good = words <= _LIMITS["words"] and marks >= _LIMITS["marks"]
    return Measurement(float(good), f"word error rate {words:.3f}, marks {marks:.3f}")
