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
from repoassay.grading import Measurement, metric, need

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
    ours, theirs = (_guessed(present(path)) for path in (of, against))
    if ours is None or theirs is None:
        return Measurement(FAILED, "no encoding fits")
    return Measurement(junk_ratio(_plain(theirs), _plain(ours)))


def _guessed(data: bytes) -> str | None:
    best = need("charset_normalizer").from_bytes(data).best()
    return None if best is None else data.decode(best.encoding, errors="replace")


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^<>]+>", "", text)).strip().lower()


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
    ours, theirs = (set(utf8(present(path)).lower()) for path in (of, against))
    return Measurement(len(ours & theirs) / len(theirs), f"{len(ours & theirs)} of {len(theirs)} characters")
