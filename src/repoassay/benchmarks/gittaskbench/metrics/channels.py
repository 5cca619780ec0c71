"""Metrics of colour against an original, blind to brightness and contrast: exchanged channels, casts and lost colour.

The colour of a pixel is what its three channels differ from their mean by, averaged over about a hundredth of the
picture, so that noise, lines and a changed exposure count for little.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from repoassay.benchmarks.gittaskbench.metrics.pictures import fit, read_small
from repoassay.grading import Measurement, metric, need, reference

__all__ = ["chroma", "colour_likeness", "image_colour_kept"]

_PACKAGES = ("numpy", "pillow", "opencv-python-headless")
_SIDE = 256
_FAINT = 2.0
"""Root mean square of colour, in levels of 255, below which a picture counts as grey."""


def chroma(picture: Any) -> Any:
    """Channels less their mean, smoothed: (height, width, 3) of levels, of a picture in RGB."""
    apart = picture - picture.mean(axis=2, keepdims=True)
    return need("cv2").GaussianBlur(apart, (0, 0), max(picture.shape[:2]) / 100)


def colour_likeness(ours: Any, theirs: Any) -> float:
    """Cosine between the colours of two pictures of one size, in [-1, 1]: 1 for a copy, at any saturation.

    0 for a grey picture, and negative for most exchanges of channels. Where the original itself is grey, 1 for a grey
    picture and less the more colour was added.
    """
    a, b = chroma(ours), chroma(theirs)
    ours_power, their_power = (float((each**2).sum(axis=2).mean()) for each in (a, b))
    if their_power < _FAINT**2:
        return min(1.0, 2 * _FAINT / float(max(ours_power**0.5, 1e-9)))
    if ours_power < _FAINT**2 / 100:
        return 0.0
    return float((a * b).sum(axis=2).mean() / (ours_power * their_power) ** 0.5)


@metric(
    "image_colour_kept",
    unit="cosine",
    span="[-1, 1]",
    better="higher",
    needs_reference=True,
    source="cosine of R, G and B less their mean, smoothed, over the whole picture at 256 pixels",
    packages=_PACKAGES,
)
def image_colour_kept(of: Path, against: Path, *, grey: bool = False) -> Measurement:
    """Whether the colours are the original's, whatever their strength; see `colour_likeness`.

    An exchange of channels, another cast and a picture without colour score low; exposure, contrast, saturation and
    small shifts of the white point do not. With `grey` a picture without any colour counts as 1.
    """
    ours, theirs = read_small(of, _SIDE)[0], reference(lambda path: read_small(path, _SIDE), against)[0]
    height, width = (max(16, min(sides)) for sides in zip(ours.shape[:2], theirs.shape[:2], strict=True))
    ours, theirs = fit(ours, width, height), fit(theirs, width, height)
    if grey and float((chroma(ours) ** 2).sum(axis=2).mean()) < _FAINT**2:
        return Measurement(1.0, "it is grey")
    return Measurement(colour_likeness(ours, theirs))
