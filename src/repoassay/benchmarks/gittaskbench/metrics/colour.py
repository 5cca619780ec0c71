"""Metrics of colour: how much there is, how many hues, how smooth, and whether the light of the original is kept.

Colours are CIE L*a*b* (D65). Pictures are looked at with 480 pixels on the longer side at most, reduced by area
averaging, unless said; of two pictures both are brought to the size of the smaller.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from repoassay.benchmarks.gittaskbench.metrics.cielab import colour_difference, lab_of
from repoassay.grading import Measurement, content, metric, need, raster, reference

__all__ = [
    "by_lightness",
    "chroma_roughness",
    "colour_by_lightness",
    "colour_change",
    "colour_change_spread",
    "colourfulness",
    "hue_variety",
    "lab",
    "lightness_kept",
    "lightness_likeness",
    "roughness",
    "variety",
    "vividness",
]

_SIDE = 480
_VISIBLE = 2.0
_APART = 45
_BLACK, _WHITE = 2.0, 97.0
"""L* beyond which there is no room for colour."""
_PACKAGES = ("numpy", "pillow", "opencv-python-headless")


def lab(picture: Any, side: int = _SIDE, size: tuple[int, int] | None = None) -> Any:
    """CIE L*a*b* of a picture (height, width, 3) of 0 to 255, reduced to `side` on the longer side or to `size`.

    `size` is (width, height). Returns float64: L* 0 to 100, a* and b* about -110 to 110.
    """
    cv2, numpy = need("cv2"), need("numpy")
    height, width = picture.shape[:2]
    if size is None:
        scale = min(1.0, side / max(height, width))
        size = max(1, round(width * scale)), max(1, round(height * scale))
    if size != (width, height):
        picture = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    return lab_of(picture if picture.dtype == numpy.uint8 else picture.astype(numpy.float64, copy=False))


@functools.lru_cache(maxsize=4)
def _small(path: Path, _changed: int) -> Any:
    cv2, found = need("cv2"), raster(path)
    scale = 2 * _SIDE / max(found.shape[:2])
    if scale < 1:
        size = max(1, round(found.shape[1] * scale)), max(1, round(found.shape[0] * scale))
        found = cv2.resize(found, size, interpolation=cv2.INTER_AREA)
    return found.astype("float64")


def _reduced(path: Path) -> Any:
    """The picture with at most 960 pixels on the longer side, (height, width, 3) of float64 in 0 to 255."""
    content(path, 256 * 2**20)
    return _small(path, path.stat().st_mtime_ns)


def _pair(of: Path, against: Path) -> tuple[Any, Any]:
    ours, theirs = _reduced(of), reference(_reduced, against)
    small = min((each.shape[:2] for each in (ours, theirs)), key=lambda shape: shape[0] * shape[1])
    scale = min(1.0, _SIDE / max(small))
    size = max(1, round(small[1] * scale)), max(1, round(small[0] * scale))
    return lab(ours, size=size), lab(theirs, size=size)


@metric(
    "colour_change",
    unit="CIEDE2000",
    span="[0, inf)",
    better="neither",
    needs_reference=True,
    source="Sharma, Wu, Dalal 2005, as scikit-image",
    packages=_PACKAGES,
)
def colour_change(of: Path, against: Path) -> Measurement:
    """Mean colour difference; about 1 is just visible."""
    return Measurement(float(colour_difference(*_pair(of, against)).mean()))


@metric(
    "colour_change_spread",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="share of a grid's cells that changed, by CIEDE2000",
    packages=_PACKAGES,
)
def colour_change_spread(
    of: Path, against: Path, *, least: float = 1.0, cells: int = 0, chroma: bool = False
) -> Measurement:
    """Share of the cells of a grid of 6 x 4, or `cells` x `cells`, whose mean colour difference is `least` or more.

    With `chroma` only a* and b* count, and the cell must be as far from grey: neither light nor bleaching is colour;
    cells that are black or white in the original are left out of account.
    """
    numpy, (ours, theirs) = need("numpy"), _pair(of, against)
    if chroma:
        apart = numpy.minimum(*(numpy.hypot(*each) for each in ((ours - theirs)[..., 1:].transpose(2, 0, 1),
                                                                 ours[..., 1:].transpose(2, 0, 1))))  # fmt: skip
    else:
        apart = colour_difference(ours, theirs)
    rows, columns = (cells, cells) if cells else (6, 4)
    split, light = (
        [cell for row in numpy.array_split(each, rows) for cell in numpy.array_split(row, columns, 1)]
        for each in (apart, theirs[..., 0])
    )
    counted = [
        cell.mean() >= least
        for cell, there in zip(split, light, strict=True)
        if cell.size and not (chroma and (there.mean() > _WHITE or there.mean() < _BLACK))
    ]
    return Measurement(float(numpy.mean(counted)) if counted else 0.0)


@metric(
    "lightness_kept",
    unit="ratio",
    span="[-1, 1]",
    better="higher",
    needs_reference=True,
    source="correlation of L*",
    packages=_PACKAGES,
)
def lightness_kept(of: Path, against: Path) -> Measurement:
    """Correlation of the lightness of both pictures; 0 for a flat one. Colouring a picture keeps it near 1."""
    ours, theirs = _pair(of, against)
    return Measurement(lightness_likeness(ours, theirs))


def lightness_likeness(ours: Any, theirs: Any) -> float:
    """Correlation of L* of two L*a*b* arrays of one shape; 0 when either is flat."""
    first, second = (each[..., 0] - each[..., 0].mean() for each in (ours, theirs))
    spread = float((first**2).mean() * (second**2).mean()) ** 0.5
    return float((first * second).mean()) / spread if spread > 1e-6 else 0.0


@metric(
    "hue_variety",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    source="share of pixels whose hue lies apart from the commonest",
    packages=_PACKAGES,
)
def hue_variety(of: Path) -> Measurement:
    """Share of pixels with a visible colour (chroma 2 or more) of more than 45 degrees from the commonest hue.

    0 for grey, sepia and any one tint; chance colours have much of it, so look at `chroma_roughness` too.
    """
    return Measurement(variety(lab(_reduced(of))))


@metric(
    "colour_by_lightness",
    unit="ratio",
    span="[0, 1]",
    better="lower",
    source="share of the variance of a* and b* that L* explains",
    packages=_PACKAGES,
)
def colour_by_lightness(of: Path) -> Measurement:
    """How far colour is a mere function of lightness: 1 for a colour map or a duotone; 0 where nothing is coloured."""
    return Measurement(by_lightness(lab(_reduced(of))))


def by_lightness(colours: Any) -> float:
    """As `colour_by_lightness`, of an L*a*b* array."""
    numpy = need("numpy")
    level = (colours[..., 0].ravel() // 2).astype(int).clip(0, 50)
    counts = numpy.maximum(numpy.bincount(level, minlength=51), 1)
    whole = within = 0.0
    for values in (colours[..., 1].ravel(), colours[..., 2].ravel()):
        whole += float(values.var()) * len(values)
        sums, squares = (numpy.bincount(level, values**power, 51) for power in (1, 2))
        within += float((squares - sums**2 / counts).sum())
    return min(1.0, max(0.0, 1 - within / whole)) if whole > 1e-3 * level.size else 0.0


def variety(colours: Any) -> float:
    """As `hue_variety`, of an L*a*b* array."""
    numpy = need("numpy")
    a, b = colours[..., 1].ravel(), colours[..., 2].ravel()
    chroma = numpy.hypot(a, b)
    visible = chroma >= _VISIBLE
    if not visible.any():
        return 0.0
    hues = numpy.degrees(numpy.arctan2(b[visible], a[visible])) % 360
    counts = numpy.histogram(hues, bins=72, range=(0, 360))[0]
    smooth = sum(numpy.roll(counts, shift) for shift in range(-3, 4))
    commonest = 5 * int(smooth.argmax()) + 2.5
    apart = abs((hues - commonest + 180) % 360 - 180) > _APART
    return float(apart.sum()) / len(chroma)


@metric(
    "chroma_roughness",
    unit="ratio",
    span="[0, 1]",
    better="lower",
    source="share of the variance of a* and b* that is fine structure",
    packages=_PACKAGES,
)
def chroma_roughness(of: Path) -> Measurement:
    """Share of the variance of a* and b* in what a Gaussian of 0.4 % of the width takes away.

    Near 1 for chance colours, low for colours that belong to things; 0 for a picture without variation of colour.
    """
    return Measurement(roughness(lab(_reduced(of), side=2 * _SIDE)))


def roughness(colours: Any) -> float:
    """As `chroma_roughness`, of an L*a*b* array."""
    cv2 = need("cv2")
    chroma = colours[..., 1:]
    whole = float(chroma.var((0, 1)).sum())
    fine = chroma - cv2.GaussianBlur(chroma, (0, 0), max(0.4 * chroma.shape[1] / 100, 0.8))
    return min(1.0, float((fine**2).mean((0, 1)).sum()) / whole) if whole > 1e-3 else 0.0


@metric(
    "colourfulness",
    unit="levels",
    span="[0, inf)",
    better="neither",
    source="Hasler and Suesstrunk 2003",
    packages=_PACKAGES,
)
def colourfulness(of: Path) -> Measurement:
    """Spread and mean of the opponent colours R - G and (R + G) / 2 - B: 0 for grey, 45 for fairly colourful."""
    return Measurement(vividness(_reduced(of)))


def vividness(picture: Any) -> float:
    """As `colourfulness`, of an array (height, width, 3) of 0 to 255."""
    red, green, blue = (picture[..., channel].astype("float64") for channel in range(3))
    first, second = red - green, (red + green) / 2 - blue
    spread = float((first.var() + second.var()) ** 0.5)
    return spread + 0.3 * float((first.mean() ** 2 + second.mean() ** 2) ** 0.5)
