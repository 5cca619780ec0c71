"""Metrics of redrawn videos: all of it, the same scene at the same moments, and redrawn; the measures of `abstraction`.

Moments are the middles of equal parts of either video, so a video at another frame rate is compared at the same times.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from repoassay.benchmarks.gittaskbench.metrics.abstraction import flatness, redrawn, structure
from repoassay.benchmarks.gittaskbench.metrics.blocks import block_grid
from repoassay.benchmarks.gittaskbench.metrics.channels import colour_likeness
from repoassay.benchmarks.gittaskbench.metrics.frames import Clip, read_frames
from repoassay.benchmarks.gittaskbench.metrics.pictures import aspect_slip, fit
from repoassay.benchmarks.gittaskbench.metrics.places import edges_kept, redrawn_tiles
from repoassay.grading import Measurement, metric, need, reference

__all__ = [
    "video_block_grid",
    "video_colour_kept",
    "video_edges_kept",
    "video_flatness",
    "video_length_match",
    "video_redrawn",
    "video_redrawn_places",
    "video_structure",
]

_PACKAGES = ("numpy", "pillow", "opencv-python-headless")
_MOMENTS, _WIDTH = 8, 400
_FEWEST = 0.3


def _clips(of: Path, against: Path) -> tuple[Clip, Clip]:
    ours = read_frames(of, _MOMENTS, _WIDTH)
    return ours, reference(lambda path: read_frames(path, _MOMENTS, _WIDTH), against)


def _each(clips: tuple[Clip, Clip], measure: Callable[[Any, Any], float]) -> list[float]:
    """A measure of each pair of moments, as far as both videos have them, at the size of the smaller."""
    numpy = need("numpy")
    found = []
    for pair in zip(clips[0].frames, clips[1].frames, strict=False):
        height, width = (max(16, min(sides)) for sides in zip(*(frame.shape[:2] for frame in pair), strict=True))
        found.append(measure(*(fit(frame, width, height).astype(numpy.float32) for frame in pair)))
    return sorted(found) or [0.0]


@metric(
    "video_length_match",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="seconds, from the frames that decode and their rate, the shorter over the longer",
    packages=_PACKAGES,
)
def video_length_match(of: Path, against: Path, *, pace: bool = True) -> Measurement:
    """How far two videos last equally long, at whatever frame rate; frames count where one tells no rate.

    Too few frames are no video however long they are shown: below three tenths of the other's, their share counts.
    Without `pace` the same number of frames is as good as the same time, so they may be shown quicker or more slowly.
    """
    ours, theirs = _clips(of, against)
    frames = min(ours.count, theirs.count) / max(ours.count, theirs.count)
    longest = max(ours.seconds, theirs.seconds)
    timed = min(ours.seconds, theirs.seconds) > 0 and frames >= _FEWEST
    note = f"{ours.count} frames in {ours.seconds:.2f} s for {theirs.count} in {theirs.seconds:.2f} s"
    lasting = min(ours.seconds, theirs.seconds) / longest if timed else frames
    return Measurement(lasting if pace else max(lasting, frames), note)


@metric(
    "video_structure",
    unit="correlation",
    span="[-1, 1]",
    better="higher",
    needs_reference=True,
    source="image_structure at eight moments; the second lowest",
    packages=_PACKAGES,
)
def video_structure(of: Path, against: Path, *, slip: float = 0.25) -> Measurement:
    """Whether two videos show the same scenes at the same moments; 0 when proportions differ by more than `slip`."""
    clips = _clips(of, against)
    off = aspect_slip((clips[0].width, clips[0].height), (clips[1].width, clips[1].height))
    if off > slip:
        return Measurement(0.0, f"the proportions differ by {off:.0%}")
    found = _each(clips, structure)
    return Measurement(found[min(1, len(found) - 1)])


@metric(
    "video_redrawn",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="image_redrawn at eight moments; the second lowest",
    packages=_PACKAGES,
)
def video_redrawn(of: Path, against: Path) -> Measurement:
    """How much of the frames no filter or recolouring of the original explains; see `abstraction.redrawn`."""
    found = _each(_clips(of, against), redrawn)
    return Measurement(found[min(1, len(found) - 1)])


@metric(
    "video_flatness",
    unit="share",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="image_flatness at eight moments; the second lowest",
    packages=_PACKAGES,
)
def video_flatness(of: Path, against: Path) -> Measurement:
    """How much of the frames is flat where a third of the original is; see `abstraction.flatness`."""
    found = _each(_clips(of, against), flatness)
    return Measurement(found[min(1, len(found) - 1)])


def _moment(of: Path, against: Path, measure: Callable[[Any, Any], float]) -> Measurement:
    """The second lowest of a measure of frames of the same moments."""
    found = _each(_clips(of, against), measure)
    return Measurement(found[min(1, len(found) - 1)])


@metric(
    "video_redrawn_places",
    unit="ratio",
    span="[0, 2]",
    better="higher",
    needs_reference=True,
    source="image_redrawn_places at eight moments; the second lowest",
    packages=_PACKAGES,
)
def video_redrawn_places(of: Path, against: Path, *, share: float = 0.85) -> Measurement:
    """How much is redrawn or flatter in all but the worst tiles of the frames; see `places.redrawn_tiles`."""
    return _moment(of, against, lambda a, b: float(need("numpy").quantile(redrawn_tiles(a, b) or [0.0], 1 - share)))


@metric(
    "video_edges_kept",
    unit="ratio",
    span="(-inf, inf)",
    better="higher",
    needs_reference=True,
    source="image_edges_kept at eight moments; the second lowest",
    packages=_PACKAGES,
)
def video_edges_kept(of: Path, against: Path) -> Measurement:
    """Whether outlines of the frames stay where they were and sharp; see `places.edges_kept`."""
    return _moment(of, against, edges_kept)


@metric(
    "video_colour_kept",
    unit="cosine",
    span="[-1, 1]",
    better="higher",
    needs_reference=True,
    source="image_colour_kept at eight moments; the second lowest",
    packages=_PACKAGES,
)
def video_colour_kept(of: Path, against: Path) -> Measurement:
    """Whether the colours of the frames are the original's, whatever their strength; see `channels.colour_likeness`."""
    return _moment(of, against, colour_likeness)


@metric(
    "video_block_grid",
    unit="ratio",
    span="[0, 1]",
    better="lower",
    source="image_block_grid of frames in their own size at eight moments; the second highest",
    packages=_PACKAGES,
)
def video_block_grid(of: Path) -> Measurement:
    """How far the frames consist of equal blocks, as a mosaic does; see `blocks.block_grid`."""
    found = sorted(block_grid(frame)[0] for frame in read_frames(of, _MOMENTS).frames)
    return Measurement(found[max(0, len(found) - 2)])
