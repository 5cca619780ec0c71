"""Metrics of masks: pictures in which white marks what was found. A pixel is marked when its grey exceeds `level`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from repoassay.grading import Measurement, metric, need, pixels, reference

__all__ = ["mask_dice", "mask_iou", "mask_levels", "mask_parts"]

_NEAR = 40
_PARTS, _HOLDS = 3, 1 / 15
"""Parts of each side, and the share of the marks from which a part is looked at."""


def _marks(of: Path, against: Path, level: float) -> tuple[Any, Any]:
    """Both masks as booleans (height, width); one of another size is brought to the reference's, nearest pixel."""
    ours, theirs = pixels(of, "L"), reference(lambda path: pixels(path, "L"), against)
    if ours.shape != theirs.shape:
        image, numpy = need("PIL.Image"), need("numpy")
        size = (theirs.shape[1], theirs.shape[0])
        ours = numpy.asarray(image.fromarray(ours.astype("uint8")).resize(size, image.Resampling.NEAREST))
    return ours > level, theirs > level


@metric(
    "mask_iou",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="Jaccard index",
    packages=("numpy", "pillow"),
)
def mask_iou(of: Path, against: Path, *, level: float = 127.5) -> Measurement:
    """Pixels marked in both over pixels marked in either; 1 when neither marks any."""
    ours, theirs = _marks(of, against, level)
    either = int((ours | theirs).sum())
    return Measurement(float((ours & theirs).sum()) / either if either else 1.0, f"{int(ours.sum())} pixels marked")


@metric(
    "mask_dice",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="Dice 1945; Sorensen 1948",
    packages=("numpy", "pillow"),
)
def mask_dice(of: Path, against: Path, *, level: float = 127.5) -> Measurement:
    """Twice the pixels marked in both over the pixels marked in each; 1 when neither marks any."""
    ours, theirs = _marks(of, against, level)
    marked = int(ours.sum()) + int(theirs.sum())
    return Measurement(2 * float((ours & theirs).sum()) / marked if marked else 1.0)


@metric(
    "mask_parts",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="recall in each ninth of the picture that holds a fifteenth of the reference's marks or more; the lowest",
    packages=("numpy", "pillow"),
)
def mask_parts(of: Path, against: Path, *, level: float = 127.5) -> Measurement:
    """Share of the reference's marks that are marked, in the part of the picture where fewest are; 1 for no marks.

    Overlap over the whole hides a side of the picture that was never looked at.
    """
    numpy = need("numpy")
    ours, theirs = _marks(of, against, level)
    found = []
    for rows in numpy.array_split(numpy.arange(theirs.shape[0]), _PARTS):
        for columns in numpy.array_split(numpy.arange(theirs.shape[1]), _PARTS):
            part = numpy.ix_(rows, columns)
            marked = int(theirs[part].sum())
            if marked and marked >= _HOLDS * int(theirs.sum()):
                found.append(float((ours & theirs)[part].sum()) / marked)
    return Measurement(min(found, default=1.0), f"of {len(found)} parts")


@metric(
    "mask_levels",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    source="share of pixels within 40 levels of black or of white",
    packages=("numpy", "pillow"),
)
def mask_levels(of: Path) -> Measurement:
    """How far a picture is a mask and no photo: 1 for two levels, 0.97 or more after JPEG."""
    ours = pixels(of, "L")
    return Measurement(float(((ours <= _NEAR) | (ours >= 255 - _NEAR)).mean()))
