"""Reading images, large ones included, at the small size at which whole pictures are compared."""

from __future__ import annotations

import functools
import io
from pathlib import Path
from typing import Any

from repoassay.grading import UnreadableOutput, content, mapped, need, raster

__all__ = ["aspect_slip", "fit", "grey", "lightness", "read_small"]

_MAX_PIXELS = 64_000_000


def read_small(path: Path, side: int) -> tuple[Any, tuple[int, int]]:
    """An image averaged down until its longer side is at most `side`, and its own width and height.

    Returns:
        float32 (height, width, 3) of 0 to 255 in RGB, not to be changed, and (width, height) as stored.

    Raises:
        UnreadableOutput: When it is no image, is cut off, or has more than 64 million pixels.
    """
    status = path.lstat() if path.exists() else None
    return _read(path, status.st_mtime_ns if status else 0, side)


@functools.lru_cache(maxsize=8)
def _read(path: Path, _changed: int, side: int) -> tuple[Any, tuple[int, int]]:
    """As `read_small`; several criteria look at one file, and decoding is most of what they cost."""
    numpy, image, cv2 = need("numpy"), need("PIL.Image"), need("cv2")
    data = content(path, 256 * 2**20)
    with mapped("an image"), image.open(io.BytesIO(data)) as opened:
        size = opened.size
        if size[0] * size[1] > _MAX_PIXELS:
            raise UnreadableOutput(f"its {size[0]} x {size[1]} pixels are more than are opened")
        scale = min(1.0, side / max(size))
        wanted = (max(1, round(size[0] * scale)), max(1, round(size[1] * scale)))
        if type(opened).draft is image.Image.draft:
            array = raster(path)
        else:  # A JPEG decoder halves a picture for nothing; twice the wanted size is left for averaging.
            opened.draft("RGB", (2 * wanted[0], 2 * wanted[1]))
            array = numpy.asarray(opened.convert("RGB"))
    pixels = cv2.resize(array, wanted, interpolation=cv2.INTER_AREA) if array.shape[1::-1] != wanted else array
    pixels = pixels.astype(numpy.float32)
    pixels.flags.writeable = False
    return pixels, size


def fit(image: Any, width: int, height: int) -> Any:
    """An array resized: averaged where it shrinks, interpolated bilinearly where it grows."""
    if image.shape[:2] == (height, width):
        return image
    cv2 = need("cv2")
    shrinks = image.shape[0] >= height and image.shape[1] >= width
    return cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR)


def grey(image: Any) -> Any:
    """Luma of (height, width, 3) in RGB, float32 (height, width)."""
    return image[..., 0] * 0.299 + image[..., 1] * 0.587 + image[..., 2] * 0.114


def lightness(image: Any) -> Any:
    """CIE L*a*b* of (height, width, 3) of 0 to 255 in RGB; L in 0 to 100, a and b about -128 to 127."""
    cv2, numpy = need("cv2"), need("numpy")
    return cv2.cvtColor(numpy.ascontiguousarray(image, dtype=numpy.float32) / 255, cv2.COLOR_RGB2LAB)


def aspect_slip(ours: tuple[int, int], theirs: tuple[int, int]) -> float:
    """How far two sizes (width, height) differ in proportion: 0 for the same, 1 for twice as wide."""
    ratio = (ours[0] / ours[1]) / (theirs[0] / theirs[1])
    return max(ratio, 1 / ratio) - 1
