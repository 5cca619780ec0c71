"""Regions of pictures, told as polygons in per cent of width and height, and metrics within them.

A region is a list of polygons, each written as `"x,y x,y x,y"`, so that it fits a picture of any size. `inside` means
the union of its polygons, `outside` everything but that union; both may be given. An output of another size is
compared at the smaller of the two sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from repoassay.errors import InfraFault
from repoassay.grading import Measurement, UnreadableOutput, metric, need, pixels, reference

__all__ = ["at_common_size", "cell_means", "region_colour_share", "region_detail", "region_difference", "region_mask"]

_SMALLEST = 0.4
_ASPECT = 0.02
_SMALL = 16
_CELLS = 20


def region_mask(height: int, width: int, inside: Sequence[str] = (), outside: Sequence[str] = ()) -> Any:
    """A boolean array (height, width) of the region; everything when no polygon is given.

    Raises:
        InfraFault: When a polygon cannot be read or the region is empty.
        UnreadableOutput: When the picture is so small that the region has no pixel.
    """
    numpy = need("numpy")
    mask = _union(height, width, inside) if inside else numpy.ones((height, width), bool)
    if outside:
        mask &= ~_union(height, width, outside)
    if not mask.any() and min(height, width) < _SMALL:
        raise UnreadableOutput(f"its {width} x {height} pixels are too few to have the parts that are looked at")
    if not mask.any():
        raise InfraFault("The region of a criterion is empty.", "Correct its polygons.")
    return mask


def _union(height: int, width: int, polygons: Sequence[str]) -> Any:
    numpy, image, draw = need("numpy"), need("PIL.Image"), need("PIL.ImageDraw")
    canvas = image.new("1", (width, height))
    for polygon in polygons:
        try:
            points = [tuple(float(number) for number in point.split(",")) for point in polygon.split()]
            placed = [(x * width / 100, y * height / 100) for x, y in points]
            draw.Draw(canvas).polygon(placed, fill=1)
        except (TypeError, ValueError) as error:
            raise InfraFault(f"The polygon {polygon[:40]!r} of a criterion cannot be read.") from error
    return numpy.asarray(canvas)


def at_common_size(ours: Any, theirs: Any) -> tuple[Any, Any] | None:
    """Both pictures (height, width[, 3]), the larger one scaled down to the smaller by area averaging.

    None when the proportions differ by more than 2 % or `ours` is less than 0.4 times as wide as `theirs`.
    """
    cv2 = need("cv2")
    (height, width), (wanted_height, wanted_width) = ours.shape[:2], theirs.shape[:2]
    if (height, width) == (wanted_height, wanted_width):
        return ours, theirs
    if abs(width / height / (wanted_width / wanted_height) - 1) > _ASPECT or width < _SMALLEST * wanted_width:
        return None
    if width < wanted_width:
        return ours, cv2.resize(theirs, (width, height), interpolation=cv2.INTER_AREA)
    return cv2.resize(ours, (wanted_width, wanted_height), interpolation=cv2.INTER_AREA), theirs


def cell_means(values: Any, mask: Any) -> list[float]:
    """Means of `values` over the region's part of each cell of a grid of 20 x 20, of cells that lie half in it."""
    numpy = need("numpy")
    found = []
    for band in numpy.array_split(numpy.arange(mask.shape[0]), _CELLS):
        for column in numpy.array_split(numpy.arange(mask.shape[1]), _CELLS):
            place = numpy.ix_(band, column)
            inner = mask[place]
            if inner.size and inner.mean() >= 0.5:
                found.append(float(values[place][inner].mean()))
    return found or [float(values[mask].mean())]


def _pair(of: Path, against: Path, mode: str) -> tuple[Any, Any] | None:
    return at_common_size(pixels(of, mode), reference(lambda path: pixels(path, mode), against))


@metric(
    "region_difference",
    unit="levels",
    span="[0, 255]",
    better="lower",
    needs_reference=True,
    source="mean absolute difference within a region",
    packages=("numpy", "pillow", "opencv-python-headless"),
)
def region_difference(
    of: Path,
    against: Path,
    *,
    inside: Sequence[str] = (),
    outside: Sequence[str] = (),
    blur: float = 0.0,
    worst: bool = False,
    spare: float = 0.0,
) -> Measurement:
    """Mean absolute difference of colours within the region; 255 when size or proportions do not allow a comparison.

    With `worst` that of the worst cell of a grid of 20 x 20, so that a part of the region cannot be lost in the mean;
    `spare` is a share of the cells that may be worse still, such as a strand of hair that a network's matte drops.

    `blur` is the standard deviation, in per cent of the width, of a Gaussian that both pictures are smoothed with
    first: then only large forms are compared.
    """
    pair = _pair(of, against, "RGB")
    if pair is None:
        return Measurement(255.0, "it is much smaller or has other proportions")
    ours, theirs = pair
    if blur:
        sigma = blur * ours.shape[1] / 100
        ours, theirs = (need("cv2").GaussianBlur(each, (0, 0), sigma) for each in (ours, theirs))
    mask = region_mask(ours.shape[0], ours.shape[1], inside, outside)
    apart = abs(ours - theirs).mean(axis=2)
    if worst:
        return Measurement(float(need("numpy").quantile(cell_means(apart, mask), 1 - spare)))
    return Measurement(float(apart[mask].mean()))


@metric(
    "region_detail",
    unit="ratio",
    span="[0, inf)",
    better="neither",
    needs_reference=True,
    source="ratio of the root mean squares of grey minus its Gaussian, sigma 0.4 % of the width, within a region",
    packages=("numpy", "pillow", "opencv-python-headless"),
)
def region_detail(
    of: Path,
    against: Path,
    *,
    inside: Sequence[str] = (),
    outside: Sequence[str] = (),
    quantile: float | None = None,
    rich: float = 0.5,
) -> Measurement:
    """How much fine detail the region holds, as a multiple of what it holds in the reference.

    With a `quantile` that of the cells of a grid of 20 x 20 instead, of the share `rich` that hold most in the
    reference: 0.1 tells what all but the worst tenth hold, 0.9 what all but the best do.

    1 for a copy, below 1 for a blurred region, above 1 for a sharpened or noisy one; 0 when size or proportions do not
    allow a comparison.
    """
    pair = _pair(of, against, "L")
    if pair is None:
        return Measurement(0.0, "it is much smaller or has other proportions")
    cv2 = need("cv2")
    sigma = 0.4 * pair[0].shape[1] / 100
    mask = region_mask(pair[0].shape[0], pair[0].shape[1], inside, outside)
    fine = [(each - cv2.GaussianBlur(each, (0, 0), sigma)) ** 2 for each in pair]
    if quantile is not None:
        numpy = need("numpy")
        ours, theirs = (numpy.array(cell_means(each, mask)) for each in fine)
        holding = theirs >= max(float(numpy.quantile(theirs, 1 - rich)), 1e-9)
        found = numpy.sqrt(ours[holding] / theirs[holding])
        value = float(numpy.quantile(found, quantile)) if found.size else 0.0
        return Measurement(value, f"of {found.size} cells")
    ours, theirs = (float(each[mask].mean()) ** 0.5 for each in fine)
    return Measurement(ours / theirs if theirs else 0.0, f"{ours:.2f} levels against {theirs:.2f}")


@metric(
    "region_colour_share",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    source="share of a region near its median colour, when that is of the wanted kind",
    packages=("numpy", "pillow"),
)
def region_colour_share(
    of: Path,
    *,
    inside: Sequence[str] = (),
    outside: Sequence[str] = (),
    channel: int = 1,
    lead: float = 50.0,
    distance: float = 70.0,
    worst: bool = False,
) -> Measurement:
    """Share of the region's pixels within `distance` (Euclidean, RGB levels) of the region's median colour.

    0 when the median's `channel` (0 red, 1 green, 2 blue) does not exceed both others by more than `lead` levels:
    then the region has no such colour. With `worst` the share in the worst cell of a grid of 20 x 20.
    """
    numpy, ours = need("numpy"), pixels(of)
    mask = region_mask(ours.shape[0], ours.shape[1], inside, outside)
    region = ours[mask]
    median = numpy.median(region, axis=0)
    if median[channel] <= numpy.delete(median, channel).max() + lead:
        return Measurement(0.0, f"the region's colour is {tuple(int(value) for value in median)}")
    near = ((ours - median) ** 2).sum(2) <= distance**2
    share = min(cell_means(near, mask)) if worst else float(near[mask].mean())
    return Measurement(share, f"around {tuple(int(value) for value in median)}")
