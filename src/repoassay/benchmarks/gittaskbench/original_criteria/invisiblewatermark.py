"""What GitTaskBench's scripts for InvisibleWatermark decide."""

from __future__ import annotations

import math
from pathlib import Path

from repoassay.benchmarks.gittaskbench.metrics.hidden_text import colours
from repoassay.benchmarks.gittaskbench.metrics.watermarks import block_bits, message
from repoassay.benchmarks.gittaskbench.original_criteria.words import bare_word
from repoassay.grading import Measurement, UnreadableOutput, content, metric, need

__all__ = ["gtb_invisiblewatermark_embedded", "gtb_invisiblewatermark_word"]

_SOURCE = "GitTaskBench, arXiv 2508.18993, scripts InvisibleWatermark_01 to InvisibleWatermark_03"
_BITS = 256


@metric(
    "gtb_invisiblewatermark_embedded",
    unit="dB",
    span="[0, 200]",
    better="higher",
    source=_SOURCE,
    needs_reference=True,
    packages=("numpy", "opencv-python-headless", "pillow"),
)
def gtb_invisiblewatermark_embedded(of: Path, against: Path, *, text: str) -> Measurement:
    """PSNR to the reference when 256 bits read by dwtDct hold `text`; no number when not, or when sizes differ."""
    ours, theirs = colours(of), colours(against)
    if min(ours.shape[:2]) < 32 * 8:
        return Measurement(float("nan"), "it carries fewer than 256 bits")
    found = message(block_bits(ours, "dwtDct"), _BITS).decode(errors="ignore")
    if text not in found or ours.shape != theirs.shape:
        return Measurement(float("nan"), f"it reads {found[:60]!r}, {ours.shape} against {theirs.shape}")
    numpy = need("numpy")
    error = float(numpy.mean((ours.astype(numpy.float64) - theirs) ** 2))
    return Measurement(min(200.0, 10 * math.log10(255**2 / error)) if error else 200.0)


@metric("gtb_invisiblewatermark_word", unit="yes/no", span="{0, 1}", better="higher", source=_SOURCE)
def gtb_invisiblewatermark_word(of: Path, against: Path | None = None, *, text: str = "") -> Measurement:
    """1 when the text is the expected word after stripping.

    Bytes that are no UTF-8 end both scripts: the one with a reference says that nothing was read, the other not.
    """
    content(of)
    try:
        found = bare_word(of)
    except UnreadableOutput as error:
        if against is not None:
            raise
        return Measurement(float("nan"), str(error))
    wanted = bare_word(against) if against else text
    return Measurement(float(found == wanted), f"it reads {found[:60]!r}")
