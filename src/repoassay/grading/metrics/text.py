"""Metrics of text against a reference: similarity, recall and precision of words, lines and phrases."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from pathlib import Path

from repoassay.grading.metrics.opening import need, read_text, reference
from repoassay.grading.protocol import Measurement
from repoassay.grading.registry import metric

__all__ = ["line_recall", "phrases_absent", "phrases_found", "text_similarity", "token_f1", "token_precision",
           "token_recall"]  # fmt: skip


def normal(text: str, casefold: bool = False) -> str:
    """NFKC, white space collapsed to single spaces, ends stripped; case folded on request."""
    text = " ".join(unicodedata.normalize("NFKC", text).split())
    return text.casefold() if casefold else text


def _tokens(text: str, casefold: bool = True) -> Counter[str]:
    return Counter(re.findall(r"\w+", normal(text, casefold)))


@metric(
    "text_similarity",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="1 - Levenshtein distance / longer length; Levenshtein 1966",
    packages=("rapidfuzz",),
)
def text_similarity(of: Path, against: Path, *, casefold: bool = False) -> Measurement:
    """1 minus the normalised Levenshtein distance of both texts after NFKC and collapsing white space."""
    distance = need("rapidfuzz.distance.Levenshtein")
    ours, theirs = normal(read_text(of), casefold), normal(reference(read_text, against), casefold)
    value = distance.normalized_similarity(ours, theirs)
    return Measurement(float(value), f"{len(ours)} characters against {len(theirs)}")


def _shared(of: Path, against: Path) -> tuple[int, int, int]:
    ours, theirs = _tokens(read_text(of)), _tokens(reference(read_text, against))
    return (ours & theirs).total(), ours.total(), theirs.total()


@metric(
    "token_recall",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="multiset recall of \\w+ tokens, case folded",
)
def token_recall(of: Path, against: Path) -> Measurement:
    """Share of the reference's words, counted as often as they occur, that the output has."""
    shared, _, theirs = _shared(of, against)
    return Measurement(shared / theirs if theirs else 1.0, f"{shared} of {theirs} words")


@metric(
    "token_precision",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="multiset precision of \\w+ tokens, case folded",
)
def token_precision(of: Path, against: Path) -> Measurement:
    """Share of the output's words, counted as often as they occur, that the reference has."""
    shared, ours, _ = _shared(of, against)
    return Measurement(shared / ours if ours else 0.0, f"{shared} of {ours} words")


@metric(
    "token_f1",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="harmonic mean of token_recall and token_precision",
)
def token_f1(of: Path, against: Path) -> Measurement:
    """Harmonic mean of word recall and precision."""
    shared, ours, theirs = _shared(of, against)
    return Measurement(
        2 * shared / (ours + theirs) if ours + theirs else 1.0, f"{shared} shared of {ours} and {theirs}"
    )


@metric(
    "line_recall",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="share of distinct non-empty lines",
)
def line_recall(of: Path, against: Path) -> Measurement:
    """Share of the reference's distinct non-empty lines that the output has, white space normalised."""
    ours = {normal(line) for line in read_text(of).splitlines()}
    theirs = {normal(line) for line in reference(read_text, against).splitlines()} - {""}
    missing = sorted(theirs - ours)
    note = f"missing {missing[0][:80]!r}" if missing else "all there"
    return Measurement(1 - len(missing) / len(theirs) if theirs else 1.0, note)


def _phrases(of: Path, against: Path) -> tuple[list[str], list[str]]:
    text = normal(read_text(of), casefold=True)
    phrases = [normal(line, casefold=True) for line in reference(read_text, against).splitlines() if line.strip()]
    return [phrase for phrase in phrases if phrase in text], phrases


@metric(
    "phrases_found",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="share of the truth file's lines that occur in the output",
)
def phrases_found(of: Path, against: Path) -> Measurement:
    """Share of the reference's lines that occur in the output, case folded and white space normalised."""
    found, phrases = _phrases(of, against)
    missing = [phrase for phrase in phrases if phrase not in found]
    note = f"{len(found)} of {len(phrases)}" + (f"; missing {missing[0][:80]!r}" if missing else "")
    return Measurement(len(found) / len(phrases) if phrases else 1.0, note)


@metric(
    "phrases_absent",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="share of the truth file's lines that do not occur in the output",
)
def phrases_absent(of: Path, against: Path) -> Measurement:
    """Share of the reference's lines that do not occur in the output, case folded and white space normalised."""
    found, phrases = _phrases(of, against)
    note = f"{len(found)} of {len(phrases)} unwanted lines are there" + (f", as {found[0][:80]!r}" if found else "")
    return Measurement(1 - len(found) / len(phrases) if phrases else 1.0, note)
