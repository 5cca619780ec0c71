"""Metrics of enlarged images: the factor, whether the content was kept, and whether detail was added.

All compare an output with the small image it was made from. None of them wants pixels that nobody can know: they look
at what the small image determines, so any sound method of super-resolution may be measured.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from repoassay.benchmarks.gittaskbench.metrics.contours import crispness_maps
from repoassay.benchmarks.gittaskbench.metrics.places import cuts
from repoassay.grading import Measurement, metric, need, pixels, raster, reference

__all__ = ["image_edge_gain", "image_enlargement", "image_grain", "image_shrunk_psnr", "image_within_pixel_detail"]

_PACKAGES = ("numpy", "pillow", "opencv-python-headless")
_MOST_SAMPLES = 4000
"""Longest side at which gradients are taken; a larger output is first averaged down to it."""
_MOST_CRISP = 1600
"""Longest side at which contours are looked at."""
_TILES = 8
_SHIFT = 1.5
"""Pixels by which a cut margin may move an output."""
_LEAST, _WINDOW = 16, 1024
"""Shortest side at which, and longest within which, that is looked for."""


@metric(
    "image_enlargement",
    unit="times",
    span="[0, inf)",
    better="higher",
    needs_reference=True,
    source="width and height of the output over those of the original",
    packages=_PACKAGES,
)
def image_enlargement(of: Path, against: Path, *, factors: Sequence[float] = (), slack: int = 2) -> Measurement:
    """How many times wider and higher the output is than the original.

    0 when width and height disagree by more than `slack` pixels, or when `factors` are given and neither side is
    within `slack` pixels of any of them.
    """
    ours, theirs = raster(of, "L").shape, reference(lambda path: raster(path, "L"), against).shape
    factor = math.sqrt(ours[0] * ours[1] / (theirs[0] * theirs[1]))
    note = f"{theirs[1]} x {theirs[0]} became {ours[1]} x {ours[0]}"
    wanted = factors or [factor]
    if not any(all(abs(a - b * each) <= slack for a, b in zip(ours, theirs, strict=True)) for each in wanted):
        return Measurement(0.0, f"{note}, {'another factor' if factors else 'which changes its proportions'}")
    return Measurement(factor, note)


@metric(
    "image_shrunk_psnr",
    unit="dB",
    span="[0, 100]",
    better="higher",
    needs_reference=True,
    source="10 log10(255^2 / MSE) after area averaging down to the size of the original, capped at 100",
    packages=_PACKAGES,
)
def image_shrunk_psnr(of: Path, against: Path) -> Measurement:
    """Peak signal-to-noise ratio between the output, averaged down to the original's size, and the original.

    The larger side is averaged down, so an output smaller than the original is compared at its own size.
    """
    numpy = need("numpy")
    ours, theirs = pixels(of), reference(pixels, against)
    height, width = (min(a, b) for a, b in zip(ours.shape[:2], theirs.shape[:2], strict=True))
    error = float(numpy.mean((_shrink(ours, width, height) - _shrink(theirs, width, height)) ** 2))
    return Measurement(100.0 if error == 0 else min(100.0, max(0.0, 10 * math.log10(255**2 / error))))


def _shrink(image: Any, width: int, height: int) -> Any:
    if image.shape[:2] == (height, width):
        return image
    cv2 = need("cv2")
    return cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA)


@metric(
    "image_edge_gain",
    unit="ratio",
    span="(-inf, inf)",
    better="higher",
    needs_reference=True,
    source="sum(g . b) / sum(b . b) of the gradients g of the output and b of the original enlarged by bicubic "
    "interpolation, divided by the slope of the two at low frequency; plus a weight times the crispness of contours",
    packages=_PACKAGES,
)
def image_edge_gain(of: Path, against: Path, *, share: float | None = None, crisp: float = 0.0) -> Measurement:
    """How much steeper the output's edges are than those of plain bicubic interpolation; 1 for that itself.

    Gradients are projected on those of the interpolated original, so noise and edges in other places count nothing
    (noise alone gives 0), and a change of contrast is divided out. Interpolation gives 0.82 to 1.08 and doubled
    pixels up to 1.14, whatever the factor. With a `share`, what the tiles of a grid of 8 x 8 reach that hold at least
    this share of the original's edges: 1 where a half was interpolated. `crisp` times what contours became crisper is
    added (see `crispness_maps`), by which networks are known that steepen few gradients.
    """
    numpy, cv2 = need("numpy"), need("cv2")
    ours, plain = _greys(of, against)
    if share is not None:
        ours, plain = _together(ours, plain)
    found, wanted = _gradient(ours), _gradient(plain)
    along = sum(a * b for a, b in zip(found, wanted, strict=True))
    power = sum(part * part for part in wanted)
    if not power.any():
        return Measurement(0.0, "the original is flat")
    # Contrast is read where neither interpolation nor sharpening acts: in averages over 1/24 of the picture.
    sizes = (24, 24)
    coarse = [cv2.resize(each, sizes, interpolation=cv2.INTER_AREA) for each in (ours, plain)]
    coarse = [each - each.mean() for each in coarse]
    spread = float((coarse[1] ** 2).sum())
    contrast = float((coarse[0] * coarse[1]).sum()) / spread if spread > 0 else 1.0
    if not numpy.isfinite(contrast) or contrast < 0.1:
        return Measurement(0.0, f"the contrast is {contrast:.2f} of the original's")
    detail = f"contrast {contrast:.2f} of the original's"
    crisper = crisp * _crispness(of, against, share) if crisp else 0.0
    if share is None:
        return Measurement(float(along.sum()) / float(power.sum()) / contrast + crisper, detail)
    return Measurement(_least(along, power, share) / contrast + crisper, detail)


def _least(parts: Any, wholes: Any, share: float) -> float:
    """What the part over the whole reaches in tiles that hold at least this share of the whole."""
    tiles = [
        (float(parts[cut].sum()), float(wholes[cut].sum())) for cut in cuts(wholes.shape[0], wholes.shape[1], _TILES)
    ]
    found = sorted((part / whole, whole) for part, whole in tiles if whole > 0)
    missing = (1 - share) * sum(whole for _, whole in found)
    reached = itertools.accumulate(whole for _, whole in found)
    return next(value for (value, _), below in zip(found, reached, strict=True) if below > missing)


def _crispness(of: Path, against: Path, share: float | None) -> float:
    """How far contours became crisper than a linear filter makes them, in all or in a share of the places."""
    cv2 = need("cv2")
    ours, plain = _greys(of, against)
    scale = min(1.0, _MOST_CRISP / max(ours.shape))
    if scale < 1:
        size = tuple(max(1, round(side * scale)) for side in ours.shape[::-1])
        ours, plain = (cv2.resize(each, size, interpolation=cv2.INTER_AREA) for each in (ours, plain))
    gone, could = crispness_maps(ours, plain, reference(lambda path: pixels(path, "L"), against))
    whole = float(could.sum())
    if whole <= 0:
        return 0.0
    return float(gone.sum()) / whole if share is None else _least(gone, could, share)


def _together(ours: Any, plain: Any) -> tuple[Any, Any]:
    """The second moved upon the first by a fraction of a pixel, as where a row of pixels was cut off."""
    cv2, numpy = need("cv2"), need("numpy")
    height, width = ours.shape
    if min(height, width) < _LEAST:
        return ours, plain
    top, left = max(0, (height - _WINDOW) // 2), max(0, (width - _WINDOW) // 2)
    middles = [
        numpy.ascontiguousarray(each[top : height - top, left : width - left], dtype=numpy.float64)
        for each in (plain, ours)
    ]
    window = cv2.createHanningWindow(middles[0].shape[::-1], cv2.CV_64F)
    (across, down), _ = cv2.phaseCorrelate(*middles, window)
    if not 0.1 < max(abs(across), abs(down)) < _SHIFT:
        return ours, plain
    moved = numpy.array([[1.0, 0.0, across], [0.0, 1.0, down]])
    return ours, cv2.warpAffine(plain, moved, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)


@metric(
    "image_grain",
    unit="levels",
    span="(-inf, inf)",
    better="lower",
    needs_reference=True,
    source="root mean square of the finest octave of grey, less that of the next and that of the original's finest, in "
    "the worst tile of 8 x 8, or of a share of them",
    packages=_PACKAGES,
)
def image_grain(of: Path, against: Path, *, share: float = 1.0) -> Measurement:
    """Noise or a pattern of single pixels that was added anywhere: about 0 or less for pictures of things.

    Detail that belongs to things, made up or not, has no more strength in its finest octave than in the next, and none
    where the original is plain; noise of 25 levels gives 2 to 19 and a chequer of single pixels more. Drawn edges of a
    small picture are as fine as noise, but not everywhere: with a `share`, what that part of the tiles stays below.
    """
    numpy = need("numpy")
    ours, theirs = (
        each.astype(numpy.float32) for each in (raster(of, "L"), reference(lambda path: raster(path, "L"), against))
    )
    (finest, half), (there, _) = _octave(ours), _octave(theirs)
    bands = (finest, _octave(half)[0], there)
    strengths = zip(
        *(
            [float((band[cut] ** 2).mean()) ** 0.5 for cut in cuts(band.shape[0], band.shape[1], _TILES)]
            for band in bands
        ),
        strict=False,
    )
    return Measurement(float(numpy.quantile([first - second - third for first, second, third in strengths], share)))


def _octave(picture: Any) -> tuple[Any, Any]:
    """The finest octave of a picture, and the picture without it at half the size."""
    cv2 = need("cv2")
    half = cv2.pyrDown(picture)
    return picture - cv2.pyrUp(half, dstsize=picture.shape[::-1]), half


@metric(
    "image_within_pixel_detail",
    unit="ratio",
    span="(-inf, inf)",
    better="higher",
    needs_reference=True,
    source="as image_edge_gain, over steps between output pixels that lie within one pixel of the original",
    packages=_PACKAGES,
)
def image_within_pixel_detail(of: Path, against: Path) -> Measurement:
    """How far the output changes inside what was one pixel, against bicubic interpolation: 0 for doubled pixels.

    Steps are projected on those of the interpolation, so noise or the traces of JPEG inside the blocks count nothing.
    """
    numpy = need("numpy")
    ours, plain = _greys(of, against)
    height, width = reference(lambda path: raster(path, "L"), against).shape
    product = power = 0.0
    for axis, count in ((0, height), (1, width)):
        place = (numpy.arange(ours.shape[axis]) + 0.5) * count / ours.shape[axis]
        within = numpy.flatnonzero(numpy.diff(numpy.floor(place)) == 0)
        if len(within):
            a, b = (numpy.diff(each, axis=axis).take(within, axis=axis) for each in (ours, plain))
            product, power = product + float((a * b).sum()), power + float((b * b).sum())
    return Measurement(product / power if power > 0 else 0.0)


def _greys(of: Path, against: Path) -> tuple[Any, Any]:
    """The output in grey, and the original enlarged to its size by bicubic interpolation."""
    cv2, image, numpy = need("cv2"), need("PIL.Image"), need("numpy")
    ours, theirs = pixels(of, "L"), reference(lambda path: pixels(path, "L"), against)
    if max(ours.shape) > _MOST_SAMPLES:
        scale = _MOST_SAMPLES / max(ours.shape)
        size = (max(1, round(ours.shape[1] * scale)), max(1, round(ours.shape[0] * scale)))
        ours = cv2.resize(ours, size, interpolation=cv2.INTER_AREA)
    small = image.fromarray(theirs.astype("float32"))
    plain = small.resize((ours.shape[1], ours.shape[0]), image.Resampling.BICUBIC)
    return ours, numpy.asarray(plain, dtype=numpy.float64)


def _gradient(image: Any) -> tuple[Any, Any]:
    cv2 = need("cv2")
    return cv2.Sobel(image, cv2.CV_64F, 1, 0), cv2.Sobel(image, cv2.CV_64F, 0, 1)
