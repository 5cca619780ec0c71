"""What GitTaskBench's own scripts decide for Trafilatura_01 to Trafilatura_03."""

from __future__ import annotations

import re
from pathlib import Path

from repoassay.benchmarks.gittaskbench.original_criteria.plain_text import (
    FAILED,
    junk_ratio,
    levenshtein_share,
    present,
    utf8,
)
from repoassay.grading import Measurement, UnreadableOutput, metric, need

__all__ = ["gtb_trafilatura_01", "gtb_trafilatura_02", "gtb_trafilatura_03"]

_MOST_COMPARED = 100_000


@metric(
    "gtb_trafilatura_01",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="GitTaskBench, test script of Trafilatura_01",
    packages=("charset-normalizer",),
)
def gtb_trafilatura_01(of: Path, against: Path) -> Measurement:
    """difflib ratio of both texts without tags, lower-cased, white space folded; the encoding is guessed."""
    ours, theirs = (_plain(_guessed(present(path))) for path in (of, against))
    return Measurement(junk_ratio(ours, theirs))


def _guessed(data: bytes) -> str:
    encoding = need("charset_normalizer").detect(data)["encoding"] or "utf-8"
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError) as error:
        raise UnreadableOutput(f"the script crashes: it is not {encoding}") from error


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", text)).strip().lower()


@metric(
    "gtb_trafilatura_02",
    unit="ratio",
    span="[0, 1]",
    better="lower",
    needs_reference=True,
    source="GitTaskBench, test script of Trafilatura_02",
    packages=("rapidfuzz",),
)
def gtb_trafilatura_02(of: Path, against: Path) -> Measurement:
    """Levenshtein distance of the raw texts over the longer length."""
    ours, theirs = (utf8(present(path)) for path in (of, against))
    if len(ours) > _MOST_COMPARED:
        return Measurement(1 - len(theirs) / len(ours), "at least, by the lengths alone")
    return Measurement(levenshtein_share(ours, theirs))


@metric(
    "gtb_trafilatura_03",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="GitTaskBench, test script of Trafilatura_03",
)
def gtb_trafilatura_03(of: Path, against: Path) -> Measurement:
    """Share of the reference's distinct lower-cased characters that occur anywhere in the output."""
    data = present(of)
    try:
        text = utf8(data)
    except UnreadableOutput as error:
        return Measurement(FAILED, str(error))
    ours, theirs = (set(each.strip().lower()) for each in (text, utf8(present(against))))
    return Measurement(len(ours & theirs) / len(theirs), f"{len(ours & theirs)} of {len(theirs)} characters")
