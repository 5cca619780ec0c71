"""Blind watermarks: bits in the wavelet domain of a picture's colour, as the library invisible-watermark writes them.

The picture is taken as 8-bit YUV. A Haar transform of U leaves an approximation of half the size; every 4x4 block of
it carries one bit, message after message. A bit is the half of a step of 36 in which a number falls: the largest
coefficient of the block but the first (way `dwtDct`), or its largest singular value (way `dwtDctSvd`). Reading takes
the majority of all blocks that carry the same bit, which is why the length must be known.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from repoassay.benchmarks.gittaskbench.metrics.hidden_text import colours
from repoassay.grading import Measurement, metric, need

__all__ = ["blind_watermark_matches", "block_bits", "message"]

_STEP = 36.0
_BLOCK = 4
_MOST_LETTERS = 64
_WAYS = ("dwtDct", "dwtDctSvd")


@metric(
    "blind_watermark_matches",
    unit="yes/no",
    span="{0, 1}",
    better="higher",
    source="invisible-watermark 0.2.0, ways dwtDct and dwtDctSvd; https://github.com/ShieldMnt/invisible-watermark",
    packages=("numpy", "opencv-python-headless", "pillow"),
)
def blind_watermark_matches(of: Path, *, text: str) -> Measurement:
    """1 when the picture carries `text` as a blind watermark of bytes, at any length up to 64 bytes that holds it.

    The library's way is to embed exactly the text, so that it is read at 8 bits a letter; a message padded or repeated
    to a longer one, such as the 256 bits that published scripts read, carries the text as well. The library's third
    way needs a network and holds four letters.
    """
    picture, wanted = colours(of), text.encode()
    if (picture.shape[0] // 8) * (picture.shape[1] // 8) < 8 * len(wanted):
        return Measurement(0.0, "it is too small to carry the text")
    for way in _WAYS:
        bits = block_bits(picture, way)
        for letters in range(len(wanted), min(_MOST_LETTERS, len(bits) // 8) + 1):
            if wanted in message(bits, 8 * letters):
                return Measurement(1.0, f"carried by {way} in messages of {8 * letters} bits")
    read = message(block_bits(picture, _WAYS[0]), 8 * len(wanted))
    return Measurement(0.0, f"at {8 * len(wanted)} bits {_WAYS[0]} reads {read!r}")


def block_bits(picture: Any, way: str) -> Any:
    """One bit for every 4x4 block of the Haar approximation of U, row by row, as an array of 0 and 1.

    Args:
        picture: Array (height, width, 3) of uint8, red, green, blue; at least 8 by 8.
        way: `dwtDct` or `dwtDctSvd`.
    """
    cv2, numpy = need("cv2"), need("numpy")
    height, width = (size // 4 * 4 for size in picture.shape[:2])
    plane = cv2.cvtColor(picture, cv2.COLOR_RGB2YUV)[:height, :width, 1].astype(numpy.float64)
    low = (plane[::2, ::2] + plane[::2, 1::2] + plane[1::2, ::2] + plane[1::2, 1::2]) / 2
    rows, columns = low.shape[0] // _BLOCK, low.shape[1] // _BLOCK
    blocks = low[: rows * _BLOCK, : columns * _BLOCK].reshape(rows, _BLOCK, columns, _BLOCK).transpose(0, 2, 1, 3)
    if way == "dwtDct":
        # Contrary to its name, this way takes the pixels of the block as its coefficients; all but the first count.
        values = numpy.abs(blocks.reshape(rows * columns, -1)[:, 1:]).max(axis=1)
    else:
        # An orthonormal cosine transform leaves singular values as they are, so none is needed to read.
        values = numpy.linalg.svd(blocks.reshape(-1, _BLOCK, _BLOCK), compute_uv=False)[:, 0]
    return (values % _STEP > _STEP / 2).astype(numpy.uint8)


def message(bits: Any, length: int) -> bytes:
    """The message of `length` bits (a multiple of 8, at most as many as `bits`) that blocks repeat, by majority."""
    numpy = need("numpy")
    places = numpy.arange(len(bits)) % length
    ones = numpy.bincount(places, weights=bits, minlength=length) / numpy.bincount(places, minlength=length)
    found: bytes = numpy.packbits(ones * 255 > 127).tobytes()
    return found
