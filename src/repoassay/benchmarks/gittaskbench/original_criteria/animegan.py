"""AnimeGANv3_03 as published: the first hundred frames compared with the input's, after the checks of the file.

AnimeGANv3_01 and _02 are LPIPS and CLIP alone, which lie in `perceptual`.
"""

from __future__ import annotations

from pathlib import Path

from repoassay.benchmarks.gittaskbench.metrics.frames import read_frames
from repoassay.benchmarks.gittaskbench.metrics.networks import video_logit_frechet, weights
from repoassay.grading import Measurement, UnreadableOutput, content, metric, need, reference, structural_similarity

__all__ = ["gtb_animegan_frechet", "gtb_animegan_ssim"]

_PACKAGES = ("numpy", "pillow", "opencv-python-headless")
_SOURCE = "GitTaskBench, AnimeGANv3_03"
_FRAMES = 100
_LARGEST = 1024 * 2**20


def _checked(path: Path) -> None:
    """Existence, size and suffix; whether it decodes is no part of Process."""
    if path.suffix.lower() != ".mp4":
        raise UnreadableOutput(f"its suffix {path.suffix or '(none)'} is not .mp4")
    content(path, _LARGEST)


def _undecodable(path: Path) -> str:
    """Why no frame of a video can be had, which the script calls a false Result; empty when one can."""
    try:
        read_frames(path, 1, first=True)
    except UnreadableOutput as error:
        return str(error)
    return ""


@metric(
    "gtb_animegan_frechet",
    unit="distance",
    span="(-inf, inf)",
    better="lower",
    source=_SOURCE,
    needs_reference=True,
    packages=_PACKAGES,
)
def gtb_animegan_frechet(of: Path, against: Path) -> Measurement:
    """Frechet distance of Inception's class logits over the first hundred frames; no value for what does not decode."""
    _checked(of)
    reference(_checked, against)
    if trouble := _undecodable(of):
        return Measurement(float("nan"), trouble)
    weights("inception-v3-logits.onnx")
    return video_logit_frechet(of, against, most=_FRAMES)


@metric(
    "gtb_animegan_ssim",
    unit="ratio",
    span="[-1, 1]",
    better="higher",
    source=_SOURCE,
    needs_reference=True,
    packages=_PACKAGES,
)
def gtb_animegan_ssim(of: Path, against: Path) -> Measurement:
    """Mean grey SSIM of the first hundred frames at the smaller width and height.

    Asks for the network's weights too: the script loads it before it decides anything, and ends when it cannot.
    """
    _checked(of)
    if trouble := _undecodable(of):
        return Measurement(float("nan"), trouble)
    weights("inception-v3-logits.onnx")
    cv2 = need("cv2")
    ours = read_frames(of, _FRAMES, first=True)
    theirs = reference(lambda path: read_frames(path, _FRAMES, first=True), against)
    size = (min(ours.width, theirs.width), min(ours.height, theirs.height))
    found = []
    for pair in zip(ours.frames, theirs.frames, strict=False):
        greys = [cv2.cvtColor(cv2.resize(frame, size), cv2.COLOR_RGB2GRAY) for frame in pair]
        found.append(structural_similarity(*greys))
    return Measurement(sum(found) / len(found), f"over {len(found)} frames")
