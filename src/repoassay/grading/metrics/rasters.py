"""Pictures as arrays: decoded once, however many criteria of a task look at them."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from repoassay.grading.metrics.opening import content, mapped, need, regular
from repoassay.grading.protocol import UnreadableOutput

__all__ = ["mean_square", "pixels", "raster"]

_MAX_PIXELS = 64_000_000
_MAX_IMAGE = 256 * 2**20
_MAX_KEPT = 384 * 2**20
"""Bytes of decoded pictures that are kept: two of the largest that are opened."""
_TOGETHER = 2**17
"""Values that are looked at together: few enough to stay in the processor's cache."""
_Place = tuple[Path, int, int, int]
"""A file as it was when it was decoded: path, inode, size and time of the last change."""
_KEPT: dict[tuple[Path, int, int, int, str], Any] = {}
"""Rasters by file and mode, the latest last, of `_MAX_KEPT` bytes together."""
_PLAIN: set[_Place] = set()
"""Files of three plain channels: their grey follows from the colours that are kept."""


def pixels(path: Path, mode: str = "RGB") -> Any:
    """An image as an array (height, width[, 3]) of float64 in 0..255; at most 64 million pixels."""
    return raster(path, mode).astype("float64")


def raster(path: Path, mode: str = "RGB") -> Any:
    """An image as an array (height, width[, channels]) of uint8, kept for other criteria; not to be written to.

    Raises:
        UnreadableOutput: When it does not open or has more than 64 million pixels.
    """
    status = regular(path, _MAX_IMAGE)
    place = (path, status.st_ino, status.st_size, status.st_mtime_ns)
    kept = _KEPT.get((*place, mode))
    if kept is None:
        kept = _from_colours(place, mode)
    if kept is None:
        kept = _decoded(path, mode, place)
    return kept


def _from_colours(place: _Place, mode: str) -> Any:
    """The grey of a picture whose colours are kept, computed as decoding it again would; None where that is not so."""
    colours = _KEPT.get((*place, "RGB"))
    if mode != "L" or colours is None or place not in _PLAIN:
        return None
    return _keep(place, mode, need("PIL.Image").fromarray(colours).convert("L"))


def _decoded(path: Path, mode: str, place: _Place) -> Any:
    data = content(path, _MAX_IMAGE)
    with mapped("an image"), need("PIL.Image").open(io.BytesIO(data)) as opened:
        if opened.width * opened.height > _MAX_PIXELS:
            raise UnreadableOutput(f"its {opened.width} x {opened.height} pixels are more than are opened")
        if opened.mode == "RGB":
            _PLAIN.add(place)
        opened.load()  # here, where it is told that it cannot be; numpy's versions differ in what they make of that
        return _keep(place, mode, opened if opened.mode == mode else opened.convert(mode))


def _keep(place: _Place, mode: str, picture: Any) -> Any:
    found = need("numpy").asarray(picture)
    found.setflags(write=False)
    _KEPT[(*place, mode)] = found
    while len(_KEPT) > 1 and sum(each.nbytes for each in _KEPT.values()) > _MAX_KEPT:
        _KEPT.pop(next(iter(_KEPT)))
    return found


def mean_square(one: Any, other: Any) -> float:
    """Mean squared difference of two arrays of uint8 of one shape.

    Whole numbers are added, so this is to the bit the mean that floating point gives, in a fraction of its memory.
    """
    numpy = need("numpy")
    step = max(1, _TOGETHER * len(one) // max(one.size, 1))
    total = 0
    for start in range(0, len(one), step):
        apart = numpy.subtract(one[start : start + step], other[start : start + step], dtype=numpy.int16)
        total += int(numpy.square(apart, dtype=numpy.int32).sum(dtype=numpy.int64))
    return total / int(one.size)
