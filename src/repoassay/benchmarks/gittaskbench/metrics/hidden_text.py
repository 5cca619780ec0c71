"""Text hidden in the pixels of an image, as the library Stegano writes it: a length, a colon, the text."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from repoassay.grading import Measurement, UnreadableOutput, content, mapped, metric, need

__all__ = ["colours", "hidden_text_matches", "length_and_text", "lowest_bits"]

_MOST_PIXELS = 64_000_000
_MOST_LETTERS = 4096


@metric(
    "hidden_text_matches",
    unit="yes/no",
    span="{0, 1}",
    better="higher",
    source="Stegano 0.11 to 3.0, lsb.reveal and red.reveal; https://stegano.readthedocs.io",
    packages=("numpy", "pillow"),
)
def hidden_text_matches(of: Path, *, text: str) -> Measurement:
    """1 when the image hides exactly `text` in one of the ways the library has.

    These are: the lowest bits of red, green and blue, pixel by pixel along the rows, most significant bit first, 8 or
    32 bits a letter; the same in the pixels whose number is prime; and whole letters as values of red, the first of
    which says how many follow. An image that hides nothing is a readable image all the same.
    """
    image = colours(of)
    found = [(way, hidden) for way, hidden in _revealed(image, len(text)) if hidden is not None]
    for way, hidden in found:
        if hidden == text:
            return Measurement(1.0, f"hidden in {way}")
    shown = f"it hides {found[0][1][:60]!r} in {found[0][0]}" if found else "it hides no text"
    return Measurement(0.0, shown)


def colours(path: Path) -> Any:
    """An image as an array (height, width, 3) of uint8, transparency dropped; at most 64 million pixels."""
    numpy, image = need("numpy"), need("PIL.Image")
    data = content(path, 256 * 2**20)
    with mapped("an image"), image.open(io.BytesIO(data)) as opened:
        if opened.width * opened.height > _MOST_PIXELS:
            raise UnreadableOutput(f"its {opened.width} x {opened.height} pixels are more than are opened")
        return numpy.asarray(opened.convert("RGB"))


def _revealed(image: Any, letters: int) -> Iterator[tuple[str, str | None]]:
    pixels = image.reshape(-1, 3)
    needed = 32 * (letters + 12) // 3 + 1
    for order, places in (("all pixels", slice(0, needed)), ("prime pixels", _primes(needed))):
        bits = lowest_bits(pixels[places if isinstance(places, slice) else places[places < len(pixels)]])
        for width in (8, 32):
            yield f"the lowest bits of {order}, {width} a letter", length_and_text(bits, width)
    red = pixels[:, 0]
    yield "the values of red", "".join(map(chr, red[1 : 1 + int(red[0])])) if red[0] == letters else None


def lowest_bits(pixels: Any) -> Any:
    """Lowest bits of an array (n, 3) of uint8, as an array (3 n) of 0 and 1: red, green, blue of each pixel."""
    return (pixels & 1).reshape(-1)


def length_and_text(bits: Any, width: int = 8) -> str | None:
    """The text that bits hold after its length and a colon, `width` bits a letter; None when there is none."""
    numpy = need("numpy")
    letters = bits[: min(len(bits) // width, _MOST_LETTERS) * width].reshape(-1, width)
    codes = numpy.packbits(letters, axis=1).astype(numpy.uint32)
    values = [sum(int(byte) << 8 * (width // 8 - 1 - place) for place, byte in enumerate(row)) for row in codes[:12]]
    if ord(":") not in values:
        return None
    length = values.index(ord(":"))
    digits = "".join(chr(value) for value in values[:length] if ord("0") <= value <= ord("9"))
    if not digits or len(digits) != length or length + 1 + int(digits) > len(codes):
        return None
    rows = codes[length + 1 : length + 1 + int(digits)]
    found = [sum(int(byte) << 8 * (width // 8 - 1 - place) for place, byte in enumerate(row)) for row in rows]
    return "".join(chr(value) for value in found) if max(found, default=0) < 0x110000 else None


def _primes(count: int) -> Any:
    """The first `count` primes."""
    numpy = need("numpy")
    most = max(20, int(count * (numpy.log(count) + numpy.log(numpy.log(count))) + 10))
    sieve = numpy.ones(most, dtype=bool)
    sieve[:2] = False
    for number in range(2, int(most**0.5) + 1):
        if sieve[number]:
            sieve[number * number :: number] = False
    return numpy.flatnonzero(sieve)[:count]
