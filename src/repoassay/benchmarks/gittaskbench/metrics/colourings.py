"""Metrics of coloured videos: how long, how colourful, and whether the light of the original is kept.

Twelve frames spread evenly over a video are looked at, 320 pixels wide, unless said.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from repoassay.benchmarks.gittaskbench.metrics.colour import (
    by_lightness,
    lab,
    lightness_likeness,
    roughness,
    variety,
    vividness,
)
from repoassay.benchmarks.gittaskbench.metrics.frames import Clip, read_frames
from repoassay.grading import Measurement, metric, need, reference

__all__ = [
    "video_chroma_roughness",
    "video_colour_by_lightness",
    "video_colourfulness",
    "video_extent",
    "video_hue_variety",
    "video_lightness_kept",
]

_MOST = 12
_WIDTH = 320
_PACKAGES = ("numpy", "opencv-python-headless", "scikit-image")


def _clip(path: Path) -> Clip:
    return read_frames(path, _MOST, _WIDTH)


def _mean(of: Path, measure: Callable[[Any], float]) -> Measurement:
    """The mean over frames of a measure of an L*a*b* array."""
    values = [measure(lab(frame, side=_WIDTH)) for frame in _clip(of).frames]
    return Measurement(sum(values) / len(values), f"over {len(values)} frames")


@metric(
    "video_extent",
    unit="ratio",
    span="[0, inf)",
    better="neither",
    needs_reference=True,
    source="frames that decode, over those of the reference",
    packages=("numpy", "opencv-python-headless"),
)
def video_extent(of: Path, against: Path) -> Measurement:
    """Frames of the video as a multiple of the reference's; 1 too for more frames in the same time (within 10 %)."""
    ours, theirs = _clip(of), reference(_clip, against)
    ratio = ours.count / theirs.count
    told = f"{ours.count} frames against {theirs.count}"
    if ratio > 1 and theirs.seconds and abs(ours.seconds / theirs.seconds - 1) <= 0.1:
        return Measurement(1.0, told + ", in the same time")
    return Measurement(ratio, told)


@metric(
    "video_colourfulness",
    unit="levels",
    span="[0, inf)",
    better="neither",
    source="Hasler and Suesstrunk 2003, mean over frames",
    packages=("numpy", "opencv-python-headless"),
)
def video_colourfulness(of: Path, *, quantile: float | None = None) -> Measurement:
    """Mean colourfulness of at most 30 frames, 256 pixels wide; or a quantile of them, such as 0.1."""
    values = [vividness(frame) for frame in read_frames(of, 30, 256).frames]
    numpy = need("numpy")
    found = numpy.mean(values) if quantile is None else numpy.quantile(values, quantile)
    return Measurement(float(found), f"over {len(values)} frames")


@metric(
    "video_lightness_kept",
    unit="ratio",
    span="[-1, 1]",
    better="higher",
    needs_reference=True,
    source="correlation of L*, mean over frames",
    packages=_PACKAGES,
)
def video_lightness_kept(of: Path, against: Path) -> Measurement:
    """Mean correlation of the lightness of frames at the same relative moments; the output takes the input's size."""
    ours, theirs = _clip(of).frames, reference(_clip, against).frames
    pairs = min(len(ours), len(theirs))
    values = []
    for place in range(pairs):
        first, second = (each[(2 * place + 1) * len(each) // (2 * pairs)] for each in (ours, theirs))
        size = (second.shape[1], second.shape[0])
        values.append(lightness_likeness(lab(first, size=size), lab(second, size=size)))
    return Measurement(sum(values) / len(values), f"over {len(values)} frames")


@metric(
    "video_hue_variety",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    source="as hue_variety, mean over frames",
    packages=_PACKAGES,
)
def video_hue_variety(of: Path) -> Measurement:
    """Mean share of pixels with a visible colour of more than 45 degrees from the frame's commonest hue."""
    return _mean(of, variety)


@metric(
    "video_colour_by_lightness",
    unit="ratio",
    span="[0, 1]",
    better="lower",
    source="as colour_by_lightness, mean over frames",
    packages=_PACKAGES,
)
def video_colour_by_lightness(of: Path) -> Measurement:
    """How far colour is a mere function of lightness, mean over frames."""
    return _mean(of, by_lightness)


@metric(
    "video_chroma_roughness",
    unit="ratio",
    span="[0, 1]",
    better="lower",
    source="as chroma_roughness, mean over frames",
    packages=_PACKAGES,
)
def video_chroma_roughness(of: Path) -> Measurement:
    """Share of the variance of a* and b* that is fine structure, mean over frames."""
    return _mean(of, roughness)
