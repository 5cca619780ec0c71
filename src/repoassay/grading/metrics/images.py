"""Metrics of images. All work on 8-bit values, 0 to 255, in colour unless said."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from repoassay.grading.metrics.neighbours import structural_similarity
from repoassay.grading.metrics.opening import need, reference
from repoassay.grading.metrics.rasters import mean_square, pixels, raster
from repoassay.grading.protocol import Measurement
from repoassay.grading.registry import metric

__all__ = ["image_contrast", "image_mean_difference", "image_psnr", "image_size_match", "image_ssim"]


def _pair(of: Path, against: Path, mode: str, resize: bool) -> tuple[Any, Any] | None:
    """Both images as uint8; None when their sizes differ and `resize` is false."""
    ours, theirs = raster(of, mode), reference(lambda path: raster(path, mode), against)
    if ours.shape != theirs.shape:
        if not resize:
            return None
        image, numpy = need("PIL.Image"), need("numpy")
        ours = numpy.asarray(
            image.fromarray(ours).resize((theirs.shape[1], theirs.shape[0]), image.Resampling.BILINEAR)
        )
    return ours, theirs


_SIZES = Measurement(0.0, "the sizes differ")


@metric(
    "image_ssim",
    unit="ratio",
    span="[-1, 1]",
    better="higher",
    needs_reference=True,
    source="Wang et al. 2004; scikit-image, 7x7 window",
    packages=("numpy", "pillow"),
)
def image_ssim(of: Path, against: Path, *, resize: bool = False, grey: bool = False) -> Measurement:
    """Mean structural similarity, over colour channels or on grey; 0 when the sizes differ and `resize` is false."""
    pair = _pair(of, against, "L" if grey else "RGB", resize)
    if pair is None:
        return _SIZES
    if min(pair[0].shape[:2]) < 7:
        return Measurement(0.0, "an image is smaller than the 7x7 window")
    return Measurement(structural_similarity(*pair))


@metric(
    "image_psnr",
    unit="dB",
    span="[0, 100]",
    better="higher",
    needs_reference=True,
    source="10 log10(255^2 / MSE), capped at 100",
    packages=("numpy", "pillow"),
)
def image_psnr(of: Path, against: Path, *, resize: bool = False) -> Measurement:
    """Peak signal-to-noise ratio over all channels; 100 for equal images; 0 when the sizes differ."""
    pair = _pair(of, against, "RGB", resize)
    if pair is None:
        return _SIZES
    error = mean_square(*pair)
    return Measurement(100.0 if error == 0 else min(100.0, max(0.0, 10 * math.log10(255**2 / error))))


@metric(
    "image_size_match",
    unit="yes/no",
    span="{0, 1}",
    better="higher",
    source="width and height",
    packages=("numpy", "pillow"),
)
def image_size_match(
    of: Path, against: Path | None = None, *, width: int | None = None, height: int | None = None
) -> Measurement:
    """1 when width and height are those of the reference, or `width` and `height` where given."""
    found = raster(of).shape
    if against is not None:
        wanted = reference(raster, against).shape
        height, width = height or wanted[0], width or wanted[1]
    good = (height is None or found[0] == height) and (width is None or found[1] == width)
    return Measurement(float(good), f"{found[1]} x {found[0]}")


@metric(
    "image_mean_difference",
    unit="levels",
    span="[0, 255]",
    better="lower",
    needs_reference=True,
    source="mean absolute difference",
    packages=("numpy", "pillow"),
)
def image_mean_difference(of: Path, against: Path, *, resize: bool = False, tiles: int = 1) -> Measurement:
    """Mean absolute difference over pixels and channels, in the worst of `tiles` squared; 255 when the sizes differ."""
    pair = _pair(of, against, "RGB", resize)
    if pair is None:
        return Measurement(255.0, "the sizes differ")
    split = need("numpy").array_split
    difference = abs(pair[0].astype("float64") - pair[1])
    rows = split(difference, min(tiles, difference.shape[0]), axis=0)
    cells = [cell for row in rows for cell in split(row, min(tiles, row.shape[1]), axis=1)]
    return Measurement(max(float(cell.mean()) for cell in cells))


@metric(
    "image_contrast",
    unit="levels",
    span="[0, 127.5]",
    better="neither",
    source="standard deviation of grey",
    packages=("numpy", "pillow"),
)
def image_contrast(of: Path) -> Measurement:
    """Standard deviation of the grey values; 0 for a flat image."""
    return Measurement(float(pixels(of, "L").std()))
