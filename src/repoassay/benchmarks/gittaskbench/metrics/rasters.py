"""Large pictures, opened once for several criteria."""

from __future__ import annotations

import functools
import io
from pathlib import Path
from typing import Any

from repoassay.grading import UnreadableOutput, content, mapped, need

__all__ = ["raster"]

_MAX_PIXELS = 64_000_000


def raster(path: Path) -> Any:
    """An image as an array (height, width, 3) of uint8, RGB; not to be written to.

    Raises:
        UnreadableOutput: When it does not open or has more than 64 million pixels.
    """
    data = content(path, 256 * 2**20)
    return _opened(path, len(data), path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=2)
def _opened(path: Path, _size: int, _changed: int) -> Any:
    numpy, image = need("numpy"), need("PIL.Image")
    with mapped("an image"), image.open(io.BytesIO(content(path, 256 * 2**20))) as opened:
        if opened.width * opened.height > _MAX_PIXELS:
            raise UnreadableOutput(f"its {opened.width} x {opened.height} pixels are more than are opened")
        found = numpy.asarray(opened.convert("RGB"))
    found.setflags(write=False)
    return found
