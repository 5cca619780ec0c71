"""Metrics of coloured videos: how long, how colourful, and whether the light of the original is kept.

Twelve frames spread evenly over a video are looked at, 320 pixels wide, unless said.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from repoassay.benchmarks.gittaskbench.metrics.belonging import colour_belongs, luma_order
from repoassay.benchmarks.gittaskbench.metrics.colour import (
    by_lightness,
    lab,
    lightness_likeness,
    roughness,
    variety,
    vividness,
)
from repoassay.benchmarks.gittaskbench.metrics.frames import Clip, read_frames
from repoassay.benchmarks.gittaskbench.metrics.pictures import fit
from repoassay.grading import Measurement, metric, need, reference

__all__ = [
    "video_chroma_roughness",
    "video_colour_belongs",
    "video_colour_by_lightness",
    "video_colour_spread",
    "video_colourfulness",
    "video_extent",
    "video_hue_variety",
    "video_lightness_kept",
    "video_luma_order",
]

_MOST = 12
_WIDTH = 320
_PACKAGES = ("numpy", "opencv-python-headless")


def _clip(path: Path) -> Clip:
    return read_frames(path, _MOST, _WIDTH)


def _labs(path: Path) -> tuple[Any, ...]:
    """The frames as L*a*b* arrays, not to be written to."""
    _clip(path)  # says so when it is no video
    return _converted(path, path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=2)
def _converted(path: Path, _changed: int) -> tuple[Any, ...]:
    """As `_labs`; several criteria look at the colours of one video."""
    return tuple(lab(frame, side=_WIDTH) for frame in _clip(path).frames)


def _mean(of: Path, measure: Callable[[Any], float]) -> Measurement:
    """The mean over frames of a measure of an L*a*b* array."""
    values = [measure(each) for each in _labs(of)]
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
    counts = f"{ours.count} frames against {theirs.count}"
    if ratio > 1 and theirs.seconds and abs(ours.seconds / theirs.seconds - 1) <= 0.1:
        return Measurement(1.0, counts + ", in the same time")
    return Measurement(ratio, counts)


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
    source="correlation of L*, mean over frames, or a quantile of them",
    packages=_PACKAGES,
)
def video_lightness_kept(of: Path, against: Path, *, quantile: float | None = None) -> Measurement:
    """Mean correlation of the lightness of frames at the same relative moments; the output takes the input's size.

    With a `quantile`, such as 0.2, what all but that share of the frames reach: a stretch that stands still has less.
    """
    _clip(of)
    values = _lightness(of, against, of.stat().st_mtime_ns)
    found = sum(values) / len(values) if quantile is None else float(need("numpy").quantile(values, quantile))
    return Measurement(found, f"over {len(values)} frames")


@functools.lru_cache(maxsize=2)
def _lightness(of: Path, against: Path, _changed: int) -> tuple[float, ...]:
    """The likeness of the lightness of each pair of frames."""
    return tuple(lightness_likeness(lab(ours), lab(theirs)) for ours, theirs in _pairs(of, against))


def _pairs(of: Path, against: Path) -> list[tuple[Any, Any]]:
    """Frames of both videos at the same relative moments, in the size of the reference's."""
    ours, theirs = _clip(of).frames, reference(_clip, against).frames
    pairs = min(len(ours), len(theirs))
    found = []
    for place in range(pairs):
        first, second = (each[(2 * place + 1) * len(each) // (2 * pairs)] for each in (ours, theirs))
        found.append((fit(first, second.shape[1], second.shape[0]), second))
    return found


@metric(
    "video_colour_belongs",
    unit="share",
    span="[-1, 1]",
    better="higher",
    needs_reference=True,
    source="image_colour_belongs, the median over frames",
    packages=_PACKAGES,
)
def video_colour_belongs(of: Path, against: Path) -> Measurement:
    """Whether colours change where the forms of the frames do; see `belonging.colour_belongs`."""
    return _median(of, against, colour_belongs)


@metric(
    "video_luma_order",
    unit="octaves",
    span="(-inf, inf)",
    better="higher",
    needs_reference=True,
    source="image_luma_order, the median over frames",
    packages=_PACKAGES,
)
def video_luma_order(of: Path, against: Path) -> Measurement:
    """Whether no channels were exchanged after the colours were put upon the light; see `belonging.luma_order`."""
    return _median(of, against, luma_order)


def _median(of: Path, against: Path, measure: Callable[[Any, Any], float]) -> Measurement:
    numpy = need("numpy")
    values = [measure(*(each.astype(numpy.float32) for each in pair)) for pair in _pairs(of, against)]
    return Measurement(float(numpy.median(values)), f"over {len(values)} frames")


@metric(
    "video_colour_spread",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    source="share of the cells of 6 x 6 with a mean chroma of `least`, the median over frames",
    packages=_PACKAGES,
)
def video_colour_spread(of: Path, *, least: float = 3.0) -> Measurement:
    """Share of the places of the frames that are coloured; about half where only a half of the picture is."""
    numpy = need("numpy")
    values = []
    for each in _labs(of):
        chroma = numpy.hypot(*each[..., 1:].transpose(2, 0, 1))
        cells = [cell for row in numpy.array_split(chroma, 6) for cell in numpy.array_split(row, 6, 1) if cell.size]
        values.append(float(numpy.mean([cell.mean() >= least for cell in cells])))
    return Measurement(float(numpy.median(values)), f"over {len(values)} frames")


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
