"""Quality of a picture by itself, without a reference.

`niqe` is our own implementation of Mittal, Soundararajan, Bovik: Making a "Completely Blind" Image Quality Analyzer,
IEEE Signal Processing Letters 20 (2013).

NOTICE: `niqe_pristine.npz` beside this file holds the mean (36) and covariance (36, 36) of the features of pristine
pictures, as distributed with BasicSR 1.4.2 (niqe_pris_params.npz; Copyright 2018-2022 BasicSR Authors, Apache License
2.0, https://github.com/XPixelGroup/BasicSR), unchanged but for the names of the arrays.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from repoassay.grading import Measurement, metric, need, raster

__all__ = ["niqe", "niqe_of"]

_BLOCK = 96
_WEIGHTS = {"rgb": (65.481, 128.553, 24.966), "bgr": (24.966, 128.553, 65.481)}


@metric(
    "niqe",
    unit="score",
    span="[0, inf)",
    better="lower",
    source="Mittal, Soundararajan, Bovik 2013, with the pristine statistics of BasicSR 1.4.2",
    packages=("numpy", "pillow", "opencv-python-headless"),
)
def niqe(of: Path, *, order: str = "rgb") -> Measurement:
    """Natural image quality: distance of the picture's statistics from those of pristine pictures.

    About 3 for good photos, above 7 for strongly distorted ones; not a number for pictures of less than two blocks of
    96 x 96 pixels. `order = "bgr"` reads red as blue, as some programs do by mistake.
    """
    found = niqe_of(raster(of), order)
    return Measurement(found, "" if found == found else "it is too small or too flat")  # noqa: PLR0124 - NaN alone


def niqe_of(picture: Any, order: str = "rgb") -> float:
    """NIQE of an array (height, width, 3) of 0 to 255 in RGB order; NaN when it holds less than two useful blocks."""
    numpy = need("numpy")
    # Single precision, like the implementation whose values are published: in flat regions its rounding counts.
    height, width = (size // _BLOCK * _BLOCK for size in picture.shape[:2])
    if height * width < 2 * _BLOCK * _BLOCK:
        return float("nan")
    pristine = _pristine()
    grey = _grey(picture[:height, :width], _WEIGHTS[order])
    window = numpy.sqrt(numpy.diag(pristine["window"]))  # it is the outer product of a Gaussian with itself
    small = _halved(grey)
    found = [
        numpy.concatenate([_features(band, block) for band in _normal_bands(each, window, block)])
        for each, block in ((grey, _BLOCK), (small, _BLOCK // 2))
    ]
    features = numpy.concatenate(found, 1)
    whole = features[numpy.isfinite(features).all(1)]
    if len(whole) < 2:
        return float("nan")
    apart = pristine["mean"] - numpy.nanmean(numpy.where(numpy.isfinite(features), features, numpy.nan), 0)
    spread = (pristine["covariance"] + numpy.cov(whole, rowvar=False)) / 2
    return float(max(apart @ numpy.linalg.pinv(spread) @ apart, 0.0) ** 0.5)


@functools.cache
def _pristine() -> dict[str, Any]:
    """`mean` (36), `covariance` (36, 36) and `window` (7, 7)."""
    numpy = need("numpy")
    with numpy.load(Path(__file__).with_name("niqe_pristine.npz"), allow_pickle=False) as stored:
        return {name: stored[name] for name in ("mean", "covariance", "window")}


def _normal_bands(grey: Any, window: Any, block: int) -> Iterator[Any]:
    """A picture less its local mean, over its local deviation; one row of blocks at a time, which a cache holds."""
    numpy, cv2 = need("numpy"), need("cv2")
    edge = len(window) // 2
    for top in range(0, grey.shape[0], block):
        above = min(edge, top)
        near = grey[top - above : top + block + edge]
        mean, square = (
            cv2.sepFilter2D(each, cv2.CV_64F, window, window, borderType=cv2.BORDER_REPLICATE).astype(numpy.float32)
            for each in (near, near * near)
        )
        normal = (near - mean) / (numpy.sqrt(abs(square - mean * mean)) + 1)
        yield normal[above : above + block]


def _grey(picture: Any, weights: tuple[float, float, float]) -> Any:
    """Lightness of 16 to 235 in whole levels, a few rows at a time, which a cache holds."""
    numpy = need("numpy")
    found = numpy.empty(picture.shape[:2], numpy.float32)
    for top in range(0, len(found), _BLOCK):
        part, rows = found[top : top + _BLOCK], picture[top : top + _BLOCK]
        for channel, weight in enumerate(weights):
            each = rows[..., channel] * numpy.float32(weight / 255)
            numpy.add(part, each, out=part) if channel else numpy.copyto(part, each)
        part += numpy.float32(16)
        numpy.rint(part, out=part)
    return found


def _halved(grey: Any) -> Any:
    """Half the size by bicubic interpolation with anti-aliasing: eight taps, edges mirrored."""
    numpy = need("numpy")
    height, width = grey.shape
    found = numpy.empty((height // 2, width // 2), numpy.float32)
    down, across = (numpy.pad(numpy.arange(size), 3, mode="symmetric") for size in grey.shape)
    for top in range(0, len(found), _BLOCK // 2):
        part = found[top : top + _BLOCK // 2]
        rows = _thinned(grey[down[2 * top : 2 * (top + len(part)) + 6]])
        part[:] = _thinned(rows.T[across]).T
    return found


def _thinned(rows: Any) -> Any:
    """Every second of the rows, six less, each the sum of eight neighbours as they weigh."""
    total = rows[0 : len(rows) - 6 : 2] * _taps()[0]
    for place, tap in enumerate(_taps()[1:], 1):
        total += rows[place : place + 2 * len(total) : 2] * tap
    return total


@functools.cache
def _taps() -> Any:
    """How eight neighbours weigh in a picture of half the size."""
    numpy = need("numpy")
    distance = abs(numpy.arange(8) - 3.5) / 2
    near = 1.5 * distance**3 - 2.5 * distance**2 + 1
    far = -0.5 * distance**3 + 2.5 * distance**2 - 4 * distance + 2
    taps = numpy.where(distance <= 1, near, far)
    return taps / taps.sum()


def _features(normal: Any, block: int) -> Any:
    """Eighteen features of each block of a normalised picture, (blocks, 18)."""
    numpy = need("numpy")
    rows, columns = normal.shape[0] // block, normal.shape[1] // block
    blocks = normal.reshape(rows, block, columns, block).swapaxes(1, 2).reshape(rows * columns, block, block)
    shape, left, right = _asymmetric(blocks)
    found = [shape, (left + right) / 2]
    for shift in ((0, 1), (1, 0), (1, 1), (1, -1)):
        shape, left, right = _asymmetric(blocks * numpy.roll(blocks, shift, (1, 2)))
        found += [shape, (right - left) * _gamma(2 / shape) / _gamma(1 / shape), left, right]
    return numpy.stack(found, 1)


@functools.cache
def _ratios() -> tuple[Any, Any]:
    """Shapes of a generalised Gaussian, 0.2 to 10 by 0.001, and the ratio of moments that each gives."""
    numpy = need("numpy")
    shapes = numpy.arange(0.2, 10.001, 0.001)
    return shapes, _gamma(2 / shapes) ** 2 / (_gamma(1 / shapes) * _gamma(3 / shapes))


def _gamma(values: Any) -> Any:
    """The gamma function of each value; that of scipy would cost more to import than all the rest to compute."""
    numpy = need("numpy")
    return numpy.fromiter(map(math.gamma, values.tolist()), float, len(values))


def _asymmetric(blocks: Any) -> tuple[Any, Any, Any]:
    """Shape, left and right width of the asymmetric generalised Gaussian of each block, by moments."""
    numpy = need("numpy")
    flat = blocks.reshape(len(blocks), -1)
    squares = flat * flat
    below, above = flat < 0, flat > 0
    with numpy.errstate(divide="ignore", invalid="ignore"):
        whole = squares.sum(1)
        lower = numpy.einsum("ij,ij->i", squares, below)
        left = numpy.sqrt(lower / numpy.count_nonzero(below, 1))
        right = numpy.sqrt((whole - lower) / numpy.count_nonzero(above, 1))
        skew = left / right
        ratio = abs(flat).mean(1) ** 2 / (whole / flat.shape[1])
        wanted = ratio * (skew**3 + 1) * (skew + 1) / (skew**2 + 1) ** 2
    shapes, ratios = _ratios()
    after = numpy.searchsorted(ratios, wanted).clip(1, len(ratios) - 1)
    nearest = numpy.where(wanted - ratios[after - 1] <= ratios[after] - wanted, after - 1, after)
    shape = shapes[nearest]
    width = numpy.sqrt(_gamma(1 / shape) / _gamma(3 / shape))
    return shape, left * width, right * width
