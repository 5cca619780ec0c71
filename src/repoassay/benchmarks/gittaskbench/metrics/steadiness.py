"""Metrics of videos over time: whether what was done to the frames is done to all of them alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from repoassay.benchmarks.gittaskbench.metrics.frames import Clip, read_frames
from repoassay.benchmarks.gittaskbench.metrics.pictures import fit
from repoassay.grading import Measurement, metric, need, reference

__all__ = ["flicker", "video_flicker"]

_MOST, _WIDTH = 400, 64


def flicker(ours: list[Any], theirs: list[Any]) -> list[float]:
    """For each inner frame: how far what was added to it is off the mean of its neighbours', in levels.

    Frames of both are float32 (height, width, 3) of one size and one moment each; the original's own motion and cuts
    are taken off, so only an effect that comes and goes counts.
    """
    numpy = need("numpy")
    added = [a - b for a, b in zip(ours, theirs, strict=True)]
    return [
        float(((now - (before + after) / 2) ** 2).mean()) ** 0.5
        for before, now, after in zip(added, added[1:], added[2:], strict=False)
    ] or [float(numpy.float32(0))]


def _clip(path: Path) -> Clip:
    return read_frames(path, _MOST, _WIDTH)


@metric(
    "video_flicker",
    unit="levels",
    span="[0, 255]",
    better="lower",
    needs_reference=True,
    source="root mean square of the second difference in time of output less input, 64 pixels wide; 90 % quantile",
    packages=("numpy", "opencv-python-headless"),
)
def video_flicker(of: Path, against: Path) -> Measurement:
    """How unsteadily the frames were changed; see `flicker`. Nine tenths of the frames have this or less."""
    numpy = need("numpy")
    ours, theirs = _clip(of).frames, reference(_clip, against).frames
    count = min(len(ours), len(theirs))
    height, width = (min(sides) for sides in zip(ours[0].shape[:2], theirs[0].shape[:2], strict=True))
    found = []
    for spread in (True, False):  # over the whole where the pace differs, one by one where frames at an end are lost
        taken = [
            [fit(each[(2 * place + 1) * len(each) // (2 * count) if spread else place], width, height)
             .astype(numpy.float32) for place in range(count)]
            for each in (ours, theirs)
        ]  # fmt: skip
        found.append(float(numpy.quantile(flicker(*taken), 0.9)))
    return Measurement(min(found), f"over {count} frames")
