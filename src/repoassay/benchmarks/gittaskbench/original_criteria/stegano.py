"""What GitTaskBench's scripts for Stegano decide."""

from __future__ import annotations

import io
from pathlib import Path

from repoassay.benchmarks.gittaskbench.metrics.hidden_text import length_and_text, lowest_bits
from repoassay.benchmarks.gittaskbench.original_criteria.words import bare_word
from repoassay.grading import Measurement, UnreadableOutput, content, mapped, metric, need

__all__ = ["gtb_stegano_embedded", "gtb_stegano_word"]

_SOURCE = "GitTaskBench, arXiv 2508.18993, scripts Stegano_01 to Stegano_03"
_NEEDED = 4096


@metric(
    "gtb_stegano_embedded",
    unit="dB",
    span="[0, 200]",
    better="higher",
    source=_SOURCE,
    needs_reference=True,
    packages=("numpy", "pillow", "opencv-python-headless"),
)
def gtb_stegano_embedded(of: Path, against: Path, *, text: str) -> Measurement:
    """PSNR to the reference when the library's plain reveal gives `text`, no number when it gives another text.

    An image in which it finds no text, or of another size, is no readable output to this script.
    """
    cv2, numpy, image = need("cv2"), need("numpy"), need("PIL.Image")
    data = content(of, 256 * 2**20)
    with mapped("an image"), image.open(io.BytesIO(data)) as opened:
        if opened.mode not in ("RGB", "RGBA"):
            raise UnreadableOutput(f"the library reveals nothing in an image of mode {opened.mode}")
        if opened.width * opened.height > 64_000_000:
            raise UnreadableOutput("it has more pixels than are opened")
        opened.load()  # all of it, or it is no readable image
        top = opened.crop((0, 0, opened.width, min(opened.height, -(-_NEEDED // opened.width)))).convert("RGB")
        found = length_and_text(lowest_bits(numpy.asarray(top).reshape(-1, 3)[:_NEEDED]))
    if found is None:
        raise UnreadableOutput("the library reveals no text in it")
    with mapped("an image"):
        ours = cv2.imdecode(numpy.frombuffer(data, numpy.uint8), cv2.IMREAD_COLOR)
        theirs = cv2.imdecode(numpy.frombuffer(content(against, 256 * 2**20), numpy.uint8), cv2.IMREAD_COLOR)
        if ours is None or ours.shape != theirs.shape:
            raise UnreadableOutput("OpenCV does not read it in the size of the reference")
    value = cv2.PSNR(theirs, ours)
    return Measurement(min(float(value), 200.0) if found == text else float("nan"), f"it hides {found[:60]!r}")


@metric("gtb_stegano_word", unit="yes/no", span="{0, 1}", better="higher", source=_SOURCE, needs_reference=True)
def gtb_stegano_word(of: Path, against: Path) -> Measurement:
    """1 when both texts are equal after stripping; a byte-order mark counts; bytes that are no UTF-8 are unreadable."""
    return Measurement(float(bare_word(of) == bare_word(against)))
