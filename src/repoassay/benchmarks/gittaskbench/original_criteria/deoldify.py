"""What GitTaskBench's scripts for DeOldify decide (arXiv 2508.18993, scripts as of July 2025)."""

from __future__ import annotations

from pathlib import Path

from repoassay.benchmarks.gittaskbench.metrics.cielab import colour_difference, lab_of
from repoassay.benchmarks.gittaskbench.metrics.colour import vividness
from repoassay.benchmarks.gittaskbench.metrics.frames import read_frames
from repoassay.benchmarks.gittaskbench.metrics.quality import niqe_of
from repoassay.grading import Measurement, UnreadableOutput, content, metric, need, raster

__all__ = ["gtb_deoldify_images", "gtb_deoldify_video"]

_VIDEOS = (".mp4", ".avi", ".mov", ".mkv")
_STRIPE = 400_000


@metric(
    "gtb_deoldify_images",
    unit="yes/no",
    span="{0, 1}",
    better="higher",
    needs_reference=True,
    source="GitTaskBench, scripts of DeOldify_01 and DeOldify_02",
    packages=("numpy", "pillow", "opencv-python-headless"),
)
def gtb_deoldify_images(of: Path, against: Path) -> Measurement:
    """1 when the mean CIEDE2000 to the input is at least 2.0 and NIQE, with red read as blue, 7.0 at most.

    Every n-th pixel is compared where there are more than 400 000, which moves the mean by less than 0.01.
    """
    numpy = need("numpy")
    ours, theirs = raster(of), raster(against)
    if ours.shape != theirs.shape:
        return Measurement(float("nan"), "the sizes differ, over which the script fails")
    step = max(1, round((ours.shape[0] * ours.shape[1] / _STRIPE) ** 0.5))
    near, far = (lab_of(each[::step, ::step]) for each in (ours, theirs))
    change = float(colour_difference(far, near).mean())
    if change < 2:
        return Measurement(0.0, f"CIEDE2000 {change:.2f}")
    quality = niqe_of(ours, "bgr")
    if numpy.isnan(quality):
        return Measurement(float("nan"), "NIQE cannot be measured, over which the script fails")
    return Measurement(float(quality <= 7), f"CIEDE2000 {change:.2f}, NIQE {quality:.2f}")


@metric(
    "gtb_deoldify_video",
    unit="levels",
    span="[0, inf)",
    better="higher",
    source="GitTaskBench, script of DeOldify_03",
    packages=("numpy", "opencv-python-headless"),
)
def gtb_deoldify_video(of: Path) -> Measurement:
    """Mean colourfulness of about 30 frames, 256 pixels wide; 0 when none can be decoded, whatever the file is."""
    content(of, 1024 * 2**20)
    if of.suffix.lower() not in _VIDEOS:
        raise UnreadableOutput(f"its suffix {of.suffix or '(none)'} is not a video's")
    try:
        frames = read_frames(of, 30, 256).frames
    except UnreadableOutput as error:
        return Measurement(0.0, str(error))
    if not frames:
        return Measurement(0.0, "no frame could be decoded")
    return Measurement(sum(vividness(frame) for frame in frames) / len(frames), f"over {len(frames)} frames")
